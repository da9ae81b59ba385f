package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// TestRoomInOneTransaction files, refuses and ends changes in one transaction. The result of each part must depend on
// the room that the earlier parts have left.
func TestRoomInOneTransaction(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	filed := func(n int, who string) *change.Change {
		return &change.Change{ID: fmt.Sprintf("z%025d", n), State: change.Pending, Source: "a", Digest: fmt.Sprint(n), Classes: []string{"a.b"},
			Agent: change.Party{Principal: who}, History: []change.Step{{State: change.Pending, Event: change.EventCreated}}}
	}
	first, err := s.Put(t.Context(), filed(1, "ann"), change.Filing{Life: time.Hour, Most: 3})
	if err != nil {
		t.Fatal(err)
	}
	put := func(n int, who string, f change.Filing) func() error {
		return func() error {
			f.Life, f.Most = time.Hour, 3
			_, err := s.Put(t.Context(), filed(n, who), f)
			return err
		}
	}
	end := func() error {
		next := *first
		next.State, next.History = change.Rejected, append(first.History[:1:1], change.Step{State: change.Rejected, Event: change.EventRejected})
		return s.Swap(t.Context(), &next, change.Guard{})
	}
	steps := []struct {
		do   func() error
		want error
	}{
		{put(2, "ann", change.Filing{}), nil},
		{put(3, "ann", change.Filing{PerMinute: 1}), change.ErrFast}, // rolled back, so it uses no room
		{put(4, "ann", change.Filing{}), nil},
		{put(5, "ann", change.Filing{}), change.ErrFull},
		{put(6, "bob", change.Filing{}), nil},
		{end, nil},
		{put(7, "ann", change.Filing{}), nil},
		{put(8, "ann", change.Filing{}), change.ErrFull},
	}
	release := hold(t, s)
	results := make([]chan error, len(steps))
	for i, step := range steps {
		results[i] = make(chan error, 1)
		go func() { results[i] <- step.do() }()
		for waiting := 0; waiting <= i; time.Sleep(time.Millisecond) {
			waiting = s.group.Waiting()
		}
	}
	release()
	for i, step := range steps {
		if got := <-results[i]; !errors.Is(got, step.want) {
			t.Errorf("step %d: %v, want %v", i+1, got, step.want)
		}
	}
	var pending int
	if err := s.read.QueryRow(`SELECT count(*) FROM change WHERE state = 'pending'`).Scan(&pending); err != nil || pending != 4 {
		t.Errorf("%d changes are pending (%v)", pending, err)
	}
}
