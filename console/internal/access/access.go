// Package access is what the console shows of the tools and views of one principal.
package access

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
)

// A Page is what a principal may see and do, and the answer to one question about it.
type Page struct {
	As      string // the ID of the chosen token, or ""
	Who     *policyops.Description
	Tools   []Allowance
	Open    string // the class whose fields are shown
	View    *policyops.View
	Tool    string // the tool that WouldPermit was asked about
	Class   string
	Field   string
	Verdict *policyops.Verdict
	Names   []string // of classes to choose from
	All     []string // of tools to choose from
}

// An Allowance is whether a principal may call a tool, and why not.
type Allowance struct {
	Name string
	policyops.Verdict
}

// Describe fills p with what principal may see under the rules of regime.
func (p *Page) Describe(regime *policyops.Regime, principal identity.Principal) {
	d := regime.Describe(principal)
	p.Who, p.Names, p.All = &d, regime.Names(), regime.Tools()
	for _, name := range p.All {
		p.Tools = append(p.Tools, Allowance{name, regime.ToolVerdict(principal, name)})
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
