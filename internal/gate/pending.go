package gate

import (
	"context"
	"sync"
	"time"
)

// Pending counts the calls of a connection that are still to be answered. The zero one has none.
type Pending struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n comes to 0; nil while it is 0
}

// Add counts a call.
func (p *Pending) Add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.none = make(chan struct{})
	}
}

// Done takes a call that is answered out of the count.
func (p *Pending) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 {
		return // the answer to a call that isn't counted
	}
	if p.n--; p.n == 0 {
		close(p.none)
		p.none = nil
	}
}

// Settle waits until every call is answered, ctx ends or the time is over.
func (p *Pending) Settle(ctx context.Context, most time.Duration) {
	p.mu.Lock()
	none := p.none
	p.mu.Unlock()
	if none == nil {
		return
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-none:
	case <-ctx.Done():
	case <-late.C:
	}
}
