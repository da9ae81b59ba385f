package endtoend

import (
	"context"
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestLabels checks that a principal receives the labels of the records that it sees, and no others.
func TestLabels(t *testing.T) {
	text := value.OfString
	src := memory.New([]schema.Class{{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, NotNull: true}, {Name: "org", Type: schema.String}, {Name: "code", Type: schema.String},
		{Name: "name", Type: schema.String}, {Name: "gone", Type: schema.Boolean}}}},
		map[string][]value.Row{"people": {
			{value.OfInt(1), text("acme"), text("a"), text("Ann"), value.OfBool(false)},
			{value.OfInt(2), text("acme"), text("b"), text("Bob"), value.OfBool(true)},
			{value.OfInt(3), text("globex"), text("c"), text("Cid"), value.OfBool(false)},
			{value.OfInt(4), text("acme"), text("d"), value.Value{}, value.OfBool(false)},
		}})
	where := query.Compare{Path: query.Path{"gone"}, Op: query.Ne, Value: value.OfBool(true)}
	rule := policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}, Canonical: where}
	masked := rule
	masked.Mask = map[string]policy.Mask{"name": policy.Partial, "code": policy.Null}
	reviewer := identity.Principal{ID: "r", Owner: "rob", Tenant: "acme", Kind: identity.Human, Scopes: []identity.Scope{identity.Review}}
	all := []value.Value{text("1"), text("2"), text("3"), text("4"), text("5"), text("x")}
	for _, tt := range []struct {
		name string
		rule policy.ClassRule
		who  identity.Principal
		of   bailiwick.Labelled
		want string
	}{
		{"live records of the tenant", rule, reader, bailiwick.Labelled{Class: "people", Values: all}, "map[1:Ann]"},
		{"and those left out of the live ones", rule, reader, bailiwick.Labelled{Class: "people", Values: all, Raw: true}, "map[1:Ann 2:Bob]"},
		{"a reviewer", rule, reviewer, bailiwick.Labelled{Class: "app.people", Values: all, Raw: true}, "map[1:Ann 2:Bob]"},
		{"by another key", rule, reader, bailiwick.Labelled{Class: "people", Key: "code", Values: []value.Value{text("a"), text("c")}}, "map[a:Ann]"},
		{"masked", masked, reader, bailiwick.Labelled{Class: "people", Values: all}, "map[]"},
		{"by a key that is hidden", policy.ClassRule{Denied: []string{"code"}}, reader, bailiwick.Labelled{Class: "people", Key: "code", Values: all}, "map[]"},
		{"a hidden class", policy.ClassRule{Hidden: true}, reader, bailiwick.Labelled{Class: "people", Values: all}, "map[]"},
		{"no values", rule, reader, bailiwick.Labelled{Class: "people"}, "map[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Audit: forgetful{},
				Rules: policy.Rules{Classes: map[string]policy.ClassRule{"people": tt.rule}}})
			if err != nil {
				t.Fatal(err)
			}
			err = g.Do(t.Context(), tt.who, bailiwick.CallSpec{Tool: "t", Needs: tt.who.Scopes[0]}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
				got, err := c.Labels(ctx, tt.of)
				if fmt.Sprint(got) != tt.want {
					t.Errorf("got %v, want %s", got, tt.want)
				}
				return 0, err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
