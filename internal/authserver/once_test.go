package authserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// A stubborn is a store that fails to write tickets: before the write if fails is set, and after it if late is set.
type stubborn struct {
	identity.TokenStore
	fails, late atomic.Bool
}

var errDisk = errors.New("the disk is full")

func (s *stubborn) AddTicket(ctx context.Context, k identity.Ticket) error {
	if s.fails.Load() {
		return errDisk
	}
	return s.TokenStore.AddTicket(ctx, k)
}

func (s *stubborn) ExchangeTicket(ctx context.Context, id string, next []identity.Ticket) (bool, error) {
	if s.fails.Load() {
		return false, errDisk
	}
	ok, err := s.TokenStore.ExchangeTicket(ctx, id, next)
	if s.late.Load() {
		return false, errDisk
	}
	return ok, err
}

// A booth is a deal with one store, an adjustable clock, and a limit on its requests.
type booth struct {
	*deal
	store *stubborn
	late  atomic.Int64 // how far its clock is ahead, in nanoseconds
	busy  atomic.Bool
	base  atomic.Value
	calls *identity.Tokens
	mux   *http.ServeMux
}

// overStores runs a test over each store.
func overStores(t *testing.T, test func(t *testing.T, b *booth)) {
	t.Run("sqlite", func(t *testing.T) {
		s, err := sqlite.Open(t.Context(), sqlite.Memory)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		test(t, newBooth(t, s, s))
	})
	t.Run("postgres", func(t *testing.T) {
		s, err := postgres.Open(t.Context(), services.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		test(t, newBooth(t, s, s))
	})
}

func newBooth(t *testing.T, store identity.TokenStore, log audit.Log) *booth {
	t.Helper()
	b := &booth{store: &stubborn{TokenStore: store}, mux: http.NewServeMux()}
	now := func() time.Time { return time.Now().Add(time.Duration(b.late.Load())) }
	o := identity.TokenOptions{Store: b.store, Audit: log, Now: now}
	b.deal, b.calls = dealOver(t, o), identity.NewTokens(o)
	b.base.Store("https://gate.example")
	b.server.Base = func(*http.Request) string { return b.base.Load().(string) }
	b.server.Admit = func(context.Context, identity.Principal, string) error {
		if b.busy.Load() {
			return problem.New(problem.RateLimited, "too many")
		}
		return nil
	}
	b.server.Mount(b.mux)
	return b
}

// code returns a request that redeems a new code for read and write.
func (b *booth) code() url.Values {
	b.t.Helper()
	asking, err := b.ask()
	if err != nil {
		b.t.Fatal(err)
	}
	asking.May = []identity.Scope{identity.Read, identity.Write}
	back, err := b.server.Grant(b.t.Context(), b.who, asking, asking.May)
	if err != nil {
		b.t.Fatal(err)
	}
	to, _ := url.Parse(back)
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {b.id()}, "code": {to.Query().Get("code")}, "redirect_uri": {"https://planner.example/landing"}, "code_verifier": {verifier}}
}

func (b *booth) post(f url.Values) (int, map[string]any) {
	r := httptest.NewRequestWithContext(b.t.Context(), "POST", "/oauth/token", strings.NewReader(f.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	b.mux.ServeHTTP(w, r)
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		b.t.Error(w.Code, err)
	}
	return w.Code, out
}

// good returns the answer to a request that succeeds.
func (b *booth) good(f url.Values) map[string]any {
	b.t.Helper()
	status, out := b.post(f)
	if status != 200 {
		b.t.Fatal(status, out)
	}
	return out
}

// refresh returns a request that uses the refresh token in an answer.
func (b *booth) refresh(out map[string]any, more ...string) url.Values {
	f := url.Values{"grant_type": {"refresh_token"}, "client_id": {b.id()}, "refresh_token": {fmt.Sprint(out["refresh_token"])}}
	for i := 0; i < len(more); i += 2 {
		f.Set(more[i], more[i+1])
	}
	return f
}

// scopes returns the scopes of an access token, or "" if the token is invalid.
func (b *booth) scopes(out map[string]any) string {
	p, err := b.calls.Authenticate(b.t.Context(), fmt.Sprint(out["access_token"]), netip.Addr{})
	if err != nil {
		return ""
	}
	if p, err = b.calls.Refresh(b.t.Context(), p); err != nil { // a long call does the same
		return ""
	}
	return strings.Join(p.ScopeNames(), " ")
}

// TestSpentLast makes requests that are refused, for each reason. Then it makes the right request, which succeeds
// because nothing was used up.
func TestSpentLast(t *testing.T) {
	overStores(t, func(t *testing.T, b *booth) {
		other := func(name, value string) func(url.Values) func() {
			return func(f url.Values) func() {
				was := f[name]
				f.Set(name, value)
				return func() {
					if f.Del(name); was != nil {
						f[name] = was
					}
				}
			}
		}
		set := func(flag *atomic.Bool) func(url.Values) func() {
			return func(url.Values) func() { flag.Store(true); return func() { flag.Store(false) } }
		}
		for name, tt := range map[string]struct {
			spoil func(url.Values) func()
			code  string // the error for a code, or ""
			renew string
		}{
			"too many requests":  {set(&b.busy), "temporarily_unavailable", "temporarily_unavailable"},
			"a store that fails": {set(&b.store.fails), "temporarily_unavailable", "temporarily_unavailable"},
			"a wide scope":       {other("scope", "read delete"), "", "invalid_scope"},
			"an unknown scope":   {other("scope", "root"), "", "invalid_scope"},
			"another client":     {other("client_id", "https://planner.example/other"), "invalid_grant", "invalid_grant"},
			"no client":          {other("client_id", ""), "invalid_client", "invalid_client"},
			"another verifier":   {other("code_verifier", "x"+verifier), "invalid_grant", ""},
			"no verifier":        {other("code_verifier", ""), "invalid_grant", ""},
			"another redirect":   {other("redirect_uri", "https://planner.example/other"), "invalid_grant", ""},
			"another resource":   {other("resource", "https://other.example/mcp"), "invalid_target", "invalid_target"},
			"another issuer": {func(url.Values) func() {
				b.base.Store("https://other.example")
				return func() { b.base.Store("https://gate.example") }
			}, "invalid_grant", ""},
		} {
			f := b.code()
			refused := func(f url.Values, want string) {
				t.Helper()
				if want == "" {
					return
				}
				mend := tt.spoil(f)
				if status, out := b.post(f); status == 200 || out["error"] != want || out["access_token"] != nil {
					t.Errorf("%s, %s: %d %v", name, f.Get("grant_type"), status, out)
				}
				mend()
			}
			refused(f, tt.code)
			status, out := b.post(f)
			if status != 200 {
				t.Errorf("%s, a code: %d %v", name, status, out)
				continue
			}
			f = b.refresh(out)
			refused(f, tt.renew)
			if status, out := b.post(f); status != 200 || b.scopes(out) != "read write" {
				t.Errorf("%s, a refresh token: %d %v", name, status, out)
			}
		}
	})
}

// TestRepeatedRefresh repeats a refresh immediately, in many requests, and too late.
func TestRepeatedRefresh(t *testing.T) {
	overStores(t, func(t *testing.T, b *booth) {
		first := b.good(b.code())
		var wg sync.WaitGroup
		answers := make([]string, 12)
		for n := range answers {
			wg.Go(func() {
				status, out := b.post(b.refresh(first))
				answers[n] = fmt.Sprint(status, out)
			})
		}
		wg.Wait()
		second := b.good(b.refresh(first))
		for _, a := range answers {
			if a != fmt.Sprint(200, second) {
				t.Errorf("%s, want %v", a, second)
			}
		}
		for name, tt := range map[string]struct {
			f    url.Values
			want string
		}{
			"another client": {b.refresh(first, "client_id", "https://planner.example/other"), "invalid_grant"},
			"a wide scope":   {b.refresh(first, "scope", "read delete"), "invalid_scope"},
			"fewer scopes":   {b.refresh(first, "scope", "read"), "invalid_scope"},
		} {
			if status, out := b.post(tt.f); status != 400 || out["error"] != tt.want || out["access_token"] != nil {
				t.Errorf("a repetition with %s: %d %v", name, status, out)
			}
		}
		b.busy.Store(true)
		if status, out := b.post(b.refresh(first)); status != 503 {
			t.Error("a repetition that is too many:", status, out)
		}
		b.busy.Store(false)
		b.late.Add(int64(identity.Repeat - time.Second)) // it was created a moment ago
		if got := b.good(b.refresh(first)); got["refresh_token"] != second["refresh_token"] {
			t.Error("a late repetition:", got)
		}
		third := b.good(b.refresh(second))
		b.late.Add(int64(time.Second))
		if status, out := b.post(b.refresh(first)); status != 400 || out["error"] != "invalid_grant" {
			t.Error("used again:", status, out)
		}
		for _, out := range []map[string]any{first, second, third} {
			if got := b.scopes(out); got != "" {
				t.Error("after a refresh token was used again, its access token has", got)
			}
		}
		if status, out := b.post(b.refresh(third)); status != 400 {
			t.Error("after a refresh token was used again:", status, out)
		}
	})
}

// TestRevokedRepetition checks that an answer is not repeated when the grant has ended.
func TestRevokedRepetition(t *testing.T) {
	overStores(t, func(t *testing.T, b *booth) {
		first := b.good(b.code())
		second := b.good(b.refresh(first))
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/oauth/revoke", strings.NewReader(url.Values{"client_id": {b.id()}, "token": {fmt.Sprint(second["refresh_token"])}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		b.mux.ServeHTTP(httptest.NewRecorder(), r)
		if status, out := b.post(b.refresh(first)); status != 400 || out["error"] != "invalid_grant" {
			t.Error(status, out)
		}
	})
}

// TestCodeOnce sends a code in many requests at once. At most one request gets tokens, and the grant ends.
func TestCodeOnce(t *testing.T) {
	overStores(t, func(t *testing.T, b *booth) {
		f := b.code()
		var wg sync.WaitGroup
		var good sync.Map
		for n := range 8 {
			wg.Go(func() {
				if status, out := b.post(f); status == 200 {
					good.Store(n, out)
				}
			})
		}
		wg.Wait()
		many := 0
		good.Range(func(_, out any) bool {
			many++
			if got := b.scopes(out.(map[string]any)); got != "" {
				t.Error("a code was used twice, and an access token has", got)
			}
			return true
		})
		if many > 1 {
			t.Error(many, "requests got tokens for one code")
		}
	})
}

// TestNarrowed checks the access token and the refresh token of a request for fewer scopes.
func TestNarrowed(t *testing.T) {
	overStores(t, func(t *testing.T, b *booth) {
		out := b.good(b.code())
		for _, tt := range [][2]string{{"read", "read"}, {"", "read write"}, {"write offline_access", "write"}, {"write read read", "read write"}, {"offline_access", "read write"}} {
			f := b.refresh(out)
			if tt[0] != "" {
				f.Set("scope", tt[0])
			}
			out = b.good(f)
			if got := b.scopes(out); got != tt[1] || out["scope"] != tt[1] {
				t.Errorf("scope %q: the token has %q, the answer says %v", tt[0], got, out["scope"])
			}
			if again := b.good(f); again["access_token"] != out["access_token"] {
				t.Errorf("scope %q, repeated: %v", tt[0], again)
			}
		}
	})
}

// TestLateFailure makes the store fail after it has exchanged a code and a refresh token. The client still gets the
// new tokens.
func TestLateFailure(t *testing.T) {
	overStores(t, func(t *testing.T, b *booth) {
		b.store.late.Store(true)
		out := b.good(b.refresh(b.good(b.code())))
		if got := b.scopes(out); got != "read write" {
			t.Error(got)
		}
	})
}
