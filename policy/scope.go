package policy

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// ruleScope is all fields of a class, for the filters of rules.
type ruleScope struct{ *class }

// Field implements bind.Scope.
func (s ruleScope) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	if f := s.class.Field(path[0]); f != nil && !denylist.Internal(path[0]) {
		return f, path[0], 1, nil
	}
	return nil, "", 0, &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: fmt.Sprintf("unknown field %q", problem.Cut(path[0])),
		Near: problem.Nearest(path[0], slices.DeleteFunc(fieldNames(s.Fields), denylist.Internal), 3)}
}

// ID implements bind.Scope.
func (s ruleScope) ID(name string) bool {
	for _, k := range s.Key {
		if k == name {
			return true
		}
	}
	return s.relation(name) != nil
}

// Pointer implements bind.Scope.
func (s ruleScope) Pointer(name string) (class, field string) {
	if r := s.relation(name); r != nil {
		return r.target.Name, r.key
	}
	return "", ""
}

// tenantScope is a ruleScope in which every field takes its value from text.
type tenantScope struct{ ruleScope }

// ID implements bind.Scope.
func (tenantScope) ID(string) bool { return true }

// Pointer implements bind.Scope.
func (tenantScope) Pointer(string) (string, string) { return "", "" }

// viewScope is the visible fields of a view, for the filters of callers.
type viewScope struct{ *View }

// Field implements bind.Scope.
func (s viewScope) Field(path query.Path, at string) (*schema.Field, string, int, error) {
	f := s.View.Field(path[0])
	if f == nil {
		return nil, "", 0, s.unknown(path[0], at)
	}
	s.policy.uses.reads(f)
	if s.Mask(f.Name) != nil {
		return nil, "", 0, mask.Refuse(f.Name, at)
	}
	return f, path[0], 1, nil
}

// ID implements bind.Scope.
func (s viewScope) ID(name string) bool { return s.View.ID(name) }

// Pointer implements bind.Scope.
func (s viewScope) Pointer(name string) (class, field string) {
	if p := s.pointer(name); p != nil {
		return p.Target, p.TargetKey
	}
	return "", ""
}

// keyScope is a view in which every part of the key takes its value from text, as ids are written.
type keyScope struct{ viewScope }

// ID implements bind.Scope.
func (keyScope) ID(string) bool { return true }

// unknown refuses a field in the same bytes whether it is hidden or has never existed, unless the rules disclose.
func (v *View) unknown(name, at string) error {
	refusal := &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at,
		Detail: fmt.Sprintf("unknown field %q of %s", problem.Cut(name), v.name), Near: problem.Nearest(name, v.fieldNames(), 3),
		Suggestion: "get_schema lists the fields"}
	if f := v.class.Field(name); f != nil {
		v.policy.uses.reads(f)
		return v.denyField(refusal, name)
	}
	return refusal
}

// Setting returns the visible field called name that somebody wants to set, or refuses it at the place at: a field that
// isn't there or isn't visible like a reader's, and one that is masked for the principal.
func (v *View) Setting(name, at string) (*schema.Field, error) {
	if v.Field(name) != nil && v.Mask(name) != nil {
		return nil, &problem.Error{Code: problem.PermissionDenied, Kind: "masked", Pointer: at, Detail: name + " is masked: who doesn't see it whole can't set it"}
	}
	f, _, _, err := viewScope{v}.Field(query.Path{name}, at)
	return f, err
}
