package endtoend

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// derived calls do in a call of p, with a sub-principal that is derived by d.
func derived(t *testing.T, g *bailiwick.Gateway, p identity.Principal, d identity.Derivation, do func(context.Context, *bailiwick.Sub) error) error {
	t.Helper()
	return g.Do(t.Context(), p, bailiwick.CallSpec{Tool: "delegate", Needs: identity.Read, Correlation: "talk"}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		sub, err := c.Derive(d)
		if err != nil {
			return 0, err
		}
		return 0, do(ctx, sub)
	})
}

// count counts the records of a class like a tool.
func count(ctx context.Context, sub *bailiwick.Sub, needs identity.Scope, class string) (n int64, err error) {
	ask := bailiwick.CallSpec{Tool: "count_objects", Needs: needs, Correlation: "its own"}
	err = sub.Do(ctx, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		n, _, err = c.Count(ctx, &query.Count{Class: class})
		return 0, err
	})
	return n, err
}

func TestDerive(t *testing.T) {
	log := &audit.Memory{}
	g := gateway(t, bailiwick.Options{Audit: log})
	text := query.Compare{Path: query.Path{"text"}, Op: query.Eq, Value: value.OfString("a")}
	p := reader
	p.Scopes = []identity.Scope{identity.Read, identity.Explain}
	for _, tt := range []struct {
		name  string
		d     identity.Derivation
		needs identity.Scope
		want  string
	}{
		{"all of it", identity.Derivation{Name: "r"}, identity.Read, "2"},
		{"some records", identity.Derivation{Name: "r", Filters: map[string]query.Filter{"notes": text}}, identity.Read, "1"},
		{"another class", identity.Derivation{Name: "r", Classes: identity.List{Only: []string{"app.plans"}}}, identity.Read, `not_found: there is no class "notes"`},
		{"another tool", identity.Derivation{Name: "r", Tools: identity.List{Except: []string{"count_objects"}}}, identity.Read, "unknown_tool: unknown tool"},
		{"a scope that it didn't ask for", identity.Derivation{Name: "r"}, identity.Explain, "permission_denied: count_objects needs the scope explain"},
		{"one that it asked for", identity.Derivation{Name: "r", Scopes: p.Scopes}, identity.Explain, "2"},
		{"one that the asker hasn't got", identity.Derivation{Name: "r", Scopes: []identity.Scope{"audit"}}, identity.Audit, "permission_denied: count_objects needs the scope audit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			err := derived(t, g, p, tt.d, func(ctx context.Context, sub *bailiwick.Sub) error {
				n, err := count(ctx, sub, tt.needs, "notes")
				if got = fmt.Sprint(n); err != nil {
					got = err.Error()
				}
				return nil
			})
			if err != nil || got != tt.want {
				t.Errorf("%s, %v; want %s", got, err, tt.want)
			}
		})
	}
	var seen strings.Builder
	if err := log.Records(t.Context(), audit.First, func(r audit.Record) bool {
		fmt.Fprintln(&seen, r.Principal, r.Owner, r.Tenant, r.Correlation, r.Tool, r.Outcome)
		return r.Seq < 2
	}); err != nil {
		t.Fatal(err)
	}
	if want := "a/r ann acme talk count_objects ok\na ann acme talk delegate ok\n"; seen.String() != want {
		t.Errorf("recorded:\n%swant:\n%s", seen.String(), want)
	}
}

// TestDeriveDepth derives to the maximum depth.
func TestDeriveDepth(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}})
	var down func(ctx context.Context, sub *bailiwick.Sub) error
	deepest := ""
	down = func(ctx context.Context, sub *bailiwick.Sub) error {
		deepest = sub.Who().ID
		return sub.Do(ctx, bailiwick.CallSpec{Tool: "delegate", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			next, err := c.Derive(identity.Derivation{Name: "r"})
			if err != nil {
				return 0, err
			}
			return 0, down(ctx, next)
		})
	}
	err := derived(t, g, reader, identity.Derivation{Name: "r"}, down)
	if want := "permission_denied: There can be at most 4 generations of sub-principals, and “a/r/r/r/r” is of the last one"; deepest != "a/r/r/r/r" || err == nil || err.Error() != want {
		t.Errorf("%s, %v", deepest, err)
	}
}

// TestDeriveRefuses checks that a deriving principal can't distinguish hidden from missing names.
func TestDeriveRefuses(t *testing.T) {
	is := func(field string) query.Filter {
		return query.Compare{Path: query.Path{field}, Op: query.Eq, Value: value.OfString("a")}
	}
	g := gateway(t, bailiwick.Options{Audit: &audit.Memory{}, Rules: policy.Rules{Classes: map[string]policy.ClassRule{
		"notes": {Denied: []string{"text"}}, "plans": {Hidden: true}}}})
	for _, name := range []string{"plans", "absnt"} {
		for at, d := range map[string]identity.Derivation{
			"/classes/only/0":   {Name: "r", Classes: identity.List{Only: []string{name}}},
			"/classes/except/1": {Name: "r", Classes: identity.List{Except: []string{"notes", name}}},
			"/filters/" + name:  {Name: "r", Filters: map[string]query.Filter{name: is("id")}},
		} {
			err := derived(t, g, reader, d, func(context.Context, *bailiwick.Sub) error { return nil })
			p := problem.Of(err)
			if want := fmt.Sprintf("there is no class %q", name); p == nil || p.Code != problem.NotFound || p.Detail != want || p.Pointer != at || len(p.Near) > 0 {
				t.Errorf("%s: %#v", at, p)
			}
		}
	}
	for _, field := range []string{"text", "texts"} {
		d := identity.Derivation{Name: "r", Filters: map[string]query.Filter{"notes": is(field)}}
		err := derived(t, g, reader, d, func(context.Context, *bailiwick.Sub) error { return nil })
		if p := problem.Of(err); p == nil || p.Code != problem.InvalidQuery || p.Detail != "the filter names a field that notes doesn't have" || p.Pointer != "/filters/notes" {
			t.Errorf("%s: %#v", field, p)
		}
		// The class of a default filter isn't known at this point. It is missing in the view of the sub-principal.
		d = identity.Derivation{Name: "r", Filters: map[string]query.Filter{"default": is(field)}}
		err = derived(t, g, reader, d, func(ctx context.Context, sub *bailiwick.Sub) error {
			_, err := count(ctx, sub, identity.Read, "notes")
			return err
		})
		if problem.CodeOf(err) != problem.NotFound {
			t.Errorf("default filter by %s: %v", field, err)
		}
	}
}
