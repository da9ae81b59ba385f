package policy

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Fresh returns who's view of a class without records as its source describes it now, under the rule of the class that
// has its name in the catalogue; nil where who is not to know of it. A class that came since is one that no rule names. A
// class without fields stands for one that is not read yet.
func (p *Policy) Fresh(principal identity.Principal, now *schema.Class) *View {
	c := &class{Class: now, full: now.FullName(), listed: true}
	if known := p.byFull[c.full]; known != nil {
		if _, ok := known.visibleTo(principal); !ok {
			return nil
		}
		c.rule = known.rule
		p.uses.names(known)
	}
	told := func(string, ...any) {} // when the rules were compiled
	c.fields(told)
	c.mask(p, told)
	if _, ok := c.visibleTo(principal); !ok || !c.Recordless {
		return nil
	}
	return &View{class: c, name: c.Name, who: principal, policy: p, masks: c.masked(principal)}
}
