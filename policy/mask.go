package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// mask compiles the masks. It rejects masks of fields that must stay visible: keys identify records, pointers have the
// key of another record, and agents see the canonical filter.
func (c *class) mask(p *Policy, fail func(string, ...any)) {
	keyless := c.keyless()
	c.maskTexts(p, fail)
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
			fail("mask.%s: the field can't be seen at all. Take it out", name)
		case !slices.Contains([]Mask{Partial, Hash, Null, Inside, Pseudonym}, kind):
			fail("mask.%s: there is no mask %q. Write partial, pseudonym, hash, null or {pattern: [email, phone]}", name, string(kind))
		case kind == Inside && !allPatternsExist(c.rule.MaskInside[name]):
			fail("mask.%s: pattern needs a list of %s", name, patternNames())
		case slices.Contains(c.Key, name):
			fail("mask.%s: it is of the key, by which records are asked for", name)
		case c.leading(name) != nil:
			fail("mask.%s: it is a pointer to %s, whose key it shows. Leave it out of visible instead", name, c.leading(name).target.FullName())
		case p.pointing(c, name) != "":
			fail("mask.%s: %s points to it and would show it", name, p.pointing(c, name))
		case !kind.Masks(f.Type):
			fail("mask.%s: %s can't mask a field of type %s. null masks any", name, kind, f.Type)
		case kind == Pseudonym && len(c.Key) > 1:
			fail("mask.%s: a pseudonym stands for the key of a record, and the key has %d fields. Write partial or null", name, len(c.Key))
		case keyless && kind != Null:
			fail("mask.%s: the class has no key that can be seen, so its records are ordered by all that can be, which %s would have to be left out of. Write null", name, name)
		}
		if c.masks == nil {
			c.masks = make(map[string]*plan.Mask, len(c.rule.Mask))
		}
		if scope, ok := c.rule.MaskBut[name]; ok && scope == "" {
			fail("mask.%s: except needs a scope", name)
		} else if ok {
			if c.but == nil {
				c.but = make(map[string][]identity.Scope, len(c.rule.MaskBut))
			}
			c.but[name] = []identity.Scope{scope}
		}
		c.masks[name] = &plan.Mask{Kind: kind, Field: c.FullName() + "." + name, Patterns: c.rule.MaskInside[name]}
		if kind == Pseudonym {
			c.masks[name] = &plan.Mask{Kind: kind, Field: c.FullName(), Word: recordNoun(c.Name)}
		}
	}
	FilterFields(c.rule.Canonical, func(name string) {
		if c.masks[name] != nil {
			fail("canonical: %s is masked. Agents are shown what counts as a live record", name)
		}
	})
}

// keyless reports whether c has no visible key.
func (c *class) keyless() bool {
	return len(c.Key) == 0 || slices.ContainsFunc(c.Key, func(k string) bool { return c.Seen[k] == nil })
}

// recordNoun returns the word for a record of a class of people: Customer for customers. It uses the last word of the
// class's name, or otherwise returns Person.
func recordNoun(class string) string {
	w := secretnames.Words(class)
	if len(w) == 0 {
		return "Person"
	}
	last := strings.TrimSuffix(w[len(w)-1], "s")
	if !slices.Contains([]string{"customer", "client", "patient", "employee", "student", "teacher", "member", "user", "author", "contact", "guest", "driver", "owner",
		"tenant", "lead", "candidate", "applicant", "subscriber", "donor", "volunteer", "player", "passenger", "actor", "agent", "worker", "buyer", "seller", "supplier"}, last) {
		return "Person"
	}
	return strings.ToUpper(last[:1]) + last[1:]
}

// allPatternsExist reports whether list isn't empty and all its patterns exist.
func allPatternsExist(list []Pattern) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(p Pattern) bool { return !slices.Contains(Patterns(), p) })
}

// patternNames lists the patterns.
func patternNames() string {
	var names []string
	for _, p := range Patterns() {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// maskTexts adds the masks of MaskTexts to the rule of the class. It adds one for each visible long text and JSON field
// without its own mask.
func (c *class) maskTexts(p *Policy, fail func(string, ...any)) {
	if c.rule.MaskTexts == nil {
		if c.rule.MaskNot != nil {
			fail("mask_texts: an exception from a mask that isn't there")
		}
		return
	}
	if !allPatternsExist(c.rule.MaskTexts) {
		fail("mask_texts: write a list of %s", patternNames())
		return
	}
	for _, name := range c.rule.MaskNot {
		if c.Field(name) == nil {
			fail("mask_texts.except: there is no field %s%s", name, problem.DidYouMean(problem.Nearest(name, c.FieldNames(), 2)))
		}
	}
	names := map[string]bool{c.rule.Version: true}
	FilterFields(c.rule.Canonical, func(name string) { names[name] = true })
	c.rule.Mask, c.rule.MaskInside = maps.Clone(c.rule.Mask), maps.Clone(c.rule.MaskInside)
	found := false
	for _, f := range c.Visible {
		if !longText(f) || names[f.Name] || slices.Contains(c.rule.MaskNot, f.Name) || slices.Contains(c.Key, f.Name) || c.leading(f.Name) != nil || p.pointing(c, f.Name) != "" {
			continue
		}
		found = true
		if c.rule.Mask[f.Name] != "" {
			continue
		}
		if c.rule.Mask == nil {
			c.rule.Mask = map[string]Mask{}
		}
		if c.rule.MaskInside == nil {
			c.rule.MaskInside = map[string][]Pattern{}
		}
		c.rule.Mask[f.Name], c.rule.MaskInside[f.Name] = Inside, c.rule.MaskTexts
	}
	if !found {
		fail("mask_texts: the class has no long text that can be seen. Take it out")
	}
}

// longest is the maximum length of a text that isn't long, in characters.
const longest = 255

// longText reports whether f may contain a long text. That is a text of more than 255 characters or without a limit, or
// JSON.
func longText(f *schema.Field) bool {
	return f.Type == schema.String && len(f.Values) == 0 && (f.Length == 0 || f.Length > longest) || f.Type.IsStructured() || f.Type == schema.Any
}

// masksFor returns the masks that apply to p, by field, or nil.
func (c *class) masksFor(p identity.Principal) map[string]*plan.Mask {
	var left map[string]*plan.Mask
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

// pointing returns the full name of a visible field that points to c.name, or "".
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
