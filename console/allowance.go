package console

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// An allowancePage shows the view and the rights of a principal, and the answer to one question about the principal.
type allowancePage struct {
	As      string // the ID of the selected token, or ""
	Who     *policyops.Description
	Tools   []allowance
	Open    string // the class whose fields are shown
	View    *policyops.View
	Tool    string // the tool of the question that WouldPermit answers
	Class   string
	Field   string
	Verdict *policyops.Verdict
	Names   []string // names of classes to choose from
	All     []string // names of tools to choose from
}

// An allowance is whether a principal may call a tool, and the reason if not.
type allowance struct {
	Name string
	policyops.Verdict
}

// Describe fills p with the view of principal under the rules of regime.
func (p *allowancePage) Describe(regime *policyops.Regime, principal identity.Principal) {
	d := regime.Describe(principal)
	p.Who, p.Names, p.All = &d, regime.Names(), regime.Tools()
	for _, name := range p.All {
		p.Tools = append(p.Tools, allowance{name, regime.ToolVerdict(principal, name)})
	}
	for k := range d.Classes {
		if d.Classes[k].Class == p.Open {
			p.View = &d.Classes[k]
		}
	}
	if p.Tool != "" {
		verdict := regime.WouldPermit(principal, p.Tool, p.Class)
		if verdict.Allowed && p.Class != "" && p.Field != "" {
			verdict = regime.FieldVerdict(principal, p.Class, p.Field)
		}
		p.Verdict = &verdict
	}
}
