package policy

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Fresh returns p's view of now, a class without records in its current description. The rule is that of the class with
// the same full name in the catalogue. A class that is not in the catalogue has no rule. Fresh returns nil if the
// principal may not see the class or if the class has records. A class without fields has not been read yet.
func (p *Policy) Fresh(principal identity.Principal, now *schema.Class) *View {
	c := &class{Class: now, full: now.FullName(), listed: true}
	if known := p.byFull[c.full]; known != nil {
		if _, ok := known.visibleTo(principal); !ok {
			return nil
		}
		c.rule = known.rule
		p.uses.names(known)
	}
	told := func(string, ...any) {} // errors were reported when the rules were compiled
	c.fields(told)
	c.mask(p, told)
	if _, ok := c.visibleTo(principal); !ok || !c.Recordless {
		return nil
	}
	return &View{class: c, name: c.Name, who: principal, policy: p, masks: c.masksFor(principal)}
}

// PointedBy returns the principal's views of the classes with a pointer to v that the principal can follow, sorted by
// full name.
func (v *View) PointedBy() []*View {
	var out []*View
	for _, c := range v.policy.pointedBy[v.class.full] {
		other := v.policy.visibleView(c, v.who)
		if other != nil && slices.ContainsFunc(other.Relations(), func(r Relation) bool { return r.Target == v.name }) {
			out = append(out, other)
		}
	}
	return out
}

// among returns the classes with one of the names, with or without the source and in any case, sorted by full name. It
// returns all classes if names is nil.
func (p *Policy) among(names []string) []*class {
	if names == nil {
		return p.classes
	}
	var out []*class
	for _, name := range names {
		out = append(out, p.byFold[strings.ToLower(name)]...)
	}
	slices.SortFunc(out, func(a, b *class) int { return strings.Compare(a.full, b.full) })
	return slices.Compact(out)
}
