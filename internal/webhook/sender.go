package webhook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

// Changes is the part of a change.Store that a Sender uses.
type Changes interface {
	Get(ctx context.Context, id string) (*change.Change, error)
	Events(ctx context.Context, after int64, limit int) ([]change.Event, error)
	LastEvent(ctx context.Context) (int64, error)
	Await(ctx context.Context, after int64) error
}

// Options configure a Sender. Changes, Store and Hooks are required.
type Options struct {
	Changes Changes
	Store   Store
	Hooks   []Hook
	Link    string       // prefix of a link to a change, followed by its id; "" sends no links
	Logger  *slog.Logger // nil logs nothing

	First time.Duration // approximate delay after the first attempt; it doubles each time, up to an hour. 0 means 5 s
	Poll  time.Duration // how often to look for due deliveries; 0 means 1 s
}

// Limits of one process.
const (
	parallel = 8                // concurrent deliveries
	lease    = time.Minute      // of one attempt, which ends well before
	oldest   = 24 * time.Hour   // older events are not notified
	longest  = time.Hour        // maximum delay between two attempts
	attempts = 12               // see Hook
	pause    = 2 * time.Second  // after a failure of the store
	timeout  = 15 * time.Second // of one attempt
)

// A Sender follows events and sends notifications. Several processes may each run one over the same store.
type Sender struct {
	o     Options
	hooks map[string]*target
	names []string
	fed   chan struct{} // signals that something may be due
}

// A target is a hook and its HTTP client.
type target struct {
	Hook
	client *http.Client
}

// New returns a Sender. It opens no connection.
func New(o Options) *Sender {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.First, o.Poll = cmp.Or(o.First, 5*time.Second), cmp.Or(o.Poll, time.Second)
	s := &Sender{o: o, hooks: map[string]*target{}, fed: make(chan struct{}, 1)}
	for _, h := range o.Hooks {
		h.Attempts = cmp.Or(h.Attempts, attempts)
		s.hooks[h.Name] = &target{h, clientFor(h)}
		s.names = append(s.names, h.Name)
	}
	return s
}

// Run sends notifications until ctx ends.
func (s *Sender) Run(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { s.feed(ctx) })
	both.Go(func() { s.deliver(ctx) })
	both.Wait()
	for _, t := range s.hooks {
		t.client.CloseIdleConnections()
	}
}

// failing logs a failure of the store, and waits.
func (s *Sender) failing(ctx context.Context, doing string, err error) {
	if ctx.Err() != nil {
		return
	}
	s.o.Logger.WarnContext(ctx, "notifications wait", "doing", doing, "error", err)
	sleep(ctx, pause)
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// feed turns events into deliveries until ctx ends.
func (s *Sender) feed(ctx context.Context) {
	for ctx.Err() == nil {
		at, more, err := s.feedOnce(ctx)
		switch {
		case err != nil:
			s.failing(ctx, "read the events", err)
		case !more:
			if err := s.o.Changes.Await(ctx, at); err != nil {
				s.failing(ctx, "wait for events", err)
			}
		}
	}
}

// feedOnce makes deliveries of the next events. It returns the Seq it reached and whether there may be more.
func (s *Sender) feedOnce(ctx context.Context) (at int64, more bool, err error) {
	from, begun, err := s.o.Store.FedTo(ctx)
	if err != nil {
		return 0, false, err
	}
	if !begun { // events before the first start are not notified
		last, err := s.o.Changes.LastEvent(ctx)
		if err == nil {
			err = s.o.Store.Feed(ctx, -1, last, nil)
		}
		return last, true, moved(err)
	}
	const most = 200
	events, err := s.o.Changes.Events(ctx, from, most)
	if err != nil || len(events) == 0 {
		return from, false, err
	}
	var list []Delivery
	for _, e := range events {
		for _, h := range s.o.Hooks {
			if h.wants(e) && time.Since(e.At) < oldest {
				list = append(list, Delivery{Hook: h.Name, Event: e, State: Waiting})
			}
		}
	}
	to := events[len(events)-1].Seq
	if err := s.o.Store.Feed(ctx, from, to, list); err != nil {
		return from, true, moved(err)
	}
	select {
	case s.fed <- struct{}{}:
	default:
	}
	return to, true, nil
}

// moved ignores ErrMoved: another replica has done the same.
func moved(err error) error {
	if errors.Is(err, ErrMoved) {
		return nil
	}
	return err
}

// deliver sends due deliveries until ctx ends.
func (s *Sender) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		due, err := s.o.Store.Claim(ctx, s.names, parallel, lease)
		if err != nil {
			s.failing(ctx, "look for what is due", err)
			continue
		}
		var all sync.WaitGroup
		for _, d := range due {
			all.Go(func() { s.attempt(ctx, d) })
		}
		all.Wait()
		if len(due) > 0 {
			continue
		}
		t := time.NewTimer(s.o.Poll)
		select {
		case <-ctx.Done():
		case <-t.C:
		case <-s.fed:
		}
		t.Stop()
	}
}

// attempt sends one delivery once and stores the result. A delivery interrupted by the end of the process is sent
// again when its lease has run out; the receiver can detect the duplicate by its id.
func (s *Sender) attempt(ctx context.Context, d Delivery) {
	t := s.hooks[d.Hook]
	message, err := s.message(ctx, t, d)
	if err != nil {
		s.failing(ctx, "read a change", err)
		return
	}
	sent := t.send(ctx, message)
	if ctx.Err() != nil {
		return
	}
	d.Status, d.Failure = sent.status, sent.failure
	after := time.Duration(0)
	switch {
	case sent.failure == "":
		d.State = Sent
	case sent.gone || d.Attempts >= t.Attempts:
		d.State = Dead
		s.o.Logger.ErrorContext(ctx, "notification is dead", "hook", d.Hook, "delivery", d.ID, "change", d.Event.Change, "attempts", d.Attempts, "status", d.Status, "error", d.Failure)
	default:
		after = max(s.again(d.Attempts), min(sent.after, longest))
	}
	if err := s.o.Store.Finish(ctx, d, after); moved(err) != nil {
		s.failing(ctx, "keep what became of a delivery", err)
	}
}

// again returns the delay after the n-th attempt, randomized so that deliveries that failed together aren't retried
// together.
func (s *Sender) again(n int) time.Duration {
	d := min(s.o.First<<min(n-1, 20), longest)
	return d/2 + rand.N(d)
}

// Names returns the names of hooks, sorted.
func Names(hooks []Hook) []string {
	names := make([]string, len(hooks))
	for i, h := range hooks {
		names[i] = h.Name
	}
	slices.Sort(names)
	return names
}
