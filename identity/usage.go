package identity

import (
	"context"
	"sync"
	"time"
)

// A usage collects the times of the last uses of tokens, to store them in batches.
type usage struct {
	mu      sync.Mutex
	pending map[string]time.Time // by ID
	timer   *time.Timer          // runs while uses are pending
	closed  bool
}

// note records a use and schedules its storage.
func (u *usage) note(id string, at time.Time, t *Tokens) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pending == nil {
		u.pending = map[string]time.Time{}
	}
	u.pending[id] = at
	if u.timer == nil && !u.closed {
		u.timer = time.AfterFunc(t.touch, func() {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			t.Flush(ctx) // uses that can't be stored stay pending. Close reports the error if that still fails
		})
	}
}

// Flush stores the pending last uses. Uses that can't be stored stay pending.
func (t *Tokens) Flush(ctx context.Context) error {
	u := &t.used
	u.mu.Lock()
	batch := u.pending
	u.pending = nil
	if u.timer != nil {
		u.timer.Stop()
		u.timer = nil
	}
	u.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := t.store.TouchTokens(ctx, batch)
	if err == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range u.pending {
		batch[id] = at
	}
	u.pending = batch
	return err
}

// Close stores the pending last uses. Tokens still authenticate after Close, but then only Flush stores uses.
func (t *Tokens) Close(ctx context.Context) error {
	t.used.mu.Lock()
	t.used.closed = true
	t.used.mu.Unlock()
	return t.Flush(ctx)
}
