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
	"github.com/oklog/ulid/v2"

	"github.com/bailiwick-dev/bailiwick/change"
)

// replacing returns the filing of a version that replaces old. It contains the final state of old.
func replacing(old *change.Change, by string) change.Filing {
	ended := *old
	ended.State, ended.ReplacedBy = change.Replaced, by
	ended.History = append(old.History[:len(old.History):len(old.History)], change.Step{State: change.Replaced, Event: change.EventReplaced, By: "bot"})
	return change.Filing{Life: time.Hour, Most: 1000, Replaces: &ended}
}

// testVersions replaces changes by new versions. Either both changes are stored or neither. Changes that wait for the
// old version must then wait for the new one. Of two concurrent versions, only one may be stored.
func testVersions(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	s, other := Handle(t, open, place), Handle(t, open, place)
	first := put(t, s, plain(1, "a"))
	waits := plain(2, "a")
	waits.After, waits.State, waits.History[0].State = []string{first.ID}, change.Granted, change.Granted
	put(t, s, waits)

	second := plain(3, "a")
	second.Replaces = first.ID
	if _, err := other.Put(ctx, second, replacing(first, second.ID)); err != nil {
		t.Fatal(err)
	}
	if old, now := get(t, s, first.ID), get(t, s, second.ID); old.State != change.Replaced || old.ReplacedBy != second.ID || old.Version != 2 || now.State != change.Pending || now.Replaces != first.ID {
		t.Errorf("%+v\n%+v", old, now)
	}
	events, err := s.Events(ctx, 0, 10)
	if n := len(events); err != nil || n != 4 || events[n-2].Kind != change.EventReplaced || events[n-1].Kind != change.EventCreated || events[n-1].Change != second.ID {
		t.Error(events, err)
	}
	if due, err := s.Due(ctx, 10); err != nil || len(due) != 0 {
		t.Error("what waits for a version that was replaced is due:", due, err)
	}
	if err := step(t, s, get(t, s, second.ID), change.Step{State: change.Applied, Event: change.EventApplied}, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	if due, err := s.Due(ctx, 10); err != nil || !cmp.Equal(due, []string{waits.ID}) {
		t.Error("what waits for the new version isn't due:", due, err)
	}

	third := plain(4, "a")
	if _, err := s.Put(ctx, third, replacing(first, third.ID)); !errors.Is(err, change.ErrMoved) {
		t.Error("a version of a change that has moved:", err)
	}
	if _, err := s.Get(ctx, third.ID); !errors.Is(err, change.ErrNone) {
		t.Error("it was stored without its change:", err)
	}
	testVersionsAtOnce(t, s, other)
}

// testVersionsAtOnce files two new versions and a rejection of one change concurrently through two handles. Exactly
// one may be stored, and the others must return ErrMoved.
func testVersionsAtOnce(t *testing.T, s, other Store) {
	for round := range 20 {
		c := put(t, s, plain(100+10*round, "b"))
		var kept atomic.Int64
		var wg sync.WaitGroup
		for i, at := range []Store{s, other, s} {
			wg.Go(func() {
				var err error
				if i == 2 {
					mine := *c
					err = step(t, at, &mine, change.Step{State: change.Rejected, Event: change.EventRejected}, change.Guard{})
				} else {
					next := plain(101+10*round+i, "b")
					_, err = at.Put(t.Context(), next, replacing(c, next.ID))
				}
				if err == nil {
					kept.Add(1)
				} else if !errors.Is(err, change.ErrMoved) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := kept.Load(); n != 1 {
			t.Fatalf("%d of three took the change", n)
		}
	}
}

// testFor lists the changes that a person may decide about. It depends on the authors of changes and on earlier
// approvals.
func testFor(t *testing.T, open Open) {
	s := Handle(t, open, t.TempDir())
	theirs := put(t, s, plain(1, "a"))
	asked := plain(2, "b")
	asked.Agent.Owner, asked.Asker = "cleo", &change.Party{Principal: "token:ben", Owner: "Ben "}
	put(t, s, asked)
	approved := put(t, s, plain(3, "a"))
	approved.Decisions = []change.Decision{{By: change.Party{Principal: "token:ben", Owner: "ben"}, Approve: true, Digest: approved.Digest}}
	if err := step(t, s, approved, change.Step{State: change.Pending, Event: change.EventDecided}, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	ruled := plain(4, "a") // for billing, which has approved, and for ops
	ruled.Panels = []change.Panel{{Names: []string{"team:billing"}, Need: 1}, {Names: []string{"team:ops", "Olga"}, Need: 1}}
	ruled = put(t, s, ruled)
	ruled.Decisions = []change.Decision{{By: change.Party{Principal: "token:dan", Owner: "dan"}, Approve: true, Digest: ruled.Digest, As: []string{"team:billing"}}}
	if err := step(t, s, ruled, change.Step{State: change.Pending, Event: change.EventDecided}, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		f    change.Filter
		want []string
	}{
		{change.Filter{For: "ben"}, []string{theirs.ID}},
		{change.Filter{For: "ben", As: []string{"team:billing", "ben"}}, []string{theirs.ID}},
		{change.Filter{For: "ben", As: []string{"team:billing", "team:ops"}}, []string{ruled.ID, theirs.ID}},
		{change.Filter{For: "dan", As: []string{"team:ops"}}, []string{approved.ID, asked.ID, theirs.ID}},
		{change.Filter{For: "olga", As: []string{"Olga"}}, []string{ruled.ID, approved.ID, asked.ID, theirs.ID}},
		{change.Filter{For: "ben", Own: true}, []string{asked.ID, theirs.ID}},
		{change.Filter{For: "ana"}, []string{asked.ID}}, // ana owns the agents of the other changes
		{change.Filter{For: "an"}, []string{approved.ID, asked.ID, theirs.ID}},
	} {
		found, _, err := s.List(t.Context(), tt.f)
		var got []string
		for _, c := range found {
			got = append(got, c.ID)
		}
		for _, text := range []string{"", "bot"} {
			tt.f.Text = text
			if all, mine, failed := s.Counts(t.Context(), tt.f); !cmp.Equal(tt.want, got) || err != nil || failed != nil || mine[change.Pending] != len(tt.want) || all[change.Pending] != 4 {
				t.Errorf("%+v: %v, %v, %v, %v of %v", tt.f, got, err, failed, mine, all)
			}
		}
	}
}

// testFast files more changes in a minute than an account may. The changes of an owner's agents and their
// sub-principals count together.
func testFast(t *testing.T, open Open) {
	place := t.TempDir()
	s, other := Handle(t, open, place), Handle(t, open, place)
	now := time.Now()
	file := func(n int, at time.Time, who string) error {
		c := plain(n, fmt.Sprint("agent ", n))
		c.Agent.Owner = who
		c.ID = fmt.Sprintf("%s%016d", strings.ToLower(ulid.MustNew(ulid.Timestamp(at), nil).String()[:10]), n)
		_, err := []Store{s, other}[n%2].Put(t.Context(), c, change.Filing{Life: time.Hour, Most: 100, PerMinute: 3})
		return err
	}
	for i, tt := range []struct {
		at   time.Time
		who  string
		want error
	}{
		{now.Add(-2 * time.Minute), "a", nil}, {now, "a", nil}, {now, "a", nil}, {now, "a", nil},
		{now, "a", change.ErrFast}, {now, "b", nil}, {now, "a", change.ErrFast},
	} {
		if err := file(i, tt.at, tt.who); !errors.Is(err, tt.want) || tt.want == nil && err != nil {
			t.Errorf("%d: %v, want %v", i, err, tt.want)
		}
	}
}
