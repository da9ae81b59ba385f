package policy

import (
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
