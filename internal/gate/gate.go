// Package gate knows what is under way at the MCP door, and bounds it: requests and streams, the sessions of the protocols
// before 2026-07-28, calls that can be cancelled, and resources that somebody watches. It knows nothing of what they hold.
package gate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrBusy says that a gate is full and so is its queue.
var ErrBusy = errors.New("too many requests at a time")

// A Gate lets so many in at a time and makes so many wait, each for no longer than its patience.
type Gate struct {
	slots    chan struct{}
	waiting  atomic.Int64
	queue    int64
	patience time.Duration
}

// New returns a gate that lets slots in and lets queue more wait for up to patience.
func New(slots, queue int, patience time.Duration) *Gate {
	return &Gate{slots: make(chan struct{}, slots), queue: int64(queue), patience: patience}
}

// Enter waits for a slot. Who gets nil must Leave.
func (g *Gate) Enter(ctx context.Context) error {
	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}
	defer g.waiting.Add(-1)
	if g.waiting.Add(1) > g.queue {
		return ErrBusy
	}
	late := time.NewTimer(g.patience)
	defer late.Stop()
	select {
	case g.slots <- struct{}{}:
		return nil
	case <-late.C:
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Leave gives a slot back.
func (g *Gate) Leave() { <-g.slots }

// Load returns how many are in and how many wait.
func (g *Gate) Load() (in, waiting int) {
	return len(g.slots), int(max(g.waiting.Load(), 0))
}
