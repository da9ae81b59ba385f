package connect_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

const (
	back  = "http://127.0.0.1:9/console/you/accounts/crm/callback"
	other = "http://127.0.0.1:9/console/you/accounts/wiki/callback"
	page  = "https://gate.test/console/you"
)

var (
	ana  = identity.Principal{ID: "token:1", Kind: identity.Human, Owner: "Ana@example.com", Tenant: "acme"}
	ben  = identity.Principal{ID: "token:2", Kind: identity.Human, Owner: "ben@example.com", Tenant: "acme"}
	bot  = identity.Principal{ID: "token:3", Kind: identity.Agent, Owner: "ana@EXAMPLE.com", Tenant: "acme"}
	away = identity.Principal{ID: "token:4", Kind: identity.Human, Owner: "Ana@example.com", Tenant: "globex"}
)

// A house has connections with a real provider and a store.
type house struct {
	*connect.Connections
	accounts map[string]*connect.Account
	store    connect.Store
	provider connect.Provider
	asked    *atomic.Int64 // number of requests to the token URL
	down     *atomic.Bool  // the provider doesn't answer the gateway's requests
	issuer   string        //
	now      *atomic.Int64 // added to the time
	options  connect.Options
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{asked: &atomic.Int64{}, down: &atomic.Bool{}, now: &atomic.Int64{}, issuer: services.OIDC(t, back+" "+other, "acme")}
	to, err := url.Parse(h.issuer)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/oauth/token" {
			h.asked.Add(1)
		}
		if h.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "bailiwick.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h.store = store
	h.provider = connect.Provider{AuthorizeURL: h.issuer + "auth", TokenURL: front.URL + "/oauth/token", RevokeURL: front.URL + "/revoke", ID: "gate", Secret: "secret",
		Scopes: []string{"openid", "offline_access"}}
	h.options = connect.Options{Store: store, Used: store, Key: bytes.Repeat([]byte{1}, 32), Page: func() string { return page },
		Now: func() time.Time { return time.Now().Add(time.Duration(h.now.Load())) }}
	h.open(t, h.options)
	return h
}

// open creates Connections with o, as another process or a restart would.
func (h *house) open(t *testing.T, o connect.Options) {
	t.Helper()
	h.Connections, h.accounts = h.replica(t, o)
}

func (h *house) replica(t *testing.T, o connect.Options) (*connect.Connections, map[string]*connect.Account) {
	t.Helper()
	c, err := connect.New(o)
	if err != nil {
		t.Fatal(err)
	}
	accounts := map[string]*connect.Account{}
	for _, source := range []string{"crm", "wiki"} {
		if accounts[source], err = c.Add(source, h.provider); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(c.Close)
	return c, accounts
}

func visit(who identity.Principal) connect.Visit {
	return connect.Visit{Who: who, Source: "crm", Session: "the session of " + who.ID, Back: back}
}

// begin returns the provider's answer for a person who agrees.
func (h *house) begin(t *testing.T, v connect.Visit) url.Values {
	t.Helper()
	to, err := h.Begin(v)
	if err != nil {
		t.Fatal(err)
	}
	return services.SignIn(t, to)
}

func (h *house) connect(t *testing.T, who identity.Principal) {
	t.Helper()
	if err := h.Finish(t.Context(), visit(who), h.begin(t, visit(who))); err != nil {
		t.Fatal(err, problem.Of(err).Kind, problem.Of(err).Err)
	}
}

// works reports whether the provider accepts an access token.
func (h *house) works(t *testing.T, token string) bool {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", h.issuer+"userinfo", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// refusal returns the text with which a call for a principal is refused, or "" if it isn't refused.
func (h *house) refusal(t *testing.T, source string, who identity.Principal) string {
	t.Helper()
	token, err := h.accounts[source].Token(t.Context(), who)
	if err == nil && !h.works(t, token) {
		t.Error("the provider doesn't take the token")
	}
	if err == nil {
		return ""
	}
	return fmt.Sprint(problem.CodeOf(err), " ", problem.Of(err).Kind)
}

// TestConnect connects an account at a real provider. It checks each part of the answer, and whose account it is.
func TestConnect(t *testing.T) {
	h := newHouse(t)
	to, err := h.Begin(visit(ana))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"code_challenge_method=S256", "code_challenge=", "state=", "redirect_uri=" + url.QueryEscape(back), "scope=openid+offline_access"} {
		if !strings.Contains(to, part) {
			t.Error(part, "is missing in", to)
		}
	}
	answer := services.SignIn(t, to)
	set := func(name, v string) func(*connect.Visit, url.Values) {
		return func(_ *connect.Visit, q url.Values) { q.Set(name, v) }
	}
	for name, spoil := range map[string]func(*connect.Visit, url.Values){
		"another state":     set("state", "x"),
		"a state cut short": func(_ *connect.Visit, q url.Values) { q.Set("state", q.Get("state")[:40]) },
		"a later state": func(_ *connect.Visit, q url.Values) {
			q.Set("state", regexp.MustCompile(`\.\d`).ReplaceAllString(q.Get("state"), ".9"))
		},
		"no state":             func(_ *connect.Visit, q url.Values) { q.Del("state") },
		"two codes":            func(_ *connect.Visit, q url.Values) { q.Add("code", "x") },
		"no code":              func(_ *connect.Visit, q url.Values) { q.Del("code") },
		"another session":      func(v *connect.Visit, _ url.Values) { v.Session = "that of another person" },
		"no session":           func(v *connect.Visit, _ url.Values) { v.Session = "" },
		"another person":       func(v *connect.Visit, _ url.Values) { v.Who = ben },
		"another tenant":       func(v *connect.Visit, _ url.Values) { v.Who = away },
		"another source":       func(v *connect.Visit, _ url.Values) { v.Source = "wiki" },
		"a source that's none": func(v *connect.Visit, _ url.Values) { v.Source = "other" },
		"an agent":             func(v *connect.Visit, _ url.Values) { v.Who = bot },
	} {
		v, q := visit(ana), url.Values{}
		for k, values := range answer {
			q[k] = slices.Clone(values)
		}
		spoil(&v, q)
		if err := h.Finish(t.Context(), v, q); err == nil {
			t.Error(name, "connects")
		}
	}
	h.now.Store(int64(11 * time.Minute))
	if err := h.Finish(t.Context(), visit(ana), answer); problem.Of(err).Kind != "connect_late" {
		t.Error("too late:", err)
	}
	h.now.Store(0)
	if n := h.asked.Load(); n != 0 {
		t.Error(n, "requests to the provider")
	}
	if got := h.refusal(t, "crm", ana); got != "permission_denied not_connected" {
		t.Error(got)
	}
	if err := h.Finish(t.Context(), visit(ana), answer); err != nil {
		t.Fatal(err, problem.Of(err).Err)
	}
	if err := h.Finish(t.Context(), visit(ana), answer); problem.Of(err).Kind != "connect_replayed" {
		t.Error("an answer twice:", err)
	}
	for _, tt := range []struct {
		source string
		who    identity.Principal
		want   string
	}{
		{"crm", ana, ""}, {"crm", bot, ""}, // Ana is the agent's owner
		{"wiki", ana, "permission_denied not_connected"}, {"crm", ben, "permission_denied not_connected"}, {"crm", away, "permission_denied not_connected"},
		{"crm", identity.Principal{ID: "token:9", Kind: identity.Agent, Tenant: "acme"}, "permission_denied no_person"},
	} {
		if got := h.refusal(t, tt.source, tt.who); got != tt.want {
			t.Errorf("%s for %v: %q, want %q", tt.source, tt.who, got, tt.want)
		}
	}
	_, err = h.accounts["crm"].Token(t.Context(), ben)
	if want := "the person you act for has not connected crm: they connect it first, once, at " + page; problem.Of(err).Detail != want {
		t.Error(err)
	}
	list, err := h.List(t.Context(), ana)
	if err != nil || len(list) != 2 || list[0].Source != "crm" || time.Since(list[0].Since) > time.Hour || !list[1].Since.IsZero() || !strings.HasPrefix(list[0].At, "localhost:") {
		t.Error(list, err)
	}
	rows, err := h.store.Connections(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	token, _ := h.accounts["crm"].Token(t.Context(), ana)
	if bytes.Contains(rows[0].Sealed, []byte(token)) || bytes.Contains(rows[0].Sealed, []byte("access")) {
		t.Error("the store has the token in the clear")
	}
}

// TestInjected checks that PKCE refuses the code of one sign-in with the state of another sign-in in the same
// session. It also checks the issuer name of a provider that sends one.
func TestInjected(t *testing.T) {
	h := newHouse(t)
	first, second := h.begin(t, visit(ana)), h.begin(t, visit(ana))
	mixed := url.Values{"code": second["code"], "state": first["state"]}
	if err := h.Finish(t.Context(), visit(ana), mixed); problem.Of(err).Kind != "connect_code_refused" {
		t.Error("an injected code:", err)
	}
	if got := h.refusal(t, "crm", ana); got != "permission_denied not_connected" {
		t.Error(got)
	}
	h.provider.Issuer = "https://honest.example"
	h.open(t, h.options)
	before := h.asked.Load()
	for _, iss := range []string{"https://evil.example", ""} {
		answer := h.begin(t, visit(ana))
		answer.Set("iss", iss)
		if err := h.Finish(t.Context(), visit(ana), answer); problem.Of(err).Kind != "connect_issuer" {
			t.Errorf("the answer of %q: %v", iss, err)
		}
	}
	if h.asked.Load() != before {
		t.Error("the code went to the token URL")
	}
	answer := h.begin(t, visit(ana))
	answer.Set("iss", "https://honest.example")
	if err := h.Finish(t.Context(), visit(ana), answer); err != nil {
		t.Error(err)
	}
	refused := h.begin(t, visit(ana))
	refused.Set("iss", "https://honest.example")
	refused.Set("error", "access_denied")
	if err := h.Finish(t.Context(), visit(ana), refused); problem.Of(err).Kind != "connection_denied" {
		t.Error("a person who doesn't agree:", err)
	}
}

// TestRefresh checks that only one of many callers in two processes refreshes a token, even after a process died
// during a refresh. A token that the API refuses is also refreshed.
func TestRefresh(t *testing.T) {
	h := newHouse(t)
	h.connect(t, ana)
	_, there := h.replica(t, h.options)
	old, err := h.accounts["crm"].Token(t.Context(), ana)
	if err != nil {
		t.Fatal(err)
	}
	h.now.Store(int64(6 * time.Minute)) // the provider's tokens are valid for five minutes
	before := h.asked.Load()
	var all sync.WaitGroup
	var got [20]string
	for i := range got {
		all.Go(func() {
			of := h.accounts["crm"]
			if i%2 == 1 {
				of = there["crm"]
			}
			ctx := t.Context()
			var err error
			if got[i], err = of.Token(ctx, bot); err != nil {
				t.Error(err, problem.Of(err).Err)
			}
		})
	}
	all.Wait()
	if n := h.asked.Load() - before; n != 1 {
		t.Error(n, "requests, want 1")
	}
	for _, token := range got {
		if token == old || token != got[0] || !h.works(t, token) {
			t.Fatal("not the new token")
		}
	}

	r := httptest.NewRequest("GET", "http://crm.test/", nil)
	if err := h.accounts["crm"].Apply(t.Context(), bot, r); err != nil || !h.accounts["crm"].Renew(bot, r) {
		t.Fatal(err)
	}
	again, err := h.accounts["crm"].Token(t.Context(), ana)
	if err != nil || again == got[0] || !h.works(t, again) {
		t.Error("a token that the API refused:", err)
	}

	rows, err := h.store.Connections(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	dead := rows[0]
	dead.Busy, dead.Version = true, dead.Version+1
	if done, err := h.store.SwapConnection(t.Context(), rows[0].Version, dead); err != nil || !done {
		t.Fatal(err)
	}
	h.now.Store(int64(12 * time.Minute))
	o := h.options
	o.Patience = 200 * time.Millisecond
	h.open(t, o)
	if got, err := h.accounts["crm"].Token(t.Context(), ana); err != nil || got == again || !h.works(t, got) {
		t.Error("behind a process that died:", err)
	}

	h.down.Store(true)
	h.now.Store(int64(18 * time.Minute))
	if got := h.refusal(t, "crm", ana); got != "upstream_error token_refused" {
		t.Error("the provider is down:", got)
	}
	h.down.Store(false)
	if got := h.refusal(t, "crm", ana); got != "" {
		t.Error("the provider is back:", got)
	}
}

// TestOver checks that a connection without a refresh token ends when its token has expired or the API refuses it.
// Then agents are refused, the person sees it, and can connect again.
func TestOver(t *testing.T) {
	h := newHouse(t)
	h.provider.Scopes = []string{"openid"}
	h.open(t, h.options)
	h.connect(t, ana)
	over := func() bool {
		t.Helper()
		list, err := h.List(t.Context(), ana)
		if err != nil || list[0].Over != list[0].Since.IsZero() {
			t.Fatal(list, err)
		}
		return list[0].Over
	}
	if got := h.refusal(t, "crm", bot); got != "" || over() {
		t.Error(got)
	}
	h.now.Store(int64(6 * time.Minute))
	if got := h.refusal(t, "crm", bot); got != "permission_denied connection_expired" || !over() {
		t.Error(got, over())
	}
	h.connect(t, ana)
	if got := h.refusal(t, "crm", bot); got != "" || over() {
		t.Error(got)
	}
	r := httptest.NewRequest("GET", "http://crm.test/", nil)
	if err := h.accounts["crm"].Apply(t.Context(), bot, r); err != nil || !h.accounts["crm"].Renew(bot, r) || !over() {
		t.Error("a token that the API refused:", err)
	}
}

// TestEnds checks that a connection can be ended by its person, by an operator who removes the person, and by the
// provider. Then the refresh token is no longer valid.
func TestEnds(t *testing.T) {
	h := newHouse(t)
	ends := map[string]func() error{
		"by the person": func() error { return h.End(t.Context(), ana, "crm") },
		"by removal": func() error {
			if err := h.store.(*sqlite.Store).EndConnections(t.Context(), ana.Person(), ana.Tenant); err != nil {
				return err
			}
			if got := h.refusal(t, "crm", bot); got != "permission_denied not_connected" {
				t.Error("before the sweep:", got)
			}
			h.down.Store(true)
			if err := h.Sweep(t.Context()); err != nil {
				return err
			}
			if rows, err := h.store.Connections(t.Context()); err != nil || len(rows) != 1 {
				t.Error("given up while the provider doesn't answer:", rows, err)
			}
			h.down.Store(false)
			return h.Sweep(t.Context())
		},
	}
	for name, end := range ends {
		h.connect(t, ana)
		rows, err := h.store.Connections(t.Context())
		if err != nil || len(rows) != 1 {
			t.Fatal(name, rows, err)
		}
		token, err := h.accounts["crm"].Token(t.Context(), ana)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := end(); err != nil {
			t.Fatal(name, err)
		}
		if got := h.refusal(t, "crm", bot); got != "permission_denied not_connected" {
			t.Errorf("%s: %q", name, got)
		}
		if h.works(t, token) {
			t.Error(name, "the provider still takes the token")
		}
		if left, err := h.store.Connections(t.Context()); err != nil || len(left) != 0 {
			t.Error(name, left, err)
		}
		if done, err := h.store.SwapConnection(t.Context(), 0, rows[0]); err != nil || !done { // a copy from before
			t.Fatal(name, done, err)
		}
		h.now.Store(int64(6 * time.Minute))
		if got := h.refusal(t, "crm", bot); got != "permission_denied connection_revoked" {
			t.Errorf("%s: the provider refreshes: %q", name, got)
		}
		h.now.Store(0)
		if left, err := h.store.Connections(t.Context()); err != nil || len(left) != 0 {
			t.Error(name, "what the provider has revoked stays:", left, err)
		}
	}
	if err := h.End(t.Context(), ben, "crm"); err != nil {
		t.Error("nothing to end:", err)
	}
}

// TestKeys checks that keys can be replaced, and that a sealed text can be opened only for its own person, source,
// provider and key.
func TestKeys(t *testing.T) {
	h := newHouse(t)
	h.connect(t, ana)
	rotated := h.options
	rotated.Key, rotated.Previous = bytes.Repeat([]byte{2}, 32), h.options.Key
	h.open(t, rotated)
	if got := h.refusal(t, "crm", ana); got != "" {
		t.Error("with the key before:", got)
	}
	if err := h.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	rotated.Previous = nil
	h.open(t, rotated)
	if got := h.refusal(t, "crm", ana); got != "" {
		t.Error("sealed again:", got)
	}
	rows, err := h.store.Connections(t.Context())
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for name, k := range map[string]connect.Key{"ben": {Source: "crm", Tenant: "acme", Person: ben.Person()}, "globex": {Source: "crm", Tenant: "globex", Person: ana.Person()},
		"wiki": {Source: "wiki", Tenant: "acme", Person: ana.Person()}} {
		copied := rows[0]
		copied.Key = k
		if done, err := h.store.SwapConnection(t.Context(), 0, copied); err != nil || !done {
			t.Fatal(name, err)
		}
		who := identity.Principal{Kind: identity.Agent, Owner: k.Person, Tenant: k.Tenant}
		if got := h.refusal(t, k.Source, who); got != "permission_denied connection_sealed" {
			t.Errorf("copied to %s: %q", name, got)
		}
	}
	h.open(t, h.options)
	if got := h.refusal(t, "crm", ana); got != "permission_denied connection_sealed" {
		t.Errorf("with the old key alone: %q", got)
	}
	h.provider.TokenURL = strings.Replace(h.provider.TokenURL, "127.0.0.1", "localhost", 1)
	h.provider.RevokeURL = ""
	h.open(t, rotated)
	if got := h.refusal(t, "crm", ana); got != "permission_denied connection_sealed" {
		t.Errorf("at another provider: %q", got)
	}
	for _, key := range [][]byte{nil, {1, 2}} {
		o := h.options
		o.Key = key
		if _, err := connect.New(o); err == nil {
			t.Errorf("a key of %d bytes", len(key))
		}
	}
}

// TestExchange exchanges the token of each person for another token, which no other person gets.
func TestExchange(t *testing.T) {
	h := newHouse(t)
	h.connect(t, ana)
	e, err := client.NewTokenExchange(client.OAuthClientOptions{TokenURL: h.provider.TokenURL, ID: "gate", Secret: "secret", Scopes: []string{"openid"}},
		func(ctx context.Context, who identity.Principal) (string, string, error) {
			token, err := h.accounts["crm"].Token(ctx, who)
			return token, "", err
		})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := h.asked.Load()
	sent := map[string]bool{}
	for range 3 {
		r := httptest.NewRequest("GET", "http://crm.test/", nil)
		if err := e.Apply(t.Context(), bot, r); err != nil {
			t.Fatal(err, problem.Of(err).Err)
		}
		sent[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")] = true
	}
	own, _ := h.accounts["crm"].Token(t.Context(), ana)
	if len(sent) != 1 || sent[own] || h.asked.Load() != before+1 {
		t.Error(len(sent), "tokens by", h.asked.Load()-before, "requests")
	}
	for token := range sent {
		if !h.works(t, token) {
			t.Error("the provider doesn't take what it exchanged")
		}
	}
	r := httptest.NewRequest("GET", "http://crm.test/", nil)
	if err := e.Apply(t.Context(), ben, r); problem.Of(err).Kind != "not_connected" || r.Header.Get("Authorization") != "" {
		t.Error("of another person:", err, r.Header)
	}
}
