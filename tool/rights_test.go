package tool_test

import (
	"reflect"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// TestRights checks that all arguments of gates, scopes and lists come from a tool and from a call's spec. A right
// added to policy.Use and forgotten in between would count as its zero value.
func TestRights(t *testing.T) {
	declared := tool.Tool{Name: "act", Scope: identity.Write, Writes: policy.WriteRaw, Proposes: true}
	spec := declared.Ask()
	if want := (policy.Use{Tool: "act", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true}); !reflect.DeepEqual(spec.Use(), want) {
		t.Errorf("of a tool: %+v, want %+v", spec.Use(), want)
	}
	spec = bailiwick.CallSpec{Tool: "act", Needs: identity.Write, Writes: policy.WriteRaw, Proposes: true, Uses: []string{"other"}}
	for use, i := reflect.ValueOf(spec.Use()), 0; i < use.NumField(); i++ {
		if use.Field(i).IsZero() {
			t.Errorf("policy.Use.%s isn't taken from a call's spec", use.Type().Field(i).Name)
		}
	}
}
