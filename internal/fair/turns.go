package fair

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A Turn is the wait of one caller. A Work embeds a Turn.
type Turn struct {
	done    chan error // receives one result
	claimed atomic.Bool
}

// End sends the result to the caller.
func (t *Turn) End(err error) { t.done <- err }

func (t *Turn) turn() *Turn { return t }

// A Work is the work of one caller. It is a pointer to a struct that embeds Turn.
type Work interface{ turn() *Turn }

// A Queue contains the work of callers that arrive during a round. It is safe for concurrent use.
type Queue[W Work] struct {
	// Round does work: at least one and at most Most elements, in the order of arrival. It calls End of each element
	// once, and doesn't panic. Only one round runs at a time.
	Round func([]W)
	Most  int
	Alike func(first, next W) bool // whether next can be in the same round as first. Nil means always

	mu      sync.Mutex
	waiting []W
	running bool // a goroutine runs rounds, and checks waiting after each round
}

// Do waits until a round has done w, and returns the error for w. Each w may be used only once. If ctx ends before
// the round begins, w isn't done. Then late is true, and the error is that of ctx.
func (q *Queue[W]) Do(ctx context.Context, w W) (late bool, err error) {
	t := w.turn()
	t.done = make(chan error, 1)
	q.mu.Lock()
	q.waiting = append(q.waiting, w)
	leads := !q.running
	q.running = true
	q.mu.Unlock()
	if leads {
		q.lead()
	}
	select {
	case err = <-t.done:
	case <-ctx.Done():
		if t.claimed.CompareAndSwap(false, true) {
			return true, ctx.Err()
		}
		err = <-t.done
	}
	return false, err
}

// Waiting returns the number of callers that wait for the next rounds.
func (q *Queue[W]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// lead runs one round. If more work has arrived meanwhile, another goroutine runs the next round.
func (q *Queue[W]) lead() {
	runtime.Gosched() // lets callers that are about to call Do share the round. At rest this returns at once
	if round := q.take(); len(round) > 0 {
		q.Round(round)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running = len(q.waiting) > 0; q.running {
		go q.lead()
	}
}

// take removes the work of the next round from the queue, and the work of callers that no longer wait.
func (q *Queue[W]) take() (round []W) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	first := q.waiting[0]
	q.waiting = slices.DeleteFunc(q.waiting, func(w W) bool {
		if len(round) == q.Most || q.Alike != nil && !q.Alike(first, w) {
			return false
		}
		if w.turn().claimed.CompareAndSwap(false, true) {
			round = append(round, w)
		}
		return true
	})
	return round
}
