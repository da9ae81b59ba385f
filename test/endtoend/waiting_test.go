package endtoend

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// TestOthers checks that open changes of the same record are linked on both sheets for people. An agent must see only
// its own changes, and a person only changes of their tenant.
func TestOthers(t *testing.T) {
	o := newOffice(t, nil)
	bot, other := o.bot(), o.bot()
	propose := func(p identity.Principal, writes string) *review.Sheet {
		t.Helper()
		s, err := o.propose(p, writes)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5, "title": "x"}}`)
	strange := propose(other, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 6}}`)
	propose(bot, `{"op": "update", "class": "issues", "id": "2", "data": {"n": 6}}`)
	again := propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"status": "Done"}}`)
	if first.Others != nil || strange.Others != nil || strings.Contains(review.Text(strange), first.ID) {
		t.Errorf("an agent learns of another's change: %+v", strange.Others)
	}
	if len(again.Others) != 1 || again.Others[0].ID != first.ID || !strings.Contains(review.Text(again), "Another change of yours waits for the same record: "+first.ID) {
		t.Errorf("%+v", again.Others)
	}
	sees := func(r bailiwick.Reviewer, id string) string {
		t.Helper()
		s, err := r.Sheet(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		out := ""
		for _, o := range s.Others {
			out += o.ID + " " + strings.Join(o.Fields, ",") + ";"
		}
		return out
	}
	ben := o.person("ben")
	if got, want := sees(ben, first.ID), again.ID+" ;"+strange.ID+" n;"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := sees(ben, strange.ID), again.ID+" ;"+first.ID+" n;"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := ben.Reject(t.Context(), strange.ID, "no"); err != nil {
		t.Fatal(err)
	}
	if got := sees(ben, first.ID); strings.Contains(got, strange.ID) {
		t.Error("a rejected change is linked:", got)
	}
}

// TestManyOthers checks that a sheet says so if it doesn't list all changes of the record.
func TestManyOthers(t *testing.T) {
	o := newOffice(t, func(_ *bailiwick.Options, c *change.Options) { c.Most, c.Rate = 1000, 1000 })
	bot := o.bot()
	propose := func(n int) *review.Sheet {
		t.Helper()
		s, err := o.propose(bot, fmt.Sprintf(`{"op": "update", "class": "issues", "id": "1", "data": {"n": %d}}`, n))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := propose(100)
	for n := range 19 {
		if s := propose(101 + n); s.MoreOthers || len(s.Others) != n+1 {
			t.Fatalf("%d of %d, more %v", len(s.Others), n+1, s.MoreOthers)
		}
	}
	if s := propose(130); len(s.Others) != 19 || !s.MoreOthers || !strings.Contains(review.Text(s), "and more changes of yours") {
		t.Errorf("%d of 20, more %v", len(s.Others), s.MoreOthers)
	}
	ben := o.person("ben")
	if s, err := ben.Sheet(t.Context(), first.ID); err != nil || len(s.Others) != 20 || s.MoreOthers {
		t.Errorf("%d, more %v, %v", len(s.Others), s.MoreOthers, err)
	}
	for n := range 180 {
		propose(200 + n)
	}
	if s, err := ben.Sheet(t.Context(), first.ID); err != nil || len(s.Others) != 200 || !s.MoreOthers {
		t.Errorf("%d, more %v, %v", len(s.Others), s.MoreOthers, err)
	}
}

// TestWhatWasWritten checks that people see what the source has written, with the real id, and which requested fields
// did not change. A refused write must not be shown as a result. A person who has approved can't approve again.
func TestWhatWasWritten(t *testing.T) {
	o := newOffice(t, func(_ *bailiwick.Options, c *change.Options) {})
	rules := o.rules
	rules.Version, rules.Review = "v2", []change.Rule{{Name: "review[0]", Approvals: 2}}
	if err := o.gateway.SetRules(t.Context(), rules, nil); err != nil {
		t.Fatal(err)
	}
	bot := o.bot()
	s, err := o.propose(bot, `[{"op": "create", "class": "issues", "data": {"title": "new"}}, {"op": "update", "class": "issues", "id": "1", "data": {"title": "one", "n": 4}}]`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.db.Exec("INSERT INTO issues (id, org, title) VALUES (500, 'globex', 'x')"); err != nil {
		t.Fatal(err)
	}
	ben, cleo := o.person("ben"), o.person("cleo")
	half, err := ben.Approve(t.Context(), s.ID, s.Digest, "")
	if err != nil || half.CanApprove || !half.Mine || half.State != change.Pending {
		t.Errorf("%+v %v", half, err)
	}
	if f := half.Items[1].Fields; !f[0].Same || f[1].Same {
		t.Errorf("%+v", f)
	}
	done, err := cleo.Approve(t.Context(), s.ID, s.Digest, "")
	if err != nil || done.State != change.Applied {
		t.Fatalf("%+v %v", done, err)
	}
	id := ""
	for _, f := range done.Items[0].Fields {
		if f.Path == "id" {
			id = f.After.Text
		}
	}
	if want := o.holds("SELECT id FROM issues WHERE title = 'new'"); id != want || done.Items[0].Key != want {
		t.Errorf("the id is shown as %s and %s, and is %s", id, done.Items[0].Key, want)
	}
	if s, err = o.propose(bot, `{"op": "create", "class": "issues", "data": {"title": "x", "code": "taken"}}`); err != nil || s.Refused != "" {
		t.Fatalf("%+v %v", s, err)
	}
	if sheet, err := ben.Sheet(t.Context(), s.ID); err != nil || sheet.Refused != "another record has the same code" {
		t.Errorf("%q %v", sheet.Refused, err)
	}
}

// TestTrail checks that an opened sheet shows the agent's earlier reads. The answer to a decision must not search for
// them.
func TestTrail(t *testing.T) {
	o := newOffice(t, nil)
	bot, ben := o.bot(), o.person("ben")
	if err := o.as(bot, func(context.Context, *bailiwick.Call) error { return nil }); err != nil {
		t.Fatal(err)
	}
	s, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "1", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ben.Sheet(t.Context(), s.ID); err != nil || len(got.Trail) != 1 || got.Trail[0].Tool != "get_change" {
		t.Errorf("%+v, %v", got.Trail, err)
	}
	others := func() {
		t.Helper()
		var who identity.Principal
		for i := range 5000 { // as many records as a sheet looks up
			if i%20 == 0 { // the limits count calls by owner
				who = o.token(identity.Agent, rand.Text(), "acme", identity.Read)
			}
			if err := o.as(who, func(context.Context, *bailiwick.Call) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	others()
	if got, err := ben.Sheet(t.Context(), s.ID); err != nil || len(got.Trail) != 1 || !got.TrailSince.IsZero() {
		t.Errorf("after calls of others: %+v, since %v, %v", got.Trail, got.TrailSince, err)
	}
	late, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "2", "data": {"n": 5}}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ben.Sheet(t.Context(), late.ID); err != nil || got.Trail != nil || got.TrailSince.IsZero() {
		t.Errorf("between calls of others: %+v, since %v, %v", got.Trail, got.TrailSince, err)
	}
	if got, err := ben.Approve(t.Context(), s.ID, s.Digest, ""); err != nil || got.Trail != nil || got.State != change.Applied || got.RecordHash == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestManyWait checks that each of several waiting calls returns when its change ends, and no earlier.
func TestManyWait(t *testing.T) {
	o := newOffice(t, nil)
	bot, ben := o.bot(), o.person("ben")
	type end struct {
		id    string
		state change.State
		err   error
	}
	ended := make(chan end, 6)
	var filed []*review.Sheet
	for i := range 3 {
		s, err := o.propose(bot, fmt.Sprintf(`{"op": "update", "class": "issues", "id": "1", "data": {"n": %d}}`, 100+i))
		if err != nil {
			t.Fatal(err)
		}
		filed = append(filed, s)
		for range 2 {
			go func() {
				e := end{id: s.ID}
				e.err = o.as(bot, func(ctx context.Context, c *bailiwick.Call) error {
					got, err := c.WaitForChange(ctx, s.ID, time.Minute)
					if err == nil {
						e.state = got.State
					}
					return err
				})
				ended <- e
			}()
		}
	}
	for _, s := range filed {
		select {
		case e := <-ended:
			t.Fatalf("%+v before it was decided", e)
		case <-time.After(5 * time.Millisecond):
		}
		if _, err := ben.Reject(t.Context(), s.ID, "no"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if e := <-ended; e.id != s.ID || e.state != change.Rejected || e.err != nil {
				t.Fatalf("%+v, want %s rejected", e, s.ID)
			}
		}
	}
}
