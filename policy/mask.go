package policy

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/internal/rules/filterfields"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// mask compiles the masks. It rejects masks of fields that can't be hidden: keys identify records, pointers hold the
// key of another record, and agents are shown the canonical filter.
func (c *class) mask(p *Policy, fail func(string, ...any)) {
	keyless := c.keyless()
	for _, name := range slices.Sorted(maps.Keys(c.rule.MaskBut)) {
		if c.rule.Mask[name] == "" {
			fail("mask.%s: an exception from a mask that isn't there", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.rule.Mask)) {
		kind, f := c.rule.Mask[name], c.Field(name)
		if slices.Contains(c.withheld, name) {
			continue
		}
		if keyless && c.withheldKey() {
			kind = Null
		}
		switch {
		case f == nil:
			fail("mask.%s: there is no such field%s", name, problem.DidYouMean(problem.Nearest(name, c.FieldNames(), 2)))
		case c.Seen[name] == nil:
			fail("mask.%s: the field can't be seen at all; take it out", name)
		case !slices.Contains([]Mask{Partial, Hash, Null}, kind):
			fail("mask.%s: there is no mask %q; write partial, hash or null", name, string(kind))
		case slices.Contains(c.Key, name):
			fail("mask.%s: it is of the key, by which records are asked for", name)
		case c.leading(name) != nil:
			fail("mask.%s: it is a pointer to %s, whose key it shows; leave it out of visible instead", name, c.leading(name).target.FullName())
		case p.pointing(c, name) != "":
			fail("mask.%s: %s points to it and would show it", name, p.pointing(c, name))
		case !kind.Masks(f.Type):
			fail("mask.%s: %s can't mask a field of type %s; null masks any", name, kind, f.Type)
		case keyless && kind != Null:
			fail("mask.%s: the class has no key that can be seen, so its records are ordered by all that can be, which %s would have to be left out of; write null", name, name)
		}
		if c.masks == nil {
			c.masks = make(map[string]*mask.Mask, len(c.rule.Mask))
		}
		if scope, ok := c.rule.MaskBut[name]; ok && scope == "" {
			fail("mask.%s: except needs a scope", name)
		} else if ok {
			if c.but == nil {
				c.but = make(map[string][]identity.Scope, len(c.rule.MaskBut))
			}
			c.but[name] = []identity.Scope{scope}
		}
		c.masks[name] = &mask.Mask{Kind: kind, Field: c.FullName() + "." + name}
	}
	filterfields.Fields(c.rule.Canonical, func(name string) {
		if c.masks[name] != nil {
			fail("canonical: %s is masked; agents are shown what counts as a live record", name)
		}
	})
}

// keyless reports whether c has no key that is visible.
func (c *class) keyless() bool {
	return len(c.Key) == 0 || slices.ContainsFunc(c.Key, func(k string) bool { return c.Seen[k] == nil })
}

// masked returns the masks that apply to p, by field; nil for none.
func (c *class) masked(p identity.Principal) map[string]*mask.Mask {
	var left map[string]*mask.Mask
	for name, but := range c.but {
		if c.masks[name] == nil || slices.ContainsFunc(but, func(s identity.Scope) bool { return !p.Has(s) }) {
			continue
		}
		if left == nil {
			left = maps.Clone(c.masks)
		}
		delete(left, name)
	}
	switch {
	case left == nil:
		return c.masks
	case len(left) == 0:
		return nil
	}
	return left
}

// pointing returns the full name of a visible field that points to the field called name of c, or "".
func (p *Policy) pointing(c *class, name string) string {
	for _, other := range p.classes {
		for _, r := range other.relations {
			if r.target == c && r.key == name && other.Seen[r.field] != nil {
				return other.FullName() + "." + r.field
			}
		}
	}
	return ""
}
