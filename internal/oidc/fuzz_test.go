package oidc_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/oidc"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// FuzzToken checks that only tokens signed by the issuer are accepted.
func FuzzToken(f *testing.F) {
	i := newIssuer(f, "ed")
	door, err := oidc.New(oidc.Options{Issuer: "https://login.example", JWKS: i.URL + "/keys", Audience: []string{"here"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(i.sign("ed", i.good(claims{"iss": "https://login.example", "aud": "here", "exp": 1 << 39, "nbf": nil, "iat": nil}))[1:])
	f.Add(raw(`{"alg":"none"}`, `{"iss":"https://login.example","aud":"here","sub":"a","exp":1e9}`, nil))
	f.Add(raw(`{"alg":"EdDSA","kid":"ed"}`, `{"iss":"https://login.example","aud":["here"],"sub":"a","exp":549755813888}`, make([]byte, 64)))
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := door.Authenticate(t.Context(), token, nowhere); problem.CodeOf(err) != problem.Unauthorized {
			t.Errorf("%q: %v", token, err)
		}
	})
}
