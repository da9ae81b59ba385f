package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// VisibilityOf returns a function from a class ("source.Class") to the principal's visibility of it. The function
// computes each class once. Values are masked with key. It covers fields only, not which records the principal sees.
func VisibilityOf(p *policy.Policy, principal identity.Principal, key plan.MaskKey) func(class string) Visibility {
	known := map[string]Visibility{}
	return func(class string) Visibility {
		s, ok := known[class]
		if !ok {
			s = sees(p, principal, key, class)
			known[class] = s
		}
		return s
	}
}

// DeniedFields returns how many fields of v's class the rules show to no principal. It omits fields that the source
// generates.
func DeniedFields(v *policy.View) int {
	n := 0
	for i := range v.Class().Fields {
		if f := &v.Class().Fields[i]; v.Field(f.Name) == nil && !f.Generated {
			n++
		}
	}
	return n
}

// sees returns the principal's visibility of a class or an API operation that a change writes. It returns the zero
// Visibility if the principal sees nothing of it. A mask that can't be computed shows null.
func sees(p *policy.Policy, principal identity.Principal, key plan.MaskKey, class string) Visibility {
	if api, operation, _ := strings.Cut(class, "."); p.APIs().Has(api) {
		return visibilityOfCall(p, principal, api, operation)
	}
	v, err := p.View(principal, class, "", true)
	if err != nil {
		return Visibility{}
	}
	s := Visibility{Class: v.Name(), Key: v.Key(), Fields: map[string]schema.Type{}, Masks: map[string]Masked{}}
	s.Denied, s.Label, s.Code, s.Parent, s.Points = DeniedFields(v), v.Label(), v.Code(), v.Parent(), map[string]Pointer{}
	s.Link = v.Link()
	for _, r := range v.Relations() {
		if r.List {
			continue
		}
		s.Points[r.Field] = Pointer{Class: r.Target, Key: r.TargetKey}
	}
	for _, f := range v.Fields() {
		s.Fields[f.Name] = f.Type
		m := v.Mask(f.Name)
		if m == nil {
			continue
		}
		masked, err := m.Under(key)
		if err != nil || m.Names() { // a pseudonym is computed from the record's key and not from the value
			masked = func(value.Value) value.Value { return value.Value{} }
		}
		s.Masks[f.Name] = masked
	}
	return s
}

// visibilityOfCall returns the principal's visibility of calls of an operation. A name that is hidden in any schema
// is hidden everywhere, because the request doesn't say which schema its parts have.
func visibilityOfCall(p *policy.Policy, principal identity.Principal, api, operation string) Visibility {
	reach, err := p.APIs().Reach(principal, api, "")
	if err != nil {
		return Visibility{}
	}
	op, err := reach.View.Operation(operation)
	if err != nil {
		return Visibility{}
	}
	return Visibility{Class: api + "." + op.ID, Call: reach.Shows}
}

// FindsIn returns which values a search may find, for change.Filter.Sees: those that the viewer sees whole.
func FindsIn(visibility func(class string) Visibility) func(class, field string) bool {
	return func(class, field string) bool {
		s := visibility(class)
		switch {
		case s.Class == "" || field == "":
			return s.Class != ""
		case s.Call != nil:
			return field == "#" || !slices.ContainsFunc(strings.Split(field, "/"), func(name string) bool { return !s.Call(name) })
		case field == "#":
			return len(s.Key) > 0 && !slices.ContainsFunc(s.Key, func(name string) bool { _, seen := s.Fields[name]; return !seen || s.Masks[name] != nil })
		}
		_, seen := s.Fields[field]
		return seen && s.Masks[field] == nil
	}
}

// maxSearchWords is the number of words that the stores look up in one search.
const maxSearchWords = 16

// CheckSearch returns an error for a search with more words than the stores look up.
func CheckSearch(text string) error {
	n := len(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }))
	if n <= maxSearchWords {
		return nil
	}
	return &problem.Error{Code: problem.InvalidArgument, Kind: "search_words", Detail: fmt.Sprintf("the search has %d words. At most %d can be looked up", n, maxSearchWords),
		Suggestion: "search for the words that few other changes have, such as a number or a name"}
}

// VisibilityDoubts returns the doubts recorded when a change was proposed. It includes details only if the reviewer
// sees the class and the field.
func VisibilityDoubts(c *change.Change, visibility func(class string) Visibility) []Check {
	var out []Check
	for _, d := range c.Doubts {
		detail := "a value doesn't fit a class that you may not see"
		s := visibility(d.Class)
		_, seen := s.Fields[d.Field]
		if s.Class != "" && s.Masks[d.Field] == nil && (seen || d.Field == "") {
			detail = s.Class + ": " + d.Text
		}
		out = append(out, Check{Name: "described", Detail: detail})
	}
	return out
}
