package store

import (
	"slices"
	"sync"

	"github.com/bailiwick-dev/bailiwick/change"
)

// Limits of the cached changes.
const (
	mostRecent  = 128
	longestBody = 32 << 10 // bytes
)

// RecentChanges decodes the bodies of changes. It decodes each of the latest bodies only once, or not at all if the
// change was stored here. A change is read about ten times between its proposal and its end. The cache is keyed by
// the present body in the store, so it is never out of date. The zero RecentChanges is ready to use.
type RecentChanges struct {
	mu   sync.Mutex
	read [mostRecent]struct {
		body string
		is   *change.Change
	}
	next int
}

// Read decodes the body of a row. The caller owns the returned change.
func (r *RecentChanges) Read(body string) (*change.Change, error) {
	if found := r.find(body); found != nil {
		return found, nil
	}
	c, err := decodeChange(body)
	if err == nil {
		r.keep(body, c)
	}
	return c, err
}

// Of returns the change of a row that is about to be stored, in the form that Read returns later.
func (r *RecentChanges) Of(row *ChangeRow) (*change.Change, error) {
	c, ok := jsonCopy(row.of)
	if !ok {
		return r.Read(row.Body)
	}
	r.keep(row.Body, c)
	return c, nil
}

// find returns a copy of the cached change for a body, or nil.
func (r *RecentChanges) find(body string) *change.Change {
	r.mu.Lock()
	for i := range r.read {
		if r.read[i].body == body && body != "" {
			kept := r.read[i].is
			r.mu.Unlock()
			return cloneChange(kept)
		}
	}
	r.mu.Unlock()
	return nil
}

// keep caches a copy of c for its body. c belongs to the caller.
func (r *RecentChanges) keep(body string, c *change.Change) {
	if len(body) > longestBody {
		return
	}
	kept := cloneChange(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	at := &r.read[r.next%mostRecent]
	at.body, at.is = body, kept
	r.next++
}

// Page decodes the rows of a query with one more than the limit of f. more reports whether that extra row exists.
// Page doesn't add to the cache, because one page would fill it.
func (r *RecentChanges) Page(bodies []string, f change.Filter) (found []*change.Change, more bool, err error) {
	if more = len(bodies) > limit(f); more {
		bodies = bodies[:limit(f)]
	}
	found = make([]*change.Change, len(bodies))
	for i, body := range bodies {
		if found[i] = r.find(body); found[i] != nil {
			continue
		}
		if found[i], err = decodeChange(body); err != nil {
			return nil, false, err
		}
	}
	return found, more, nil
}

// cloneChange returns a copy of c whose parts can be replaced. It shares parts that are never modified: values, and
// the elements of lists.
func cloneChange(c *change.Change) *change.Change {
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

// own returns a pointer to a copy of *p, or nil for nil.
func own[T any](p *T) *T {
	if p == nil {
		return nil
	}
	out := *p
	return &out
}
