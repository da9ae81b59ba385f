package policy

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// addDeclaredPointers adds the pointers of the rule to the relations of the class.
func (c *class) addDeclaredPointers(p *Policy, fail func(string, ...any)) {
	for _, name := range slices.Sorted(maps.Keys(c.rule.Pointers)) {
		to := c.rule.Pointers[name]
		target, err := p.byFull[c.Source+"."+to.Class], error(nil)
		if target == nil {
			target, err = p.findClass(to.Class)
		}
		if err != nil {
			fail("pointers.%s: %s: %v", name, to.Class, err)
			continue
		}
		r, wrong := DeclaredPointer(c.Class, name, target.Class, to.Key)
		if wrong != "" {
			fail("pointers.%s: %s", name, wrong)
			continue
		}
		if !slices.ContainsFunc(c.Relations, func(have schema.Relation) bool { return slices.Equal(have.Fields, r.Fields) }) {
			c.Relations = append(c.Relations, r)
		}
	}
}

// label finds the fields that can be the label of a record: the field of the rule, or otherwise fields with typical
// names.
func (c *class) label(fail func(string, ...any)) {
	n := c.rule.Label
	if n == "" || slices.Contains(c.withheld, n) {
		c.labels = declaredLabels(c.Class, slices.DeleteFunc(slices.Clone(c.Visible), func(f *schema.Field) bool { return c.Large[f.Name] || c.relation(f.Name) != nil }))
		return
	}
	c.labels = []string{n}
	if c.explicit[n] != nil && c.Seen[n] == nil {
		return // it is denied because of a field from which it is computed, and check reports that
	}
	if wrong := declaredLabel(c.Class, n, c.Seen[n] != nil, c.rule.Mask[n] != "" && c.rule.MaskBut[n] == ""); wrong != "" {
		fail("label: %s", wrong)
	}
}

// Label returns the field with the name or title of a record, for people and agents that would otherwise read ids. It
// returns "" if the principal sees no such field whole.
func (v *View) Label() string {
	for _, n := range v.class.labels {
		if v.Field(n) != nil && v.Mask(n) == nil {
			return n
		}
	}
	return ""
}
