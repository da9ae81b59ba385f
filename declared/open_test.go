package declared

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

// TestOpenRules checks that a query compiles under rules that show nothing to a principal without a tenant.
func TestOpenRules(t *testing.T) {
	r := policy.Rules{AgentBounds: []policy.AgentBound{{When: "principal.claims.team == 'a'", Bounds: policy.Bounds{Joins: 1}}}, Classes: map[string]policy.ClassRule{
		"orders": {Tenant: &policy.TenantRule{Field: "customer_id", Is: "principal.claims.customer"},
			Canonical: query.Compare{Path: query.Path{"status"}, Op: query.Eq}, CanonicalShut: true}}}
	p := rules(t, r)
	if set := compile(t, p, Declaration{Name: "ids", SQL: "SELECT id FROM orders"}); len(set.Of(p, reader())) != 0 {
		t.Error("a principal without the claim has the query")
	}
}
