// Package gate knows what is under way at the MCP transport: the sessions of the protocols before 2026-07-28, calls that can
// be cancelled, and resources that somebody watches. It knows nothing of what they hold.
package gate

import (
	"context"
	"sync"
)

// An Inflight knows the calls of MCP 2026-07-28, which has no sessions, so that notifications/cancelled finds them.
type Inflight struct {
	mu    sync.Mutex
	calls map[CallKey]context.CancelFunc
}

// A CallKey names a call: only the same principal with the same X-MCP-Session-Id means the same call by an id.
type CallKey struct{ Principal, Channel, ID string }

// NewInflight returns one that knows no call.
func NewInflight() *Inflight { return &Inflight{calls: map[CallKey]context.CancelFunc{}} }

// Add makes a call known until the function it returns is called. The first of two calls with one key is kept.
func (f *Inflight) Add(k CallKey, cancel context.CancelFunc) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.calls[k]; ok || k.Channel == "" {
		return func() {}
	}
	f.calls[k] = cancel
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.calls, k)
	}
}

// Cancel ends a call, if there is one.
func (f *Inflight) Cancel(k CallKey) {
	f.mu.Lock()
	cancel := f.calls[k]
	f.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
