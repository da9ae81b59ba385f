package server

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// pending counts the calls of a pipe that are still to be answered. The zero one has none.
type pending struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n comes to 0; nil while it is 0
}

// counts reports whether m is a call that gets an answer before long.
func counts(m jsonrpc.Message) (*jsonrpc.Request, bool) {
	req, ok := m.(*jsonrpc.Request)
	return req, ok && req.IsCall() && req.Method != "subscriptions/listen"
}

func (p *pending) add() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n++; p.n == 1 {
		p.none = make(chan struct{})
	}
}

func (p *pending) done() {
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

// settle waits until every call is answered, ctx ends or the time is over.
func (p *pending) settle(ctx context.Context, most time.Duration) {
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
