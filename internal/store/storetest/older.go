package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// Older checks that changes filed before a store had its index of records are found by their records after the upgrade,
// and that a lease taken before a store knew since when holds, and ends with its change.
// back undoes the upgrade.
func Older(t *testing.T, open func() Store, back func()) {
	s := open()
	var all []*change.Change
	for n, key := range []string{"7", "8", "7"} {
		c := plain(n+2, "bot")
		c.Effects = []change.Effect{{Op: "update", Class: "tracker.issues", Key: key}, {Op: "create", Class: "tracker.issues"}}
		all = append(all, put(t, s, c))
	}
	put(t, s, full()) // with the character 0
	if err := step(t, s, all[2], change.Step{State: change.Rejected, Event: change.EventRejected}, change.Guard{}); err != nil {
		t.Fatal(err)
	}
	held := put(t, s, plain(9, "bot"))
	claimed := change.Step{State: change.Applying, Event: change.EventClaimed}
	for _, to := range []change.Step{{State: change.Granted, Event: change.EventApproved}, claimed} {
		if err := step(t, s, held, to, change.Guard{Lease: time.Hour}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	back()
	s = open()
	defer s.Close()
	found, _, err := s.List(t.Context(), change.Filter{Records: []change.Target{{Class: "tracker.issues", Key: "7"}}})
	if err != nil || len(found) != 1 || found[0].ID != all[0].ID {
		t.Errorf("%v, %v; want %s alone", found, err, all[0].ID)
	}
	if due, err := s.Due(t.Context(), 10); err != nil || len(due) > 0 {
		t.Errorf("due: %v, %v", due, err)
	}
	other := *held
	if err := step(t, s, &other, claimed, change.Guard{Lapsed: true, Lease: time.Hour}); !errors.Is(err, change.ErrMoved) {
		t.Errorf("a lease was taken that holds: %v", err)
	}
	if err := step(t, s, held, change.Step{State: change.Applied, Event: change.EventApplied}, change.Guard{}); err != nil {
		t.Error(err)
	}
}
