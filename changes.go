package bailiwick

import (
	"slices"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// An Event names what changed in a gateway.
type Event string

// The events that Subscribe reports.
const (
	RulesChanged     Event = "rules"     // other rules are in force
	CatalogueChanged Event = "catalogue" // the sources were described again
	ToolsChanged     Event = "tools"     // tools were added or removed
	PromptsChanged   Event = "prompts"   // prompts were added or removed
)

// subscribers are the functions to call on events.
type subscribers struct {
	mu  sync.Mutex
	all []*func(Event)
}

// Subscribe calls f for every event from now on, until stop is called. f is called in the goroutine that makes the
// change, after it is in force, one event at a time: it must return quickly and must not make changes itself.
func (g *Gateway) Subscribe(f func(Event)) (stop func()) {
	s := &g.subscribers
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, &f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = slices.DeleteFunc(s.all, func(other *func(Event)) bool { return other == &f })
	}
}

// Announce notifies all subscribers of an event. The owner of the changed state calls it: the gateway for its rules
// and sources, a tool.Set for its tools.
func (g *Gateway) Announce(c Event) {
	s := &g.subscribers
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.all {
		g.tell(*f, c)
	}
}

// tell calls f and recovers its panic, so that the other subscribers are still called.
func (g *Gateway) tell(f func(Event), c Event) {
	defer func() {
		if r := recover(); r != nil && g.options.Log != nil {
			g.options.Log.Error("a subscriber panicked", "change", string(c), "error", problem.Panicked(r).Err)
		}
	}()
	f(c)
}
