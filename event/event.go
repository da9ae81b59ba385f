// Package event is how replicas tell each other, and those who listen within one, what has happened: that a list has
// changed, or a configuration.
//
// It stands beside the way. An event is a hint to look again and never the thing itself: it can come twice, and one
// that may have been missed comes as Missed. Nothing is decided by it, and it carries no value of a record.
package event

import (
	"context"
	"errors"
	"sync"
)

// An Event is something that happened.
type Event struct {
	Topic string `json:"topic"`          // what kind: one word
	Text  string `json:"text,omitempty"` // what exactly, such as an id
}

// Missed is heard in place of events that may have been missed: whoever listens looks at everything again.
var Missed = Event{Topic: "missed"}

// Most is how many bytes the topic and the text of an event may have together.
const Most = 1000

// ErrInvalid is the refusal of an event without a topic, of Missed, and of one that is too long.
var ErrInvalid = errors.New("event: it needs a topic that isn't \"missed\", and at most 1000 bytes")

// Check returns ErrInvalid for an event that can't be told.
func (e Event) Check() error {
	if e.Topic == "" || e.Topic == Missed.Topic || len(e.Topic)+len(e.Text) > Most {
		return ErrInvalid
	}
	return nil
}

// A Bus carries events to all who listen, in all processes that share a store, within a second. It is safe for use by
// several goroutines.
type Bus interface {
	// Notify tells e. It returns when that is sure, not when all have heard.
	Notify(ctx context.Context, e Event) error
	// Listen calls hear for each event from now on, those of this process too, one at a time, until ctx ends, and returns
	// its error. Before the first event it calls hear with Missed.
	Listen(ctx context.Context, hear func(Event)) error
}

// queued is how many events may wait for one who listens; behind that they are Missed.
const queued = 256

// A Hub tells those who listen in this process. The zero Hub is ready.
type Hub struct {
	mu        sync.Mutex
	listeners map[*listener]bool
}

// A listener has events that wait, and lost when there were too many.
type listener struct {
	waiting []Event
	wake    chan struct{} // holds one when something waits
}

// Tell gives e to all who listen, and waits for none of them.
func (h *Hub) Tell(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners {
		if len(l.waiting) >= queued || e == Missed {
			l.waiting = append(l.waiting[:0], Missed)
		} else {
			l.waiting = append(l.waiting, e)
		}
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Listen is Bus's.
func (h *Hub) Listen(ctx context.Context, hear func(Event)) error {
	l := &listener{waiting: []Event{Missed}, wake: make(chan struct{}, 1)}
	l.wake <- struct{}{}
	h.mu.Lock()
	if h.listeners == nil {
		h.listeners = map[*listener]bool{}
	}
	h.listeners[l] = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, l)
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		}
		h.mu.Lock()
		events := l.waiting
		l.waiting = nil
		h.mu.Unlock()
		for _, e := range events {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			hear(e)
		}
	}
}
