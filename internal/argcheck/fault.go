package argcheck

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The rules of faults that have their own functions. Other faults use a keyword of JSON Schema as their rule.
const (
	RuleUnknown  = "unknown"  // there is no member with this name
	RuleRequired = "required" // a member has no value
	RuleType     = "type"     // the value has the wrong type
	RuleEnum     = "enum"     // the value is not one of the allowed values
)

// A Fault is one rule that a value violates. Its message contains the expected value, the value found and a similar
// name.
type Fault struct {
	problem.Fault
	Name string   // the name of the argument or field in the message
	Near []string // similar names or values, or nil
}

// Limits of an error for several faults.
const (
	maxSaid   = 3  // faults in the detail text
	maxFaults = 20 // faults in the list
	maxNear   = 5  // similar names
	maxListed = 16 // allowed names or values in one message
)

// At returns the JSON pointer of a member of the object at the pointer at. It shortens a long name.
func At(at, name string) string { return query.Pointer(at, problem.Cut(name)) }

// UnknownName returns the fault for an unknown name in the object at the pointer at. known lists the allowed names.
// noun is the word for a member, such as "field".
func UnknownName(at, noun, name string, known []string) Fault {
	near := near(name, known)
	end := problem.Instead(near, slices.Sorted(slices.Values(known)), "takes", maxListed)
	return Fault{problem.Fault{Pointer: At(at, name), Rule: RuleUnknown, Message: fmt.Sprintf("unknown %s %q%s", noun, problem.Cut(name), end)}, name, near}
}

// Missing returns the fault for a missing required member of the object at the pointer at.
func Missing(at, noun, name string) Fault {
	return Fault{Fault: problem.Fault{Pointer: query.Pointer(at, name), Rule: RuleRequired, Message: fmt.Sprintf("the %s %q is missing", noun, name)}, Name: name}
}

// Must returns the fault for a value that must be something else. must completes the sentence "the value must …". got
// describes the value found, or is "".
func Must(at, rule, name, must, got string) Fault {
	if got != "" {
		got = ", not " + got
	}
	return Fault{Fault: problem.Fault{Pointer: at, Rule: rule, Message: fmt.Sprintf("%s must %s%s", name, must, got)}, Name: name}
}

// OneOf returns the fault for a value that is not one of the allowed values.
func OneOf(at, name string, got value.Value, allowed []string) Fault {
	found := Found(got)
	if got.Kind() == value.String {
		found = fmt.Sprintf("%q", problem.Cut(got.Text()))
	}
	if len(allowed) == 0 {
		return Must(at, RuleEnum, name, "have no value", found)
	}
	f := Must(at, RuleEnum, name, "be one of "+some(allowed), found)
	if got.Kind() == value.String {
		f.Near = problem.Nearest(got.Text(), allowed, 2)
		f.Message += problem.DidYouMean(f.Near)
	}
	return f
}

// Found describes v for use within a sentence.
func Found(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return fmt.Sprintf("the text %q", problem.Cut(v.Text()))
	case value.Array:
		return "a list"
	case value.Object:
		return "an object"
	case value.Null:
		return "null"
	}
	return problem.Cut(v.String())
}

// Refuse returns one problem.InvalidArgument for all faults, sorted by position, or nil if there are none. kind is
// the reason for the audit. next is the suggested next step, or "".
func Refuse(kind string, faults []Fault, next string) error {
	if len(faults) == 0 {
		return nil
	}
	p := &problem.Error{Code: problem.InvalidArgument, Kind: kind, Suggestion: next}
	var said []string
	for _, f := range distinct(faults) {
		p.Faults, said = append(p.Faults, f.Fault), append(said, f.Message)
		for _, name := range f.Near {
			if !slices.Contains(p.Near, name) && len(p.Near) < maxNear {
				p.Near = append(p.Near, name)
			}
		}
	}
	p.Pointer, p.Detail = p.Faults[0].Pointer, problem.Sentences(said[:min(maxSaid, len(said))]...)
	if more := len(said) - maxSaid; more > 0 {
		p.Detail = problem.Sentences(p.Detail, fmt.Sprintf("Further faults: %d", more))
	}
	p.Faults = p.Faults[:min(maxFaults, len(p.Faults))]
	return p
}

// distinct returns the faults sorted by position, without redundant ones. If an unknown name is similar to a missing
// name, it omits the fault for the missing name. Of several messages about one name, it keeps the longest.
func distinct(faults []Fault) (out []Fault) {
	meant := map[string]bool{}
	for _, f := range faults {
		for _, name := range f.Near {
			if f.Rule == RuleUnknown {
				meant[query.Pointer(f.Pointer[:strings.LastIndexByte(f.Pointer, '/')], name)] = true
			}
		}
	}
	sorted := slices.DeleteFunc(slices.Clone(faults), func(f Fault) bool { return f.Rule == RuleRequired && meant[f.Pointer] })
	sort.SliceStable(sorted, func(i, j int) bool { return sorted[i].Pointer < sorted[j].Pointer })
	for _, f := range sorted {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].Pointer != f.Pointer || out[last].Rule != f.Rule:
			out = append(out, f)
		case strings.HasPrefix(f.Message, out[last].Message):
			out[last] = f
		case !strings.HasPrefix(out[last].Message, f.Message):
			out = append(out, f)
		}
	}
	return out
}

// some joins names. It shortens a list of more than maxListed names.
func some(names []string) string {
	text := strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// near returns known names that are similar to an unknown name. A similar name has similar letters, is a synonym, or
// ends with the unknown name (id for issueId).
func near(unknown string, known []string) []string {
	if out := problem.Nearest(unknown, known, 2); len(out) > 0 {
		return out
	}
	out := slices.DeleteFunc(words(unknown), func(name string) bool { return !slices.Contains(known, name) })
	if len(out) == 0 && len(unknown) > 1 {
		for _, name := range known {
			if strings.HasSuffix(strings.ToLower(name), strings.ToLower(unknown)) {
				out = append(out, name)
			}
		}
	}
	if len(out) > 1 {
		return nil
	}
	return out
}
