package samples

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
)

// looksAtOnce is the maximum number of classes scanned concurrently.
const looksAtOnce = 4

// A Withheld is a field that is hidden because of its values.
type Withheld struct {
	Class, Field string // "source.Class" and the name of the field
	Why          string // the kind of its values and the counts, but never a value
	Whole        bool   // the whole class is hidden, because its rule uses the field in canonical or stale.version
}

// Confirm returns two lines for the rule of the class. The first hides the field permanently, and the second shows
// it.
func (w Withheld) Confirm() (confirm, lift string) {
	return fmt.Sprintf("denied: [%s]", w.Field), fmt.Sprintf("lift: [%s]", w.Field)
}

// String returns two sentences. They say which field is hidden and why, and how to change that.
func (w Withheld) String() string {
	confirm, lift := w.Confirm()
	what := w.Class + "." + w.Field
	if w.Whole {
		what = "the class " + w.Class + ", whose rule compares " + w.Field + ","
	}
	return fmt.Sprintf("%s is hidden: %s. Confirm it with %s in the rule of %s, or show it with %s", what, w.Why, confirm, w.Class, lift)
}

// A Guard records which fields were scanned and which of them look like credentials. A field stays withheld even if a
// later sample is harmless. The zero Guard has scanned nothing. It is safe for concurrent use.
type Guard struct {
	mu     sync.Mutex
	seen   map[string]bool              // the scanned fields, keyed by identify
	found  map[string]map[string]string // the reason for each withheld field, by class and field
	missed []string                     // the classes that the last scan could not read
	turns  Turns
}

// identify returns a key for a field and its type. A field whose type changes counts as another field.
func identify(c *schema.Class, f *schema.Field) string {
	return c.FullName() + "." + f.Name + " " + f.Native + " " + f.Type.String()
}

// Overlay returns the fields to withhold, by class, for policy.Rules, or nil.
func (g *Guard) Overlay() map[string][]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.found) == 0 {
		return nil
	}
	out := make(map[string][]string, len(g.found))
	for class, fields := range g.found {
		out[class] = slices.Sorted(maps.Keys(fields))
	}
	return out
}

// Same reports whether two overlays withhold the same fields.
func Same(a, b map[string][]string) bool {
	return maps.EqualFunc(a, b, func(x, y []string) bool { return slices.Equal(x, y) })
}

// A Target is a class with the fields to scan.
type Target struct {
	Class  *schema.Class
	Fields []string
}

// Targets returns the fields to scan under the policy p. These are the fields that can contain credentials and that
// no rule lifts. If all is false, it omits fields that were already scanned.
func (g *Guard) Targets(p *policy.Policy, all bool) []Target {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Target
	for _, e := range p.ExposedClasses() {
		t := Target{Class: e.Class}
		for _, f := range e.Fields {
			if Can(f) && !slices.Contains(e.Lifted, f.Name) && (all || !g.seen[identify(e.Class, f)]) {
				t.Fields = append(t.Fields, f.Name)
			}
		}
		if t.Fields != nil {
			out = append(out, t)
		}
	}
	return out
}

// note records the result of a scan of t.
func (g *Guard) note(t Target, seen map[string]Seen) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen == nil {
		g.seen, g.found = map[string]bool{}, map[string]map[string]string{}
	}
	for _, name := range t.Fields {
		f := t.Class.Field(name)
		g.seen[identify(t.Class, f)] = true
		why := seen[name].Why(t.Class, f)
		if why == "" {
			continue
		}
		class := t.Class.FullName()
		if g.found[class] == nil {
			g.found[class] = map[string]string{}
		}
		g.found[class][name] = why
	}
}

// Look scans the values of targets for at most the given time. Classes that it doesn't reach are recorded as missed.
// In a source with one schema per tenant, it scans every schema if all is set. Otherwise it scans a few, and
// different ones each time.
func (g *Guard) Look(ctx context.Context, sources map[string]source.Source, targets []Target, most time.Duration, all bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	bounds := Usual()
	if bounds.Turns = &g.turns; all {
		bounds.Schemas = 0
	}
	missed := Look(ctx, sources, targets, bounds, g.note)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed = missed
}

// Look scans the values of targets, several at the same time, and calls note with each result. note must be safe for
// concurrent use. It returns the sorted classes that it could not scan.
func Look(ctx context.Context, sources map[string]source.Source, targets []Target, b Bounds, note func(Target, map[string]Seen)) (missed []string) {
	by, samplers := map[string][]schema.Class{}, map[string]*Sampler{}
	for _, t := range targets {
		by[t.Class.Source] = append(by[t.Class.Source], *t.Class)
	}
	for name, classes := range by {
		if s, err := New(sources[name], classes, b); err == nil { // on an error, its classes are missed
			samplers[name] = s
		}
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	work := make(chan Target)
	for range min(looksAtOnce, len(targets)) {
		all.Go(func() {
			for t := range work {
				s := samplers[t.Class.Source]
				if s != nil && ctx.Err() == nil {
					if seen, err := s.Look(ctx, t.Class, t.Fields); err == nil {
						note(t, seen)
						continue
					}
				}
				mu.Lock()
				missed = append(missed, t.Class.FullName())
				mu.Unlock()
			}
		})
	}
	for _, t := range targets {
		work <- t
	}
	close(work)
	all.Wait()
	slices.Sort(missed)
	return missed
}

// WithheldFields returns the fields that the policy p hides only because of the samples of g.
func (g *Guard) WithheldFields(p *policy.Policy) []Withheld {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Withheld
	for _, class := range slices.Sorted(maps.Keys(g.found)) {
		fields, whole := p.WithheldFields(class)
		for _, name := range fields {
			out = append(out, Withheld{Class: class, Field: name, Why: g.found[class][name], Whole: whole})
		}
	}
	return out
}

// MissedClasses returns the classes that the last scan could not read.
func (g *Guard) MissedClasses() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.missed)
}

// Notes returns notes for operators about withheld fields and missed classes. Each has one or two sentences.
func Notes(w []Withheld, missed []string) (out []string) {
	for _, w := range w {
		out = append(out, w.String())
	}
	if len(missed) > 0 {
		out = append(out, fmt.Sprintf("the values of %d classes were not looked at in time, and are looked at in the background: %s", len(missed), strings.Join(missed[:min(len(missed), 5)], ", ")))
	}
	return out
}
