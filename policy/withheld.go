package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// withhold hides fields of c whose values look like credentials, unless the rule lifts them. A rule may name such a
// field, because it may be older than the values. The whole class is hidden if its rule compares such a field in
// canonical, which agents see, or in stale.version. derive denies fields that the database computes from withheld
// fields.
func (c *class) withhold(fields []string) {
	if c.Recordless {
		return // a description has no values
	}
	for _, name := range fields {
		if c.Field(name) != nil && !slices.Contains(c.rule.Lift, name) {
			c.withheld = append(c.withheld, name)
		}
	}
	needed := slices.Contains(c.withheld, c.rule.Version)
	FilterFields(c.rule.Canonical, func(name string) { needed = needed || slices.Contains(c.withheld, name) })
	if needed {
		c.rule.Hidden, c.rule.HiddenBut, c.rule.Version = true, "", ""
	}
}

// withheldKey reports whether a field of the key is withheld. Then records are ordered by all their visible fields, so
// fields can't be masked in part.
func (c *class) withheldKey() bool {
	return slices.ContainsFunc(c.Key, func(name string) bool { return slices.Contains(c.withheld, name) })
}

// WithheldFields returns the fields that only Rules.Withheld hides, of the class called full ("source.Class"). whole reports
// whether that hides the whole class because its rule requires one of them.
func (p *Policy) WithheldFields(full string) (fields []string, whole bool) {
	c := p.byFull[full]
	if c == nil || c.withheld == nil || !c.listed {
		return nil, false
	}
	rule := p.ruleOf(c)
	if rule.Hidden && rule.HiddenBut == "" {
		return nil, false
	}
	for _, name := range c.withheld {
		if !slices.Contains(rule.Denied, name) && (rule.Visible == nil || slices.Contains(rule.Visible, name)) {
			fields = append(fields, name)
		}
	}
	return fields, c.rule.Hidden && !rule.Hidden
}

// ruleOf returns the rule of c as the owner wrote it.
func (p *Policy) ruleOf(c *class) ClassRule {
	if rule, ok := p.rules.Classes[c.full]; ok {
		return rule
	}
	return p.rules.Classes[c.Name]
}

// An Exposed is a class that some principal can see, with the fields whose values can leave the gateway. These are the
// fields of its view, without fields that everybody sees as null.
type Exposed struct {
	Class  *schema.Class
	Fields []*schema.Field
	Lifted []string // the fields that the rule lifts
}

// ExposedClasses returns the classes with records that some principal can see, sorted by full name.
func (p *Policy) ExposedClasses() []Exposed {
	var out []Exposed
	for _, c := range p.classes {
		if c.Recordless || !c.listed || c.rule.Hidden && c.rule.HiddenBut == "" {
			continue
		}
		e := Exposed{Class: c.Class, Lifted: c.rule.Lift}
		for _, f := range c.Visible {
			if m := c.masks[f.Name]; m == nil || m.Kind != Null || c.but[f.Name] != nil {
				e.Fields = append(e.Fields, f)
			}
		}
		if e.Fields != nil {
			out = append(out, e)
		}
	}
	return out
}
