package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Changes is the part of a change.Store that a Sender uses.
type Changes interface {
	Get(ctx context.Context, id string) (*change.Change, error)
	Events(ctx context.Context, after int64, limit int) ([]change.Event, error)
	LastEvent(ctx context.Context) (int64, error)
	Await(ctx context.Context, after int64) error
}

// Options configures a Sender. Changes, Store and Hooks are required.
type Options struct {
	Changes Changes
	Store   Store
	Hooks   []Hook
	Link    string // prefix for the link to a change. The change id is appended. With "", messages have no links
	Answers string // prefix for the address of signed decisions. The hook's name is appended. With "", decisions are not accepted

	// Show returns a change as a person sees it. With nil, no titles and values are shown.
	Show func(ctx context.Context, as Person, change string) (*review.Sheet, error)
	// Mail sends a letter. Its error may be logged and shown to operators. With nil, no mail is sent.
	Mail   func(ctx context.Context, to string, l Letter) error
	Logger *slog.Logger // with nil, nothing is logged

	First time.Duration // approximate delay after the first attempt. It doubles each time, up to one hour. 0 means 5 s
	Poll  time.Duration // how often to check for due deliveries. 0 means 1 s
}

// Limits of one process.
const (
	parallel = 8                // concurrent deliveries
	lease    = time.Minute      // of one attempt. An attempt ends well before this time
	oldest   = 24 * time.Hour   // older events are dropped
	longest  = time.Hour        // maximum delay between two attempts
	attempts = 12               // see Hook
	pause    = 2 * time.Second  // pause after a failure of the store
	timeout  = 15 * time.Second // timeout of one attempt
)

// A Sender reads events and sends notifications. Several processes may each run a Sender with the same store.
type Sender struct {
	o     Options
	hooks map[string]*target
	names []string      // the hooks that send each notification separately
	sums  []string      // the hooks that combine notifications
	fed   chan struct{} // signals that a delivery may be due

	feeding, delivering *edge.OutageLog // the failures of the two loops
}

// A target is a hook and its HTTP client.
type target struct {
	Hook
	client *http.Client
}

// New returns a Sender. It doesn't open a connection.
func New(o Options) *Sender {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.First, o.Poll = cmp.Or(o.First, 5*time.Second), cmp.Or(o.Poll, time.Second)
	s := &Sender{o: o, hooks: map[string]*target{}, fed: make(chan struct{}, 1)}
	for _, l := range []**edge.OutageLog{&s.feeding, &s.delivering} {
		*l = &edge.OutageLog{Log: o.Logger, Level: slog.LevelWarn, Fails: "notifications wait", Works: "notifications go on"}
	}
	for _, h := range o.Hooks {
		h.Attempts = cmp.Or(h.Attempts, attempts)
		s.hooks[h.Name] = &target{h, clientFor(h)}
		if h.Digest > 0 {
			s.sums = append(s.sums, h.Name)
		} else {
			s.names = append(s.names, h.Name)
		}
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

// failing logs a failure of the store and waits for the time of pause.
func failing(ctx context.Context, l *edge.OutageLog, doing string, err error) {
	if ctx.Err() != nil {
		return
	}
	l.Note(ctx, fmt.Errorf("%s: %w", doing, err))
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

// feed stores deliveries for new events until ctx ends.
func (s *Sender) feed(ctx context.Context) {
	for ctx.Err() == nil {
		at, more, err := s.feedOnce(ctx)
		switch {
		case err != nil:
			failing(ctx, s.feeding, "read the events", err)
		case !more:
			if err := s.o.Changes.Await(ctx, at); err != nil {
				failing(ctx, s.feeding, "wait for events", err)
				continue
			}
			s.feeding.Note(ctx, nil)
		}
	}
}

// feedOnce stores deliveries for the next events. It returns the sequence number of the last event and whether there
// may be more.
func (s *Sender) feedOnce(ctx context.Context) (at int64, more bool, err error) {
	from, begun, err := s.o.Store.FedTo(ctx)
	if err != nil {
		return 0, false, err
	}
	if !begun { // events before the first start are not sent
		last, err := s.o.Changes.LastEvent(ctx)
		if err == nil {
			err = s.o.Store.Feed(ctx, -1, last, nil)
		}
		return last, true, ignoreMoveError(err)
	}
	const most = 200
	events, err := s.o.Changes.Events(ctx, from, most)
	if err != nil || len(events) == 0 {
		return from, false, err
	}
	var list []Delivery
	for _, e := range events {
		for _, h := range s.o.Hooks {
			wanted, err := s.wantsEvent(ctx, &h, e)
			if err != nil {
				return from, false, err
			}
			if wanted && time.Since(e.At) < oldest {
				list = append(list, Delivery{Hook: h.Name, Event: e, State: Waiting, Due: h.due(e, time.Now())})
			}
		}
	}
	to := events[len(events)-1].Seq
	if err := s.o.Store.Feed(ctx, from, to, list); err != nil {
		return from, true, ignoreMoveError(err)
	}
	select {
	case s.fed <- struct{}{}:
	default:
	}
	return to, true, nil
}

// Tell stores deliveries of an event that doesn't come from a store of changes.
func (s *Sender) Tell(ctx context.Context, e change.Event) error {
	var list []Delivery
	for _, h := range s.o.Hooks {
		wanted, err := s.wantsEvent(ctx, &h, e)
		if err != nil {
			return err
		}
		if wanted {
			list = append(list, Delivery{Hook: h.Name, Event: e, State: Waiting, Due: h.due(e, time.Now())})
		}
	}
	for ctx.Err() == nil && list != nil {
		from, begun, err := s.o.Store.FedTo(ctx)
		if err == nil && !begun {
			var last int64
			if last, err = s.o.Changes.LastEvent(ctx); err == nil {
				err = ignoreMoveError(s.o.Store.Feed(ctx, -1, last, nil))
			}
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		if err = s.o.Store.Feed(ctx, from, from, list); !errors.Is(err, ErrMoved) {
			return err
		}
	}
	return ctx.Err()
}

// wantsEvent reports whether h receives e. If the condition can't be evaluated, h receives the event. A faulty
// condition must not hide events.
func (s *Sender) wantsEvent(ctx context.Context, h *Hook, e change.Event) (bool, error) {
	if !h.wants(e) || h.When == nil || e.Broken {
		return h.wants(e), nil
	}
	c, err := s.o.Changes.Get(ctx, e.Change)
	if errors.Is(err, change.ErrNone) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	holds := true
	agent, err := identity.Thaw(c.Agent.Frozen)
	if err == nil {
		holds = false
		for _, kind := range c.Kinds() {
			matches, failed := h.When.Holds(kind, agent)
			holds, err = holds || matches, errors.Join(err, failed)
		}
	}
	return err != nil || holds, nil
}

// ignoreMoveError returns nil for ErrMoved, because another replica has done the same work.
func ignoreMoveError(err error) error {
	if errors.Is(err, ErrMoved) {
		return nil
	}
	return err
}

// mostSum is the maximum number of events in one letter.
const mostSum = 200

// deliver sends due deliveries until ctx ends.
func (s *Sender) deliver(ctx context.Context) {
	for ctx.Err() == nil {
		due, err := s.due(ctx)
		if err != nil {
			failing(ctx, s.delivering, "look for what is due", err)
			continue
		}
		if len(due) == 0 {
			s.delivering.Note(ctx, nil)
		}
		var all sync.WaitGroup
		for _, list := range due {
			all.Go(func() { s.attempt(ctx, list) })
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

// due claims the due deliveries. Deliveries in one inner list are sent as one message.
func (s *Sender) due(ctx context.Context) (due [][]Delivery, err error) {
	each, err := s.o.Store.Claim(ctx, s.names, parallel, lease)
	for _, d := range each {
		due = append(due, []Delivery{d})
	}
	for _, name := range s.sums {
		if err != nil {
			break
		}
		var list []Delivery
		if list, err = s.o.Store.Claim(ctx, []string{name}, mostSum, lease); len(list) > 0 {
			due = append(due, list)
		}
	}
	return due, err
}

// attempt sends deliveries to one hook once, as one message, and stores the result. If the process ends during an
// attempt, the deliveries are sent again after the lease. The receiver can detect the duplicate by its id.
func (s *Sender) attempt(ctx context.Context, list []Delivery) {
	t := s.hooks[list[0].Hook]
	message, err := s.message(ctx, t, list)
	if err != nil {
		failing(ctx, s.delivering, "read a change", err)
		return
	}
	sent := s.send(ctx, t, message)
	if ctx.Err() != nil {
		return
	}
	for _, d := range list {
		d.Status, d.Failure = sent.status, sent.failure
		after := time.Duration(0)
		switch {
		case sent.failure == "":
			d.State = Sent
		case sent.gone || d.Attempts >= t.Attempts:
			d.State = Dead
			s.o.Logger.ErrorContext(ctx, "notification is dead", "webhook", d.Hook, "delivery", d.ID, "change", d.Event.Change, "attempts", d.Attempts, "status", d.Status, "error", d.Failure)
		default:
			after = max(s.again(d.Attempts), min(sent.after, longest))
		}
		if err := s.o.Store.Finish(ctx, d, after); ignoreMoveError(err) != nil {
			failing(ctx, s.delivering, "keep what became of a delivery", err)
		}
	}
}

// send makes one attempt to send m by HTTP or by mail.
func (s *Sender) send(ctx context.Context, t *target, m outgoing) sent {
	if t.Form != Email {
		return t.send(ctx, m)
	}
	if s.o.Mail == nil {
		return sent{failure: "no mail server is configured"}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := s.o.Mail(ctx, t.To, m.letter); err != nil {
		return sent{failure: err.Error()}
	}
	return sent{}
}

// Test sends a notification of the event Test to a hook at once. It doesn't retry.
func (s *Sender) Test(ctx context.Context, hook string) error {
	t := s.hooks[hook]
	if t == nil {
		return problem.New(problem.NotFound, fmt.Sprintf("there is no notification %q%s", problem.Cut(hook), problem.DidYouMean(problem.Nearest(hook, slices.Sorted(maps.Keys(s.hooks)), 2))))
	}
	at := time.Now()
	m, err := s.message(ctx, t, []Delivery{{Hook: hook, Event: change.Event{Kind: Test, At: at, Seq: at.UnixMicro()}}})
	if err != nil {
		return err
	}
	if sent := s.send(ctx, t, m); sent.failure != "" {
		return problem.New(problem.Upstream, hook+": "+sent.failure)
	}
	return nil
}

// again returns the delay after the n-th attempt. It is random, so that deliveries that failed together aren't
// retried together.
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
