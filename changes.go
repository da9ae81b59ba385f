package bailiwick

import (
	"slices"
	"sync"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// A Change is what has changed of what a gateway serves.
type Event string

// The changes that Subscribe tells of.
const (
	RulesChanged     Event = "rules"     // other rules are in force
	CatalogueChanged Event = "catalogue" // the sources were described again
	ToolsChanged     Event = "tools"     // tools were added or taken away
	PromptsChanged   Event = "prompts"   // prompts were added or taken away
)

// subscribers are the functions that want to know of changes.
type subscribers struct {
	mu  sync.Mutex
	all []*func(Event)
}

// Subscribe has f told of every change from now on, until stop is called. f is called where the change is made, after
// it is in force, one change after the other: it must return soon and must not make changes itself.
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

// Announce tells all subscribers of a change. Who keeps what a gateway serves calls it: the gateway for its rules and
// sources, a tool.Set for its tools.
func (g *Gateway) Announce(c Event) {
	s := &g.subscribers
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.all {
		g.tell(*f, c)
	}
}

// tell calls f; one that panics stops no other.
func (g *Gateway) tell(f func(Event), c Event) {
	defer func() {
		if r := recover(); r != nil && g.options.Log != nil {
			g.options.Log.Error("a subscriber panicked", "change", string(c), "error", problem.Panicked(r).Err)
		}
	}()
	f(c)
}
