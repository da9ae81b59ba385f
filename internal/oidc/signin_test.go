package oidc_test

import (
	"cmp"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/problem"
)

const client = "https://agents.example/mcp"

// person returns the claims of an ID token, with edits.
func (i *issuer) person(edits claims) claims {
	c := i.good(claims{"nonce": "n1", "email": "ana@example.com", "email_verified": true, "auth_time": noon.Unix() - 60, "acr": "gold", "name": "Ana"})
	for k, v := range edits {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

func half(sum []byte) string { return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2]) }

// signs opens an issuer for the sign-in of people.
func (i *issuer) signs(owner string) *oidc.Issuer {
	return i.open(oidc.Options{Claims: oidc.Mapping{Name: "name", Owner: owner, Tenant: "org", Default: identity.Human}})
}

func refusal(err error) string {
	if err == nil {
		return ""
	}
	return problem.Of(err).Kind
}

// TestSignedIn has a row for each fault of an ID token, and for differences that aren't faults.
func TestSignedIn(t *testing.T) {
	i := newIssuer(t, "rsa", "p256", "p384", "p521", "ed")
	door, plain := i.signs("email"), i.signs("")
	s256, s384, s512 := sha256.Sum256([]byte("secret")), sha512.Sum384([]byte("secret")), sha512.Sum512([]byte("secret"))
	both := []string{client, "https://other.example"}
	at := noon.Unix()
	for _, tt := range []struct {
		name, key string
		edits     claims
		kind      string
	}{
		{"good", "ed", nil, ""},
		{"expired", "ed", claims{"exp": at - 60}, "expired"},
		{"for another client", "ed", claims{"aud": "https://other.example"}, "audience"},
		{"another nonce", "ed", claims{"nonce": "n2"}, "nonce"},
		{"no nonce", "ed", claims{"nonce": nil}, "nonce"},
		{"a nonce that is no text", "ed", claims{"nonce": 1}, "nonce"},
		{"the party", "ed", claims{"azp": client}, ""},
		{"another party", "ed", claims{"azp": "https://other.example"}, "authorized_party"},
		{"a party that is no text", "ed", claims{"azp": 1}, "authorized_party"},
		{"one audience in a list", "ed", claims{"aud": []string{client}}, ""},
		{"two audiences", "ed", claims{"aud": both}, "authorized_party"},
		{"two audiences and the party", "ed", claims{"aud": both, "azp": client}, ""},
		{"two audiences and another party", "ed", claims{"aud": both, "azp": "https://other.example"}, "authorized_party"},
		{"the access token, RS256", "rsa", claims{"at_hash": half(s256[:])}, ""},
		{"the access token, ES256", "p256", claims{"at_hash": half(s256[:])}, ""},
		{"the access token, ES384", "p384", claims{"at_hash": half(s384[:])}, ""},
		{"the access token, ES512", "p521", claims{"at_hash": half(s512[:])}, ""},
		{"the access token, EdDSA", "ed", claims{"at_hash": half(s512[:])}, ""},
		{"the access token by another hash", "ed", claims{"at_hash": half(s256[:])}, "access_token"},
		{"another access token", "p256", claims{"at_hash": half(s512[:])}, "access_token"},
		{"an access token that is no text", "ed", claims{"at_hash": 1}, "access_token"},
		{"the e-mail isn't verified", "ed", claims{"email_verified": false}, "email_not_verified"},
		{"nothing is said of it", "ed", claims{"email_verified": nil}, "email_not_verified"},
		{"it is said in a text", "ed", claims{"email_verified": "true"}, "email_not_verified"},
		{"nobody", "ed", claims{"sub": nil}, "no_id"},
		{"proven soon", "ed", claims{"auth_time": at + 60}, ""},
		{"proven later", "ed", claims{"auth_time": at + 61}, "auth_time"},
		{"proven at no time", "ed", claims{"auth_time": "noon"}, "auth_time"},
		{"it isn't said when", "ed", claims{"auth_time": nil}, ""},
	} {
		want := tt.kind
		if want != "" {
			want = "id_token_" + want
		}
		p, proof, err := door.SignedIn(t.Context(), i.sign(tt.key, i.person(tt.edits)), oidc.Expect{ClientID: client, Nonce: "n1", Access: "secret"})
		if refusal(err) != want || (p.ID == "") != (want != "") || err != nil && (proof != oidc.Proof{} || problem.CodeOf(err) != problem.Unauthorized) {
			t.Errorf("%s: %+v, %+v, %v", tt.name, p, proof, err)
		}
		if s, says := tt.edits["auth_time"]; err == nil && !says && (proof.At.Unix() != at-60 || proof.Level != "gold" || p.Owner != "ana@example.com" || p.Name != "Ana") || says && s == nil && !proof.At.IsZero() {
			t.Errorf("%s: %+v, %+v", tt.name, p, proof)
		}
	}
	want := oidc.Expect{ClientID: client, Nonce: "n1"}
	forged := i.signed("p256", map[string]any{"kid": "ed"}, i.person(nil))
	good, eve := strings.Split(i.sign("ed", i.person(nil)), "."), strings.Split(i.sign("ed", i.person(claims{"sub": "eve"})), ".")
	for name, tt := range map[string]struct {
		door  *oidc.Issuer
		token string
		want  oidc.Expect
		kind  string
	}{
		"no token":                     {door, "token", want, "id_token_malformed"},
		"signed by another":            {door, forged, want, "id_token_key_unknown"},
		"no nonce was sent":            {door, i.sign("ed", i.person(claims{"nonce": nil})), oidc.Expect{ClientID: client}, "id_token_nonce"},
		"people aren't named by it":    {plain, i.sign("ed", i.person(claims{"email_verified": nil})), want, ""},
		"the signature is for another": {door, good[0] + "." + eve[1] + "." + good[2], want, "id_token_signature"},
	} {
		if p, _, err := tt.door.SignedIn(t.Context(), tt.token, tt.want); refusal(err) != tt.kind || (p.ID == "") != (tt.kind != "") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestUserInfo checks which claims the user-info endpoint adds to a token, and which responses are ignored.
func TestUserInfo(t *testing.T) {
	i := newIssuer(t, "ed")
	i.says.Store(&map[string]any{"userinfo_endpoint": i.URL + "/userinfo"})
	door := i.signs("")
	const most = 16 << 10
	padded := func(n int) string {
		return `{"sub":"ana","org":"acme","pad":"` + strings.Repeat("x", n-len(`{"sub":"ana","org":"acme","pad":""}`)) + `"}`
	}
	var asked atomic.Pointer[string] // the credential of the last request
	said := func() string { return *cmp.Or(asked.Swap(nil), new(string)) }
	for _, tt := range []struct {
		name, contentType, body string
		status                  int
		tenant, kind            string
	}{
		{"one that adds", "application/json; charset=utf-8", `{"sub":"ana","org":"acme","name":"Eve"}`, 200, "acme", ""},
		{"one of another person", "application/json", `{"sub":"eve","org":"acme"}`, 200, "", "id_token_user_info_sub"},
		{"one of nobody", "application/json", `{"org":"acme"}`, 200, "", "id_token_user_info_sub"},
		{"a list", "application/json", `[]`, 200, "", ""},
		{"a page", "text/html", `{"sub":"ana","org":"acme"}`, 200, "", "id_token_user_info"},
		{"a failure", "application/json", `{"sub":"ana","org":"acme"}`, 500, "", "id_token_user_info"},
		{"no JSON", "application/json", `{`, 200, "", "id_token_user_info"},
		{"the longest", "application/json", padded(most), 200, "acme", ""},
		{"a longer one", "application/json", padded(most + 1), 200, "", "id_token_user_info"},
		{"white space up to more", "application/json", padded(most) + " ", 200, "", "id_token_user_info"},
		{"one that is cut", "application/json", `{"sub":"ana","org":"acme"}`, 0, "", "id_token_user_info"},
		{"none", "", "", -1, "", "id_token_user_info"},
	} {
		answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			with := r.Header.Get("Authorization") + ", " + r.Header.Get("Accept")
			asked.Store(&with)
			w.Header().Set("Content-Type", tt.contentType)
			switch tt.status {
			case -1:
				panic(http.ErrAbortHandler)
			case 0:
				w.Header().Set("Content-Length", "1000")
			}
			w.WriteHeader(max(200, tt.status))
			w.Write([]byte(tt.body))
		})
		i.info.Store(&answer)
		p, _, err := door.SignedIn(t.Context(), i.sign("ed", i.person(nil)), oidc.Expect{ClientID: client, Nonce: "n1", Access: "secret"})
		if with := said(); refusal(err) != tt.kind || p.Tenant != tt.tenant || err == nil && p.Name != "Ana" || with != "Bearer secret, application/json" {
			t.Errorf("%s: %+v, %v, asked with %q", tt.name, p, err, with)
		}
	}
	if p, _, err := door.SignedIn(t.Context(), i.sign("ed", i.person(nil)), oidc.Expect{ClientID: client, Nonce: "n1"}); err != nil || p.Tenant != "" || asked.Load() != nil {
		t.Errorf("without an access token: %+v, %v, asked for user info", p, err)
	}
	// If the endpoints of an issuer can't be fetched, it signs in no person, although the token is valid.
	other := i.signs("")
	if _, err := other.Authenticate(t.Context(), i.sign("ed", i.good(nil)), nowhere); err != nil {
		t.Fatal(err)
	}
	i.down.Store(true)
	if _, _, err := other.SignedIn(t.Context(), i.sign("ed", i.person(nil)), oidc.Expect{ClientID: client, Nonce: "n1", Access: "secret"}); refusal(err) != "id_token_user_info" {
		t.Error("an issuer that is down:", err)
	}
}

// TestEndpoints checks which endpoints of an issuer can't be trusted, and how long they are cached.
func TestEndpoints(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edits map[string]any
		says  string // "" if they are valid
	}{
		{"with a query", map[string]any{"authorization_endpoint": "https://login.example.com/authorize?p=1"}, ""},
		{"all", map[string]any{"authorization_endpoint": "https://a.example", "userinfo_endpoint": "https://u.example", "end_session_endpoint": "https://e.example"}, ""},
		{"no page for people", map[string]any{"authorization_endpoint": ""}, "authorization_endpoint: "},
		{"one in the open", map[string]any{"authorization_endpoint": "http://login.example.com/authorize"}, "authorization_endpoint: "},
		{"no token", map[string]any{"authorization_endpoint": "https://a.example", "token_endpoint": ""}, "token_endpoint: "},
		{"tokens in the open", map[string]any{"authorization_endpoint": "https://a.example", "token_endpoint": "http://t.example"}, "token_endpoint: "},
		{"people in the open", map[string]any{"authorization_endpoint": "https://a.example", "userinfo_endpoint": "http://u.example"}, "userinfo_endpoint: "},
		{"the end in the open", map[string]any{"authorization_endpoint": "https://a.example", "end_session_endpoint": "http://e.example"}, "end_session_endpoint: "},
	} {
		i := newIssuer(t, "ed")
		i.says.Store(&tt.edits)
		got, err := i.signs("").Endpoints(t.Context())
		if tt.says == "" && (err != nil || got.Authorization != tt.edits["authorization_endpoint"]) || tt.says != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.says) || got.Issuer != "") {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	i := newIssuer(t, "ed")
	door := i.signs("")
	for _, step := range []struct {
		after time.Duration
		down  bool
		asked int64
		ok    bool
	}{{0, true, 0, false}, {0, false, 1, true}, {time.Hour - time.Second, false, 1, true}, {time.Second, true, 1, false}, {0, false, 2, true}} {
		i.after(step.after)
		i.down.Store(step.down)
		if e, err := door.Endpoints(t.Context()); (err == nil) != step.ok || i.asked.Load() != step.asked || (e.Token != "") != step.ok {
			t.Errorf("%+v: %+v, %v, asked %d times", step, e, err, i.asked.Load())
		}
	}
}

// TestPause checks that old keys aren't fetched again immediately after a failed fetch.
func TestPause(t *testing.T) {
	i := newIssuer(t, "ed")
	door := i.open(oidc.Options{})
	good := func() {
		t.Helper()
		if kind := kindOf(t, door, i.sign("ed", i.good(claims{"exp": noon.Unix() + 1e6}))); kind != "" {
			t.Fatal(kind)
		}
		door.Close() // waits for a fetch
	}
	good()
	i.after(2 * time.Hour)
	i.down.Store(true)
	for _, want := range []int{1, 1, 2} {
		good()
		if n := len(i.broken); n != want {
			t.Errorf("%d fetches have failed, want %d", n, want)
		}
		if want == len(i.broken) {
			i.after(5 * time.Second)
		}
	}
}
