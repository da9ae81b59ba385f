package gate

import (
	"strings"
	"sync"
)

// Watched are the resources that anybody has subscribed to. They are never forgotten: there are no more of them than
// there are classes. The zero value has none.
type Watched struct {
	mu      sync.Mutex
	uris    map[string]bool
	telling bool // Tell is at work
	again   bool // there was a further change meanwhile
	ended   sync.WaitGroup
}

// Add counts a resource among them.
func (w *Watched) Add(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.uris == nil {
		w.uris = map[string]bool{}
	}
	w.uris[strings.Clone(uri)] = true
}

// Tell gives every resource to each, in the background, once for changes that come in close succession: a client that
// reads slowly holds up nobody but those who are told after it.
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

// Wait returns when what Tell began has ended.
func (w *Watched) Wait() { w.ended.Wait() }
