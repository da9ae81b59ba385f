package identity_test

import (
	"path/filepath"
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
	child, err := identity.Derive(parent, identity.Derivation{Name: "sub", Scopes: []identity.Scope{identity.Read}, Classes: identity.List{Only: []string{"issues"}}, Filters: map[string]query.Filter{"default": rule(t, `{"n": {"$gt": 3}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []identity.Principal{{}, parent, child} {
		back, err := identity.Thaw(identity.Freeze(p))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(identity.Freeze(p)), string(identity.Freeze(back))); diff != "" {
			t.Error(diff)
		}
		for _, class := range []string{"issues", "users", "comments"} {
			if p.Classes.Allows(class) != back.Classes.Allows(class) || p.Tools.Allows(class) != back.Tools.Allows(class) {
				t.Errorf("%s: a list keeps %s otherwise", p.ID, class)
			}
		}
	}
	for _, bad := range []string{"", "{", `{"filters": {"issues": {"$nope": 1}}}`, `{"filters": {"issues": {}}}`, `{"above": {"filters": {"a": {}}}}`} {
		if _, err := identity.Thaw([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
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
