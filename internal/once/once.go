// Package once keeps what can be used once, and was: answers to what a tool asked back, sessions that somebody signed out
// of. It stands below the doors. What it was not told of is unused; what it can't know is an error, and not unused.
package once

import (
	"context"
	"sync"
	"time"
)

// A Store keeps what was used, for all processes that share it. It is safe for use by several goroutines.
type Store interface {
	// UseUp notes that what is called name was used, and reports whether this was the first time. It may forget it after
	// until.
	UseUp(ctx context.Context, name string, until time.Time) (first bool, err error)

	// UsedUp reports whether what is called name was used.
	UsedUp(ctx context.Context, name string) (bool, error)
}

// A Memory is a Store of one process. The zero Memory knows nothing.
type Memory struct {
	mu   sync.Mutex
	used map[string]time.Time // until when it is kept
}

// UseUp implements Store.
func (m *Memory) UseUp(_ context.Context, name string, until time.Time) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for other, over := range m.used {
		if !now.Before(over) {
			delete(m.used, other)
		}
	}
	if _, was := m.used[name]; was {
		return false, nil
	}
	if m.used == nil {
		m.used = map[string]time.Time{}
	}
	m.used[name] = until
	return true, nil
}

// UsedUp implements Store.
func (m *Memory) UsedUp(_ context.Context, name string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, was := m.used[name]
	return was, nil
}
