package review

import (
	"context"
	"sync"

	"github.com/bailiwick-dev/bailiwick/change"
)

// A Watch wakes goroutines that wait for events of one change. One goroutine reads the events for all of them, so an event
// costs the same however many wait for other changes. The zero Watch has no Store and must not be used. It is safe for
// concurrent use.
type Watch struct {
	Store change.Store

	mu      sync.Mutex
	waiting map[string][]*waiter // by change
	stop    context.CancelFunc   // stops the reading goroutine, or nil if none reads
}

// waiter is one call of On.
type waiter struct {
	woken  chan struct{} // has one place: an event while nobody looks is kept
	failed error         // of the store. It is set before woken is closed
}

// On returns a function that waits for the next event of a change since On was called, or since the last wait ended. An
// event may have happened before On returned. So a caller calls On, reads the change, and waits. The wait fails when ctx
// ends or with an error of the store. The caller must call end.
func (w *Watch) On(ctx context.Context, id string) (wait func(context.Context) error, end func(), err error) {
	me := &waiter{woken: make(chan struct{}, 1)}
	w.mu.Lock()
	for w.stop == nil { // nobody reads. The lock isn't held while the store answers
		w.mu.Unlock()
		at, err := w.Store.LastEvent(ctx)
		if err != nil {
			return nil, nil, err
		}
		if w.mu.Lock(); w.stop != nil {
			break
		}
		reading, stop := context.WithCancel(context.WithoutCancel(ctx))
		w.waiting, w.stop = map[string][]*waiter{}, stop
		go w.read(reading, at)
	}
	w.waiting[id] = append(w.waiting[id], me)
	w.mu.Unlock()
	wait = func(ctx context.Context) error {
		select {
		case <-me.woken:
			w.mu.Lock()
			defer w.mu.Unlock()
			return me.failed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return wait, func() { w.leave(id, me) }, nil
}

// leave removes a waiter. The last one stops the reading goroutine.
func (w *Watch) leave(id string, me *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, other := range w.waiting[id] {
		if other == me {
			w.waiting[id] = append(w.waiting[id][:i:i], w.waiting[id][i+1:]...)
		}
	}
	if len(w.waiting[id]) == 0 {
		delete(w.waiting, id)
	}
	if len(w.waiting) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// read wakes waiters for events after at, until ctx ends or the store fails. Then it wakes all with the error.
func (w *Watch) read(ctx context.Context, at int64) {
	const most = 500
	for {
		err := w.Store.Await(ctx, at)
		var events []change.Event
		if err == nil {
			events, err = w.Store.Events(ctx, at, most)
		}
		w.mu.Lock()
		if ctx.Err() != nil { // the last waiter left. Others may wait for another goroutine already
			w.mu.Unlock()
			return
		}
		if err != nil {
			for _, all := range w.waiting {
				for _, one := range all {
					one.failed = err
					close(one.woken)
				}
			}
			w.stop()
			w.waiting, w.stop = nil, nil
			w.mu.Unlock()
			return
		}
		for _, e := range events {
			at = e.Seq
			for _, one := range w.waiting[e.Change] {
				select {
				case one.woken <- struct{}{}:
				default:
				}
			}
		}
		w.mu.Unlock()
	}
}
