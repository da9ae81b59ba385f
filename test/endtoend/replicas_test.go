package endtoend

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A deed is one action of a person on a change.
type deed struct {
	do  string // "approve", "reject", "ask", "answer", "replace", "edit", "cancel" or "show"
	who int
}

// A life is the model's state of a change that needs two approvals.
type life struct {
	state     change.State
	approvers uint8
}

// oneChange is the model of one change, independent of the acting person and replica. A deed that lost a race
// ("moved") has no effect.
var oneChange = porcupine.Model{
	Init: func() any { return life{state: change.Pending} },
	Step: func(state, input, output any) (bool, any) {
		l, d, out := state.(life), input.(deed), output.(string)
		if out == "moved" {
			return true, l
		}
		approved, open := l.state == change.Granted, l.state == change.Pending || l.state == change.Returned
		switch d.do {
		case "show":
			return l.shown(out)
		case "approve":
			return l.approve(1<<d.who, out)
		case "reject":
			if out == "state" {
				return !open, applied(l)
			}
			return open || approved, life{change.Rejected, l.approvers}
		case "ask":
			if out == "state" {
				return l.state != change.Pending, l
			}
			return l.state == change.Pending, life{change.Returned, 0}
		case "answer":
			if out == "state" {
				return !open, l
			}
			return open, life{change.Pending, l.approvers}
		case "replace", "edit":
			if out == "state" || out == "replaced" {
				return !open && (out == "state" || l.state == change.Replaced), l
			}
			return open, life{change.Replaced, 0}
		}
		if out == "state" {
			return !open, applied(l)
		}
		return open || approved, life{change.Cancelled, l.approvers}
	},
	DescribeOperation: func(in, out any) string { return fmt.Sprint(in, " → ", out) },
}

// applied returns the state after a caller has learned that the change can no longer be stopped. Applying an approved
// change has then begun.
func applied(l life) life {
	if l.state == change.Granted {
		l.state = change.Applied
	}
	return l
}

func (l life) shown(out string) (bool, any) {
	switch change.State(out) {
	case change.Pending, change.Returned, change.Replaced, change.Rejected, change.Cancelled:
		return l.state == change.State(out), l
	case change.Granted:
		return l.state == change.Granted, l
	case change.Applying, change.Applied:
		return l.state == change.Granted || l.state == change.Applied, applied(l)
	}
	return false, l
}

func (l life) approve(who uint8, out string) (bool, any) {
	switch out {
	case "state":
		return l.state != change.Pending, l
	case "decided":
		return l.state == change.Pending && l.approvers&who != 0, l
	}
	if l.state != change.Pending || l.approvers&who != 0 {
		return false, l
	}
	l.approvers |= who
	if bits.OnesCount8(l.approvers) == 2 {
		l.state = change.Granted
	}
	return true, l
}

// rounds returns the number of changes to try. BAILIWICK_SOAK overrides it for long runs.
func rounds(short int) int {
	if n, err := strconv.Atoi(os.Getenv("BAILIWICK_SOAK")); err == nil {
		return n
	}
	return short
}

// TestReplicas lets people and an agent act on one change after another in every possible way, through two replicas
// with one store. It compares the results with the model. An applied change must be in the target once, and nothing
// else may be there. Every other change is a group of an action and a write of another record. They must be written
// together or not at all.
func TestReplicas(t *testing.T) {
	url := services.Postgres(t)
	var replicas []*bailiwick.Gateway
	var stores []*postgres.Store
	var o *office
	actions := []action.Declaration{{Name: "renumber", On: "issues", Do: action.Update, Permitted: []string{"n"}, Input: read(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)}}
	for range 2 {
		s, err := postgres.Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		stores = append(stores, s)
		at := newOffice(t, func(options *bailiwick.Options, changes *change.Options) {
			if o != nil {
				options.Sources = o.sources // both replicas write to the same tracker
			}
			options.Refresher, options.Audit, options.History, changes.Store = identity.Fixed{}, s, s, s
			changes.Edit, changes.Audited = true, o != nil
		})
		if o == nil {
			o = at
		}
		at.review(2, actions)
		replicas = append(replicas, at.gateway)
	}
	bot := o.bot()
	var people []identity.Principal
	for _, name := range []string{"ben", "cleo", "dora"} {
		people = append(people, o.token(identity.Human, name, "acme", identity.Read, identity.Review))
	}
	ended, groups := map[change.State]int{}, 0
	for round := range rounds(60) {
		grouped := round%2 == 1
		items := []string{fmt.Sprintf(`{"op":"update","class_name":"issues","object_id":"2","data":{"n":%d}}`, 1000+round)}
		if grouped {
			items = []string{fmt.Sprintf(`{"op":"action","class_name":"issues","method_name":"renumber","object_id":"2","arguments":{"n":%d}}`, 1000+round),
				fmt.Sprintf(`{"op":"update","class_name":"issues","object_id":"1","data":{"title":"round %d"}}`, 1000+round)}
		}
		id, err := o.proposed(bot, items...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := o.gateway.Reviewer(people[0], "visit").Sheet(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		before, title := o.holds("SELECT n FROM issues WHERE id = 2"), o.holds("SELECT title FROM issues WHERE id = 1")
		history := o.crowd(replicas, bot, people, s, !grouped)
		if t.Failed() {
			return // an error that the model doesn't define
		}
		if !porcupine.CheckOperations(oneChange, history) {
			for _, op := range history {
				t.Log(op.ClientId, op.Call, op.Return, op.Input, op.Output)
			}
			t.Fatalf("round %d: nobody can have seen this in any order", round)
		}
		kept := o.settled(stores[0], s.ID)
		ended[kept.State]++
		now := o.holds("SELECT n FROM issues WHERE id = 2")
		if want := map[bool]string{true: fmt.Sprint(1000 + round), false: before}[kept.State == change.Applied]; now != want {
			t.Fatalf("round %d: the change is %s and n is %s, want %s", round, kept.State, now, want)
		}
		if now, want := o.holds("SELECT title FROM issues WHERE id = 1"), map[bool]string{true: fmt.Sprint("round ", 1000+round), false: title}[grouped && kept.State == change.Applied]; now != want {
			t.Fatalf("round %d: the change is %s and the title is %s, want %s", round, kept.State, now, want)
		}
		if grouped && kept.State == change.Applied {
			groups++
		}
	}
	t.Log(ended, "groups applied:", groups)
	if held, err := change.Reconcile(t.Context(), stores[0], stores[1]); err != nil || len(held.Lacks) > 0 || held.Steps == 0 {
		t.Errorf("%+v, %v", held, err)
	}
	if groups == 0 || ended[change.Replaced] == 0 || ended[change.Applied] == 0 || ended[change.Rejected] == 0 || ended[change.Cancelled] == 0 {
		t.Error("the rounds show too little:", ended)
	}
}

// crowd lets everybody act on one change concurrently. It returns the results with their times. Nobody edits a change
// that contains an action.
func (o *office) crowd(replicas []*bailiwick.Gateway, bot identity.Principal, people []identity.Principal, s *review.Sheet, edit bool) []porcupine.Operation {
	var mu sync.Mutex
	var history []porcupine.Operation
	var wg sync.WaitGroup
	start := time.Now()
	for client := range 5 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for range 3 {
				d := deed{[]string{"show", "approve", "approve", "approve", "approve", "approve", "reject", "cancel", "ask", "answer", "answer", "replace", "edit"}[r.IntN(13)], r.IntN(len(people))}
				if (d.do == "edit" && !edit) || (d.do == "reject" || d.do == "replace" || d.do == "edit" || d.do == "cancel") && r.IntN(3) > 0 {
					d.do = "show"
				}
				time.Sleep(time.Duration(r.IntN(3)) * time.Millisecond)
				call := time.Since(start)
				told := o.act(replicas[r.IntN(2)], bot, people, d, s.ID, s.Digest)
				back := time.Since(start)
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: client, Input: d, Call: int64(call), Output: told, Return: int64(back)})
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return history
}

// settled waits until a change is neither approved nor being applied.
func (o *office) settled(s change.Store, id string) *change.Change {
	for range 200 {
		c, err := s.Get(o.Context(), id)
		if err != nil {
			o.Fatal(err)
		}
		if !slices.Contains([]change.State{change.Granted, change.Applying}, c.State) {
			if c.State == change.Replaced { // its last version decides, and it is still open
				return o.settledVersion(s, c)
			}
			if c.State == change.Pending || c.State == change.Returned { // end the change, because the next round proposes for the same record
				if _, err := change.NewQueue(change.Options{Store: s}).Reject(o.Context(), id, identity.Principal{ID: "x", Kind: identity.Human, Owner: "x", Scopes: []identity.Scope{identity.Review}}, ""); err != nil {
					o.Fatal(err)
				}
			}
			return c
		}
		time.Sleep(10 * time.Millisecond)
	}
	o.Fatal("the change never ended")
	return nil
}

// settledVersion ends the newest version of c, whose record is still unchanged. It returns c.
func (o *office) settledVersion(s change.Store, c *change.Change) *change.Change {
	o.Helper()
	last := c
	for last.State == change.Replaced {
		next, err := s.Get(o.Context(), last.ReplacedBy)
		if err != nil || next.Replaces != last.ID {
			o.Fatal("a version that isn't there, or another one's:", next, err)
		}
		last = next
	}
	o.settled(s, last.ID)
	return c
}

// act performs one deed and returns the result. For "show" the result is the state. For others it is "ok" or the kind
// of the refusal.
func (o *office) act(g *bailiwick.Gateway, bot identity.Principal, people []identity.Principal, d deed, id, digest string) string {
	desk, ctx := g.Reviewer(people[d.who], "visit"), o.Context()
	var err error
	switch d.do {
	case "show":
		var s *review.Sheet
		if s, err = desk.Sheet(ctx, id); err == nil {
			return string(s.State)
		}
	case "approve":
		_, err = desk.Approve(ctx, id, digest, "")
	case "reject":
		_, err = desk.Reject(ctx, id, "no")
	case "ask":
		_, err = desk.Ask(ctx, id, "other")
	case "edit":
		_, err = desk.Edit(ctx, id, review.Revision{Digest: digest, Reason: "x", Edits: []review.Edit{{Field: "n", Value: value.OfInt(rand.Int64N(1 << 40))}}})
	case "replace":
		_, err = o.again(g, bot, id, fmt.Sprintf(`{"n": %d}`, 1<<41+rand.Int64N(1<<40)))
	case "answer":
		err = g.Do(ctx, bot, bailiwick.CallSpec{Tool: "reply_to_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			_, err := c.Answer(ctx, id, fmt.Sprint(rand.Int64()))
			return 0, err
		})
	case "cancel":
		err = g.Do(ctx, bot, bailiwick.CallSpec{Tool: "cancel_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			_, err := c.CancelChange(ctx, id)
			return 0, err
		})
	}
	kind := kindOf(err)
	if err == nil {
		return "ok"
	}
	if !slices.Contains([]string{"moved", "state", "decided", "replaced"}, kind) {
		o.Errorf("%s: %v: %v", d.do, err, problem.Of(err).Err)
	}
	return kind
}

// review sets rules that require this number of approvals, and actions.
func (o *office) review(approvals int, actions []action.Declaration) {
	o.Helper()
	rules := o.rules
	rules.Version, rules.Review = "v2", []change.Rule{{Name: "review[0]", Approvals: approvals}}
	if err := o.gateway.SetRules(o.Context(), rules, actions); err != nil {
		o.Fatal(err)
	}
}
