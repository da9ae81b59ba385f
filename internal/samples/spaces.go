package samples

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// The bounds of looks at a class with one schema per tenant.
const (
	fewestRows = 10 // of one schema
	mostTimes  = 20 // how many times the time of a class all its schemas may take
)

// Turns remember, by class, which schema of a source with one schema per tenant is looked at next. So looks that reach
// only a few schemas reach all of them in the end. The first schema is random, so replicas and restarts begin with
// different ones. Turns is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	next map[string]int
}

// at returns which of n schemas of a class is next.
func (t *Turns) at(class string, n int) int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.next[class]; !known {
		if t.next == nil {
			t.next = map[string]int{}
		}
		t.next[class] = rand.N(n)
	}
	return t.next[class] % n
}

// pass goes on to the next schema.
func (t *Turns) pass(class string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next[class]++
}

// spaces takes samples of the table in one schema after the other, as many as the bounds allow. The samples of one
// schema count for all, because the rules are the same.
func (l *look) spaces(ctx context.Context, fields []string) (errs []error) {
	names := slices.Sorted(maps.Keys(l.class.Spaces))
	if len(names) == 0 {
		return nil
	}
	most := len(names)
	if l.bounds.Schemas > 0 {
		most = min(most, l.bounds.Schemas)
	}
	ctx, cancel := context.WithTimeout(ctx, l.bounds.Time*time.Duration(min(most, mostTimes)))
	defer cancel()
	l.rows = max(l.bounds.Rows/most, fewestRows)
	sampler, class := *l.Sampler, l.class.FullName()
	l.Sampler = &sampler
	every := sampler.policy
	begin := l.bounds.Turns.at(class, len(names))
	for i := range most {
		l.policy = every.InSchema(names[(begin+i)%len(names)])
		errs = append(errs, l.all(ctx, fields)...)
		if ctx.Err() != nil {
			return errs
		}
		l.bounds.Turns.pass(class)
	}
	return errs
}
