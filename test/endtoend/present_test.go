package endtoend

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// TestPresent checks the sheet of a change whose record has changed since. It must say so at once. It must show
// people and the agent the current record, as far as they see it. The test covers an update, a delete, a removed
// record, and a restored record in each database.
func TestPresent(t *testing.T) { inOffices(t, present) }

func present(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) {
	o := open(t, nil)
	bot, ben := o.bot(), o.person("ben")
	agent := func(id string) (s *review.Sheet) {
		t.Helper()
		err := o.as(bot, func(ctx context.Context, c *bailiwick.Call) (err error) {
			s, err = c.Change(ctx, id)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	both := func(id, moved, now string) {
		t.Helper()
		sheet, err := ben.Sheet(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for who, s := range map[string]*review.Sheet{"the reviewer": sheet, "the agent": agent(id)} {
			held := ""
			for _, f := range s.Items[0].Fields {
				if f.Now != nil {
					held += f.Path + "=" + f.Now.Text + " "
				}
			}
			if s.Items[0].Moved != moved || strings.TrimSpace(held) != now {
				t.Errorf("%s is told %q %q, want %q %q", who, s.Items[0].Moved, held, moved, now)
			}
			if text := review.Text(s); strings.Contains(text, "has moved since") != (moved == review.Changed) || strings.Contains(text, "is gone, or hidden") != (moved == review.Gone) {
				t.Errorf("%s reads %s", who, text)
			} else if strings.Contains(text, "must approve") != (moved == "") || strings.Contains(text, "Nobody can approve") != (moved != "") {
				t.Errorf("%s is told of approval: %s", who, text)
			}
		}
	}
	o.run("UPDATE issues SET n = 1 WHERE id = 1")
	update, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	both(update.ID, "", "")
	o.run("UPDATE issues SET n = 8 WHERE id = 1")
	both(update.ID, review.Changed, "n=8")
	if s, err := ben.Sheet(t.Context(), update.ID); err != nil || s.CanApprove || !slices.ContainsFunc(s.Checks, func(k review.Check) bool { return k.Name == "target" && !k.OK && strings.Contains(k.Detail, ": n of ") }) {
		t.Error(s.Checks, err)
	}
	o.run("UPDATE issues SET n = 1 WHERE id = 1")
	both(update.ID, "", "")
	o.run("UPDATE issues SET n = 8 WHERE id = 1")
	if s, err := ben.Renew(t.Context(), update.ID); err != nil || s.State != change.Pending {
		t.Fatal(s, err)
	}
	both(update.ID, "", "")
	o.run("DELETE FROM issues WHERE id = 1")
	both(update.ID, review.Gone, "")
	remove, err := o.propose(bot, `{"op": "delete", "class": "issues", "id": "2"}`)
	if err != nil {
		t.Fatal(err)
	}
	both(remove.ID, "", "")
	o.run("UPDATE issues SET n = 9 WHERE id = 2")
	both(remove.ID, review.Changed, "n=9")
}
