package policy

import (
	"reflect"
	"slices"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
)

// narrow adds a layer unless v already has it: most rules have the same layer for a sub-principal and its parent.
func (v *View) narrow(l Layer) {
	if !slices.ContainsFunc(v.layers, func(old Layer) bool { return reflect.DeepEqual(old, l) }) {
		v.layers = append(v.layers, l)
	}
}

// unbound is the kind of refusal for a filter that names a field that the class doesn't have.
const unbound = "principal_filter"

// filtersOf adds the filters of p, which is v's principal or one of its ancestors, or returns the kind of refusal. A
// filter for the class has priority over p's own default filter, but not over those of other generations.
func (v *View) filtersOf(p identity.Principal) string {
	c := v.class
	var own []Layer
	for _, key := range []string{c.FullName(), c.Name, "default"} {
		f := p.Filters[key]
		if f == nil {
			continue
		}
		if p.Above != nil && !c.sees(f) {
			return unbound // the remaining records would disclose values of a field that the parent can't see
		}
		if key == "default" {
			f = filterWithout(f, filters(own))
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
			own = append(own, Layer{Name: "principal", Filter: query.Whole(bound)})
		}
	}
	for _, l := range own {
		v.narrow(l)
	}
	return ""
}

// sees reports whether f names only visible fields that are not masked.
func (c *class) sees(f query.Filter) bool {
	ok := true
	FilterFields(f, func(n string) { ok = ok && c.Seen[n] != nil && c.masks[n] == nil })
	return ok
}

func filters(layers []Layer) []query.Filter {
	out := make([]query.Filter, len(layers))
	for i, l := range layers {
		out[i] = l.Filter
	}
	return out
}
