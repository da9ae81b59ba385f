package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// errBusy says that a gate is full and so is its queue.
var errBusy = errors.New("too many requests at a time")

// A gate lets so many in at a time and makes so many wait, each for no longer than its patience.
type gate struct {
	slots    chan struct{}
	waiting  atomic.Int64
	queue    int64
	patience time.Duration
}

func newGate(slots, queue int, patience time.Duration) *gate {
	return &gate{slots: make(chan struct{}, slots), queue: int64(queue), patience: patience}
}

// enter waits for a slot. Who gets nil must leave.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.queue {
		return errBusy
	}
	late := time.NewTimer(g.patience)
	defer late.Stop()
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-late.C:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gate) leave() { <-g.slots }
