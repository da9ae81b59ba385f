package endtoend

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// TestBreakGlassIsLoud checks that a break-glass approval is visible in the queue, on the sheet, to the agent, in the
// feed and in the audit.
func TestBreakGlassIsLoud(t *testing.T) {
	o := newOffice(t, nil)
	s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	ana := o.gateway.Reviewer(o.token(identity.Human, "ana", "acme", identity.Read, identity.Review, identity.Operator), "visit")
	sheet, err := ana.BreakGlass(t.Context(), s.ID, s.Digest, "fire")
	if err != nil || sheet.State != change.Applied || !sheet.Broken || sheet.Thread[0].Loud != "break glass" {
		t.Fatalf("%+v %v", sheet, err)
	}
	rows, _, err := o.person("ben").Queue(t.Context(), change.Filter{})
	if err != nil || len(rows) != 1 || !rows[0].Broken {
		t.Errorf("the queue: %+v %v", rows, err)
	}
	if text := review.Text(sheet); !strings.Contains(text, "BREAK GLASS") {
		t.Error("what the agent reads:", text)
	}
	found := ""
	err = o.store.Backwards(t.Context(), audit.Last, func(r audit.Record) bool {
		if r.Outcome == audit.Approved {
			found += r.Tool + " " + r.Kind + " " + r.Owner + "; "
		}
		return true
	})
	if err != nil || !strings.Contains(found, "changes/approved break_glass ana") {
		t.Errorf("the audit: %s %v", found, err)
	}
}
