package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// Uses gathers what one call names or reads, for its record: classes and fields that exist, hidden ones too. The zero
// Uses has nothing. It is not for several goroutines.
type Uses struct {
	classes []*class
	fields  []*schema.Field

	firstClasses [4]*class // most calls name no more, and cost no more
	firstFields  [16]*schema.Field
}

// Noting returns p for one call: all that the call names is added to u. It decides as p does.
func (p *Policy) Noting(u *Uses) *Policy {
	noting := *p
	noting.uses = u
	return &noting
}

// List returns what was named as "source.Class" and "source.Class.field", sorted.
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

// names notes a class.
func (u *Uses) names(c *class) {
	if u == nil || slices.Contains(u.classes, c) {
		return
	}
	if u.classes == nil {
		u.classes = u.firstClasses[:0]
	}
	u.classes = append(u.classes, c)
}

// reads notes a field.
func (u *Uses) reads(f *schema.Field) {
	if u == nil || slices.Contains(u.fields, f) {
		return
	}
	if u.fields == nil {
		u.fields = u.firstFields[:0]
	}
	u.fields = append(u.fields, f)
}

// Named implements bind.Relations.
func (r *relations) Named(f *schema.Field) { r.plan.View.policy.uses.reads(f) }

// Allowed implements bind.Relations.
func (r *relations) Allowed(f *schema.Field) []string {
	for _, v := range r.plan.Views {
		if v.Field(f.Name) == f {
			return v.allowed(f.Name)
		}
	}
	return nil
}
