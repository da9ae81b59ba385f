package fair

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A Turn is a caller's wait. A Work embeds one.
type Turn struct {
	done    chan error // receives one result
	claimed atomic.Bool
}

// End answers the caller.
func (t *Turn) End(err error) { t.done <- err }

func (t *Turn) turn() *Turn { return t }

// A Work is the work of one caller: a pointer to a struct that embeds Turn.
type Work interface{ turn() *Turn }

// A Queue has the work of callers that arrive while a round is under way. It is safe for concurrent use.
type Queue[W Work] struct {
	// Round does work, at least one and at most Most, in the order in which it arrived, and calls End of each once. There is one round
	// at a time. Round doesn't panic.
	Round func([]W)
	Most  int
	Alike func(first, next W) bool // whether next can be in a round with first. Nil means always

	mu      sync.Mutex
	waiting []W
	running bool // a goroutine has rounds, and looks at waiting when one ends
}

// Do has w done, which no earlier call had, and returns the error of its round. If ctx ends before the round begins, w
// isn't done. Then late is true and the error is that of ctx.
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

// Waiting returns how many callers wait for the next rounds.
func (q *Queue[W]) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// lead has one round, and leaves work that arrives meanwhile to another goroutine.
func (q *Queue[W]) lead() {
	runtime.Gosched() // those that are about to ask come first, and share the round. At rest this returns at once
	if round := q.take(); len(round) > 0 {
		q.Round(round)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running = len(q.waiting) > 0; q.running {
		go q.lead()
	}
}

// take removes the work of the next round, and that of callers that have gone.
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
