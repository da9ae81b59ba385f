package calls_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestRedirected checks which redirects of a read become calls. A redirect to a hidden operation is refused as one to
// no operation, whatever the hidden one does.
func TestRedirected(t *testing.T) {
	const nowhere = "to a target that is not an operation you can call"
	hidden := calls.Hidden{Operations: []string{"listInvoices"}}
	for _, row := range []struct {
		name   string
		hidden bool
		class  spec.Class // of listInvoices
		path   string
		want   string
	}{
		{"a read", false, spec.ClassRead, "/invoices", "/invoices"},
		{"another case, escaped", false, spec.ClassRead, "/INV%6fices", "/invoices"},
		{"a write", false, spec.ClassWrite, "/invoices", "to listInvoices, which isn't called for you: it isn't an operation that reads"},
		{"one that destroys", false, spec.ClassDestructive, "/invoices", "to listInvoices, which isn't called for you: it isn't an operation that reads"},
		{"a forbidden one", false, spec.ClassForbidden, "/invoices", nowhere},
		{"an excluded one", false, spec.ClassExcluded, "/invoices", nowhere},
		{"a hidden read", true, spec.ClassRead, "/invoices", nowhere},
		{"a hidden write", true, spec.ClassWrite, "/invoices", nowhere},
		{"a hidden one that destroys", true, spec.ClassDestructive, "/invoices", nowhere},
		{"nothing", false, spec.ClassRead, "/nothing", nowhere},
		{"a path that can't be decoded", false, spec.ClassRead, "/%zz", nowhere},
	} {
		all := compiled(t, func(r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{{Operations: []string{"listInvoices"}, Class: row.class, Reason: "r", Instead: "i"}}
			if row.hidden {
				r.Hidden = []calls.Hidden{hidden}
			}
		})
		who := agent("t1", identity.Read, identity.Write, identity.Delete)
		reach, err := all.Reach(who, "", "")
		if err != nil {
			t.Fatal(err)
		}
		from, err := reach.Permit(t.Context(), who, calls.Request{Operation: "listTeams"})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if to, err := from.PermitRedirect(t.Context(), row.path, ""); err != nil {
			got = problem.Of(err).Detail
		} else if plan, err := to.Plan(); err != nil {
			got = err.Error()
		} else {
			got = plan.Request.Target()
		}
		if got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}
