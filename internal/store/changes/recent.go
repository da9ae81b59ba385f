package changes

import (
	"slices"
	"sync"

	"github.com/bailiwick-dev/bailiwick/change"
)

// Limits of what Recent keeps.
const (
	mostRecent  = 128
	longestBody = 32 << 10 // bytes
)

// Recent decodes the bodies of changes, and each of the latest ones once: from its proposal to its end a change is read
// about ten times. It answers by the body that is in the store now, so it is never out of date. The zero Recent is ready to use.
type Recent struct {
	mu   sync.Mutex
	read [mostRecent]struct {
		body string
		is   *change.Change
	}
	next int
}

// Read decodes the body of a row. The change is the caller's own.
func (r *Recent) Read(body string) (*change.Change, error) {
	r.mu.Lock()
	for i := range r.read {
		if r.read[i].body == body && body != "" {
			found := r.read[i].is
			r.mu.Unlock()
			return owned(found), nil
		}
	}
	r.mu.Unlock()
	c, err := decoded(body)
	if err != nil || len(body) > longestBody {
		return c, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := &r.read[r.next%mostRecent]
	at.body, at.is = body, owned(c)
	r.next++
	return c, nil
}

// owned returns a copy of c whose parts can be replaced. It shares what is never altered: values, and what is in a list.
func owned(c *change.Change) *change.Change {
	out := *c
	out.Writes, out.Effects, out.Cascades, out.Doubts = slices.Clone(c.Writes), slices.Clone(c.Effects), slices.Clone(c.Cascades), slices.Clone(c.Doubts)
	out.Classes, out.Fields, out.After, out.Earlier = slices.Clone(c.Classes), slices.Clone(c.Fields), slices.Clone(c.After), slices.Clone(c.Earlier)
	out.Decisions, out.History = slices.Clone(c.Decisions), slices.Clone(c.History)
	out.Asker, out.Outcome, out.Lease.Done = own(c.Asker), own(c.Outcome), own(c.Lease.Done)
	if out.Outcome != nil {
		out.Outcome.Receipt, out.Outcome.Settled, out.Outcome.Now = own(out.Outcome.Receipt), own(out.Outcome.Settled), slices.Clone(out.Outcome.Now)
	}
	return &out
}

// own returns a pointer to a copy of what p points to; nil for nil.
func own[T any](p *T) *T {
	if p == nil {
		return nil
	}
	out := *p
	return &out
}
