// Package clocks tests stores whose clock is set forward or back.
package clocks

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Case is a new store. Jump sets its clock forward from the store's point of view, by making all stored data older.
type Case struct {
	storetest.Store
	Rates limit.Store // nil if each process has its own rates
	Jump  func(by time.Duration) error
}

// Run runs the suite. open opens a new store.
func Run(t *testing.T, open func(t *testing.T) Case) {
	for _, by := range []time.Duration{2 * time.Hour, 400 * 24 * time.Hour, -length / 2, -time.Hour, -400 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) { jump(t, open(t), by) })
	}
}

// length is the duration of a lease.
const length = time.Minute

// file files a change with a lifetime of one hour.
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

// step performs one step of a change. If that fails, the change stays unchanged.
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

// jump checks a store whose clock jumps. It checks which changes expire, which leases end, how long rates make
// callers wait, and that the audit stays intact.
func jump(t *testing.T, c Case, by time.Duration) {
	ctx := t.Context()
	waits, held := file(t, c, "waits"), file(t, c, "held")
	if err := step(t, c, held, change.Step{State: change.Granted, Event: change.EventApproved, By: "ben"}, change.Guard{Unexpired: true}); err != nil {
		t.Fatal(err)
	}
	if err := step(t, c, held, change.Step{State: change.Applying, Event: change.EventClaimed, By: "ben"}, change.Guard{Lease: length}); err != nil {
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
	late, free := by > 0, by > 0 || by < -length
	// A change expires at its time on the clock and not before. A lease also ends when the clock is set back by more than
	// its duration. Otherwise a change whose executor was killed would wait until the clock shows the old time again.
	var want []string
	if free {
		want = append(want, "held")
	}
	if late {
		want = append(want, "waits")
	}
	due, err := c.Due(ctx, 10)
	if slices.Sort(due); err != nil || !slices.Equal(due, want) {
		t.Errorf("due: %v, %v; want %v", due, err, want)
	}
	approve := step(t, c, waits, change.Step{State: change.Granted, Event: change.EventApproved, By: "ben"}, change.Guard{Unexpired: true})
	if late != errors.Is(approve, change.ErrExpired) || !late && approve != nil {
		t.Errorf("approve: %v", approve)
	}
	leases(t, c, held, free)
	// A rate makes nobody wait longer than for its burst.
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
	// Records are chained regardless of their times.
	for _, at := range []time.Time{time.Now(), time.Now().Add(-by), time.Now()} {
		r := audit.Record{Time: at, Principal: "token:bot", Tool: "query", Outcome: audit.OK}
		if err := c.Append(ctx, &r); err != nil {
			t.Fatal(err)
		}
	}
	if report, err := audit.Verify(ctx, c); err != nil || !report.Whole() {
		t.Errorf("%+v, %v", report, err)
	}
	processes(t, c, by)
}

// processes checks the row of a process after the clock jumps. The row must be ignored, and the next heartbeat of
// another process must remove it.
func processes(t *testing.T, c Case, by time.Duration) {
	ctx := t.Context()
	check := func(want ...string) {
		t.Helper()
		rows, err := c.Replicas(ctx)
		var got []string
		for _, r := range rows {
			got = append(got, r.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("processes: %v, %v; want %v", got, err, want)
		}
	}
	beat := func(id string) {
		t.Helper()
		if _, err := c.Beat(ctx, health.ReplicaRow{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	jump := func(by time.Duration) {
		t.Helper()
		if err := c.Jump(by); err != nil {
			t.Fatal(err)
		}
	}
	beat("a")
	check("a")
	jump(by)
	if by.Abs() <= health.Lasting {
		check("a")
		return
	}
	check()
	beat("b")
	check("b")
	jump(-by)
	check()
}

// leases checks which executor can end the change held. If free is true, its lease has expired.
func leases(t *testing.T, c Case, held *change.Change, free bool) {
	// One executor takes over and gets a lease on the new clock.
	taken := *held
	for n := range 2 {
		again := taken
		may := free && n == 0
		take := step(t, c, &again, change.Step{State: change.Applying, Event: change.EventClaimed, By: "ben"}, change.Guard{Lapsed: true, Lease: length})
		if !may != errors.Is(take, change.ErrMoved) || may && take != nil {
			t.Errorf("take over %d: %v", n, take)
		}
		if take == nil {
			taken = again
		}
	}
	// Only the owner of the lease can end the change, and only once.
	applied := change.Step{State: change.Applied, Event: change.EventApplied, By: "ben"}
	end := step(t, c, held, applied, change.Guard{})
	if free != errors.Is(end, change.ErrMoved) || !free && end != nil {
		t.Errorf("end: %v", end)
	}
	end = step(t, c, &taken, applied, change.Guard{})
	if !free != errors.Is(end, change.ErrMoved) || free && end != nil {
		t.Errorf("end by who took over: %v", end)
	}
}
