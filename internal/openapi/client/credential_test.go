package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

func claim(v value.Value) identity.Principal {
	return identity.Principal{Claims: value.OfObject([]value.Member{{Name: "sub", Value: v}})}
}

// TestApply checks which values each credential adds to a request for each principal, and which principals are refused.
func TestApply(t *testing.T) {
	of := map[string]client.Credential{"ana": client.BearerHeader("a"), "7": client.HeaderCredential{Name: "X-Key", Value: "s"}, "": client.BearerHeader("of nobody")}
	per := func(by client.PerMember) client.Credential {
		return client.PerPrincipal{By: by, Claim: "sub", Of: of}
	}
	exchange := func(token string, err error) client.Credential {
		return client.ExchangeFunc(func(context.Context, identity.Principal) (string, error) { return token, err })
	}
	none := "permission_denied: you have no credential for this API"
	for name, tt := range map[string]struct {
		c    client.Credential
		who  identity.Principal
		want string // the query and headers, or the error
	}{
		"bearer":                {client.BearerHeader("s"), identity.Principal{}, "q=1 Authorization: Bearer s"},
		"basic":                 {client.BasicCredential{User: "u", Password: "p:w"}, identity.Principal{}, "q=1 Authorization: Basic dTpwOnc="},
		"query":                 {client.QueryCredential{Name: "a b", Value: "x y"}, identity.Principal{}, "q=1&a+b=x+y "},
		"query over another":    {client.QueryCredential{Name: "q", Value: "2"}, identity.Principal{}, "q=2 "},
		"empty header":          {client.HeaderCredential{Name: "X"}, identity.Principal{}, "internal_error: Internal error"},
		"empty basic":           {client.BasicCredential{}, identity.Principal{}, "internal_error: Internal error"},
		"empty query":           {client.QueryCredential{Name: "q"}, identity.Principal{}, "internal_error: Internal error"},
		"no exchange":           {client.ExchangeFunc(nil), identity.Principal{}, "internal_error: Internal error"},
		"owner":                 {per(client.ByOwner), identity.Principal{Owner: "ana"}, "q=1 Authorization: Bearer a"},
		"token":                 {per(client.ByToken), identity.Principal{TokenID: "7", Owner: "ana"}, "q=1 X-Key: s"},
		"claim":                 {per(client.ByClaim), claim(value.OfString("ana")), "q=1 Authorization: Bearer a"},
		"claim, a number":       {per(client.ByClaim), claim(value.OfInt(7)), "q=1 X-Key: s"},
		"another owner":         {per(client.ByOwner), identity.Principal{Owner: "eve", TokenID: "7"}, none},
		"no owner":              {per(client.ByOwner), identity.Principal{}, none},
		"no claims":             {per(client.ByClaim), identity.Principal{Owner: "ana"}, none},
		"claim, an object":      {per(client.ByClaim), claim(value.OfObject(nil)), none},
		"claim, empty":          {per(client.ByClaim), claim(value.OfString("")), none},
		"by nothing":            {per(""), identity.Principal{Owner: "ana"}, none},
		"exchanged":             {exchange("t", nil), identity.Principal{}, "q=1 Authorization: Bearer t"},
		"exchanged nothing":     {exchange("", nil), identity.Principal{}, "internal_error: Internal error"},
		"exchange refuses":      {exchange("", problem.New(problem.PermissionDenied, "sign in first")), identity.Principal{}, "permission_denied: sign in first"},
		"exchange out of order": {exchange("", errors.New("dial tcp 10.0.0.1")), identity.Principal{}, "upstream_error: the gateway can't sign in to the API for now"},
	} {
		r := httptest.NewRequest("GET", "http://api.test/a?q=1", nil)
		err := tt.c.Apply(t.Context(), tt.who, r)
		got := fmt.Sprint(err)
		if err == nil {
			got = r.URL.RawQuery + " "
			for name, v := range r.Header {
				got += name + ": " + strings.Join(v, ",")
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A tokens is a token server that counts the tokens it has issued.
type tokens struct {
	*httptest.Server
	n    atomic.Int64
	mu   sync.Mutex
	got  []string
	says func(w http.ResponseWriter, n int64)
}

func serve(t *testing.T, says func(w http.ResponseWriter, n int64)) *tokens {
	s := &tokens{says: says}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		s.mu.Lock()
		s.got = append(s.got, fmt.Sprint(r.Method, " ", r.URL, " ", user, ":", password, " ", string(body)))
		s.mu.Unlock()
		s.says(w, s.n.Add(1))
	}))
	t.Cleanup(s.Close)
	return s
}

func gives(life int) func(http.ResponseWriter, int64) {
	return func(w http.ResponseWriter, n int64) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"t%d","token_type":"Bearer","expires_in":%d}`, n, life)
	}
}

func testClient(t *testing.T, o client.OAuthClientOptions) *client.OAuthClient {
	t.Helper()
	o.ID, o.Secret = "me", "swordfish"
	c, err := client.NewOAuthClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func apply(t *testing.T, c client.Credential) (*http.Request, string) {
	t.Helper()
	r := httptest.NewRequest("GET", "http://api.test/a", nil)
	if err := c.Apply(t.Context(), identity.Principal{}, r); err != nil {
		t.Error(err)
	}
	return r, r.Header.Get("Authorization")
}

// TestClient checks that a token is shared. If several requests with it are refused, it is renewed once.
func TestClient(t *testing.T) {
	s := serve(t, gives(3600))
	c := testClient(t, client.OAuthClientOptions{TokenURL: s.URL + "/token", Scopes: []string{"a", "b"}, Params: url.Values{"audience": {"x"}}})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, got := apply(t, c); got != "Bearer t1" {
				t.Error(got)
			}
		})
	}
	all.Wait()
	if d := cmp.Diff([]string{"POST /token me:swordfish audience=x&grant_type=client_credentials&scope=a+b"}, s.got); d != "" {
		t.Error(d)
	}
	first, _ := apply(t, c)
	for range 2 { // the second comes late, when t2 already exists
		if !c.Renew(identity.Principal{}, first) {
			t.Error("not renewed")
		}
		if _, got := apply(t, c); got != "Bearer t2" {
			t.Error(got)
		}
	}
}

// TestClientEnd checks that a token that expires soon is replaced, and that a token without an expiry is kept.
func TestClientEnd(t *testing.T) {
	for life, want := range map[int]string{1: "Bearer t2", 0: "Bearer t1", 3600: "Bearer t1"} {
		s := serve(t, gives(life))
		c := testClient(t, client.OAuthClientOptions{TokenURL: s.URL})
		apply(t, c)
		if life == 1 {
			time.Sleep(time.Second)
		}
		if _, got := apply(t, c); got != want {
			t.Errorf("%d: %s", life, got)
		}
	}
}

// TestClientRefused checks the error and the log if the token URL gives no token.
func TestClientRefused(t *testing.T) {
	elsewhere := serve(t, gives(3600))
	told := "upstream_error: the gateway can't sign in to the API for now"
	for name, tt := range map[string]struct {
		says func(http.ResponseWriter, int64)
		log  string
	}{
		"status": {func(w http.ResponseWriter, _ int64) {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"error":"swordfish","error_description":"swordfish"}`)
		}, "the token URL answered 401"},
		"no token": {func(w http.ResponseWriter, _ int64) { fmt.Fprint(w, "{}") }, "the answer of the token URL has no token"},
		"no JSON": {func(w http.ResponseWriter, _ int64) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "swordfish")
		}, "the answer of the token URL has no token"},
		"redirects": {func(w http.ResponseWriter, _ int64) { w.Header().Set("Location", elsewhere.URL); w.WriteHeader(307) }, "the token URL answered 307"},
	} {
		s := serve(t, tt.says)
		err := testClient(t, client.OAuthClientOptions{TokenURL: s.URL}).Apply(t.Context(), identity.Principal{}, httptest.NewRequest("GET", "/", nil))
		if p := problem.Of(err); p == nil || p.Error() != told || p.Err.Error() != tt.log {
			t.Errorf("%s: %v: %v", name, err, errors.Unwrap(err))
		}
	}
	if elsewhere.n.Load() > 0 {
		t.Error("the secret went elsewhere")
	}
	for u, want := range map[string]string{
		"https://u:swordfish@a": "the token URL holds a name or a password. Give these as a credential", "ftp://a": "the token URL must begin with https:// or http://",
	} {
		if _, err := client.NewOAuthClient(client.OAuthClientOptions{TokenURL: u, ID: "a", Secret: "b"}); fmt.Sprint(err) != want {
			t.Errorf("%s: %v", u, err)
		}
	}
	if _, err := client.NewOAuthClient(client.OAuthClientOptions{TokenURL: "https://127.0.0.1", ID: "a"}); fmt.Sprint(err) != "client credentials have an id and a secret" {
		t.Error(err)
	}
}

// TestClientWaits checks that a caller that waits for another caller's token request stops when its own call ends.
func TestClientWaits(t *testing.T) {
	asked, end := make(chan bool, 1), make(chan bool)
	s := serve(t, func(w http.ResponseWriter, n int64) { asked <- true; <-end; gives(60)(w, n) })
	c := testClient(t, client.OAuthClientOptions{TokenURL: s.URL})
	var all sync.WaitGroup
	all.Go(func() { apply(t, c) })
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Apply(ctx, identity.Principal{}, httptest.NewRequest("GET", "/", nil)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(end)
	all.Wait()
	if s.n.Load() != 1 {
		t.Error(s.n.Load())
	}
}
