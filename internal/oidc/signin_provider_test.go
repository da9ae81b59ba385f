package oidc_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

const back = "http://127.0.0.1:9/console/sign-in/callback"

func person(t *testing.T, issuer string, change func(*oidc.SignInOptions)) *oidc.Provider {
	t.Helper()
	o := oidc.SignInOptions{ClientID: "gate", Secret: "secret", Scopes: []string{"profile", "email"}, Claims: oidc.Mapping{Scopes: "groups",
		ScopeOf: map[string][]identity.Scope{"reviewers": {identity.Read, identity.Review}, "operators": {identity.Operator}}}}
	if change != nil {
		change(&o)
	}
	p, err := oidc.NewProvider(o, oidc.Options{Issuer: issuer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestSignIn signs a person in at a real provider. It checks that groups give rights, and checks each part of the
// answer.
func TestSignIn(t *testing.T) {
	issuer := services.OIDC(t, back, "acme")
	p := person(t, issuer, nil)
	to, kept, err := p.Begin(t.Context(), back, false)
	if err != nil || !strings.Contains(to, "code_challenge_method=S256") || !strings.Contains(to, "nonce=") {
		t.Fatal(to, err)
	}
	answer := services.SignIn(t, to)
	for name, spoil := range map[string]func(url.Values) (url.Values, string){
		"another state":           func(q url.Values) (url.Values, string) { q.Set("state", "x"); return q, kept },
		"no state":                func(q url.Values) (url.Values, string) { q.Del("state"); return q, kept },
		"another issuer":          func(q url.Values) (url.Values, string) { q.Set("iss", "https://evil.example"); return q, kept },
		"two codes":               func(q url.Values) (url.Values, string) { q.Add("code", "x"); return q, kept },
		"another browser":         func(q url.Values) (url.Values, string) { return q, `{"s":"a","n":"b","v":"c"}` },
		"nothing kept":            func(q url.Values) (url.Values, string) { return q, "" },
		"an error in the answer":  func(q url.Values) (url.Values, string) { q.Set("error", "access_denied"); return q, kept },
		"an error without a code": func(q url.Values) (url.Values, string) { q.Del("code"); q.Set("error", "x"); return q, kept },
	} {
		copied := url.Values{}
		for k, v := range answer {
			copied[k] = append([]string(nil), v...)
		}
		q, keep := spoil(copied)
		if who, err := p.Finish(t.Context(), back, keep, q); problem.CodeOf(err) != problem.Unauthorized || who.ID != "" {
			t.Errorf("%s: %v %v", name, who, err)
		}
	}
	who, err := p.Finish(t.Context(), back, kept, answer)
	if err != nil || who.Kind != identity.Human || !strings.Contains(who.Owner, "@") || len(who.Scopes) != 2 || !who.Has(identity.Review) || !strings.HasPrefix(who.ID, "oidc:") {
		t.Fatalf("%+v: %v %s %v", who, err, problem.Of(err).Kind, problem.Of(err).Err)
	}
	if time.Since(who.Proven) > 10*time.Minute {
		t.Error("proved at", who.Proven)
	}
	if _, err := p.Finish(t.Context(), back, kept, answer); problem.CodeOf(err) != problem.Unauthorized {
		t.Error("a code twice:", err)
	}
	// This uses the code of one sign-in with the verifier and the nonce of another.
	_, other, err := p.Begin(t.Context(), back, false)
	if err != nil {
		t.Fatal(err)
	}
	to, _, _ = p.Begin(t.Context(), back, false)
	answer = services.SignIn(t, to)
	answer.Set("state", regexp.MustCompile(`"s":"(\w+)"`).FindStringSubmatch(other)[1])
	if _, err := p.Finish(t.Context(), back, other, answer); problem.CodeOf(err) != problem.Unauthorized {
		t.Error("a code that was injected:", err)
	}
	if out := p.SignOut(t.Context(), "http://127.0.0.1:9/console/sign-in"); !strings.HasPrefix(out, issuer) || !strings.Contains(out, "client_id=gate") {
		t.Error(out)
	}
}

// TestGroups checks that other groups give other rights at the next sign-in. A person without groups has no rights.
func TestGroups(t *testing.T) {
	issuer := services.OIDC(t, back, "acme")
	p := person(t, issuer, nil)
	for set, want := range map[string]string{"operators": "operator", "reviewers,operators": "operator read review", "others": ""} {
		res, err := http.Get(issuer + "test/groups?set=" + set)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		to, kept, err := p.Begin(t.Context(), back, false)
		if err != nil {
			t.Fatal(err)
		}
		who, err := p.Finish(t.Context(), back, kept, services.SignIn(t, to))
		if got := strings.Join(who.ScopeNames(), " "); err != nil || got != want {
			t.Errorf("%s: %s, want %s: %v", set, got, want, err)
		}
	}
}

// TestStepUp checks that the request to the provider requires a new proof, and that an unproven level is refused.
func TestStepUp(t *testing.T) {
	issuer := services.OIDC(t, back, "acme")
	p := person(t, issuer, nil)
	to, kept, err := p.Begin(t.Context(), back, true)
	if err != nil || !strings.Contains(to, "prompt=login") || !strings.Contains(to, "max_age=0") {
		t.Fatal(to, err)
	}
	if who, err := p.Finish(t.Context(), back, kept, services.SignIn(t, to)); err != nil || time.Since(who.Proven) > 10*time.Minute {
		t.Error(who.Proven, err, problem.Of(err).Err)
	}
	strict := person(t, issuer, func(o *oidc.SignInOptions) { o.Levels = []string{"mfa"} })
	to, kept, err = strict.Begin(t.Context(), back, false)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := strict.Finish(t.Context(), back, kept, services.SignIn(t, to)); err != nil || !who.Proven.IsZero() {
		t.Error("a level that proves too little counts for breaking the glass:", who.Proven, err)
	}
	to, kept, err = strict.Begin(t.Context(), back, true)
	if err != nil || !strings.Contains(to, "acr_values=mfa") {
		t.Fatal(to, err)
	}
	if _, err := strict.Finish(t.Context(), back, kept, services.SignIn(t, to)); problem.CodeOf(err) != problem.Unauthorized || problem.Of(err).Kind != "sign_in_level" {
		t.Error("a level that was asked for and not reached:", err)
	}
}

// TestEchoedSecret signs in at a provider whose token URL repeats the request, in a refusal and in a response that
// isn't a token. Neither the error nor its log text contains any of it.
func TestEchoedSecret(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError} {
		mux := http.NewServeMux()
		s := httptest.NewServer(mux)
		defer s.Close()
		mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": "%[1]s/keys", "authorization_endpoint": "%[1]s/a", "token_endpoint": "%[1]s/t", "token_endpoint_auth_methods_supported": ["client_secret_post"]}`, s.URL)
		})
		mux.HandleFunc("/t", func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseForm()
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error": "invalid_client", "error_description": %q, "error_uri": %[1]q, "id_token": %[1]q}`, r.PostForm.Encode())
		})
		p := person(t, s.URL, func(o *oidc.SignInOptions) { o.Secret = "a-secret-of-the-gateway" })
		to, kept, err := p.Begin(t.Context(), back, false)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Finish(t.Context(), back, kept, url.Values{"state": {u.Query().Get("state")}, "code": {"the-code"}})
		said := problem.Of(err)
		text := said.Detail + said.Suggestion + telemetry.Cause(err)
		if problem.CodeOf(err) != problem.Unauthorized || strings.Contains(text, "a-secret") || strings.Contains(text, "the-code") {
			t.Errorf("%d: %s", status, text)
		}
	}
}

// TestIssuerUnnamed checks that an answer without the issuer's name is refused if the provider declares that it sends
// its name.
func TestIssuerUnnamed(t *testing.T) {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	defer s.Close()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": "%[1]s/keys", "authorization_endpoint": "%[1]s/a", "token_endpoint": "%[1]s/t", "authorization_response_iss_parameter_supported": true}`, s.URL)
	})
	p := person(t, s.URL, nil)
	to, kept, err := p.Begin(t.Context(), back, false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	for iss, want := range map[string]string{"": "sign_in_issuer", s.URL: "sign_in_code"} {
		answer := url.Values{"state": {u.Query().Get("state")}, "code": {"x"}}
		if iss != "" {
			answer.Set("iss", iss)
		}
		if _, err := p.Finish(t.Context(), back, kept, answer); problem.Of(err).Kind != want {
			t.Errorf("named %q: %v", iss, err)
		}
	}
}
