package wire

import (
	"strings"
	"sync"
)

// Watched is the set of subscribed resources. Resources are never removed, because there are at most as many as
// classes. The zero value is empty.
type Watched struct {
	mu      sync.Mutex
	uris    map[string]bool
	telling bool // Tell is running in the background
	again   bool // another change came while Tell was running
	ended   sync.WaitGroup
}

// Add adds a resource.
func (w *Watched) Add(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uris == nil {
		w.uris = map[string]bool{}
	}
	w.uris[strings.Clone(uri)] = true
}

// Tell calls each for every resource, in the background. It combines changes that follow each other quickly. A client
// that reads slowly delays only the notifications after its own.
func (w *Watched) Tell(each func(uri string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.uris) == 0 {
		return
	}
	if w.telling {
		w.again = true
		return
	}
	w.telling = true
	w.ended.Go(func() {
		for {
			w.mu.Lock()
			w.again = false
			uris := make([]string, 0, len(w.uris))
			for uri := range w.uris {
				uris = append(uris, uri)
			}
			w.mu.Unlock()
			for _, uri := range uris {
				each(uri)
			}
			w.mu.Lock()
			if !w.again {
				w.telling = false
				w.mu.Unlock()
				return
			}
			w.mu.Unlock()
		}
	})
}

// Wait waits until the goroutines of Tell have ended.
func (w *Watched) Wait() { w.ended.Wait() }
