package wire

import (
	"context"
	"sync"
)

// An Inflight tracks the running calls of MCP 2026-07-28, so that notifications/cancelled can find them. This
// protocol has no sessions.
type Inflight struct {
	mu    sync.Mutex
	calls map[CallKey]context.CancelFunc
}

// A CallKey identifies a call. IDs are unique only for one principal and one X-MCP-Session-Id.
type CallKey struct{ Principal, Channel, ID string }

// NewInflight returns an Inflight without calls.
func NewInflight() *Inflight { return &Inflight{calls: map[CallKey]context.CancelFunc{}} }

// Add registers a call until the returned function is called. If two calls have the same key, only the first is
// registered.
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

// Cancel cancels the call with the key k if it is running.
func (f *Inflight) Cancel(k CallKey) {
	f.mu.Lock()
	cancel := f.calls[k]
	f.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
