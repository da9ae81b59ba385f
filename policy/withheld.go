package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// withhold hides fields of c unless the rule lifts them. The values of such a field look like credentials. It is not a
// fault of a rule to name one: the rule was written before the values. A class is hidden as a whole if its rule
// compares such a field in canonical, which agents are shown, or in stale.version. Fields that the database makes from
// a withheld one are denied by derive.
func (c *class) withhold(fields []string) {
	if c.Recordless {
		return // a description holds no values
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

// withheldKey reports whether a field of the key is withheld. Records are then ordered by all that can be seen of them,
// which leaves no order for partly masked fields.
func (c *class) withheldKey() bool {
	return slices.ContainsFunc(c.Key, func(name string) bool { return slices.Contains(c.withheld, name) })
}

// Withheld returns the fields of the class called "source.Class" that only Rules.Withheld hides, and whether that hides the
// whole class: its rule needs one of them.
func (p *Policy) Withheld(full string) (fields []string, whole bool) {
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
// fields of its view, except for fields that everybody sees as null.
type Exposed struct {
	Class  *schema.Class
	Fields []*schema.Field
	Lifted []string // the fields that the rule lifts
}

// Exposed returns the classes with records that some principal can see, sorted by full name.
func (p *Policy) Exposed() []Exposed {
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
