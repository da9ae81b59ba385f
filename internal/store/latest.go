package store

import (
	"context"
	"sync"
)

// LatestChange contains the Seq of the newest known event, and wakes goroutines that wait for a later one. The zero
// LatestChange is ready to use.
type LatestChange struct {
	mu   sync.Mutex
	seq  int64
	more chan struct{} // closed when a newer event is known, or nil if no goroutine waits
}

// Saw records that the event seq exists.
func (l *LatestChange) Saw(seq int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.seq {
		return
	}
	l.seq = seq
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// Await returns when an event with a Seq above after is known, or when ctx ends.
func (l *LatestChange) Await(ctx context.Context, after int64) error {
	for {
		l.mu.Lock()
		if l.seq > after {
			l.mu.Unlock()
			return nil
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
