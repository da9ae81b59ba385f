package policy

import (
	"cmp"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Uses collects the classes and fields that one call names or reads, hidden ones included, for its audit record. The
// zero Uses is empty. It is not safe for concurrent use.
type Uses struct {
	classes []*class
	fields  []*schema.Field

	firstClasses [4]*class // enough for most calls, without an allocation
	firstFields  [16]*schema.Field
}

// Noting returns a copy of p for one call. It makes the same decisions as p, and adds all names in the call to u.
func (p *Policy) Noting(u *Uses) *Policy {
	noting := *p
	noting.uses = u
	return &noting
}

// List returns the classes and fields as "source.Class" and "source.Class.field", sorted.
func (u *Uses) List(p *Policy) []string {
	if len(u.classes)+len(u.fields) == 0 {
		return nil
	}
	out := make([]string, 0, len(u.classes)+len(u.fields))
	for _, c := range u.classes {
		out = append(out, c.full)
	}
	for _, f := range u.fields {
		if name, ok := p.fields[f]; ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// names adds a class.
func (u *Uses) names(c *class) {
	if u == nil || slices.Contains(u.classes, c) {
		return
	}
	if u.classes == nil {
		u.classes = u.firstClasses[:0]
	}
	u.classes = append(u.classes, c)
}

// reads adds a field.
func (u *Uses) reads(f *schema.Field) {
	if u == nil || slices.Contains(u.fields, f) {
		return
	}
	if u.fields == nil {
		u.fields = u.firstFields[:0]
	}
	u.fields = append(u.fields, f)
}

// RecordUse implements typecheck.Relations.
func (r *relations) RecordUse(f *schema.Field) { r.plan.View.policy.uses.reads(f) }

// AllowedValues implements typecheck.Relations.
func (r *relations) AllowedValues(f *schema.Field) []typecheck.Allowed {
	for _, v := range r.plan.Views {
		if v.Field(f.Name) == f {
			return v.allowedValues(f.Name)
		}
	}
	return nil
}

// StrictPointers implements typecheck.Relations.
func (r *relations) StrictPointers() bool { return r.plan.View.policy.rules.Pointers }

// SameClass implements typecheck.Relations.
func (r *relations) SameClass(a, b string) bool {
	p, source := r.plan.View.policy, r.plan.View.Source()
	meant := func(name string) *class { return cmp.Or(p.byFull[source+"."+name], p.byFull[name]) }
	return a == b || meant(a) != nil && meant(a) == meant(b)
}
