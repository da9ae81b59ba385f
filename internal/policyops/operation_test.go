package policyops_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// TestOperationVerdict checks the verdict on an operation for each tool. The read tool must refuse write operations,
// and the write tool must refuse read operations.
func TestOperationVerdict(t *testing.T) {
	d, err := spec.Load([]byte(`{"openapi":"3.0.0","paths":{"/teams":{"get":{"operationId":"listTeams","responses":{"200":{"description":""}}},"post":{"operationId":"createTeam","responses":{"200":{"description":""}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	api := calls.Rules{Document: d, Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"createTeam"}, Class: spec.ClassWrite}}}}
	p, err := policy.New(policy.Rules{APIs: map[string]calls.Rules{"flow": api}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := policyops.NewRegime(p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, reads := identity.Principal{Scopes: []identity.Scope{identity.Read, identity.Write}}, identity.Principal{Scopes: []identity.Scope{identity.Read}}
	for _, row := range []struct {
		who             identity.Principal
		tool, operation string
		want            string // the reason, or "" if allowed
		why             string
	}{
		{all, "call_api_read", "listTeams", "", "the principal may call flow.listTeams"},
		{all, "call_api_write", "createTeam", "", "the principal may call flow.createTeam"},
		{all, "", "createTeam", "", "the principal may call flow.createTeam"},
		{all, "call_api_read", "createTeam", "writes", "it is a write operation, and was called as one that only reads"},
		{all, "call_api_write", "listTeams", "reads", "it is a read operation, and was called as one that writes"},
		{reads, "call_api_write", "createTeam", "scope", "flow.createTeam is a write operation and needs the scope write, and the principal has read"},
		{all, "call_api_read", "listTeam", "unknown_operation", `there is no operation "listTeam". Did you mean listTeams?`},
	} {
		v := r.OperationVerdict(row.who, row.tool, "flow", row.operation)
		if v.Allowed != (row.want == "") || v.Reason != row.want || v.Why != row.why {
			t.Errorf("%s %s: %+v", row.tool, row.operation, v)
		}
	}
}
