// Package clocks tests what a store does when the clock that it goes by is set forwards or back.
package clocks

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/store/storetest"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Case is a new store. Jump sets its clock forwards, as the store sees it: it makes all that is kept older.
type Case struct {
	storetest.Store
	Rates limit.Store // nil if each process has its own
	Jump  func(by time.Duration) error
}

// Run runs the suite; open opens a new store.
func Run(t *testing.T, open func(t *testing.T) Case) {
	for _, by := range []time.Duration{2 * time.Hour, 400 * 24 * time.Hour, -2 * time.Hour, -400 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) { jump(t, open(t), by) })
	}
}

// file files a change with a life of one hour.
func file(t *testing.T, c Case, id string) *change.Change {
	t.Helper()
	kept, err := c.Put(t.Context(), &change.Change{ID: id, State: change.Pending, Source: "tracker", Op: "update", Digest: "d" + id, Title: "Update " + id,
		Classes: []string{"tracker.issues"}, Risk: change.Low, Mode: write.Review, Need: 1, Agent: change.Party{Principal: "token:bot", Name: "bot", Owner: "ana"},
		History: []change.Step{{State: change.Pending, Event: change.EventCreated, By: "bot"}}}, change.Filing{Life: time.Hour, Most: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// step takes a change one step on; the change stays as it is if that fails.
func step(t *testing.T, c Case, of *change.Change, to change.Step, g change.Guard) error {
	t.Helper()
	next := *of
	next.State, next.History = to.State, append(slices.Clone(of.History), to)
	err := c.Swap(t.Context(), &next, g)
	if err == nil {
		*of = next
	}
	return err
}

func jump(t *testing.T, c Case, by time.Duration) {
	ctx := t.Context()
	waits, held := file(t, c, "waits"), file(t, c, "held")
	if err := step(t, c, held, change.Step{State: change.Granted, Event: change.EventApproved, By: "ben"}, change.Guard{Unexpired: true}); err != nil {
		t.Fatal(err)
	}
	if err := step(t, c, held, change.Step{State: change.Applying, Event: change.EventClaimed, By: "ben"}, change.Guard{Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	bucket := []limit.Bucket{{Key: "ana", Every: 20 * time.Millisecond, Burst: 1}}
	if c.Rates != nil {
		if _, err := c.Rates.Take(ctx, bucket); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Jump(by); err != nil {
		t.Fatal(err)
	}
	late := by > 0
	// A change expires, and a lease ends, when the clock says so, and not before.
	due, err := c.Due(ctx, 10)
	if slices.Sort(due); err != nil || late && !slices.Equal(due, []string{"held", "waits"}) || !late && len(due) > 0 {
		t.Errorf("due: %v, %v", due, err)
	}
	approve := step(t, c, waits, change.Step{State: change.Granted, Event: change.EventApproved, By: "ben"}, change.Guard{Unexpired: true})
	if late != errors.Is(approve, change.ErrExpired) || !late && approve != nil {
		t.Errorf("approve: %v", approve)
	}
	taken := *held
	take := step(t, c, &taken, change.Step{State: change.Applying, Event: change.EventClaimed, By: "ben"}, change.Guard{Lapsed: true, Lease: time.Minute})
	if !late != errors.Is(take, change.ErrMoved) || late && take != nil {
		t.Errorf("take over: %v", take)
	}
	// Only the holder of the lease ends the change.
	end := step(t, c, held, change.Step{State: change.Applied, Event: change.EventApplied, By: "ben"}, change.Guard{})
	if late != errors.Is(end, change.ErrMoved) || !late && end != nil {
		t.Errorf("end: %v", end)
	}
	// A rate makes no one wait longer than for its burst.
	if c.Rates != nil {
		wait, err := c.Rates.Take(ctx, bucket)
		if err != nil || wait > bucket[0].Every {
			t.Errorf("rate: wait %v, %v", wait, err)
		}
		time.Sleep(wait)
		if wait, err := c.Rates.Take(ctx, bucket); err != nil || !late && wait > 0 {
			t.Errorf("rate: after the wait, wait %v, %v", wait, err)
		}
	}
	// Records are chained whatever their times.
	for _, at := range []time.Time{time.Now(), time.Now().Add(-by), time.Now()} {
		r := audit.Record{Time: at, Principal: "token:bot", Tool: "query", Outcome: audit.OK}
		if err := c.Append(ctx, &r); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := audit.Verify(ctx, c); err != nil || !report.Whole() {
		t.Errorf("%+v, %v", report, err)
	}
}
