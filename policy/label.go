package policy

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// callings list the names, without case and separators, of fields that hold what a record is called, the likeliest
// first.
var callings = []string{"name", "title", "subject", "displayname", "fullname", "label", "headline", "key", "number", "code", "slug", "username", "login", "email"}

// label finds the fields that can be the label of a record: the one of the rule, or else those whose names say so.
func (c *class) label(fail func(string, ...any)) {
	if n := c.rule.Label; n != "" {
		f := c.Field(n)
		switch {
		case f == nil:
			fail("label: there is no field %q%s", n, problem.DidYouMean(problem.Nearest(n, c.FieldNames(), 2)))
		case c.seen[n] == nil:
			fail("label: %s can't be seen at all; take it out", n)
		case f.Type.Structured() || f.Type == schema.Bytes || f.Type == schema.Opaque:
			fail("label: %s is of type %s; a label is a text or a number", n, f.Type)
		case c.rule.Mask[n] != "" && c.rule.MaskBut[n] == "":
			fail("label: %s is masked; choose a field that is seen whole", n)
		}
		c.labels = []string{n}
		return
	}
	var own string // projects have a project_name
	if w := denylist.Words(c.Name); len(w) > 0 {
		own = strings.TrimSuffix(w[len(w)-1], "s") + "name"
	}
	for _, calling := range append([]string{own}, callings...) {
		for _, f := range c.visible {
			plain := f.Type == schema.String || f.Type == schema.Integer
			if plain && !slices.Contains(c.Key, f.Name) && c.relation(f.Name) == nil && !c.large[f.Name] && strings.Join(denylist.Words(f.Name), "") == calling {
				c.labels = append(c.labels, f.Name)
			}
		}
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
