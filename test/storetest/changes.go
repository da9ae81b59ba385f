package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// plain returns the pending change number n of one principal.
func plain(n int, principal string) *change.Change {
	return &change.Change{ID: fmt.Sprintf("%026d", n), State: change.Pending, Source: "tracker", Op: "update", Digest: fmt.Sprint("d", n),
		Title: fmt.Sprint("Update issue ", n), Classes: []string{"tracker.issues"}, Risk: change.Low, Mode: write.Review, Need: 1,
		Agent: change.Party{Principal: principal, Name: "bot", Kind: "agent", Owner: "ana", Tenant: "acme"}, Input: value.Value{},
		History: []change.Step{{State: change.Pending, Event: change.EventCreated, By: "bot"}}}
}

// full returns a change with every field set that a store could lose or alter.
func full() *change.Change {
	c := plain(1, "o’ana\" \x00'--é")
	record := value.OfObject([]value.Member{{Name: "z", Value: value.OfInt(9007199254740993)}, {Name: "a", Value: value.OfString("\x00 <b> \u2028 \U0001F600 ?")}})
	c.Writes, c.Input = []value.Value{record}, record
	c.Effects = []change.Effect{{Op: "update", Class: "tracker.issues", Key: "1", Before: record, After: value.Value{}, Asked: []string{"z"}}}
	c.Cascades, c.Refusal = []change.Cascade{{Class: "tracker.comments", Effect: "delete", Records: 3}}, "no"
	c.Classes, c.Fields, c.Rows = []string{"tracker.issues", "tracker.issues", "tracker.users"}, []string{"z"}, 1
	c.Reason, c.Agent.Frozen, c.Agent.Tenant = "wegen \x00 Ärger", []byte{0, 255, 10}, "acme\x00"
	c.After, c.Reverts, c.Policy, c.Correlation = []string{"x"}, "y", "p", "c"
	c.Decisions = []change.Decision{{By: c.Agent, Approve: true, Digest: "d", Comment: "ok", At: noon, Single: true}}
	c.Outcome = &change.Outcome{Detail: "done", Receipt: &change.Receipt{Keys: []string{"1"}, Rows: 1}}
	return c
}

// put files c with a lifetime of one hour.
func put(t *testing.T, s Store, c *change.Change) *change.Change {
	t.Helper()
	kept, err := s.Put(t.Context(), c, change.Filing{Life: time.Hour, Most: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// step swaps c for a version with a step by ben.
func step(t *testing.T, s Store, c *change.Change, to change.Step, g change.Guard) error {
	t.Helper()
	next := *c
	to.By = "ben"
	next.State, next.History = to.State, append(c.History[:len(c.History):len(c.History)], to)
	err := s.Swap(t.Context(), &next, g)
	if err == nil {
		*c = next
	}
	return err
}

// get returns the stored change.
func get(t *testing.T, s Store, id string) *change.Change {
	t.Helper()
	c, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sameChange fails unless both changes are equal.
func sameChange(t *testing.T, name string, want, got *change.Change) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b value.Value) bool { return a.String() == b.String() })); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// testChange checks a change from its filing: the stored change, the times from the store's clock, and its events.
func testChange(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	s, other := Handle(t, open, place), Handle(t, open, place)
	before, err := s.Now(ctx)
	if err != nil {
		t.Fatal(err)
	}
	given := full()
	kept := put(t, s, given)
	want := full()
	want.Version, want.Created, want.Updated, want.Expires = 1, kept.Created, kept.Created, kept.Created.Add(time.Hour)
	want.History[0].At = kept.Created
	sameChange(t, "filed", want, kept)
	sameChange(t, "read through another handle", want, get(t, other, given.ID))
	if kept.Created.Before(before) || kept.Created.Location() != time.UTC || kept.Created.Nanosecond()%1000 != 0 || given.Version != 0 {
		t.Errorf("created at %v, asked at %v; given %d", kept.Created, before, given.Version)
	}

	c := get(t, other, given.ID)
	if err := step(t, other, c, change.Step{State: change.Granted, Event: change.EventApproved}, change.Guard{Unexpired: true, Life: 2 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	sameChange(t, "what Swap leaves is what is kept", get(t, s, c.ID), c)
	if c.Version != 2 || !c.Updated.After(kept.Updated) || !c.Expires.Equal(c.Updated.Add(2*time.Hour)) || !c.History[1].At.Equal(c.Updated) ||
		!c.History[0].At.Equal(kept.Created) || !c.Created.Equal(kept.Created) {
		t.Errorf("%+v", c)
	}
	c.Lease = change.Lease{Holder: "one", Fence: 1}
	if err := step(t, s, c, change.Step{State: change.Applying, Event: change.EventClaimed}, change.Guard{Lease: time.Minute}); err != nil || !c.Lease.Until.Equal(c.Updated.Add(time.Minute)) {
		t.Errorf("%v, %+v", err, c.Lease)
	}

	events, err := other.Events(ctx, 0, 10)
	if err != nil || len(events) != 3 {
		t.Fatal(err, events)
	}
	for i, kind := range []change.EventKind{change.EventCreated, change.EventApproved, change.EventClaimed} {
		by := []string{"bot", "ben", "ben"}[i]
		want := change.Event{Seq: events[i].Seq, Change: c.ID, Kind: kind, State: c.History[i].State, By: by, Tenant: c.Agent.Tenant, Agent: c.Agent.Principal, At: c.History[i].At}
		if diff := cmp.Diff(want, events[i]); diff != "" || i > 0 && events[i].Seq <= events[i-1].Seq {
			t.Error("event (-want +got):\n", diff)
		}
	}
	if rest, err := s.Events(ctx, events[0].Seq, 1); err != nil || len(rest) != 1 || rest[0].Seq != events[1].Seq {
		t.Error(rest, err)
	}
	if last, err := s.LastEvent(ctx); err != nil || last != events[2].Seq {
		t.Error(last, err)
	}
	testNone(t, other, given)
}

// testNone checks which ids and which arguments of Of find the given change.
func testNone(t *testing.T, s Store, given *change.Change) {
	ctx := t.Context()
	for _, id := range []string{"", "nobody", given.ID + "\x00", "%"} {
		if _, err := s.Get(ctx, id); !errors.Is(err, change.ErrNone) {
			t.Errorf("get %q: %v", id, err)
		}
		if _, err := s.GetOf(ctx, id, change.Of{Principal: given.Agent.Principal}); !errors.Is(err, change.ErrNone) {
			t.Errorf("get %q of its principal: %v", id, err)
		}
	}
	for _, tt := range []struct {
		of   change.Of
		want error
	}{
		{change.Of{Principal: given.Agent.Principal}, nil},
		{change.Of{Tenant: given.Agent.Tenant}, nil},
		{change.Of{}, change.ErrNone},
		{change.Of{Principal: "a"}, change.ErrNone},
		{change.Of{Tenant: "acme"}, change.ErrNone},
		{change.Of{Principal: "a", Tenant: given.Agent.Tenant}, change.ErrNone},
	} {
		if got, err := s.GetOf(ctx, given.ID, tt.of); !errors.Is(err, tt.want) || err == nil && got.ID != given.ID {
			t.Errorf("of %+v: %v, %v", tt.of, got, err)
		}
	}
}

// testGuards checks the conditions of Swap. A condition that fails must change nothing.
func testGuards(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	const soon = 30 * time.Millisecond
	long := put(t, s, plain(1, "a"))
	short, err := s.Put(ctx, plain(2, "a"), change.Filing{Life: soon, Most: 10})
	if err != nil {
		t.Fatal(err)
	}
	held, lapsed := put(t, s, plain(3, "a")), put(t, s, plain(4, "a"))
	for c, lease := range map[*change.Change]time.Duration{held: time.Hour, lapsed: soon} {
		if err := step(t, s, c, change.Step{State: change.Applying, Event: change.EventClaimed}, change.Guard{Lease: lease}); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(2 * soon)
	old, gone := *long, *long
	old.Version, gone.ID = 7, "nobody"
	for _, tt := range []struct {
		name  string
		c     change.Change
		guard change.Guard
		want  error
	}{
		{"an unknown one", gone, change.Guard{}, change.ErrNone},
		{"another version", old, change.Guard{}, change.ErrMoved},
		{"another version of an expired one", func() change.Change { c := *short; c.Version = 7; return c }(), change.Guard{Unexpired: true}, change.ErrMoved},
		{"expired", *short, change.Guard{Unexpired: true}, change.ErrExpired},
		{"not expired yet", *long, change.Guard{Expired: true}, change.ErrMoved},
		{"lease runs", *held, change.Guard{Lapsed: true}, change.ErrMoved},
		{"unexpired", *long, change.Guard{Unexpired: true}, nil},
		{"expired as wanted", *short, change.Guard{Expired: true}, nil},
		{"lease has run out", *lapsed, change.Guard{Lapsed: true}, nil},
		{"never leased", *long, change.Guard{Lapsed: true}, change.ErrMoved}, // already swapped above
	} {
		events, before := lastEvent(t, s), tt.c
		err := step(t, s, &tt.c, change.Step{State: change.Rejected, Event: change.EventRejected}, tt.guard)
		if !errors.Is(err, tt.want) || (err == nil) != (lastEvent(t, s) > events) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if err != nil && tt.c.ID != "nobody" {
			sameChange(t, tt.name, &before, &tt.c)
			if kept := get(t, s, tt.c.ID); kept.State == change.Rejected && tt.name != "never leased" {
				t.Errorf("%s: and yet it happened", tt.name)
			}
		}
	}
}

func lastEvent(t *testing.T, s Store) int64 {
	t.Helper()
	seq, err := s.LastEvent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// testPut checks which proposals are filed.
func testPut(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	with := func(n int, principal string, do func(*change.Change)) *change.Change {
		c := plain(n, principal)
		do(c)
		return c
	}
	as := func(digest string) func(*change.Change) { return func(c *change.Change) { c.Digest = digest } }
	first := put(t, s, with(1, "a", as("d")))
	if err := step(t, s, put(t, s, with(2, "a", as("decided"))), change.Step{State: change.Rejected, Event: change.EventRejected}, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, with(3, "a", as("short")), change.Filing{Life: time.Millisecond, Most: 10}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	for _, tt := range []struct {
		name string
		c    *change.Change
		most int
		want string // the expected id
		err  error
	}{
		{"the same again", with(10, "a", as("d")), 50, first.ID, nil},
		{"the same when it is full", with(11, "a", as("d")), 1, first.ID, nil},
		{"another when it is full", with(12, "a", as("e")), 1, "", change.ErrFull},
		{"of another agent of the person when it is full", with(12, "b", as("d")), 1, "", change.ErrFull},
		{"of the person by another spelling", with(12, "b", func(c *change.Change) { c.Digest, c.Agent.Owner = "d", "ＡＮＡ\u200b" }), 1, "", change.ErrFull},
		{"of a sub-principal", with(12, "a/b", func(c *change.Change) { c.Digest, c.Agent.Origin = "d", "a" }), 1, "", change.ErrFull},
		{"of another person", with(13, "b", func(c *change.Change) { c.Digest, c.Agent.Owner = "d", "ben" }), 1, plain(13, "").ID, nil},
		{"of nobody", with(19, "n", func(c *change.Change) { c.Digest, c.Agent.Owner = "d", "" }), 1, plain(19, "").ID, nil},
		{"of nobody's sub-principal", with(12, "n/a", func(c *change.Change) { c.Digest, c.Agent.Owner, c.Agent.Origin = "d", "", "n" }), 1, "", change.ErrFull},
		{"of another source", with(14, "a", func(c *change.Change) { c.Digest, c.Source = "d", "other" }), 50, plain(14, "").ID, nil},
		{"one like one that was decided", with(15, "a", as("decided")), 50, plain(15, "").ID, nil},
		{"one like one that has expired", with(16, "a", as("short")), 50, plain(16, "").ID, nil},
		{"room that others have left", with(17, "a", as("f")), 5, plain(17, "").ID, nil},
		{"and that is all", with(18, "a", as("g")), 5, "", change.ErrFull},
	} {
		events := lastEvent(t, s)
		got, err := s.Put(ctx, tt.c, change.Filing{Life: time.Hour, Most: tt.most})
		if !errors.Is(err, tt.err) || err == nil && got.ID != tt.want {
			t.Errorf("%s: %+v, %v; want %s, %v", tt.name, got, err, tt.want, tt.err)
		}
		if filed := err == nil && tt.want == tt.c.ID; filed != (lastEvent(t, s) > events) {
			t.Errorf("%s: an event without a change, or a change without its event", tt.name)
		}
	}
	if _, err := s.Put(ctx, with(10, "z", as("z")), change.Filing{Life: time.Hour, Most: 50}); err != nil {
		t.Error(err)
	}
	if _, err := s.Put(ctx, with(10, "y", as("y")), change.Filing{Life: time.Hour, Most: 50}); err == nil {
		t.Error("an id was given twice")
	}
}

// testPutHandles proposes through two handles concurrently. Identical changes must be filed once. The limits on the
// number of changes must be respected.
func testPutHandles(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	const callers, most = 16, 5
	var ids sync.Map
	var filed, full atomic.Int64
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			c := plain(100+i, "same")
			c.Digest, c.Agent.Owner = "d", "ben"
			got, err := handles[i%2].Put(ctx, c, change.Filing{Life: time.Hour, Most: most})
			if err != nil {
				t.Error(err)
				return
			}
			ids.Store(got.ID, true)
			many := plain(200+i, fmt.Sprint("many/", i))
			many.Agent.Owner, many.Agent.Origin = []string{"", "Cal", "cal"}[i%3], "cal"
			switch _, err = handles[i%2].Put(ctx, many, change.Filing{Life: time.Hour, Most: most}); {
			case err == nil:
				filed.Add(1)
			case errors.Is(err, change.ErrFull):
				full.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	ids.Range(func(any, any) bool { n++; return true })
	if n != 1 || filed.Load() != most || full.Load() != callers-most {
		t.Errorf("%d of the same, %d of %d, %d refused", n, filed.Load(), most, full.Load())
	}
}

// testSwapHandles lets two handles compete. Of several swaps of the same version, exactly one must succeed. A lease
// must have one owner at a time, with an increasing fence.
func testSwapHandles(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []Store{Handle(t, open, place), Handle(t, open, place)}
	id := put(t, handles[0], plain(1, "a")).ID
	const competitors, rounds = 8, 15
	var wg sync.WaitGroup
	var won atomic.Int64
	for who := range competitors {
		wg.Go(func() {
			s := handles[who%2]
			for range rounds {
				c, err := s.Get(ctx, id)
				if err != nil {
					t.Error(err)
					return
				}
				fence := c.Lease.Fence
				c.Lease = change.Lease{Holder: fmt.Sprint(who), Fence: fence + 1}
				switch err := step(t, s, c, change.Step{State: change.Applying, Event: change.EventClaimed}, change.Guard{}); {
				case err == nil && c.Lease.Fence == c.Version-1: // the change was filed with version 1 and fence 0. Each success increments both
					won.Add(1)
				case err == nil:
					t.Errorf("version %d with fence %d", c.Version, c.Lease.Fence)
				case !errors.Is(err, change.ErrMoved):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	c := get(t, handles[1], id)
	if c.Version != won.Load()+1 || len(c.History) != int(c.Version) || won.Load() < 1 {
		t.Errorf("version %d with %d steps after %d wins", c.Version, len(c.History), won.Load())
	}
	events, err := handles[0].Events(ctx, 0, 1000)
	if err != nil || len(events) != int(c.Version) {
		t.Errorf("%d events, %v", len(events), err)
	}
	// Several callers claim an expired lease. Exactly one succeeds.
	if err := step(t, handles[0], c, change.Step{State: change.Applying, Event: change.EventClaimed}, change.Guard{Lease: 20 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(30 * time.Millisecond)
	won.Store(0)
	for who := range competitors {
		wg.Go(func() {
			mine := *c
			mine.Lease = change.Lease{Holder: fmt.Sprint(who), Fence: c.Lease.Fence + 1}
			if err := step(t, handles[who%2], &mine, change.Step{State: change.Applying, Event: change.EventClaimed}, change.Guard{Lapsed: true, Lease: time.Minute}); err == nil {
				won.Add(1)
			} else if !errors.Is(err, change.ErrMoved) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d hold one lease", won.Load())
	}
}

// Strange is a text that occurs in no change. It contains characters that could break a statement.
var Strange = strings.Repeat("'\"%_\\\x00?$1é\U0001F600;--", 3)
