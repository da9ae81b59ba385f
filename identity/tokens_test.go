package identity_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

var (
	noon     = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	nowhere  netip.Addr
	inside   = netip.MustParseAddr("192.0.2.7")
	operator = identity.Local("root")
)

// A counted is a store that counts calls, and fails on demand.
type counted struct {
	identity.TokenStore
	finds, touches atomic.Int64
	broken         atomic.Bool

	add   func() error                // called before a token is added. It may be nil
	find  func(*identity.Token) error // changes the token found. It may be nil
	list  func([]identity.Token)      // changes the tokens listed. It may be nil
	touch func()                      // called before uses are stored. It may be nil
	leave func(person, tenant string) // called before connections end. It may be nil
}

var errDisk = errors.New("disk on fire")

func (c *counted) LatestTokenVersion(ctx context.Context) (int64, error) { return c.TokenVersion(ctx) }

func (c *counted) TokenVersion(ctx context.Context) (int64, error) {
	if c.broken.Load() {
		return 0, errDisk
	}
	version, err := c.TokenStore.TokenVersion(ctx)
	if c.find != nil {
		version = -version // the store differs now
	}
	return version, err
}

func (c *counted) AddToken(ctx context.Context, t identity.Token, r audit.Record) error {
	if c.add != nil {
		if err := c.add(); err != nil {
			return err
		}
	}
	return c.TokenStore.AddToken(ctx, t, r)
}

func (c *counted) TokenByPrefix(ctx context.Context, prefix string) (identity.Token, error) {
	c.finds.Add(1)
	token, err := c.TokenStore.TokenByPrefix(ctx, prefix)
	if c.find != nil && err == nil {
		err = c.find(&token)
	}
	return token, err
}

func (c *counted) FindTokens(ctx context.Context, f identity.TokenFilter) ([]identity.Token, error) {
	all, err := c.TokenStore.FindTokens(ctx, f)
	if c.list != nil {
		c.list(all)
	}
	return all, err
}

func (c *counted) TouchTokens(ctx context.Context, used map[string]time.Time) error {
	c.touches.Add(1)
	if c.touch != nil {
		c.touch()
	}
	if c.broken.Load() {
		return errDisk
	}
	return c.TokenStore.TouchTokens(ctx, used)
}

func (c *counted) EndConnections(ctx context.Context, person, tenant string) error {
	if c.leave != nil {
		c.leave(person, tenant)
	}
	return c.TokenStore.EndConnections(ctx, person, tenant)
}

// A room is Tokens over a real store, with a clock that the test controls.
type room struct {
	*identity.Tokens
	store *counted
	log   *audit.Memory
	now   atomic.Int64
	t     testing.TB
}

func newRoom(t testing.TB, o identity.TokenOptions) *room {
	s, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	r := &room{store: &counted{TokenStore: s}, log: &audit.Memory{}, t: t}
	r.now.Store(noon.UnixMicro())
	o.Store, o.Audit, o.Now = r.store, r.log, func() time.Time { return time.UnixMicro(r.now.Load()).UTC() }
	r.Tokens = identity.NewTokens(o)
	t.Cleanup(func() { s.Close() })
	return r
}

func (r *room) create(want identity.Token) (identity.Token, string) {
	r.t.Helper()
	if want.Name == "" {
		want.Name = "bot"
	}
	token, secret, err := r.Create(r.t.Context(), operator, want)
	if err != nil {
		r.t.Fatal(err)
	}
	return token, secret
}

func TestAuthenticate(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	token, secret := r.create(identity.Token{Name: "triage bot", Owner: "ana", Tenant: "acme",
		Scopes:  []identity.Scope{identity.Write, identity.Read, identity.Read},
		Tools:   identity.List{Only: []string{"query_class"}},
		Classes: identity.List{Only: []string{}},
		Filters: map[string]string{"default": `{"org_id": 9007199254740993}`, "issues": `{"region": {"$in": {"$cel": "principal.claims.regions"}}}`}})
	if !strings.HasPrefix(secret, "bw_") || len(secret) != 46 || token.Expires.Sub(noon) != 90*24*time.Hour {
		t.Errorf("%q expires %v", secret, token.Expires)
	}
	for range 2 { // from the store, then from the cache
		got, err := r.Authenticate(t.Context(), secret, nowhere)
		if err != nil {
			t.Fatal(err)
		}
		want := identity.Principal{ID: "token:" + token.ID, Name: "triage bot", Kind: identity.Agent, Owner: "ana", Tenant: "acme",
			Scopes: []identity.Scope{identity.Read, identity.Write}, TokenID: token.ID,
			Tools: identity.List{Only: []string{"query_class"}}, Classes: identity.List{Only: []string{}},
			Filters: got.Filters}
		if diff := cmp.Diff(fmt.Sprintf("%#v", want), fmt.Sprintf("%#v", got)); diff != "" {
			t.Error(diff)
		}
		if got.Classes.Allows("tracker.issues") {
			t.Error("an empty list of classes allows one")
		}
		f, ok := got.Filters["default"].(query.Compare)
		if !ok || f.Value.Kind() != value.Int || f.Value.Int() != 9007199254740993 {
			t.Errorf("filter %#v", got.Filters["default"])
		}
		if d, ok := got.Filters["issues"].(query.Deferred); !ok || d.CEL != "principal.claims.regions" || !d.List {
			t.Errorf("filter %#v", got.Filters["issues"])
		}
	}
	if n := r.store.finds.Load(); n != 1 {
		t.Errorf("two calls read the store %d times", n)
	}
}

// TestRefusals checks that every reason has its kind for the audit, and that all refusals look the same.
func TestRefusals(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	_, good := r.create(identity.Token{})
	revoked, revokedSecret := r.create(identity.Token{})
	if err := r.Revoke(t.Context(), operator, revoked.ID); err != nil {
		t.Fatal(err)
	}
	_, short := r.create(identity.Token{Expires: noon.Add(time.Minute)})
	_, bound := r.create(identity.Token{IPs: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	invalid := func(n byte, edit func(*identity.Token)) string { // as written directly to the store
		secret := "bw_" + base64.RawURLEncoding.EncodeToString(append([]byte{n}, make([]byte, 31)...))
		token := identity.Token{ID: fmt.Sprint(n), Prefix: secret[3:11], Hash: sha256.Sum256([]byte(secret)), Name: "x",
			Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}, Created: noon, Expires: noon.Add(identity.TokenLife)}
		edit(&token)
		if err := r.store.AddToken(t.Context(), token, audit.Record{Step: "token:" + token.ID + ":created"}); err != nil {
			t.Fatal(err)
		}
		return secret
	}
	r.now.Add(time.Hour.Microseconds())
	tests := []struct {
		name, credential string
		from             netip.Addr
		kind             string
	}{
		{"none", "", inside, "no_credential"},
		{"another scheme", "Bearer " + good, inside, "token_malformed"},
		{"cut", good[:45], inside, "token_malformed"},
		{"longer", good + "A", inside, "token_malformed"},
		{"a newline behind it", good + "\n", inside, "token_malformed"},
		{"a newline in it", good[:20] + "\n" + good[21:], inside, "token_malformed"},
		{"no start", good[3:], inside, "token_malformed"},
		{"newlines for bytes", "bw_" + strings.Repeat("A", 42) + "\n", inside, "token_malformed"},
		{"upper case start", "BW_" + good[3:], inside, "token_malformed"},
		{"wrong alphabet", good[:20] + "+" + good[21:], inside, "token_malformed"},
		{"bits beyond the last byte", good[:45] + "_", inside, "token_malformed"},
		{"megabytes", "bw_" + strings.Repeat("A", 1<<21), inside, "token_malformed"},
		{"unknown", "bw_" + strings.Repeat("A", 43), inside, "token_unknown"},
		{"the right prefix only", good[:11] + strings.Repeat("A", 35), inside, "token_unknown"},
		{"revoked", revokedSecret, inside, "token_revoked"},
		{"expired", short, inside, "token_expired"},
		{"another address", bound, netip.MustParseAddr("198.51.100.1"), "token_address"},
		{"no address", bound, nowhere, "token_address"},
		{"a person's record in the store", invalid(5, func(k *identity.Token) { k.Use = identity.UsePerson }), inside, "token_unknown"},
		{"claims that can't be read in the store", invalid(6, func(k *identity.Token) { k.Claims = "{" }), inside, "token_invalid"},
		{"well formed in the store", invalid(9, func(*identity.Token) {}), inside, ""},
		{"an agent with review in the store", invalid(1, func(k *identity.Token) { k.Scopes = []identity.Scope{"review"} }), inside, "token_invalid"},
		{"an unknown scope in the store", invalid(2, func(k *identity.Token) { k.Scopes = []identity.Scope{"root"} }), inside, "token_invalid"},
		{"a filter that can't be read in the store", invalid(3, func(k *identity.Token) { k.Filters = map[string]string{"default": `{"$or":[]}`} }), inside, "token_invalid"},
		{"an empty filter in the store", invalid(4, func(k *identity.Token) { k.Filters = map[string]string{"default": `{}`} }), inside, "token_invalid"},
	}
	visible := func(err error) string {
		p := *problem.Of(err)
		p.Kind, p.Err = "", nil
		return fmt.Sprintf("%+v", p)
	}
	first := ""
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Authenticate(t.Context(), tt.credential, tt.from)
			if tt.kind == "" && err == nil {
				return
			}
			if p := problem.Of(err); p == nil || p.Code != problem.Unauthorized || p.Kind != tt.kind {
				t.Fatalf("%#v, want %s", p, tt.kind)
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", identity.Principal{}) {
				t.Error("a refusal comes with a principal")
			}
			if first == "" {
				first = visible(err)
			}
			if visible(err) != first {
				t.Errorf("it looks different:\n%s\n%s", visible(err), first)
			}
		})
	}
	for _, from := range []string{"192.0.2.7", "::ffff:192.0.2.7"} {
		if _, err := r.Authenticate(t.Context(), bound, netip.MustParseAddr(from)); err != nil {
			t.Error(from, err)
		}
	}
}

func TestRevocation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	rooms := make([]*identity.Tokens, 2)
	for i := range rooms {
		s, err := sqlite.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		rooms[i] = identity.NewTokens(identity.TokenOptions{Store: s, Audit: s})
		defer rooms[i].Close(t.Context())
	}
	token, secret, err := rooms[0].Create(t.Context(), operator, identity.Token{Name: "bot"})
	if err != nil {
		t.Fatal(err)
	}
	ok := func(room *identity.Tokens) bool {
		_, err := room.Authenticate(t.Context(), secret, nowhere)
		return err == nil
	}
	for start := time.Now(); !ok(rooms[0]) || !ok(rooms[1]); {
		if time.Since(start) > 30*time.Second {
			t.Fatal("a new token is not known")
		}
	}
	if err := rooms[0].Revoke(t.Context(), operator, token.ID); err != nil {
		t.Fatal(err)
	}
	if ok(rooms[0]) {
		t.Error("a revoked token is let in by the process that revoked it")
	}
	for start := time.Now(); ok(rooms[1]); {
		if time.Since(start) > 30*time.Second {
			t.Fatal("a revoked token is still let in by another process")
		}
	}
	for range 1000 { // and it stays revoked
		if ok(rooms[0]) || ok(rooms[1]) {
			t.Fatal("a revoked token is let in again")
		}
	}
}

func TestLastUsed(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{Touch: time.Hour})
	token, secret := r.create(identity.Token{})
	for range 1000 {
		r.now.Add(1000)
		if _, err := r.Authenticate(t.Context(), secret, nowhere); err != nil {
			t.Fatal(err)
		}
	}
	if n := r.store.touches.Load(); n != 0 {
		t.Fatalf("%d writes for 1,000 calls", n)
	}
	used := func() time.Time {
		all, err := r.List(t.Context(), operator, identity.TokenFilter{})
		if err != nil || len(all) != 1 || all[0].ID != token.ID {
			t.Fatal(all, err)
		}
		return all[0].LastUsed
	}
	r.store.broken.Store(true)
	if err := r.Flush(t.Context()); !errors.Is(err, errDisk) {
		t.Error("flush on a broken store:", err)
	}
	r.store.broken.Store(false)
	if err := r.Close(t.Context()); err != nil || !used().Equal(noon.Add(time.Second)) {
		t.Errorf("last used %v, %v", used(), err)
	}
	if n := r.store.touches.Load(); n != 2 {
		t.Errorf("%d writes, want the failed and the good one", n)
	}
}

func TestLastUsedByItself(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{Touch: time.Millisecond})
	_, secret := r.create(identity.Token{})
	if _, err := r.Authenticate(t.Context(), secret, nowhere); err != nil {
		t.Fatal(err)
	}
	for start := time.Now(); r.store.touches.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("never stored")
		}
	}
}

// TestStoreFails checks that a failing store authenticates no one, and that the error is not a refusal.
func TestStoreFails(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	_, secret := r.create(identity.Token{})
	if _, err := r.Authenticate(t.Context(), secret, nowhere); err != nil {
		t.Fatal(err)
	}
	r.store.broken.Store(true)
	_, err := r.Authenticate(t.Context(), secret, nowhere)
	if p := problem.Of(err); !p.Store || p.Code != problem.Upstream || p.RetryAfter < time.Second || !errors.Is(err, errDisk) {
		t.Errorf("%#v", p)
	}
	r.store.broken.Store(false)
	r.store.find = func(*identity.Token) error { return errDisk }
	_, err = r.Authenticate(t.Context(), secret, nowhere)
	if p := problem.Of(err); !p.Store || p.Code != problem.Upstream || p.RetryAfter < time.Second || !errors.Is(err, errDisk) {
		t.Errorf("%#v", p)
	}
}

func TestCacheIsBounded(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{Cache: 3})
	var secrets []string
	for range 10 {
		_, s := r.create(identity.Token{})
		secrets = append(secrets, s)
	}
	for range 3 {
		for _, s := range secrets {
			if _, err := r.Authenticate(t.Context(), s, nowhere); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := r.Cached(); n != 3 {
		t.Errorf("%d tokens remembered, want 3", n)
	}
	for range 20 { // an outdated entry needs no room
		r.create(identity.Token{})
		if _, err := r.Authenticate(t.Context(), secrets[9], nowhere); err != nil || r.Cached() != 3 {
			t.Fatal(r.Cached(), err)
		}
	}
}

// TestCacheForgets checks that missing or invalid tokens leave nothing in the cache.
func TestCacheForgets(t *testing.T) {
	for _, tt := range []struct {
		kind string
		find func(*identity.Token) error
	}{
		{"token_unknown", func(*identity.Token) error { return problem.New(problem.NotFound, "gone") }},
		{"token_invalid", func(t *identity.Token) error { t.Scopes = []identity.Scope{"root"}; return nil }},
	} {
		r := newRoom(t, identity.TokenOptions{})
		_, secret := r.create(identity.Token{})
		if p, err := r.Authenticate(t.Context(), secret, nowhere); err != nil || r.Cached() != 1 || p.Filters != nil {
			t.Fatal(r.Cached(), p, err)
		}
		r.store.find = tt.find
		if _, err := r.Authenticate(t.Context(), secret, nowhere); problem.Of(err).Kind != tt.kind || r.Cached() != 0 {
			t.Errorf("%s: %v, %d tokens remembered", tt.kind, err, r.Cached())
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	is := func(s ...identity.Scope) []identity.Scope { return s }
	tests := []struct {
		name string
		by   identity.Principal
		want identity.Token
		code problem.Code
	}{
		{"nobody in particular", identity.Principal{}, identity.Token{Name: "x"}, problem.PermissionDenied},
		{"an agent with the scope", identity.Principal{Kind: identity.Agent, Scopes: is("operator")}, identity.Token{Name: "x"}, problem.PermissionDenied},
		{"a human without it", identity.Principal{Kind: identity.Human, Scopes: is("read", "review", "audit")}, identity.Token{Name: "x"}, problem.PermissionDenied},
		{"no name", operator, identity.Token{Name: " "}, problem.InvalidArgument},
		{"a name that moves the cursor", operator, identity.Token{Name: "a\x1b[2J"}, problem.InvalidArgument},
		{"a long owner", operator, identity.Token{Name: "x", Owner: strings.Repeat("o", 201)}, problem.InvalidArgument},
		{"a tenant that is no text", operator, identity.Token{Name: "x", Tenant: "\xff"}, problem.InvalidArgument},
		{"no such kind", operator, identity.Token{Name: "x", Kind: "root"}, problem.InvalidArgument},
		{"no such scope", operator, identity.Token{Name: "x", Scopes: is("root")}, problem.InvalidArgument},
		{"an agent that reviews", operator, identity.Token{Name: "x", Owner: "ana", Scopes: is("read", "review")}, problem.InvalidArgument},
		{"an agent that reads the audit", operator, identity.Token{Name: "x", Owner: "ana", Scopes: is("audit")}, problem.InvalidArgument},
		{"an agent that operates", operator, identity.Token{Name: "x", Owner: "ana", Scopes: is("operator")}, problem.InvalidArgument},
		{"a service that reviews", operator, identity.Token{Name: "x", Owner: "ana", Kind: identity.Service, Scopes: is("review")}, problem.InvalidArgument},
		{"a reviewer without an owner", operator, identity.Token{Name: "x", Kind: identity.Human, Scopes: is("review")}, problem.InvalidArgument},
		{"an agent that writes for nobody", operator, identity.Token{Name: "x", Scopes: is("read", "write")}, problem.InvalidArgument},
		{"in the past", operator, identity.Token{Name: "x", Expires: noon}, problem.InvalidArgument},
		{"an invalid address", operator, identity.Token{Name: "x", IPs: make([]netip.Prefix, 1)}, problem.InvalidArgument},
		{"a filter that is no JSON", operator, identity.Token{Name: "x", Filters: map[string]string{"default": "{"}}, problem.InvalidArgument},
		{"a filter with an unknown operator", operator, identity.Token{Name: "x", Filters: map[string]string{"default": `{"a":{"$foo":1}}`}}, problem.InvalidQuery},
		{"a filter that asks for all", operator, identity.Token{Name: "x", Filters: map[string]string{"default": `{}`}}, problem.InvalidArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, secret, err := r.Create(t.Context(), tt.by, tt.want)
			if problem.CodeOf(err) != tt.code || secret != "" {
				t.Errorf("%v, want %s", err, tt.code)
			}
		})
	}
	agent := identity.Principal{Kind: identity.Agent, Scopes: is("operator")}
	if _, err := r.List(t.Context(), agent, identity.TokenFilter{}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("an agent lists tokens:", err)
	}
	if err := r.Revoke(t.Context(), agent, "x"); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("an agent revokes tokens:", err)
	}
	if err := r.Revoke(t.Context(), operator, "nobody"); problem.CodeOf(err) != problem.NotFound {
		t.Error("revoke of an unknown token:", err)
	}
	if all, err := r.List(t.Context(), operator, identity.TokenFilter{}); err != nil || len(all) != 0 {
		t.Error("a refused token was kept", all, err)
	}
}

// TestStorm authenticates while tokens are created and revoked.
func TestStorm(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{Cache: 4, Touch: time.Millisecond})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				token, secret := r.create(identity.Token{})
				if _, err := r.Authenticate(t.Context(), secret, inside); err != nil {
					t.Error(err)
				}
				if err := r.Revoke(t.Context(), operator, token.ID); err != nil {
					t.Error(err)
				}
				if _, err := r.Authenticate(t.Context(), secret, inside); problem.Of(err).Kind != "token_revoked" {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func BenchmarkAuthenticate(b *testing.B) {
	r := newRoom(b, identity.TokenOptions{})
	_, secret := r.create(identity.Token{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Authenticate(b.Context(), secret, inside); err != nil {
			b.Fatal(err)
		}
	}
}

// TestOperatorOfTenant checks that an operator of a tenant sees that tenant's tokens only.
func TestOperatorOfTenant(t *testing.T) {
	r, ctx := newRoom(t, identity.TokenOptions{}), t.Context()
	acme := operator
	acme.Tenant = "acme"
	own, _ := r.create(identity.Token{Name: "ours", Tenant: "acme"})
	theirs, secret := r.create(identity.Token{Name: "theirs", Tenant: "globex"})
	nobodys, _ := r.create(identity.Token{Name: "of no tenant"})
	list := func(by identity.Principal) (ids []string) {
		all, err := r.List(ctx, by, identity.TokenFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range all {
			ids = append(ids, k.ID)
		}
		slices.Sort(ids)
		return ids
	}
	if got := list(acme); !slices.Equal(got, []string{own.ID}) {
		t.Errorf("lists %v", got)
	}
	unknown := r.Revoke(ctx, acme, "nobody")
	for _, id := range []string{theirs.ID, nobodys.ID} {
		if err := r.Revoke(ctx, acme, id); problem.CodeOf(err) != problem.NotFound || err.Error() != unknown.Error() {
			t.Errorf("revoke: %v, of an unknown one: %v", err, unknown)
		}
	}
	if _, err := r.Authenticate(ctx, secret, netip.Addr{}); err != nil {
		t.Error("another tenant's token was revoked:", err)
	}
	if _, _, err := r.Create(ctx, acme, identity.Token{Name: "x", Tenant: "globex"}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("an operator of acme makes a token of globex:", err)
	}
	made, _, err := r.Create(ctx, acme, identity.Token{Name: "x"})
	if err != nil || made.Tenant != "acme" {
		t.Error(made.Tenant, err)
	}
	if err := r.Revoke(ctx, acme, own.ID); err != nil {
		t.Error(err)
	}
	if got := list(operator); len(got) != 4 {
		t.Errorf("an operator of no tenant lists %v", got)
	}
}
