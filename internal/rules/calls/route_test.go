package calls_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestRedirected checks which redirects of a read become calls. A redirect to a hidden operation is refused as one to
// no operation, whatever the hidden one does.
func TestRedirected(t *testing.T) {
	const nowhere = "to what is no operation that you can call"
	hidden := calls.Hidden{Operations: []string{"listInvoices"}}
	for _, row := range []struct {
		name   string
		hidden bool
		class  classify.Class // of listInvoices
		path   string
		want   string
	}{
		{"a read", false, classify.Read, "/invoices", "/invoices"},
		{"another case, escaped", false, classify.Read, "/INV%6fices", "/invoices"},
		{"a write", false, classify.Write, "/invoices", "to listInvoices, which isn't called for you: it isn't an operation that reads"},
		{"one that destroys", false, classify.Destructive, "/invoices", "to listInvoices, which isn't called for you: it isn't an operation that reads"},
		{"a forbidden one", false, classify.Forbidden, "/invoices", nowhere},
		{"an excluded one", false, classify.Excluded, "/invoices", nowhere},
		{"a hidden read", true, classify.Read, "/invoices", nowhere},
		{"a hidden write", true, classify.Write, "/invoices", nowhere},
		{"a hidden one that destroys", true, classify.Destructive, "/invoices", nowhere},
		{"nothing", false, classify.Read, "/nothing", nowhere},
		{"a path that can't be decoded", false, classify.Read, "/%zz", nowhere},
	} {
		all := compiled(t, func(r *calls.Rules) {
			r.Access.Rules = []classify.Rule{{Operations: []string{"listInvoices"}, Class: row.class, Reason: "r", Instead: "i"}}
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
		if to, err := from.Redirected(t.Context(), row.path, ""); err != nil {
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
