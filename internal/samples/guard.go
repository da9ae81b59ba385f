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

// looksAtOnce is how many classes are looked at at the same time.
const looksAtOnce = 4

// A Withheld is a field that is hidden because of its values.
type Withheld struct {
	Class, Field string // "source.Class" and the name of the field
	Why          string // the kind of its values, and how many of how many. Never a value
	Whole        bool   // the class is hidden with it, because its rule compares the field in canonical or stale.version
}

// Confirm returns the line for the rule of the class that hides the field for good, and the line that shows it.
func (w Withheld) Confirm() (confirm, lift string) {
	return fmt.Sprintf("denied: [%s]", w.Field), fmt.Sprintf("lift: [%s]", w.Field)
}

// String returns w as two sentences: which field is hidden and why, and how to change that.
func (w Withheld) String() string {
	confirm, lift := w.Confirm()
	what := w.Class + "." + w.Field
	if w.Whole {
		what = "the class " + w.Class + ", whose rule compares " + w.Field + ","
	}
	return fmt.Sprintf("%s is hidden: %s. Confirm it with %s in the rule of %s, or show it with %s", what, w.Why, confirm, w.Class, lift)
}

// A Guard remembers which fields were looked at, and which of them look like credentials. A field stays withheld even if a
// later sample shows nothing. The zero Guard has looked at nothing. It is safe for concurrent use.
type Guard struct {
	mu     sync.Mutex
	seen   map[string]bool              // the fields that were looked at, by identify
	found  map[string]map[string]string // why fields are withheld, by class and field
	missed []string                     // the classes that could not be looked at the last time
	turns  Turns
}

// identify returns the name of a field with its type: a field of another type is another field.
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

// A Target is a class and the fields of it to look at.
type Target struct {
	Class  *schema.Class
	Fields []string
}

// Targets returns the fields to look at under p. These are all that can hold credentials and that no rule lifts, or
// only those that were not looked at yet.
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

// note records the result of a look at t.
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

// Look looks at the values of targets for at most a time. Classes that it doesn't reach are missed. With all, it looks at
// every schema of a source with one schema per tenant, and otherwise at a few, each time at others.
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

// Look looks at the values of targets, several at the same time, and calls note with the result of each look. note must
// be safe for concurrent use. It returns the classes that it could not look at, sorted.
func Look(ctx context.Context, sources map[string]source.Source, targets []Target, b Bounds, note func(Target, map[string]Seen)) (missed []string) {
	by, samplers := map[string][]schema.Class{}, map[string]*Sampler{}
	for _, t := range targets {
		by[t.Class.Source] = append(by[t.Class.Source], *t.Class)
	}
	for name, classes := range by {
		if s, err := New(sources[name], classes, b); err == nil { // otherwise its classes are missed
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

// WithheldFields returns the fields that p hides only because of the samples of g, by class and field.
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

// MissedClasses returns the classes whose values could not be looked at the last time.
func (g *Guard) MissedClasses() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.missed)
}

// Notes returns the notes for operators about w and the missed classes, one sentence or two each.
func Notes(w []Withheld, missed []string) (out []string) {
	for _, w := range w {
		out = append(out, w.String())
	}
	if len(missed) > 0 {
		out = append(out, fmt.Sprintf("the values of %d classes were not looked at in time, and are looked at in the background: %s", len(missed), strings.Join(missed[:min(len(missed), 5)], ", ")))
	}
	return out
}
