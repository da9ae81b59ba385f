package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// again proposes another version of a change as p: one update of issue 2.
func (o *office) again(g *bailiwick.Gateway, p identity.Principal, id, data string) (s *review.Sheet, err error) {
	o.Helper()
	doc, err := value.Read([]byte(data), 0)
	if err != nil {
		o.Fatal(err)
	}
	r := write.Request{Tool: "reply_to_change", Reason: "as asked", Input: doc, Replaces: id, Writes: []write.Write{&write.Update{Class: "issues", ID: "2", Data: doc}}}
	err = g.Do(o.Context(), p, bailiwick.CallSpec{Tool: "reply_to_change", Needs: identity.Read, Proposes: true}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		s, err = c.Propose(ctx, r)
		return 0, err
	})
	return s, err
}

// as calls f in a call of p.
func (o *office) as(p identity.Principal, f func(context.Context, *bailiwick.Call) error) error {
	return o.gateway.Do(o.Context(), p, bailiwick.CallSpec{Tool: "get_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) { return 0, f(ctx, c) })
}

// TestConversation checks a change with a request for changes, an answer, a version by the agent and a version by a
// reviewer. Each version must require new approvals, its author can't approve it, and the last version must be
// applied.
func TestConversation(t *testing.T) {
	o := newOffice(t, func(_ *bailiwick.Options, c *change.Options) { c.Edit = true })
	bot, ben, cleo := o.bot(), o.person("ben"), o.person("cleo")
	ctx := t.Context()
	first, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "2", "data": {"n": 41, "title": "first"}}`)
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan *review.Sheet, 1)
	go func() {
		_ = o.as(bot, func(ctx context.Context, c *bailiwick.Call) error {
			s, err := c.WaitForChange(ctx, first.ID, 25*time.Second) // a person requests changes long before
			waiting <- s
			return err
		})
	}()
	if _, err := ben.Ask(ctx, first.ID, "  "); problem.CodeOf(err) != problem.InvalidArgument {
		t.Error("a request without words:", err)
	}
	if s, err := ben.Ask(ctx, first.ID, "n is 42"); err != nil || s.State != change.Returned || s.CanAsk || !s.CanReject {
		t.Fatal(s, err)
	}
	begun := time.Now()
	s := <-waiting
	if took := time.Since(begun); took > 15*time.Second {
		t.Error("the agent that waits hears of it after", took)
	}
	if s == nil || s.State != change.Returned || len(s.Thread) != 1 || s.Thread[0].Text != "n is 42" || s.Thread[0].By != "ben" || s.Thread[0].Agent {
		t.Fatalf("the agent that waits hears %+v", s)
	}
	if _, err := cleo.Approve(ctx, first.ID, first.Digest, ""); kindOf(err) != "state" {
		t.Error("a change that was returned is approved:", err)
	}
	other := o.bot()
	if err := o.as(other, func(ctx context.Context, c *bailiwick.Call) error {
		_, err := c.Answer(ctx, first.ID, "mine")
		return err
	}); problem.CodeOf(err) != problem.NotFound {
		t.Error("another agent answers:", err)
	}
	answer := func(ctx context.Context, c *bailiwick.Call) error {
		_, err := c.Answer(ctx, first.ID, "is it?")
		return err
	}
	if err := o.as(bot, answer); err != nil {
		t.Fatal(err)
	}
	if err := o.as(bot, answer); err != nil {
		t.Fatal("the same answer again:", err)
	}
	if s, err := ben.Ask(ctx, first.ID, "yes"); err != nil || len(s.Thread) != 3 || s.Thread[1].Text != "is it?" || !s.Thread[1].Agent {
		t.Fatalf("%+v, %v", s.Thread, err)
	}
	if _, err := o.again(o.gateway, other, first.ID, `{"n": 7}`); problem.CodeOf(err) != problem.NotFound {
		t.Error("another agent replaces:", err)
	}
	second, err := o.again(o.gateway, bot, first.ID, `{"n": 42, "title": "first"}`)
	if err != nil || second.Version != 2 || second.Replaces != first.ID || len(second.Since) != 1 || len(second.Since[0].Fields) != 1 || second.Since[0].Fields[0].Path != "n" {
		t.Fatalf("%+v, %v", second, err)
	}
	if _, err := o.again(o.gateway, bot, first.ID, `{"n": 43}`); kindOf(err) != "replaced" || !strings.Contains(problem.Of(err).Suggestion, second.ID) {
		t.Error("two versions of one:", err)
	}
	if s, err := ben.Sheet(ctx, first.ID); err != nil || s.State != change.Replaced || s.ReplacedBy != second.ID || s.CanReject || s.CanEdit {
		t.Errorf("%+v, %v", s, err)
	}
	o.editedVersion(bot, second)
}

// editedVersion lets ben edit a change of ana's agent, and cleo approve it.
func (o *office) editedVersion(bot identity.Principal, second *review.Sheet) {
	o.Helper()
	ctx := o.Context()
	ben, cleo, ana := o.person("ben"), o.person("cleo"), o.person("ana")
	edit := func(field, v string) review.Revision {
		is, err := value.Read([]byte(v), 0)
		if err != nil {
			o.Fatal(err)
		}
		return review.Revision{Digest: second.Digest, Reason: "rounder", Edits: []review.Edit{{Field: field, Value: is}}}
	}
	for name, tt := range map[string]struct {
		by   bailiwick.Reviewer
		e    review.Revision
		want string
	}{
		"of the agent's own human": {ana, edit("n", "50"), "four_eyes"},
		"of a field not asked for": {ben, edit("status", `"Done"`), ""},
		"of the same value":        {ben, edit("n", "42"), ""},
		"of what isn't a number":   {ben, edit("n", `"x"`), ""},
		"of another digest":        {ben, review.Revision{Digest: "x", Edits: edit("n", "50").Edits}, "digest"},
	} {
		if _, err := tt.by.Edit(ctx, second.ID, tt.e); err == nil || tt.want != "" && kindOf(err) != tt.want {
			o.Errorf("an edit %s: %v", name, err)
		}
	}
	third, err := ben.Edit(ctx, second.ID, edit("n", "50"))
	if err != nil || third.Version != 3 || third.Asker != "ben" || third.CanApprove {
		o.Fatalf("%+v, %v", third, err)
	}
	if _, err := ben.Approve(ctx, third.ID, third.Digest, ""); kindOf(err) != "four_eyes" {
		o.Error("the author of a version approves it:", err)
	}
	if rows, _, err := ben.Queue(ctx, change.Filter{For: "x", States: []change.State{change.Pending}}); err != nil || len(rows) != 0 {
		o.Error("it needs its author:", rows, err)
	}
	if rows, _, err := cleo.Queue(ctx, change.Filter{For: "x", States: []change.State{change.Pending}}); err != nil || len(rows) != 1 {
		o.Error("it doesn't need cleo:", rows, err)
	}
	if s, err := cleo.Approve(ctx, third.ID, third.Digest, ""); err != nil || s.State != change.Applied || o.holds("SELECT n FROM issues WHERE id = 2") != "50" {
		o.Error(s, err)
	}
	err = o.as(bot, func(ctx context.Context, c *bailiwick.Call) error {
		s, err := c.Change(ctx, third.ID)
		if err == nil && (len(s.Thread) < 5 || s.Thread[len(s.Thread)-1].By != "cleo" || len(s.Since) != 1) {
			o.Errorf("the agent reads %+v", s)
		}
		return err
	})
	if err != nil {
		o.Error(err)
	}
	if held, err := change.Reconcile(ctx, o.store, o.store); err != nil || len(held.Lacks) > 0 {
		o.Errorf("%+v, %v", held, err)
	}
}

// TestEditIsOff checks that a reviewer can't edit a change unless review.edit is set.
func TestEditIsOff(t *testing.T) {
	o := newOffice(t, nil)
	s, err := o.propose(o.bot(), `{"op": "update", "class": "issues", "id": "2", "data": {"n": 41}}`)
	if err != nil {
		t.Fatal(err)
	}
	ben := o.person("ben")
	if _, err := ben.Edit(t.Context(), s.ID, review.Revision{Digest: s.Digest, Edits: []review.Edit{{Field: "n", Value: value.OfInt(1)}}}); kindOf(err) != "edit" {
		t.Error(err)
	}
	if seen, err := ben.Sheet(t.Context(), s.ID); err != nil || seen.CanEdit {
		t.Error(seen, err)
	}
}

// TestNonInterferenceConversation has the same conversation in two worlds that differ in hidden data. All bytes that
// the agent reads must be the same. The reviewer sees the hidden field and all tenants.
func TestNonInterferenceConversation(t *testing.T) { inOffices(t, interfereByConversation) }

func interfereByConversation(t *testing.T, open func(*testing.T, func(*bailiwick.Options, *change.Options)) *office) {
	told := func(seed uint64) string {
		o := open(t, func(_ *bailiwick.Options, c *change.Options) { c.Edit = true })
		r := rand.New(rand.NewPCG(seed, 1))
		for range 3 + seed%3 {
			o.run(`UPDATE issues SET secret_note = ?`, fmt.Sprint(r.IntN(1000)))
			o.run(`INSERT OR IGNORE INTO issues (id, org, title, n, code) VALUES (?, 'globex', 'x', 1, ?)`, 10+r.IntN(50), fmt.Sprint(r.IntN(1000)))
		}
		bot, ben, ctx := o.bot(), o.person("ben"), t.Context()
		theirs := o.token(identity.Agent, "greta", "acme", identity.Read, identity.Write)
		if _, err := o.propose(theirs, fmt.Sprintf(`{"op": "update", "class": "issues", "id": "2", "data": {"title": "their %d"}}`, seed)); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		note := func(s *review.Sheet, err error) *review.Sheet {
			text, failed := json.Marshal(s)
			if failed != nil {
				t.Fatal(failed)
			}
			fmt.Fprintf(&out, "%s %v\n", text, err)
			return s
		}
		s, err := o.propose(bot, `{"op": "update", "class": "issues", "id": "2", "data": {"n": 3}}`)
		note(s, err)
		if _, err := ben.Ask(ctx, s.ID, "less"); err != nil {
			t.Fatal(err)
		}
		next := note(o.again(o.gateway, bot, s.ID, `{"n": 2}`))
		edited, err := ben.Edit(ctx, next.ID, review.Revision{Digest: next.Digest, Reason: "least", Edits: []review.Edit{{Field: "n", Value: value.OfInt(1)}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{s.ID, next.ID, edited.ID} {
			err := o.as(bot, func(ctx context.Context, c *bailiwick.Call) error {
				seen, err := c.Change(ctx, id)
				note(seen, err)
				out.WriteString(review.Text(seen))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return fleeting.ReplaceAllString(out.String(), "…")
	}
	first := told(1)
	for seed := uint64(2); seed < 5; seed++ {
		if got := told(seed); got != first {
			t.Fatalf("in one world:\n%s\nin another:\n%s", first, got)
		}
	}
	for _, never := range []string{"secret_note", "their", "greta", "globex"} {
		if strings.Contains(first, never) {
			t.Errorf("the agent reads %q:\n%s", never, first)
		}
	}
	for _, want := range []string{`"changes_requested"`, "least", `"since"`} {
		if !strings.Contains(first, want) {
			t.Errorf("the agent doesn't read %q:\n%s", want, first)
		}
	}
}
