package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
)

// changeWithActor returns the change number n. Its steps have audit records.
func changeWithActor(n int) *change.Change {
	c := plain(n, "token:bot")
	c.Correlation = "visit\x00"
	c.History[0].Actor = &change.Actor{Principal: "token:bot", Owner: "ana\x00", Tenant: "acme", TokenID: "bot", Policy: "v1"}
	return c
}

// by returns a step with an audit record.
func by(who string, to change.State, event change.EventKind) change.Step {
	return change.Step{State: to, Event: event, Actor: &change.Actor{Principal: who, Owner: who, Policy: "v2"}}
}

// outboxSteps returns the steps whose records are in the outbox.
func outboxSteps(t *testing.T, s Store, id string) []string {
	t.Helper()
	found, err := s.PendingRecords(t.Context(), id, 100)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range found {
		out = append(out, r.Step+" "+r.Outcome+" "+r.Principal)
	}
	return out
}

// drain moves the records in the outbox to the log.
func drain(t *testing.T, s Store, id string) {
	t.Helper()
	if _, err := audit.Drain(t.Context(), s, id, s); err != nil {
		t.Fatal(err)
	}
}

// testSteps checks that a step and its audit record are either both stored or both not. A change can't be claimed
// before its steps are in the log.
func testSteps(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	s, other := Handle(t, open, place), Handle(t, open, place)
	c := put(t, s, changeWithActor(1))
	if again := put(t, s, changeWithActor(1)); again.ID != c.ID {
		t.Fatal("filed twice")
	}
	if err := step(t, s, c, by("ben", change.Granted, change.EventApproved), change.Guard{}); err != nil {
		t.Fatal(err)
	}
	late := *c
	late.Version--
	if err := step(t, s, &late, by("eve", change.Rejected, change.EventRejected), change.Guard{}); !errors.Is(err, change.ErrMoved) {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, changeWithActor(2), change.Filing{Life: time.Hour, Most: 0}); !errors.Is(err, change.ErrFull) {
		t.Fatal(err)
	}
	put(t, s, changeWithActor(3))
	put(t, s, plain(4, "old")) // its steps have no audit records
	first, second := c.ID+":1 proposed token:bot", c.ID+":2 approved ben"
	if diff := cmp.Diff([]string{first, second}, outboxSteps(t, other, c.ID)); diff != "" {
		t.Error(diff)
	}
	if got := outboxSteps(t, other, ""); len(got) != 3 || got[0] != first {
		t.Error(got)
	}
	if got := outboxSteps(t, s, Strange); len(got) != 0 {
		t.Error(got)
	}
	claimedLate(t, s, other, c)
	if err := s.RemoveSteps(ctx, c.ID+":3", "none"); err != nil { // used if the log is outside the store
		t.Error(err)
	}
	if got := outboxSteps(t, s, c.ID); got != nil {
		t.Error(got)
	}
	wantWhole(t, s, 2)
}

// claimedLate claims c while two of its steps are in the outbox. The store must refuse until both are in the log.
func claimedLate(t *testing.T, s, other Store, c *change.Change) {
	t.Helper()
	ctx, claim := t.Context(), change.Guard{Recorded: true, Lease: time.Minute}
	for range 2 {
		if err := step(t, other, c, by("token:bot", change.Applying, change.EventClaimed), claim); !errors.Is(err, change.ErrUnrecorded) {
			t.Fatal("claimed before its approval was recorded:", err)
		}
		one, err := s.PendingRecords(ctx, c.ID, 1)
		if err != nil || len(one) != 1 {
			t.Fatal(one, err)
		}
		if err := other.Append(ctx, &one[0]); err != nil {
			t.Fatal(err)
		}
	}
	if got := outboxSteps(t, s, c.ID); got != nil {
		t.Error("the log has them, and the outbox still:", got)
	}
	if err := step(t, other, c, by("token:bot", change.Applying, change.EventClaimed), claim); err != nil {
		t.Fatal(err)
	}
	want := c.Record(2)
	got, ok, err := s.Find(ctx, want.Step)
	want.Seq, want.Prev, want.Hash = got.Seq, got.Prev, got.Hash
	if diff := cmp.Diff(*want, got); diff != "" || !ok || err != nil {
		t.Error(ok, err, diff)
	}
	for _, none := range []string{"", c.ID + ":3", Strange} {
		if r, ok, err := s.Find(ctx, none); ok || err != nil {
			t.Errorf("%q: %+v, %v", none, r, err)
		}
	}
}

// testLoggedSteps checks that the records of stored steps are in the log. It tests several concurrent steps among
// other records. A refused step must leave no record.
func testLoggedSteps(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	s, other := handles[0], handles[1]
	const changes = 12
	filing := change.Filing{Life: time.Hour, Most: 1 << 30, Log: true}
	var deciding sync.WaitGroup
	for n := range changes {
		deciding.Go(func() {
			c, err := handles[n%2].Put(ctx, changeWithActor(n), filing)
			if err != nil {
				t.Error(err)
				return
			}
			r := record("w", n)
			err = handles[n%3%2].Append(ctx, &r)
			next := *c
			next.State = change.Applying
			next.History = append(slices.Clone(c.History), by("ben", change.Granted, change.EventApproved), by("token:bot", change.Applying, change.EventClaimed))
			if err := errors.Join(err, handles[(n+1)%2].Swap(ctx, &next, change.Guard{Recorded: true, Unexpired: true, Lease: time.Minute, Log: true})); err != nil {
				t.Error(err)
			}
			late := *c
			late.History = append(slices.Clone(c.History), by("eve", change.Rejected, change.EventRejected))
			if err := s.Swap(ctx, &late, change.Guard{Log: true}); !errors.Is(err, change.ErrMoved) {
				t.Error("a step that came too late:", err)
			}
		})
	}
	deciding.Wait()
	if t.Failed() {
		return
	}
	if _, err := other.Put(ctx, changeWithActor(99), change.Filing{Life: time.Hour, Log: true}); !errors.Is(err, change.ErrFull) {
		t.Error(err)
	}
	wantWhole(t, other, 4*changes)
	if left := outboxSteps(t, other, ""); left != nil {
		t.Error("the log has them, and the outbox too:", left)
	}
	if diff := cmp.Diff([]string{fmt.Sprint(changes, 3*changes, 0)}, lacking(t, s, other)); diff != "" {
		t.Error(diff)
	}
	events, err := other.Events(ctx, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, e := range events {
		seen[e.Change] += fmt.Sprint(e.Kind, " ", e.State, "; ")
	}
	for n := range changes {
		if id := changeWithActor(n).ID; seen[id] != "created pending; approved approved; claimed applying; " {
			t.Error(id, seen[id])
		}
	}
}

// testStepsOnce records the same steps through two handles concurrently, among other records. Each must be in the log
// once.
func testStepsOnce(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	const steps, times = 40, 6
	seqs := make([][]int64, steps)
	var mu sync.Mutex
	var writing sync.WaitGroup
	for who := range times {
		writing.Go(func() {
			for n := range steps {
				r := record("w", n)
				r.Step = fmt.Sprint("step:", n)
				if err := handles[who%2].Append(ctx, &r); err != nil {
					t.Error(err)
				}
				other := record("w", n)
				if err := handles[who%2].Append(ctx, &other); err != nil {
					t.Error(err)
				}
				mu.Lock()
				seqs[n] = append(seqs[n], r.Seq)
				mu.Unlock()
			}
		})
	}
	writing.Wait()
	for n, s := range seqs {
		r, ok, err := handles[0].Find(ctx, fmt.Sprint("step:", n))
		if len(slices.Compact(s)) != 1 || !ok || err != nil || r.Seq != s[0] || r.Step != fmt.Sprint("step:", n) {
			t.Errorf("step %d: %v, %+v, %v", n, s, r, err)
		}
	}
	wantWhole(t, handles[0], steps+steps*times)
}

// older returns a change that was applied by a version without audit records of steps.
func older(t *testing.T, s Store) *change.Change {
	t.Helper()
	old := put(t, s, plain(300, "old"))
	for _, to := range []change.Step{{State: change.Granted, Event: change.EventApproved}, {State: change.Applied, Event: change.EventApplied}} {
		if err := step(t, s, old, to, change.Guard{}); err != nil {
			t.Fatal(err)
		}
	}
	return old
}

// lacking returns the findings of a reconciliation, followed by the counts.
func lacking(t *testing.T, s change.Store, log audit.Reader) (out []string) {
	t.Helper()
	found, err := change.Reconcile(t.Context(), s, log)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found.Lacks {
		out = append(out, l.Step+l.Error())
	}
	return append(out, fmt.Sprint(found.Changes, found.Steps, found.Waiting))
}

// testReconcile checks that steps without a record and records without a step are reported.
func testReconcile(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	s, other := Handle(t, open, place), Handle(t, open, place)
	lacks := func() []string { return lacking(t, s, other) }
	var all []*change.Change
	for n := range 203 { // more than one page
		c := put(t, s, changeWithActor(n))
		if err := step(t, s, c, by("ben", change.Granted, change.EventApproved), change.Guard{}); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	for left := 1; left > 0; left = len(outboxSteps(t, s, "")) {
		drain(t, s, "")
	}
	if diff := cmp.Diff([]string{"203 406 0"}, lacks()); diff != "" {
		t.Error(diff)
	}
	c := all[7]
	if err := step(t, s, c, by("token:bot", change.Applying, change.EventClaimed), change.Guard{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"203 407 1"}, lacks()); diff != "" {
		t.Error(diff)
	}
	// The change was applied without a guard, and the outbox was emptied without recording it.
	if err := step(t, s, c, by("token:bot", change.Applied, change.EventApplied), change.Guard{}); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveSteps(ctx, c.ID+":3", c.ID+":4"); err != nil {
		t.Fatal(err)
	}
	forged := *all[9].Record(2)
	forged.Step, forged.Change = "gone:1", "gone"
	if err := s.Append(ctx, &forged); err != nil {
		t.Fatal(err)
	}
	old := older(t, s)
	want := []string{
		c.ID + ":3change " + c.ID + ": no record says that it was claimed by token:bot",
		c.ID + ":4change " + c.ID + ": no record says that it was applied by token:bot",
		"change " + old.ID + ": it was applied, and no record says who approved it",
		"gone:1change gone: record 407 says approved by ben, and no such change is kept", "204 408 0"}
	if diff := cmp.Diff(want, lacks()); diff != "" {
		t.Error(diff)
	}
	note := audit.Record{Tool: "changes/approved", Outcome: audit.Approved, Change: old.ID} // the form of the records of older versions
	if err := s.Append(context.WithoutCancel(ctx), &note); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Delete(want, 2, 3), lacks()); diff != "" {
		t.Error(diff)
	}
}
