package policy

import (
	"reflect"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/expression"
	"github.com/bailiwick-dev/bailiwick/internal/rules/filterfields"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
)

// narrow adds a layer unless v has it already: most rules say the same of a sub-principal as of its parent.
func (v *View) narrow(l Layer) {
	if !slices.ContainsFunc(v.layers, func(old Layer) bool { return reflect.DeepEqual(old, l) }) {
		v.layers = append(v.layers, l)
	}
}

// unbound is the kind of refusal for a filter that names what the class hasn't got: absence refuses.
const unbound = "principal_filter"

// filtersOf adds the filters that who itself brings, one of v's principal and its line, or returns the kind of
// refusal. A class's own keys win over the default filter of the same generation, never over that of another.
func (v *View) filtersOf(p identity.Principal) string {
	c := v.class
	var own []Layer
	for _, key := range []string{c.FullName(), c.Name, "default"} {
		f := p.Filters[key]
		if f == nil {
			continue
		}
		if p.Above != nil && !c.sees(f) {
			return unbound // what a field that its parent can't see holds would show in what is left
		}
		if key == "default" {
			f = filterfields.Without(f, filters(own))
		}
		if expression.Within(f) {
			filled, kind := v.fill(f, p)
			if kind != "" {
				return kind
			}
			f = filled
		}
		bound, _, err := typecheck.Filter(f, ruleScope{c}, nil)
		if err != nil {
			return unbound
		}
		if bound != nil {
			own = append(own, Layer{Name: "principal", Filter: bound})
		}
	}
	for _, l := range own {
		v.narrow(l)
	}
	return ""
}

// sees reports whether f names visible fields alone, and none that is masked.
func (c *class) sees(f query.Filter) bool {
	ok := true
	filterfields.Fields(f, func(n string) { ok = ok && c.seen[n] != nil && c.masks[n] == nil })
	return ok
}

func filters(layers []Layer) []query.Filter {
	out := make([]query.Filter, len(layers))
	for i, l := range layers {
		out[i] = l.Filter
	}
	return out
}
