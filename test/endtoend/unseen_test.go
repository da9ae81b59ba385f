package endtoend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestUnopened checks a value that a sheet shows only in part. Only a person who has opened it completely in the
// current version may approve. A value that another person has opened, or that belongs to another version, doesn't
// count.
func TestUnopened(t *testing.T) {
	for _, row := range []struct{ name, text string }{
		{"a tail behind the limit", strings.Repeat("x", 4000) + " and everybody is an administrator"},
		{"a tail behind empty lines", strings.Repeat("\n", 200) + "and everybody is an administrator"},
		{"a value of several pages", strings.Repeat("many words ", 12_000) + "and everybody is an administrator"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := newOffice(t, nil)
			propose := func(text string) *review.Sheet {
				t.Helper()
				s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "1", "data": {"title": `+string(value.AppendQuote(nil, text))+`}}`)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := propose(row.text)
			ben, cleo := o.person("ben"), o.person("cleo")
			refused := func(p string) {
				t.Helper()
				sheet, err := ben.Sheet(t.Context(), s.ID)
				if err != nil || sheet.CanApprove {
					t.Fatalf("%s: the sheet offers it: %v", p, err)
				}
				if _, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); kindOf(err) != "unopened" {
					t.Fatalf("%s: %v", p, err)
				}
			}
			open := func(of func() (*review.Whole, error)) *review.Whole {
				t.Helper()
				w, err := of()
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			refused("unopened")
			w := open(func() (*review.Whole, error) { return cleo.Value(t.Context(), s.ID, review.Place{Side: "after"}) })
			if w.Exact != row.text {
				t.Error("the exact value is another one")
			}
			refused("opened by another person")
			other := propose(row.text + "!")
			open(func() (*review.Whole, error) { return ben.Value(t.Context(), other.ID, review.Place{Side: "after"}) })
			refused("opened in another change")
			all := ""
			for page, pages := 1, 1; page <= pages; page++ {
				w := open(func() (*review.Whole, error) {
					return ben.Value(t.Context(), s.ID, review.Place{Page: page, Digest: s.Digest})
				})
				for _, word := range w.Words {
					if word.Kind != "removed" {
						all += word.Text
					}
				}
				if pages = w.Pages; page < pages {
					refused("a page is left")
				}
			}
			if all != row.text {
				t.Error("the pages don't hold it")
			}
			done, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
			if err != nil || done.State != change.Applied || o.holds("SELECT title FROM issues WHERE id = 1") != row.text {
				t.Errorf("%+v %v", done, err)
			}
			if _, err := o.gateway.Reviewer(o.bot(), "").Value(t.Context(), other.ID, review.Place{}); problem.CodeOf(err) != problem.PermissionDenied {
				t.Error("an agent opens a value:", err)
			}
		})
	}
}

// TestDeniedDelete deletes a record with fields that the rules show to no principal. People must see the number of
// these fields. No reviewer can approve the delete except with break glass. Afterwards no revert is offered. The
// agent must not learn about these fields.
func TestDeniedDelete(t *testing.T) {
	o := newOffice(t, nil)
	s, err := o.propose(o.bot(), `{"op": "delete", "class": "issues", "id": "2"}`)
	if err != nil {
		t.Fatal(err)
	}
	if s.Items[0].Denied != 0 || s.Lasting != nil || strings.Contains(review.Text(s), "show to nobody") {
		t.Errorf("the agent learns of denied fields: %+v", s)
	}
	sheet, err := o.person("ben").Sheet(t.Context(), s.ID)
	if err != nil || sheet.CanApprove || sheet.Items[0].Denied != 1 || strings.Join(sheet.Lasting, ";") != "a record of issues, which has fields that are never shown" {
		t.Errorf("%+v %v", sheet, err)
	}
	if _, err := o.person("ben").Approve(t.Context(), s.ID, s.Digest, ""); kindOf(err) != "denied" {
		t.Error("approved:", err)
	}
	operator := o.gateway.Reviewer(o.token(identity.Human, "rita", "acme", identity.Read, identity.Review, identity.Operator), "visit")
	if _, err := operator.Approve(t.Context(), s.ID, s.Digest, ""); kindOf(err) != "denied" {
		t.Error("approved:", err)
	}
	done, err := operator.BreakGlass(t.Context(), s.ID, s.Digest, "the note is kept elsewhere")
	if err != nil || done.State != change.Applied || done.CanRevert || done.NoRevert == "" {
		t.Errorf("%+v %v", done, err)
	}
}

// TestRevertIsWhole checks that a revert restores a deleted record with its id. A revert is offered only while it
// would be complete. Before a change is applied, people must see what a revert could not restore.
func TestRevertIsWhole(t *testing.T) {
	o := newOffice(t, nil)
	apply := func(writes string) (before, after *review.Sheet) {
		t.Helper()
		s, err := o.propose(o.bot(), writes)
		if err != nil {
			t.Fatal(err)
		}
		ben := o.person("ben")
		if before, err = ben.Sheet(t.Context(), s.ID); err == nil {
			after, err = ben.Approve(t.Context(), s.ID, s.Digest, "")
		}
		if err != nil || after.State != change.Applied {
			t.Fatalf("%+v %v", after, err)
		}
		return before, after
	}
	before, after := apply(`{"op": "delete", "class": "comments", "id": "1"}`)
	if before.Lasting != nil || !after.CanRevert {
		t.Errorf("%v %+v", before.Lasting, after)
	}
	back, err := o.person("ben").Revert(t.Context(), after.ID, "needed")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.person("cleo").Approve(t.Context(), back.ID, back.Digest, ""); err != nil || o.holds("SELECT id || body FROM comments WHERE body = 'hm'") != "1hm" {
		t.Error(err, o.holds("SELECT group_concat(id || body) FROM comments"))
	}
	// A revert would undo later changes by others, so none is offered.
	_, after = apply(`{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if _, err := o.db.Exec("UPDATE issues SET n = 6 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if after, err = o.person("ben").Sheet(t.Context(), after.ID); err != nil || after.CanRevert || !strings.Contains(after.NoRevert, "has changed since") {
		t.Errorf("%+v %v", after, err)
	}
}

// TestNames checks the names of records and pointer targets in the queue, the sheet and the agent's answer. Each
// viewer must see only names that it may see. An agent's own sentence must not be used as a heading.
func TestNames(t *testing.T) {
	o := newOffice(t, nil)
	bot := o.bot()
	w, err := write.Parse(value.OfObject([]value.Member{{Name: "op", Value: value.OfString("update")}, {Name: "class", Value: value.OfString("comments")},
		{Name: "id", Value: value.OfString("1")}, {Name: "data", Value: value.OfObject([]value.Member{{Name: "issue_id", Value: value.OfInt(2)}})}}), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.ask(bot, policy.WriteRaw, write.Request{Tool: "propose_changes", Writes: []write.Write{w}, Origin: write.Origin{Says: "✓ Checked by the gateway: no risk"}})
	if err != nil {
		t.Fatal(err)
	}
	ben := o.person("ben")
	sheet, err := ben.Sheet(t.Context(), s.ID)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := ben.Queue(t.Context(), change.Filter{})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for name, row := range map[string]review.Row{"agent": s.Row, "sheet": sheet.Row, "queue": rows[0]} {
		if strings.Contains(row.Title, "Checked") || row.Says != "✓ Checked by the gateway: no risk" || row.SaidBy != "agent of ana" {
			t.Errorf("%s: %+v", name, row)
		}
	}
	for name, of := range map[string]*review.Sheet{"agent": s, "person": sheet} {
		if f := of.Items[0].Fields[0]; f.Before.Label != "one" || f.After.Label != "two" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	// An issue that moved to another tenant has no name, like a missing one.
	for _, statement := range []string{"UPDATE issues SET org = 'globex' WHERE id = 2", "DELETE FROM issues WHERE id = 2"} {
		if _, err := o.db.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if sheet, err = ben.Sheet(t.Context(), s.ID); err != nil || sheet.Items[0].Fields[0].After.Label != "" || sheet.Items[0].Fields[0].Before.Label != "one" {
			t.Errorf("%s: %+v %v", statement, sheet, err)
		}
	}
}

// TestGone checks that a reviewer can't distinguish a removed record from a record that is now hidden. Neither change
// may be approved.
func TestGone(t *testing.T) {
	var said [2][]review.Check
	for i, happens := range []string{"DELETE FROM issues WHERE id = 2", "UPDATE issues SET org = 'globex' WHERE id = 2"} {
		o := newOffice(t, nil)
		s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "2", "data": {"n": 5}}`)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.db.Exec(happens); err != nil {
			t.Fatal(err)
		}
		now, err := o.person("ben").Sheet(t.Context(), s.ID)
		if err != nil || now.CanApprove {
			t.Errorf("%s: it can be approved: %v", happens, err)
			continue
		}
		for _, c := range now.Checks {
			if c.Name == "sight" && (c.OK || !strings.HasPrefix(c.Detail, "a record that it writes is gone, or hidden from you")) {
				t.Errorf("%s: %+v", happens, c)
			}
			if c.Name != "expiry" {
				said[i] = append(said[i], c)
			}
		}
	}
	if diff := cmp.Diff(said[0], said[1]); diff != "" {
		t.Error(diff)
	}
}
