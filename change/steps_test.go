package change_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestAskAndAnswer checks who may return a change, and that its agent's answer gives it its time again.
func TestAskAndAnswer(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	longer := change.NewQueue(change.Options{Store: h.store, Life: 72 * time.Hour})
	c := h.propose(1)
	if _, err := h.Ask(ctx, c.ID, person("ben"), " \n"); problem.Of(err).Pointer != "/text" {
		t.Error("returned without a word:", err)
	}
	if _, err := h.Ask(ctx, c.ID, person("ana"), "less"); err != nil {
		t.Error("the agent's own human can't return it:", err)
	}
	answer := func(q *change.Queue, text string) *change.Change {
		t.Helper()
		c, err := q.Answer(ctx, c.ID, bot, text)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first := answer(longer, "it is the least")
	if left := first.Expires.Sub(first.Updated); first.State != change.Pending || left != 72*time.Hour {
		t.Errorf("%s, %s left after the answer", first.State, left)
	}
	again := answer(longer, "it is the least")
	if again.Version != first.Version || len(again.History) != len(first.History) {
		t.Error("the same call again is another answer")
	}
	more := answer(h.Queue, "really")
	if len(more.History) != len(first.History)+1 || !more.Expires.Equal(first.Expires) {
		t.Errorf("%d steps, expires %s, before %s", len(more.History), more.Expires, first.Expires)
	}
	if _, err := h.Comment(ctx, c.ID, person("ben"), "well"); err != nil {
		t.Fatal(err)
	}
	if said := answer(h.Queue, "well"); len(said.History) != len(more.History)+2 {
		t.Error("the words of another count as the agent's answer")
	}
	if _, err := h.Reject(ctx, c.ID, person("ben"), "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Answer(ctx, c.ID, bot, "but"); kind(err) != "state" || problem.Of(err).Suggestion == "" {
		t.Error("what was rejected is answered:", err)
	}
	if _, err := h.Cancel(ctx, c.ID, bot); kind(err) != "state" || problem.Of(err).Suggestion != "" {
		t.Error("what was rejected is cancelled:", err)
	}
	if _, err := h.Approve(ctx, c.ID, person("ben"), change.Verdict{Digest: c.Digest}); err == nil || problem.Of(err).Detail != "the change is rejected: it doesn't wait for approval" {
		t.Error("what was rejected is approved:", err)
	}
	down := errors.New("disk on fire")
	q := change.NewQueue(change.Options{Store: &broken{Store: h.store, get: down}})
	if _, err := q.Ask(ctx, c.ID, person("ben"), "x"); !errors.Is(err, down) {
		t.Error(err)
	}
	if _, err := q.Answer(ctx, c.ID, bot, "x"); !errors.Is(err, down) {
		t.Error(err)
	}
}

// TestApproveForOutbox checks that a change isn't taken for execution while the outbox has a step of it, and is approved nevertheless.
func TestApproveForOutbox(t *testing.T) {
	h := newHall(t, change.Options{})
	audited := change.NewQueue(change.Options{Store: h.store, Audited: true})
	c := h.propose(1)
	done, held, err := audited.ApproveFor(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}, "here")
	if _, herr := held.Change(); err != nil || done.State != change.Granted || herr == nil || len(done.History) != 2 || done.Lease.Holder != "" {
		t.Errorf("%+v, %v", done, err)
	}
	down := errors.New("disk on fire")
	audited = change.NewQueue(change.Options{Store: &broken{Store: h.store, swap: down}, Audited: true})
	c = h.propose(1)
	if _, _, err := audited.ApproveFor(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}, "here"); !errors.Is(err, down) {
		t.Error(err)
	}
	audited = change.NewQueue(change.Options{Store: &once{Store: h.store, swap: down}, Audited: true})
	if _, _, err := audited.ApproveFor(t.Context(), c.ID, person("ben"), change.Verdict{Digest: c.Digest}, "here"); !errors.Is(err, down) {
		t.Error("what may have been taken is approved again:", err)
	}
}

// once is a store that fails once, and leaves open whether it has kept what it was given.
type once struct {
	change.Store
	swap error
}

func (o *once) Swap(ctx context.Context, c *change.Change, g change.Guard) error {
	err := o.swap
	if o.swap = nil; err != nil {
		return err
	}
	return o.Store.Swap(ctx, c, g)
}

// TestReached checks that it is kept how far several calls have come, and that a call which was made stays made.
func TestReached(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	if err := h.RecordProgress(ctx, change.Approved{}, change.Receipt{}, nil); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero Approved:", err)
	}
	w := doc(t, `{"op": "delete", "class": "issues", "id": "1"}`)
	c, err := h.Propose(ctx, &change.Change{Source: "app", Op: "call", Agent: change.PartyOf(bot), Mode: write.Review, Need: 1, Writes: []value.Value{w, w}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Approve(ctx, c.ID, person("ben"), change.Verdict{Digest: c.Digest}); err != nil {
		t.Fatal(err)
	}
	a, err := h.Claim(ctx, c.ID, "here")
	if err != nil {
		t.Fatal(err)
	}
	reach := func(done change.Receipt, had ...int) string {
		t.Helper()
		if err := h.RecordProgress(ctx, a, done, had); err != nil {
			t.Fatal(err)
		}
		kept, err := h.Get(ctx, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(-1)
		if kept.Lease.Done != nil {
			rows = kept.Lease.Done.Rows
		}
		return fmt.Sprint(rows, kept.Lease.Had, " ", kept.History[len(kept.History)-1].Comment)
	}
	if got := reach(change.Receipt{}, 0, 3); got != "-1 [0 3] Call 1 is being sent, call 2 was not sent" {
		t.Error(got)
	}
	if err := h.Sending(ctx, a, ""); err != nil {
		t.Fatal(err)
	}
	if got := reach(change.Receipt{Rows: 1}, 0, 4); got != "1 [0 4] Call 1 was carried out, call 2 is being sent" {
		t.Error(got)
	}
	done, err := h.Finish(ctx, a, change.EventFailed, change.Outcome{Receipt: &change.Receipt{Rows: 1}})
	if err != nil || !done.Lease.Sent {
		t.Error("a call was made, and nothing counts as sent:", err)
	}
}

// TestBeforeVersions checks that a change waits for the last version of another, and no longer for one that was applied.
func TestBeforeVersions(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	old, done := h.propose(1), h.approved()
	last := old
	for range 2 {
		next := *last
		next.Source += "x"
		var err error
		if last, err = h.Replace(ctx, last, &next); err != nil {
			t.Fatal(err)
		}
	}
	a, err := h.Claim(ctx, done.ID, "here")
	if err != nil {
		t.Fatal(err)
	}
	if done, err = h.Finish(ctx, a, change.EventApplied, change.Outcome{}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after []string
		want  string
	}{{[]string{old.ID}, last.ID}, {[]string{done.ID}, ""}, {[]string{old.ID, done.ID}, last.ID}} {
		got, err := h.Before(ctx, &change.Change{After: tt.after})
		if err != nil || (got == nil) != (tt.want == "") || got != nil && got.ID != tt.want {
			t.Errorf("after %s: %+v, %v", tt.after, got, err)
		}
	}
	if _, err := h.Before(ctx, &change.Change{After: []string{"none"}}); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
}

// TestFiling checks how many proposals an account has in a minute by itself. It also checks that a proposal which a
// rule lets through isn't let through by a call that finds it filed already.
func TestFiling(t *testing.T) {
	h, ctx := newHall(t, change.Options{}), t.Context()
	allowed := func() *change.Change {
		return &change.Change{Source: "app", Agent: change.PartyOf(bot), Mode: write.Allow}
	}
	down := errors.New("disk on fire")
	if _, err := change.NewQueue(change.Options{Store: &broken{Store: h.store, swap: down}}).Propose(ctx, allowed()); !errors.Is(err, down) {
		t.Error(err)
	}
	if c, err := h.Propose(ctx, allowed()); err != nil || c.State != change.Pending || len(c.History) != 1 {
		t.Error(c, err)
	}
	for range 59 {
		h.propose(1)
	}
	_, err := h.Propose(ctx, &change.Change{Source: "other", Agent: change.PartyOf(bot), Mode: write.Review})
	if kind(err) != "proposals" {
		t.Error("the 61st within a minute:", err)
	}
}
