package identity_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

func rule(t *testing.T, text string) query.Filter {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseRule(v, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFreeze checks that a thawed principal equals the original, with all its ancestors.
func TestFreeze(t *testing.T) {
	parent := identity.Principal{ID: "token:1", Name: "bot", Kind: identity.Agent, Owner: "ana", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write}, TokenID: "1",
		Claims: value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(9007199254740993)}}),
		Tools:  identity.List{Only: []string{}}, Classes: identity.List{Except: []string{"users"}},
		Filters: map[string]query.Filter{"issues": rule(t, `{"status": "Todo", "team": {"$cel": "principal.claims.team"}}`)}}
	child, err := identity.Derive(parent, identity.Derivation{Name: "sub", Scopes: []identity.Scope{identity.Read}, Classes: identity.List{Only: []string{"issues"}}, Filters: map[string]query.Filter{"default": rule(t, `{"n": {"$gt": 3}}`), "users": rule(t, `{"m": 4}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []identity.Principal{{}, parent, child} {
		back, err := identity.Thaw(identity.Freeze(p))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(identity.Freeze(p)), string(identity.Freeze(back))); diff != "" || len(back.Filters) != len(p.Filters) {
			t.Error(back.Filters, diff)
		}
		for _, class := range []string{"issues", "users", "comments"} {
			if p.Classes.Allows(class) != back.Classes.Allows(class) || p.Tools.Allows(class) != back.Tools.Allows(class) {
				t.Errorf("%s: a list keeps %s otherwise", p.ID, class)
			}
		}
	}
	for bad, says := range map[string]string{"": "unexpected end", "{": "unexpected end", `{"filters": {"issues": {"$nope": 1}}}`: "$nope", `{"filters": {"issues": {}}}`: "it is empty",
		`{"above": {"filters": {"a": {}}}}`: "it is empty"} {
		if _, err := identity.Thaw([]byte(bad)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestToday checks that Refresh returns the current principal of a token, and an error once it is revoked.
func TestToday(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "b.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tokens := identity.NewTokens(identity.TokenOptions{Store: store, Audit: store, Now: func() time.Time { return now }})
	operator := identity.Principal{ID: "cli", Kind: identity.Human, Scopes: []identity.Scope{identity.Operator}}
	kept, _, err := tokens.Create(t.Context(), operator, identity.Token{Name: "bot", Owner: "ana", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write}})
	if err != nil {
		t.Fatal(err)
	}
	was, err := kept.Principal()
	if err != nil {
		t.Fatal(err)
	}
	was.Tenant, was.Scopes = "globex", []identity.Scope{identity.Read, identity.Write, identity.Delete}
	child, err := identity.Derive(was, identity.Derivation{Name: "sub", Scopes: []identity.Scope{identity.Read, identity.Delete}})
	if err != nil {
		t.Fatal(err)
	}
	is, err := tokens.Refresh(t.Context(), child)
	if err != nil || is.Tenant != "acme" || is.Above.Tenant != "acme" || is.Has(identity.Delete) || !is.Has(identity.Read) || is.ID != child.ID {
		t.Error(is, err)
	}
	for _, tt := range []struct {
		name string
		do   func()
		who  identity.Principal
		kind string
	}{
		{"another credential", func() {}, identity.Principal{ID: "stdio"}, ""},
		{"gone", func() {}, identity.Principal{ID: "token:x", TokenID: "x"}, "token_unknown"},
		{"expired", func() { now = now.Add(2 * identity.TokenLife) }, was, "token_expired"},
		{"revoked", func() {
			now = now.Add(-2 * identity.TokenLife)
			if err := tokens.Revoke(t.Context(), operator, kept.ID); err != nil {
				t.Fatal(err)
			}
		}, child, "token_revoked"},
	} {
		tt.do()
		_, err := tokens.Refresh(t.Context(), tt.who)
		if kind := ""; err != nil {
			kind = problem.Of(err).Kind
			if kind != tt.kind {
				t.Errorf("%s: %v", tt.name, err)
			}
		} else if tt.kind != "" {
			t.Errorf("%s: let through", tt.name)
		}
	}
}

// TestRefreshNarrows checks that a principal is restricted by its token as it is now and by its derivation. It keeps
// the time at which the person proved who they are.
func TestRefreshNarrows(t *testing.T) {
	r := newRoom(t, identity.TokenOptions{})
	token, _ := r.create(identity.Token{Owner: "ana", Tools: identity.List{Only: []string{"a", "b"}}, Actions: identity.List{Only: []string{"a", "b"}}, Classes: identity.List{Only: []string{"a", "b"}}})
	was := identity.Principal{ID: "token:" + token.ID, TokenID: token.ID, Proven: noon, Scopes: []identity.Scope{identity.Read}}
	now, err := r.Refresh(t.Context(), was)
	if err != nil || !now.Proven.Equal(noon) || now.Tools.Allows("c") {
		t.Errorf("%+v, %v", now, err)
	}
	child, err := identity.Derive(was, identity.Derivation{Name: "sub", Tools: identity.List{Except: []string{"b"}}, Actions: identity.List{Except: []string{"b"}}, Classes: identity.List{Except: []string{"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	now, err = r.Refresh(t.Context(), child)
	for _, l := range []identity.List{now.Tools, now.Actions, now.Classes} {
		if err != nil || !l.Allows("a") || l.Allows("b") || l.Allows("c") {
			t.Errorf("%+v, %v", l, err)
		}
	}
	if !now.Above.Proven.Equal(noon) {
		t.Error("proven at", now.Above.Proven)
	}
}

// A stale store learns of other processes' tokens late: its version stays.
type stale struct{ *counted }

func (stale) TokenVersion(context.Context) (int64, error) { return 1, nil }

func (stale) LatestTokenVersion(context.Context) (int64, error) { return 1, nil }

// TestTokensRead checks when the tokens are read again. They are when one has changed, or when one is requested that
// isn't known yet.
func TestTokensRead(t *testing.T) {
	r := newOpenRoom(t)
	reads := 0
	token, _ := r.create(identity.Token{})
	r.store.list = func([]identity.Token) { reads++ }
	here := identity.NewTokens(identity.TokenOptions{Store: stale{r.store}, Audit: r.log, Now: r.at})
	refresh := func(id string) error {
		_, err := here.Refresh(t.Context(), identity.Principal{ID: "token:" + id, TokenID: id})
		return err
	}
	issue := func(id string) error {
		_, _, err := here.Issue(t.Context(), identity.Principal{TokenID: id}, identity.Ticket{Use: identity.Session, Expires: r.at().Add(time.Hour)})
		return err
	}
	for range 3 {
		if err := errors.Join(refresh(token.ID), issue(token.ID)); err != nil || reads != 1 {
			t.Fatal(reads, err)
		}
	}
	end := func(id string) error { return here.EndGrant(t.Context(), identity.Principal{}, id) } // reads what it ends, which is not a grant
	other, _ := r.create(identity.Token{})
	if err := end(other.ID); problem.CodeOf(err) != problem.NotFound || reads != 2 {
		t.Error("one of a moment ago:", reads, err)
	}
	if err := refresh(other.ID); err != nil || reads != 2 {
		t.Error("it is known then:", reads, err)
	}
	if err := end("none"); problem.CodeOf(err) != problem.NotFound || reads != 3 {
		t.Error("none:", reads, err)
	}
	here = identity.NewTokens(identity.TokenOptions{Store: r.store, Audit: r.log, Now: r.at})
	if err := here.Revoke(t.Context(), operator, other.ID); err != nil || reads != 3 {
		t.Error("a revocation by an operator of no tenant waits for nothing else:", reads, err)
	}
}

// TestScopeNames checks that scopes are named in order.
func TestScopeNames(t *testing.T) {
	if got := (identity.Principal{Scopes: []identity.Scope{"write", "read", "audit"}}).ScopeNames(); !slices.Equal(got, []string{"audit", "read", "write"}) {
		t.Error(got)
	}
}
