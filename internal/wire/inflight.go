package wire

import (
	"context"
	"sync"
)

// An Inflight tracks the calls of MCP 2026-07-28, which has no sessions, so that notifications/cancelled finds them.
type Inflight struct {
	mu    sync.Mutex
	calls map[CallKey]context.CancelFunc
}

// A CallKey identifies a call: an ID means the same call only for the same principal and X-MCP-Session-Id.
type CallKey struct{ Principal, Channel, ID string }

// NewInflight returns an Inflight without calls.
func NewInflight() *Inflight { return &Inflight{calls: map[CallKey]context.CancelFunc{}} }

// Add registers a call until the returned function is called. Of two calls with the same key the first is kept.
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

// Cancel cancels the call with key k, if there is one.
func (f *Inflight) Cancel(k CallKey) {
	f.mu.Lock()
	cancel := f.calls[k]
	f.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
