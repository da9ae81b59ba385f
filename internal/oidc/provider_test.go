package oidc_test

import (
	"crypto/ed25519"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// vouches starts a provider. It answers any code with an ID token that has the claims in said. Its user-info endpoint
// returns the claims in more.
func vouches(t *testing.T, said, more *map[string]any) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"issuer": s.URL, "jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL + "/a", "token_endpoint": s.URL + "/t", "userinfo_endpoint": s.URL + "/u"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "k", Use: "sig", Algorithm: string(jose.EdDSA)}}})
	})
	mux.HandleFunc("/t", func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Unix()
		claims := map[string]any{"iss": s.URL, "aud": "gate", "sub": "ana", "iat": now, "exp": now + 300, "nonce": r.FormValue("code"),
			"email": "ana@example.com", "email_verified": true, "groups": []string{"reviewers"}}
		maps.Copy(claims, *said)
		maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
		body, err := json.Marshal(claims)
		if err != nil {
			panic(err)
		}
		signed, err := signer.Sign(body)
		if err != nil {
			panic(err)
		}
		token, _ := signed.CompactSerialize()
		answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": token})
	})
	mux.HandleFunc("/u", func(w http.ResponseWriter, _ *http.Request) {
		info := map[string]any{"sub": "ana"}
		maps.Copy(info, *more)
		answer(w, info)
	})
	return s.URL
}

// TestProviderIgnores checks answers of a provider that ignores a part of the request: a new proof, a level, or a
// person.
func TestProviderIgnores(t *testing.T) {
	type claims = map[string]any
	said, more := claims{}, claims{}
	address := vouches(t, &said, &more)
	kinds := func(o *oidc.SignInOptions) {
		o.Claims.Kind, o.Claims.Kinds = "type", map[string]identity.Kind{"robot": identity.Service, "person": identity.Human}
	}
	levels := func(o *oidc.SignInOptions) { o.Levels = []string{"gold", "mfa"} }
	now := time.Now().Unix()
	for _, tt := range []struct {
		name       string
		options    func(*oidc.SignInOptions)
		again      bool
		said, more claims
		want       string // the kind of the refusal, or "" for a person
		proven     bool   // proven recently
	}{
		{"proven now", nil, true, claims{"auth_time": now}, nil, "", true},
		{"proven within what clocks differ by", nil, true, claims{"auth_time": now - 30}, nil, "", true},
		{"proven before it was asked", nil, true, claims{"auth_time": now - 600}, nil, "sign_in_not_proved_again", false},
		{"it isn't said when", nil, true, nil, nil, "sign_in_not_proved_again", false},
		{"said by the user info alone", nil, true, nil, claims{"auth_time": now, "acr": "gold"}, "sign_in_not_proved_again", false},
		{"a time that is no number", nil, true, claims{"auth_time": "now"}, nil, "id_token_auth_time", false},
		{"a time to come", nil, true, claims{"auth_time": now + 600}, nil, "id_token_auth_time", false},
		{"not asked again, and not said when", nil, false, nil, nil, "", false},
		{"not asked again, and long ago", nil, false, claims{"auth_time": now - 600}, nil, "", false},
		{"a level", levels, true, claims{"auth_time": now, "acr": "mfa"}, nil, "", true},
		{"another level", levels, true, claims{"auth_time": now, "acr": "silver"}, nil, "sign_in_level", false},
		{"a level that begins so", levels, true, claims{"auth_time": now, "acr": "gold mfa"}, nil, "sign_in_level", false},
		{"levels in a list", levels, true, claims{"auth_time": now, "acr": []string{"gold"}}, nil, "sign_in_level", false},
		{"no level", levels, true, claims{"auth_time": now}, nil, "sign_in_level", false},
		{"a level of the user info", levels, true, claims{"auth_time": now}, claims{"acr": "gold"}, "sign_in_level", false},
		{"a level of an old proof", levels, true, claims{"auth_time": now - 600, "acr": "gold"}, nil, "sign_in_not_proved_again", false},
		{"no level, not asked again", levels, false, claims{"auth_time": now}, nil, "", false},
		{"a person", kinds, false, claims{"type": "person", "auth_time": now}, nil, "", true},
		{"a service", kinds, false, claims{"type": "robot", "auth_time": now}, nil, "sign_in_no_person", false},
		{"a service, asked again", kinds, true, claims{"type": "robot", "auth_time": now}, nil, "sign_in_no_person", false},
		{"a service by the user info", kinds, false, claims{"auth_time": now}, claims{"type": "robot"}, "sign_in_no_person", false},
		{"a kind that isn't known", kinds, false, claims{"type": "Person", "auth_time": now}, nil, "sign_in_no_person", false},
		{"a service whose user info has a person", kinds, false, claims{"type": "robot"}, claims{"type": "person"}, "sign_in_no_person", false},
		{"an address that only the user info verifies", nil, false, claims{"email_verified": nil}, claims{"email": "ana@example.com", "email_verified": true}, "", false},
		{"another address that the user info verifies", nil, false, claims{"email": "boss@example.com", "email_verified": nil}, claims{"email": "ana@example.com", "email_verified": true}, "id_token_email_not_verified", false},
		{"no address that the user info verifies", nil, false, claims{"email": "boss@example.com", "email_verified": nil}, claims{"email_verified": true}, "id_token_email_not_verified", false},
		{"an address of the user info that the token verifies", nil, false, claims{"email": nil}, claims{"email": "boss@example.com"}, "id_token_email_not_verified", false},
		{"an address that the token says isn't verified", nil, false, claims{"email_verified": false}, claims{"email": "ana@example.com", "email_verified": true}, "id_token_email_not_verified", false},
	} {
		said, more = tt.said, tt.more
		p := person(t, address, tt.options)
		to, kept, err := p.Begin(t.Context(), back, tt.again)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query() // the provider uses the code as the nonce
		who, err := p.Finish(t.Context(), back, kept, url.Values{"state": {q.Get("state")}, "code": {q.Get("nonce")}})
		kind := ""
		if err != nil {
			kind = problem.Of(err).Kind
		}
		if kind != tt.want || (err == nil) != (who.ID == "oidc:ana") || err != nil && problem.CodeOf(err) != problem.Unauthorized {
			t.Errorf("%s: %+v, %q, want %q", tt.name, who, kind, tt.want)
		}
		if lately := time.Since(who.Proven) < 5*time.Minute; err == nil && lately != tt.proven {
			t.Errorf("%s: proven at %v", tt.name, who.Proven)
		}
	}
}
