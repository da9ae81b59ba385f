// Package visibility works out what a principal sees of the classes and operations that a change writes, under the
// rules in force.
//
// It connects package policy to package review, which shows changes and doesn't depend on rules. A hidden field is
// absent, as if it did not exist; a value whose mask can't be computed is shown as null.
package visibility

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Of returns a function that returns what principal sees of a class "source.Class", computed once per class. Values
// are masked with key. It covers fields only, not which records the principal sees.
func Of(p *policy.Policy, principal identity.Principal, key plan.MaskKey) func(class string) review.Visibility {
	known := map[string]review.Visibility{}
	return func(class string) review.Visibility {
		s, ok := known[class]
		if !ok {
			s = sees(p, principal, key, class)
			known[class] = s
		}
		return s
	}
}

// Denied returns the number of fields of v's class that the rules show to no principal, without those that the source generates.
func Denied(v *policy.View) int {
	n := 0
	for i := range v.Class().Fields {
		if f := &v.Class().Fields[i]; v.Field(f.Name) == nil && !f.Generated {
			n++
		}
	}
	return n
}

// sees returns what principal sees of a class, or of an operation of an API, that a change writes; the zero Visibility if nothing. A mask
// that can't be made shows null.
func sees(p *policy.Policy, principal identity.Principal, key plan.MaskKey, class string) review.Visibility {
	if api, operation, _ := strings.Cut(class, "."); p.APIs().Has(api) {
		return called(p, principal, api, operation)
	}
	v, err := p.View(principal, class, "", true)
	if err != nil {
		return review.Visibility{}
	}
	s := review.Visibility{Class: v.Name(), Key: v.Key(), Fields: map[string]schema.Type{}, Masks: map[string]review.Masked{}}
	s.Denied, s.Label, s.Points = Denied(v), v.Label(), map[string]review.Pointer{}
	for _, r := range v.Relations() {
		if r.List {
			continue
		}
		s.Points[r.Field] = review.Pointer{Class: r.Target, Key: r.TargetKey}
	}
	for _, f := range v.Fields() {
		s.Fields[f.Name] = f.Type
		m := v.Mask(f.Name)
		if m == nil {
			continue
		}
		masked, err := m.Under(key)
		if err != nil || m.Names() { // a pseudonym is made of the key of the record, not of the value
			masked = func(value.Value) value.Value { return value.Value{} }
		}
		s.Masks[f.Name] = masked
	}
	return s
}

// called returns what principal sees of calls of an operation. A name hidden in any schema is hidden everywhere: the
// data that is sent doesn't say which schema its parts belong to.
func called(p *policy.Policy, principal identity.Principal, api, operation string) review.Visibility {
	reach, err := p.APIs().Reach(principal, api, "")
	if err != nil {
		return review.Visibility{}
	}
	op, err := reach.View.Operation(operation)
	if err != nil {
		return review.Visibility{}
	}
	return review.Visibility{Class: api + "." + op.ID, Call: reach.Shows}
}

// Doubts returns the doubts recorded when a change was proposed, with details only if the reviewer sees the class and
// field.
func Doubts(c *change.Change, visibility func(class string) review.Visibility) []review.Check {
	var out []review.Check
	for _, d := range c.Doubts {
		detail := "a value doesn't fit a class that you may not see"
		s := visibility(d.Class)
		_, seen := s.Fields[d.Field]
		if s.Class != "" && s.Masks[d.Field] == nil && (seen || d.Field == "") {
			detail = s.Class + ": " + d.Text
		}
		out = append(out, review.Check{Name: "described", Detail: detail})
	}
	return out
}
