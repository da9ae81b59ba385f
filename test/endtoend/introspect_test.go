package endtoend

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// TestIntrospection asks a gateway what its policy would decide, and compares with the result of a real call.
func TestIntrospection(t *testing.T) {
	g := gateway(t, bailiwick.Options{Audit: new(audit.Memory), Limits: limit.Options{PerMinute: 5},
		Rules: policy.Rules{Gates: policy.Gates{Writes: policy.On}, Classes: map[string]policy.ClassRule{"notes": {}, "plans": {Hidden: true}}}})
	tools := []policyops.Tool{{Use: policy.Use{Tool: "query_class", Needs: identity.Read}}, {Use: policy.Use{Tool: "delete_object", Needs: identity.Delete}}}
	d, err := g.Describe(reader, tools)
	if err != nil || len(d.Classes) != 1 || d.Classes[0].Class != "app.notes" || len(d.Hidden) != 1 || len(d.Tools) != 1 || d.Limits.PerMinute != 5 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, v, err := g.DescribeClass(reader, "plans"); err != nil || v.Allowed || v.Reason != "hidden_class" {
		t.Errorf("DescribeClass: %+v, %v", v, err)
	}
	for _, tt := range []struct{ tool, class, want string }{
		{"query_class", "notes", ""}, {"query_class", "plans", "class"}, {"delete_object", "notes", "scope"}, {"rm", "", "gate"},
	} {
		v, err := g.WouldPermit(reader, tools, tt.tool, tt.class)
		if err != nil || v.Allowed != (tt.want == "") || v.DeniedAt != tt.want {
			t.Errorf("%s %s: %+v, %v; want %q", tt.tool, tt.class, v, err, tt.want)
		}
	}
}
