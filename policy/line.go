package policy

import (
	"reflect"
	"slices"

	"github.com/bailiwick-dev/bailiwick/bind"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/query"
)

// narrow adds a layer unless v has it already: most rules say the same of a sub-principal as of its parent.
func (v *View) narrow(l Layer) {
	if !slices.ContainsFunc(v.layers, func(old Layer) bool { return reflect.DeepEqual(old, l) }) {
		v.layers = append(v.layers, l)
	}
}

// filter returns what t lets who see of c, or the kind of refusal.
func (t *tenant) filter(c *class, who identity.Principal) (query.Filter, string) {
	is, ok := t.is.of(who)
	if !ok {
		return nil, "tenant_missing"
	}
	// The tenant comes as text from a token or a claim; it is compared as what the field holds.
	f, _, err := bind.Filter(query.Compare{Path: query.Path{t.field.Name}, Op: query.Eq, Value: is}, tenantScope{ruleScope{c}}, nil)
	if _, never := f.(query.Never); err != nil || never {
		return nil, "tenant_mismatch"
	}
	return f, ""
}

// filtersOf adds the filters that who itself brings, one of v's principal and its line, or returns the kind of
// refusal. A class's own keys win over the default filter of the same generation, never over that of another.
func (v *View) filtersOf(who identity.Principal) string {
	c := v.class
	var own []Layer
	for _, key := range []string{c.FullName(), c.Name, "default"} {
		f, ok := who.Filters[key]
		if !ok || f == nil {
			continue
		}
		if who.Above != nil && !c.sees(f) {
			return "principal_filter" // what a field that its parent can't see holds would show in what is left
		}
		if key == "default" {
			f = withoutFields(f, own)
		}
		bound, _, err := bind.Filter(f, ruleScope{c}, nil)
		if err != nil {
			return "principal_filter" // it names what the class hasn't got: absence refuses
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

// sees reports whether f names visible fields alone.
func (c *class) sees(f query.Filter) bool {
	ok := true
	eachField(f, func(n string) { ok = ok && c.seen[n] != nil })
	return ok
}
