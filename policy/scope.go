package policy

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ruleScope resolves all fields of a class, for the filters of rules.
type ruleScope struct{ *class }

// Field implements typecheck.Scope.
func (s ruleScope) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	if f := s.class.Field(path[0]); f != nil && !secretnames.Internal(path[0]) {
		return f, path[0], 1, nil
	}
	return nil, "", 0, &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: fmt.Sprintf("unknown field %q", problem.Cut(path[0])),
		Near: problem.Nearest(path[0], slices.DeleteFunc(s.FieldNames(), secretnames.Internal), 3)}
}

// ID implements typecheck.Scope.
func (s ruleScope) ID(name string) bool {
	for _, k := range s.Key {
		if k == name {
			return true
		}
	}
	return s.relation(name) != nil
}

// Pointer implements typecheck.Scope.
func (s ruleScope) Pointer(name string) (class, field string) {
	if r := s.leading(name); r != nil {
		return r.target.Name, r.key
	}
	return "", ""
}

// AllowedValues implements typecheck.Scope. The values in rules are not checked against a list.
func (ruleScope) AllowedValues(string) []typecheck.Allowed { return nil }

// tenantScope is like ruleScope, and converts text to the type of the field.
type tenantScope struct{ ruleScope }

// ID implements typecheck.Scope.
func (tenantScope) ID(string) bool { return true }

// Pointer implements typecheck.Scope.
func (tenantScope) Pointer(string) (string, string) { return "", "" }

// viewScope resolves the visible fields of a view, for the filters of callers.
type viewScope struct{ *View }

// Field implements typecheck.Scope.
func (s viewScope) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	f := s.fieldOrKey(path[0])
	if f == nil {
		return nil, "", 0, s.unknownFieldError(path[0], at)
	}
	s.policy.uses.reads(f)
	if m := s.Mask(f.Name); m != nil {
		return nil, "", 0, m.Refuse(f.Name, at)
	}
	return f, f.Name, 1, nil
}

// fieldOrKey returns the field called name. It also accepts _id and objectId for the key, unless the view has a field
// of that name.
func (v *View) fieldOrKey(name string) *schema.Field {
	f := v.Field(name)
	if key := v.Key(); f == nil && len(key) == 1 && (name == "_id" || name == "objectId") {
		f = v.Field(key[0])
	}
	return f
}

// ID implements typecheck.Scope.
func (s viewScope) ID(name string) bool { return s.View.ID(name) }

// Whole implements typecheck.Whole.
func (s viewScope) Whole() bool { return s.View.scope() == "" && len(s.View.layers) == 0 }

// Pointer implements typecheck.Scope.
func (s viewScope) Pointer(name string) (class, field string) {
	if p := s.leading(name); p != nil {
		return p.Target, p.TargetKey
	}
	return "", ""
}

// AllowedValues implements typecheck.Scope.
func (s viewScope) AllowedValues(name string) []typecheck.Allowed { return s.View.allowedValues(name) }

// allowedValues returns, as text, the documented values of a field, or otherwise the values that the source allows.
func (v *View) allowedValues(name string) []typecheck.Allowed {
	f := v.Field(name)
	if documented := v.class.rule.Fields[name].Values; documented != nil {
		out := make([]typecheck.Allowed, len(documented))
		for i, d := range documented {
			out[i] = typecheck.Allowed{Value: d.Value, Meaning: d.Meaning}
		}
		return out
	}
	var out []typecheck.Allowed
	for _, a := range f.AllowedValues() {
		out = append(out, typecheck.Allowed{Value: a})
	}
	return out
}

// reachScope is like viewScope, but also resolves fields behind pointers, which it joins to the plan. Their keys are
// their paths.
type reachScope struct {
	viewScope
	*projection
}

// Field implements typecheck.Scope.
func (s reachScope) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	join, n, err := s.reach(path, at)
	if err != nil {
		return nil, "", 0, err
	}
	f, key, _, err := viewScope{s.view(join)}.Field(path[n:], at)
	if err != nil || n == 0 {
		return f, key, 1, err
	}
	behind := *f
	behind.Name, behind.NotNull = append(slices.Clone(path[:n]), f.Name).String(), false
	return &behind, behind.Name, n + 1, nil
}

// at returns the view of the field that key names, and the field's name in that view.
func (s reachScope) at(key string) (*View, string) {
	if s.View.Field(key) == nil {
		if join, f := s.plan.Column(key); f != nil {
			return s.view(join), f.Name
		}
	}
	return s.View, key
}

// ID implements typecheck.Scope.
func (s reachScope) ID(key string) bool {
	v, name := s.at(key)
	return v.ID(name)
}

// Pointer implements typecheck.Scope.
func (s reachScope) Pointer(key string) (class, field string) {
	v, name := s.at(key)
	return viewScope{v}.Pointer(name)
}

// AllowedValues implements typecheck.Scope.
func (s reachScope) AllowedValues(key string) []typecheck.Allowed {
	v, name := s.at(key)
	return v.allowedValues(name)
}

// keyScope is like viewScope, and converts text to the type of the field, for the parts of an id.
type keyScope struct{ viewScope }

// ID implements typecheck.Scope.
func (keyScope) ID(string) bool { return true }

// Also implements typecheck.Keyed.
func (keyScope) Also(f *schema.Field, text string, fits bool) []value.Value {
	return f.Also(text, fits)
}

// unknownFieldError returns the refusal of a field. It has the same bytes if the field is hidden or has never existed,
// unless the rules disclose.
func (v *View) unknownFieldError(name, at string) error {
	return v.refuse(name, at, "its fields are ", v.fieldNames())
}

// refuse is like unknown, for a place where the fields called names are possible. If no name is similar, the suggestion
// is says with these names.
func (v *View) refuse(name, at, says string, names []string) error {
	refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at,
		Detail: fmt.Sprintf("unknown field %q of %s", problem.Cut(name), v.name), Near: problem.Nearest(name, v.fieldNames(), 3),
		Suggestion: "get_schema lists the fields"}
	if all := problem.ShortList(names); len(refusal.Near) == 0 && all != "" {
		refusal.Suggestion = says + all
	}
	if f := v.class.Field(name); f != nil {
		v.policy.uses.reads(f)
		return v.denyField(refusal, name)
	}
	return refusal
}

// Setting returns the visible field called name for a write. fresh means a write of a new record. Like a read, it
// refuses a field that doesn't exist or isn't visible. It also refuses a field whose mask doesn't let the principal set
// it. at is the JSON pointer of the name.
func (v *View) Setting(name, at string, fresh bool) (*schema.Field, error) {
	f := v.fieldOrKey(name)
	if f == nil {
		return nil, v.refuse(name, at, "those that can be set are ", v.Settable())
	}
	v.policy.uses.reads(f)
	if !v.MaskLetsSet(f.Name, fresh) {
		refusal := &problem.Error{Code: problem.PermissionDenied, Kind: "masked", Pointer: at, Detail: name + " is masked: who doesn't see it whole can't set it"}
		if v.MaskLetsSet(f.Name, true) {
			refusal.Detail = name + " is masked: who doesn't see it whole can set it only in a new record"
		}
		return nil, refusal
	}
	return f, nil
}

// MaskLetsSet reports whether the principal can set a field despite its mask, if it has one. In a new record the
// principal can set a text of which a mask hides parts, because there is no old text to compare or replace.
func (v *View) MaskLetsSet(name string, fresh bool) bool {
	m := v.Mask(name)
	return m == nil || fresh && m.Kind == Inside
}

// Settable returns the names of the fields that the principal may set.
func (v *View) Settable() []string {
	var names []string
	for _, f := range v.Fields() {
		if !f.Generated && (f.Type != schema.Opaque || f.Form != "") && v.Mask(f.Name) == nil && (v.Rule().Permitted == nil || slices.Contains(v.Rule().Permitted, f.Name)) {
			names = append(names, f.Name)
		}
	}
	return names
}

// NotAnID returns a hint if text can't be an id of the class because of its declared type. The hint names the type and
// how to find a record without its id. NotAnID returns "" if text can be an id, or if the view doesn't show the type.
func (v *View) NotAnID(text string) string {
	key := v.Key()
	if len(key) != 1 {
		return ""
	}
	f := v.Field(key[0])
	if f == nil || v.Mask(f.Name) != nil || f.Holds(text) {
		return ""
	}
	return fmt.Sprintf("an id of %s is of type %s. query_class finds a record by other fields", v.Name(), f.Type)
}
