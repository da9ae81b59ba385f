package validate

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"
)

// MaxFaults is how many broken rules a refusal tells of.
const MaxFaults = 20

// faults collects the rules that arguments break.
type faults struct {
	printer *message.Printer
	all     []problem.Fault
	near    []string
}

func (f *faults) add(at, rule, format string, args ...any) {
	f.all = append(f.all, problem.Fault{Pointer: at, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// unknown refuses a name that is not among known.
func (f *faults) unknown(at, name, what string, known []string) {
	f.add(at+"/"+escape(problem.Cut(name)), "unknown", "unknown %s %q%s", what, problem.Cut(name), f.nearest(name, known))
}

// nearest ends a message with the names that may have been meant, or else with those there are.
func (f *faults) nearest(name string, known []string) string {
	near := problem.Nearest(name, known, 2)
	f.near = append(f.near, near...)
	text := problem.DidYouMean(near)
	switch {
	case text != "":
	case len(known) == 0:
		text = "; it takes none"
	default:
		sorted := slices.Sorted(slices.Values(known))
		text = "; it takes " + strings.Join(sorted[:min(len(sorted), 12)], ", ")
		if more := len(sorted) - 12; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}

// hint adds to what was said last.
func (f *faults) hint(text string) { f.all[len(f.all)-1].Message += text }

// err returns all faults as one refusal; nil where there are none.
func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	sort.SliceStable(f.all, func(i, j int) bool { return f.all[i].Pointer < f.all[j].Pointer })
	f.all = slices.Compact(f.all)
	more := ""
	if len(f.all) > 3 {
		more = fmt.Sprintf("; and %d more", len(f.all)-3)
	}
	var said []string
	for _, fault := range f.all[:min(3, len(f.all))] {
		said = append(said, fault.Message)
	}
	return &problem.Error{Code: problem.InvalidArgument, Kind: "schema", Detail: strings.Join(said, "; ") + more, Pointer: f.all[0].Pointer,
		Near: f.near[:min(len(f.near), 5)], Faults: f.all[:min(len(f.all), MaxFaults)],
		Suggestion: "search_api with the operationId tells what it takes"}
}

// schema adds what a validation found, at a pointer.
func (f *faults) schema(err error, at string) {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		f.leaves(invalid, at)
	}
}

// leaves adds what the leaves of a validation error say. Of the alternatives of a choice only the one that is nearest to
// fit is told.
func (f *faults) leaves(e *jsonschema.ValidationError, at string) {
	if len(e.Causes) == 0 {
		f.leaf(e, at)
		return
	}
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		best := e.Causes[0]
		for _, c := range e.Causes[1:] {
			if distance(c) < distance(best) {
				best = c
			}
		}
		f.leaves(best, at)
	default:
		for _, c := range e.Causes {
			f.leaves(c, at)
		}
	}
}

// distance tells how far an alternative is from fitting: one of another type or kind is not what was meant.
func distance(e *jsonschema.ValidationError) int {
	switch e.ErrorKind.(type) {
	case *kind.Type, *kind.Const, *kind.Enum:
		return 100
	}
	n := 0
	for _, c := range e.Causes {
		n += distance(c)
	}
	return max(n, 1)
}

func (f *faults) leaf(e *jsonschema.ValidationError, at string) {
	for _, token := range e.InstanceLocation {
		at += "/" + escape(token)
	}
	rule := "schema"
	if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
		rule = path[len(path)-1]
	}
	name := strings.TrimPrefix(at, "/")
	switch k := e.ErrorKind.(type) {
	case *kind.RefCycle: // a schema that refers to itself says nothing
	case *kind.Required:
		for _, missing := range k.Missing {
			f.add(at+"/"+escape(missing), rule, "the field %q is missing", missing)
		}
	case *kind.Type:
		f.add(at, rule, "%s is of type %s, not %s", name, strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		var allowed []string
		for _, w := range k.Want[:min(len(k.Want), 12)] {
			if w == nil {
				w = "null"
			}
			allowed = append(allowed, fmt.Sprint(w))
		}
		if more := len(k.Want) - 12; more > 0 {
			allowed = append(allowed, fmt.Sprintf("… %d in all", len(k.Want)))
		}
		f.add(at, rule, "%s is one of %s%s", name, strings.Join(allowed, ", "), f.nearValue(k.Got, k.Want))
	case *kind.OneOf:
		f.add(at, rule, "%s fits several alternatives, and must fit one", name)
	case *kind.Pattern:
		f.add(at, rule, "%s does not match %s", name, k.Want)
	case *kind.Minimum:
		f.add(at, rule, "%s is at least %s", name, k.Want.RatString())
	case *kind.Maximum:
		f.add(at, rule, "%s is at most %s", name, k.Want.RatString())
	case *kind.ExclusiveMinimum:
		f.add(at, rule, "%s is more than %s", name, k.Want.RatString())
	case *kind.ExclusiveMaximum:
		f.add(at, rule, "%s is less than %s", name, k.Want.RatString())
	case *kind.AdditionalProperties:
		for _, unknown := range k.Properties {
			f.add(at+"/"+escape(problem.Cut(unknown)), "unknown", "unknown field %q", problem.Cut(unknown))
		}
	default:
		f.add(at, rule, "%s: %s", name, e.ErrorKind.LocalizedString(f.printer))
	}
}

// nearValue names the value of an enum that may have been meant.
func (f *faults) nearValue(got any, want []any) string {
	text, ok := got.(string)
	if !ok {
		return ""
	}
	var all []string
	for _, w := range want {
		if s, ok := w.(string); ok {
			all = append(all, s)
		}
	}
	near := problem.Nearest(text, all, 1)
	f.near = append(f.near, near...)
	return problem.DidYouMean(near)
}

func contains(all []string, one string) bool { return slices.Contains(all, one) }

// escape writes a name as a token of an RFC 6901 pointer.
func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
