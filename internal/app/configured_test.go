package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestCredential checks which values each configured credential adds to a request of ann.
func TestCredential(t *testing.T) {
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		id, secret, _ := r.BasicAuth()
		_, _ = w.Write([]byte(`{"token_type": "Bearer", "access_token": "` + strings.Join([]string{id, secret, r.FormValue("scope"), r.FormValue("audience")}, "-") + `"}`))
	}))
	defer tokens.Close()
	ann := identity.Principal{ID: "token:t1", TokenID: "t1", Owner: "ann", Claims: value.OfObject([]value.Member{{Name: "login", Value: value.OfString("annie")}})}
	each := func(by, claim, name string) config.APICredential {
		return config.APICredential{Each: &config.EachCredential{By: by, Claim: claim, Of: map[string]config.APICredential{name: {Bearer: "own"}}}}
	}
	for _, row := range []struct {
		c    config.APICredential
		want string
	}{
		{config.APICredential{Bearer: "b"}, "Authorization: Bearer b"},
		{config.APICredential{Header: &config.NamedCredential{Name: "X-Key", Value: "k"}}, "X-Key: k"},
		{config.APICredential{Basic: &config.BasicCredential{User: "u", Password: "p"}}, "Authorization: Basic dTpw"},
		{config.APICredential{Query: &config.NamedCredential{Name: "key", Value: "q"}}, "?a=1&key=q"},
		{config.APICredential{OAuth: &config.OAuthClient{TokenURL: tokens.URL, ID: "id", Secret: "secret", Scopes: []string{"read"}, Params: map[string]string{"audience": "shop"}}}, "Authorization: Bearer id-secret-read-shop"},
		{each("owner", "", "ann"), "Authorization: Bearer own"},
		{each("token", "", "t1"), "Authorization: Bearer own"},
		{each("claim", "login", "annie"), "Authorization: Bearer own"},
		{each("owner", "", "bob"), "permission_denied no_credential"},
	} {
		made, err := app.APICredential(&row.c, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "https://shop.test/x?a=1", nil)
		var got []string
		if err := made.Apply(t.Context(), ann, r); err != nil {
			p := problem.Of(err)
			got = append(got, string(p.Code)+" "+p.Kind)
		}
		for name := range r.Header {
			got = append(got, name+": "+r.Header.Get(name))
		}
		if r.URL.RawQuery != "a=1" {
			got = append(got, "?"+r.URL.RawQuery)
		}
		if s := strings.Join(got, "; "); s != row.want {
			t.Errorf("%+v: %s, want %s", row.c, s, row.want)
		}
	}
}
