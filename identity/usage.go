package identity

import (
	"context"
	"sync"
	"time"
)

// A usage gathers when tokens were last used, so that storing it costs one write for many calls.
type usage struct {
	mu      sync.Mutex
	pending map[string]time.Time // by ID
	timer   *time.Timer          // runs while something is pending
	closed  bool
}

// note remembers a use, and has it stored in a while.
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
			t.Flush(ctx) // what fails stays pending, and Close says so if it still does
		})
	}
}

// Flush stores the last uses that are still to be stored. Those that can't be stored stay for the next time.
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

// Close stores the last uses. Tokens are recognised after it too, but their use is no longer stored by itself.
func (t *Tokens) Close(ctx context.Context) error {
	t.used.mu.Lock()
	t.used.closed = true
	t.used.mu.Unlock()
	return t.Flush(ctx)
}
