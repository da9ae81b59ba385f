package policy

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/rules/declared"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// declared adds the pointers of the rule to the relations of the class.
func (c *class) declared(p *Policy, fail func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.rule.Pointers)) {
		to := c.rule.Pointers[name]
		target, err := p.named(to.Class)
		if own := p.byFull[c.Source+"."+to.Class]; err != nil && own != nil {
			target, err = own, nil // several sources have the name, this one too
		}
		if err != nil {
			fail("pointers.%s: %s: %v", name, to.Class, err)
			continue
		}
		r, wrong := declared.Pointer(c.Class, name, target.Class, to.Key)
		if wrong != "" {
			fail("pointers.%s: %s", name, wrong)
			continue
		}
		if !slices.ContainsFunc(c.Relations, func(have schema.Relation) bool { return slices.Equal(have.Fields, r.Fields) }) {
			c.Relations = append(c.Relations, r)
		}
	}
}

// label finds the fields that can be the label of a record: the one of the rule, or else those whose names say so.
func (c *class) label(fail func(string, ...any)) {
	n := c.rule.Label
	if n == "" {
		c.labels = declared.Labels(c.Class, slices.DeleteFunc(slices.Clone(c.visible), func(f *schema.Field) bool { return c.large[f.Name] || c.relation(f.Name) != nil }))
		return
	}
	c.labels = []string{n}
	switch f := c.Field(n); {
	case f == nil:
		fail("label: there is no field %q%s", n, problem.DidYouMean(problem.Nearest(n, c.FieldNames(), 2)))
	case c.seen[n] == nil:
		fail("label: %s can't be seen at all; take it out", n)
	case f.Type.Structured() || f.Type == schema.Bytes || f.Type == schema.Opaque:
		fail("label: %s is of type %s; a label is a text or a number", n, f.Type)
	case c.rule.Mask[n] != "" && c.rule.MaskBut[n] == "":
		fail("label: %s is masked; choose a field that is seen whole", n)
	}
}

// Label returns the field that holds what a record is called, for people and agents that would otherwise read ids; ""
// if there is none that the principal sees whole.
func (v *View) Label() string {
	for _, n := range v.class.labels {
		if v.Field(n) != nil && v.Mask(n) == nil {
			return n
		}
	}
	return ""
}
