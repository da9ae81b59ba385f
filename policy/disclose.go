package policy

import (
	"github.com/bailiwick-dev/bailiwick/problem"
)

// deny returns the refusal of something that exists. Normally it is as, the same refusal as for something that doesn't
// exist. If the rules disclose, it is the refusal that the function told returns.
func (p *Policy) deny(as *problem.Error, kind string, told func() *problem.Error) error {
	as.Kind = kind
	if !p.disclose {
		return as
	}
	return disclose(as, told())
}

// denyClass is deny for the class requested as name.
func (p *Policy) denyClass(as *problem.Error, kind, name string) error {
	return p.deny(as, kind, func() *problem.Error { return discloseClass(name, kind) })
}

// denyField is deny for a field of v that its rule hides.
func (v *View) denyField(as *problem.Error, name string) error {
	return v.policy.deny(as, "field_denied", func() *problem.Error { return discloseField(v.name, name, v.fieldNames()) })
}

// denyPointer is deny for a pointer of v to a class that the principal can't see, or whose key is not visible.
func (v *View) denyPointer(as *problem.Error, r *relation) error {
	kind, ok := r.target.visibleTo(v.who)
	if ok {
		_, kind = v.policy.view(r.target, v.who, v.raw)
	}
	if kind == "" {
		kind = "field_denied"
	}
	return v.policy.deny(as, kind, func() *problem.Error { return disclosePointer(v.name, r.field, v.pointerNames()) })
}

func (v *View) fieldNames() []string {
	names := make([]string, len(v.Fields()))
	for i, f := range v.Fields() {
		names[i] = f.Name
	}
	return names
}
