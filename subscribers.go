package bailiwick

import (
	"slices"
	"sync"
)

// A subscribers is a list of functions to call for each event. The zero value has none. It is safe for concurrent use.
type subscribers[E any] struct {
	mu  sync.Mutex
	all []*func(E)
}

// Subscribe calls f for every event from now on, until stop is called.
func (l *subscribers[E]) Subscribe(f func(E)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, &f)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(other *func(E)) bool { return other == &f })
	}
}

// Announce calls all functions with e, one at a time. If one panics, the others are still called, and panicked gets
// what it panicked with.
func (l *subscribers[E]) Announce(e E, panicked func(any)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.all {
		call(*f, e, panicked)
	}
}

func call[E any](f func(E), e E, panicked func(any)) {
	defer func() {
		if r := recover(); r != nil {
			panicked(r)
		}
	}()
	f(e)
}
