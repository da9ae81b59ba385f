package policy

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// whyDenied holds, by kind of refusal of a class, the reason that is disclosed.
var whyDenied = map[string]string{
	"unlisted_class":   "no rule lists it",
	"hidden_class":     "it is hidden",
	"class_filter":     "the list of classes that you are for leaves it out",
	"no_visible_field": "none of its fields can be seen",
	"tenant_missing":   "its records belong to tenants, and you come without one",
	"tenant_mismatch":  "its records belong to tenants, and yours can't be one of them",
	unbound:            "a filter that you come with names what you don't see of it",
	"rule_value":       "a rule of it needs what your credential doesn't say",
}

// deny returns the refusal of something that exists: as itself, which is the same as for something that doesn't exist,
// or, if the rules disclose, the one made by told.
func (p *Policy) deny(as *problem.Error, kind string, told func() problem.Error) error {
	as.Kind = kind
	if !p.disclose {
		return as
	}
	e := told()
	e.Code, e.Kind, e.Pointer, e.Denial.Kind, e.Suggestion = problem.AccessDenied, kind, as.Pointer, kind, e.Denial.Rewrite
	return &e
}

// denyClass is deny for the class requested as name.
func (p *Policy) denyClass(as *problem.Error, kind, name string) error {
	why, there := whyDenied[kind]
	if !there {
		as.Kind = kind
		return as
	}
	return p.deny(as, kind, func() problem.Error {
		return problem.Error{Detail: fmt.Sprintf("the rules keep the class %q from you: %s", problem.Cut(name), why),
			Denial: &problem.Denial{Rewrite: fmt.Sprintf("leave %s out; get_all_schemas lists the classes that you see", problem.Cut(name))}}
	})
}

// denyField is deny for a field of v that its rule hides.
func (v *View) denyField(as *problem.Error, name string) error {
	return v.policy.deny(as, "field_denied", func() problem.Error {
		fields := firstNames(v.fieldNames())
		return problem.Error{Detail: fmt.Sprintf("the rules keep the field %q of %s from you", name, v.name),
			Denial: &problem.Denial{Field: name, Allowed: fields, Rewrite: fmt.Sprintf("leave %s out; of %s you see %s", name, v.name, strings.Join(fields, ", "))}}
	})
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
	return v.policy.deny(as, kind, func() problem.Error {
		rewrite := fmt.Sprintf("leave %s out of include, and the keys behind it", r.field)
		pointers := firstNames(v.pointerNames())
		if len(pointers) > 0 {
			rewrite += "; of " + v.name + " you can follow " + strings.Join(pointers, ", ")
		}
		return problem.Error{Detail: fmt.Sprintf("the rules keep the records that %s of %s points to from you", r.field, v.name),
			Denial: &problem.Denial{Field: r.field, Allowed: pointers, Rewrite: rewrite}}
	})
}

func (v *View) fieldNames() []string {
	names := make([]string, len(v.Fields()))
	for i, f := range v.Fields() {
		names[i] = f.Name
	}
	return names
}

func firstNames(names []string) []string { return names[:min(len(names), problem.MaxAllowed)] }
