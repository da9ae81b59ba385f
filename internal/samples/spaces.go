package samples

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Limits of a scan of a class with one schema per tenant.
const (
	fewestRows = 10 // minimum records from one schema
	mostTimes  = 20 // maximum time for all schemas, as a multiple of the time for one class
)

// Turns records which schema of a class is scanned next, for sources with one schema per tenant. Scans that reach
// only a few schemas therefore reach all of them in the end. The first schema is random, so replicas and restarts
// begin with different schemas. Turns is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	next map[string]int
}

// at returns the index of the next of n schemas of a class.
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

// pass moves on to the next schema.
func (t *Turns) pass(class string) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next[class]++
}

// spaces samples the table in one schema after another, as many as the bounds allow. Samples from one schema count
// for all schemas, because they share the rules.
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
