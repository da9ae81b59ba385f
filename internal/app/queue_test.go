package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestQueueSteps reads more events than one page has, and a change that waited twice.
func TestQueueSteps(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	step := func(c *change.Change, to change.State, event change.EventKind) *change.Change {
		t.Helper()
		c.State, c.History = to, append(c.History, change.Step{State: to, Event: event})
		if err := s.Swap(t.Context(), c, change.Guard{}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for i := range queuePage + 20 {
		c := &change.Change{ID: fmt.Sprintf("%034d", i), State: change.Pending, Source: "app", Risk: change.Low, Digest: fmt.Sprint(i), Need: 1,
			Agent: change.Party{Principal: "bot"}, History: []change.Step{{State: change.Pending, Event: change.EventCreated}}}
		if c, err = s.Put(t.Context(), c, change.Filing{Life: time.Hour, Most: 2 * queuePage}); err != nil {
			t.Fatal(err)
		}
		if i >= queuePage+10 {
			step(c, change.Rejected, change.EventRejected)
		}
		if i == 0 {
			returned := step(step(c, change.Returned, change.EventAsked), change.Pending, change.EventAnswered)
			answered := returned.History[2].At
			time.Sleep(5 * time.Millisecond)
			done := step(returned, change.Rejected, change.EventRejected)
			last := done.History[3]
			if since := waiting(done, change.Event{Kind: last.Event, At: last.At}); !since.Equal(answered) {
				t.Errorf("it waits since %v, want the answer at %v", since, answered)
			}
		}
	}
	q := queueReader{s}
	rejected, pages, after := 0, 0, int64(0)
	for more := true; more; pages++ {
		steps, to, further, err := q.Steps(t.Context(), after)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range steps {
			if one.Decision == "rejected" && one.Waited >= 0 && one.Outcome == "" {
				rejected++
			}
		}
		after, more = to, further
	}
	if last, err := q.LastStep(t.Context()); err != nil || rejected != 11 || pages != 2 || after != last {
		t.Errorf("%d rejected in %d pages, up to %d of %d; want 11 in 2. %v", rejected, pages, after, last, err)
	}
}
