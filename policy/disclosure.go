package policy

import (
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// reasons has the disclosed reasons, by the kind of refusal of a class.
var reasons = map[string]string{
	"unlisted_class":   "no rule lists it",
	"hidden_class":     "it is hidden",
	"class_filter":     "the list of classes that you are for leaves it out",
	"no_visible_field": "none of its fields can be seen",
	"tenant_missing":   "its records belong to tenants, and you come without one",
	"tenant_mismatch":  "its records belong to tenants, and yours can't be one of them",
	"schema_missing":   "each tenant has a schema of its own, and there is none for you",
	"schema_unknown":   "each tenant has a schema of its own, and there is none for you",
	"principal_filter": "a filter that you come with names what you don't see of it",
	"rule_value":       "a rule of it needs what your credential doesn't say",
}

// disclose returns told as the refusal instead of as. It takes over the kind and the pointer of as. If told is nil, it
// returns as.
func disclose(as, told *problem.Error) *problem.Error {
	if told == nil {
		return as
	}
	told.Code, told.Kind, told.Pointer = problem.AccessDenied, as.Kind, as.Pointer
	told.Denial.Kind, told.Suggestion = as.Kind, told.Denial.Rewrite
	return told
}

// discloseClass returns the disclosing refusal of a class requested as name, or nil if this kind of refusal isn't
// disclosed.
func discloseClass(name, kind string) *problem.Error {
	why, there := reasons[kind]
	if !there {
		return nil
	}
	return &problem.Error{Detail: fmt.Sprintf("the rules keep the class %q from you: %s", problem.Cut(name), why),
		Denial: &problem.Denial{Rewrite: fmt.Sprintf("leave %s out. get_all_schemas lists the classes that you see", problem.Cut(name))}}
}

// discloseField returns the disclosing refusal of a field of a class. visible lists the fields that the principal sees.
func discloseField(class, name string, visible []string) *problem.Error {
	fields := first(visible)
	return &problem.Error{Detail: fmt.Sprintf("the rules keep the field %q of %s from you", name, class),
		Denial: &problem.Denial{Field: name, Allowed: fields, Rewrite: fmt.Sprintf("leave %s out. Of %s you see %s", name, class, strings.Join(fields, ", "))}}
}

// disclosePointer returns the disclosing refusal of a pointer to hidden records. visible lists the pointers that the
// principal can follow.
func disclosePointer(class, field string, visible []string) *problem.Error {
	rewrite := fmt.Sprintf("leave %s out of include, and the keys behind it", field)
	pointers := first(visible)
	if len(pointers) > 0 {
		rewrite += "; of " + class + " you can follow " + strings.Join(pointers, ", ")
	}
	return &problem.Error{Detail: fmt.Sprintf("the rules keep the records that %s of %s points to from you", field, class),
		Denial: &problem.Denial{Field: field, Allowed: pointers, Rewrite: rewrite}}
}

func first(names []string) []string { return names[:min(len(names), problem.MaxAllowed)] }
