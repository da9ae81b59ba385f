// Package once records one-time values that have been used: continuation tokens of tools that asked back, and sessions
// that were signed out. A value that was never recorded is unused. A failing store is an error, never "unused".
package once

import (
	"context"
	"sync"
	"time"
)

// A Store keeps used names, for all processes that share it. It is safe for use by several goroutines.
type Store interface {
	// UseUp records that name was used, and reports whether this was the first time. The record may be dropped after
	// until.
	UseUp(ctx context.Context, name string, until time.Time) (first bool, err error)

	// UsedUp returns those of names that were used, in no order.
	UsedUp(ctx context.Context, names ...string) (used []string, err error)
}

// A Memory is a Store of one process. The zero Memory is empty and ready to use.
type Memory struct {
	mu   sync.Mutex
	used map[string]time.Time // when the entry may be dropped, by name
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
func (m *Memory) UsedUp(_ context.Context, names ...string) (used []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		if _, was := m.used[name]; was {
			used = append(used, name)
		}
	}
	return used, nil
}
