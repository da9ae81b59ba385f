package wire

import (
	"context"
	"sync"
	"time"
)

// Pending counts the unanswered calls of a connection. The zero Pending has none.
type Pending struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n drops to 0. Nil while n is 0
}

// Add counts a call.
func (p *Pending) Add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.none = make(chan struct{})
	}
}

// Done counts a call as answered.
func (p *Pending) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n == 0 {
		return // the call was not counted
	}
	if p.n--; p.n == 0 {
		close(p.none)
		p.none = nil
	}
}

// Settle waits until every call is answered, ctx ends, or the maximum time has passed.
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
