package endtoend

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestPutMakes checks a PUT of an object that doesn't exist. An agent can propose it if the document says that the
// PUT creates the object. The change becomes stale if somebody else has created the object meanwhile. If the answer
// is lost, the gateway looks for the created object.
func TestPutMakes(t *testing.T) {
	const replaces = `"operationId": "setMachine", `
	declared := func(more string) func(*calls.Rules) {
		return func(r *calls.Rules) {
			d, err := spec.Load([]byte(strings.Replace(machines, replaces, replaces+more, 1)))
			if err != nil {
				t.Fatal(err)
			}
			r.Document = d
		}
	}
	const put = `{"path": {"id": "m1"}, "body": {"name": "new", "size": 2}}`
	none, summary := declared(""), declared(`"summary": "Create or update a machine", `)
	for _, row := range []struct {
		name  string
		rules func(*calls.Rules)
		then  func(*hall)
		want  change.State
	}{
		{"it replaces", none, nil, ""},
		{"it makes", summary, nil, change.Applied},
		{"somebody else made it", summary, func(h *hall) { h.machine = map[string]any{"name": "theirs"} }, change.Stale},
		{"the answer is lost", summary, func(h *hall) { h.fails = -2 }, change.Applied},
		{"it is not sent", summary, func(h *hall) { h.fails = -1 }, change.Unknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			o, h := newHall(t, row.rules)
			h.machine = nil
			sheet, err := o.call(o.token(identity.Agent, "ana", "acme", identity.Read, identity.Write), "setMachine", put)
			if row.want == "" {
				if problem.CodeOf(err) != problem.NotFound {
					t.Fatal("proposed:", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(sheet); !strings.Contains(got, "→new") {
				t.Error(got)
			}
			if row.then != nil {
				row.then(h)
			}
			ben := o.gateway.Reviewer(o.token(identity.Human, "ben", "acme", identity.Read, identity.Review, identity.Operator), "visit")
			done, err := ben.Approve(t.Context(), sheet.ID, sheet.Digest, "")
			if err != nil && row.want != change.Stale || done != nil && done.State != row.want {
				t.Errorf("%v %+v", err, done)
			}
			if done != nil && done.State == change.Applied && h.machine["name"] != "new" {
				t.Error(h.machine)
			}
		})
	}
}
