package bench_test

import (
	"database/sql"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// tokenCurves returns the curves over the number of tokens of others.
func tokenCurves() []curve {
	sizes := []int{10, 1_000, 10_000, 100_000}
	out := []curve{
		{of: "tokens", call: "start", sizes: sizes, most: 0.3, at: func(t testing.TB, n int) func() {
			o := manyTokens(t, n)
			c := *o.plant.Config
			return func() {
				plant, err := app.Build(t.Context(), &c)
				if err != nil {
					t.Fatal(err)
				}
				if err := plant.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}},
		{of: "tokens", call: "a call after a new token", sizes: sizes, most: 0.3, at: func(t testing.TB, n int) func() {
			o := manyTokens(t, n)
			return func() {
				if _, _, err := o.plant.Tokens.Create(t.Context(), identity.Local("bench"), identity.Token{Name: "new"}); err != nil {
					t.Fatal(err)
				}
				who, err := o.plant.Tokens.Authenticate(t.Context(), o.secret, netip.Addr{})
				if err == nil {
					_, err = o.plant.Tokens.Refresh(t.Context(), who)
				}
				if err != nil {
					t.Fatal(err)
				}
				must(t, o.plant.Tools, "get_object", `{"class_name":"issues","object_id":"`+o.issues[0]+`"}`)
			}
		}},
	}
	for _, page := range []string{"/tokens", "/people", "/access", "/audit"} {
		out = append(out, curve{of: "tokens", call: "the console's " + strings.TrimPrefix(page, "/") + " page", sizes: sizes, most: 0.3, at: func(t testing.TB, n int) func() {
			ask := manyTokens(t, n).signIn(t)
			return func() { ask(t, page) }
		}})
	}
	return out
}

// manyTokens returns an office with n further tokens. A tenth of them are of as many people, and half have a list of
// classes. The visitor of its console is an operator of the tenant of half of them.
func manyTokens(t testing.TB, n int) *office {
	t.Helper()
	o := newOffice(t, "sqlite", "sqlite")
	_, o.secret = o.principal(t, identity.Token{Name: "ines", Owner: "ines", Kind: identity.Human, Scopes: []identity.Scope{identity.Operator, identity.Audit}})
	db, err := sql.Open("sqlite", "file:"+strings.TrimPrefix(o.plant.Config.Store, "sqlite:")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(`INSERT INTO token (id, prefix, hash, name, kind, owner, tenant, scopes, tools, classes, filters, ips, created, expires, person, search)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT 'id' || i, 'pre' || i, randomblob(32), 'bot ' || i, iif(i %% 10, 'agent', 'human'), 'p' || iif(i %% 10, i %% 1000, i), iif(i %% 2, 'other', '%s'), 'read', '{}',
			iif(i %% 4 < 2, '{}', '{"only":["tracker.issues"]}'), '{}', '', created + i, expires, 'p' || iif(i %% 10, i %% 1000, i), 'bot ' || i
		FROM n CROSS JOIN (SELECT created, expires FROM token WHERE name = 'ines')`, n, demo.Acme))
	if err != nil {
		t.Fatal(err)
	}
	return o
}
