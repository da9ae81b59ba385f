package changes

import (
	"context"
	"sync"
)

// Latest is the number of the newest event that was seen, for those who wait for a later one. The zero Latest has seen
// none.
type Latest struct {
	mu   sync.Mutex
	seq  int64
	more chan struct{} // closed by the next one; nil when nobody waits
}

// Saw notes that there is an event seq.
func (l *Latest) Saw(seq int64) {
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

// Await returns when an event behind after was seen, or when ctx ends.
func (l *Latest) Await(ctx context.Context, after int64) error {
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
