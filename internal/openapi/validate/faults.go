package validate

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// MaxFaults is the maximum number of faults in an error.
const MaxFaults = 20

// faults collects the faults of arguments.
type faults struct {
	name    func(url string) string // the name of the schema with that URL, or "" if it has none
	all     []problem.Fault
	near    []string
	example spec.Raw     // of what is being validated
	steps   int          // the comparisons so far
	ended   func() error // returns an error when nothing waits for the check any longer
	later   []string     // the places of values that are not known yet
	texts   []string     // those of them that are texts
}

func (f *faults) add(at, rule, format string, args ...any) {
	if f.unknowable(at, rule) {
		return
	}
	f.all = append(f.all, problem.Fault{Pointer: at, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// unknowable reports whether a fault may vanish once the pending values are known. Then it is about one of them, or
// about the choice of an alternative for an object that holds one.
func (f *faults) unknowable(at, rule string) bool {
	switch rule {
	case "unknown", "forbidden", "required":
		return false
	case "type":
		// In a path or a query a text may be read as a number.
		if strings.HasPrefix(at, "/body/") && slices.Contains(f.texts, at) {
			return false
		}
	}
	return slices.ContainsFunc(f.later, func(l string) bool {
		return l == at || (rule == "anyOf" || rule == "not") && strings.HasPrefix(l, at+"/")
	})
}

// unknown adds a fault for a name that is not in known.
func (f *faults) unknown(at, name, what string, known []string) {
	f.add(at+"/"+escape(problem.Cut(name)), "unknown", "unknown %s %q%s", what, problem.Cut(name), f.nearest(name, known))
}

// nearest returns the end of a message: the nearest known names, or else a list of known names.
func (f *faults) nearest(name string, known []string) string {
	near := problem.Nearest(name, known, 2)
	f.near = append(f.near, near...)
	return problem.Instead(near, slices.Sorted(slices.Values(known)), "takes", 12)
}

// hint appends to the last fault's message.
func (f *faults) hint(text string) { f.all[len(f.all)-1].Message += text }

// err returns all faults as one error, or nil if there are none.
func (f *faults) err() error {
	if len(f.all) == 0 {
		return nil
	}
	sort.SliceStable(f.all, func(i, j int) bool { return f.all[i].Pointer < f.all[j].Pointer })
	f.all = fewest(f.all)
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

// fewest returns sorted faults without those that another one says, and more: an unknown field is also found by its schema, which
// knows no near names.
func fewest(sorted []problem.Fault) []problem.Fault {
	var out []problem.Fault
	for _, one := range sorted {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].Pointer != one.Pointer || out[last].Rule != one.Rule:
			out = append(out, one)
		case strings.HasPrefix(one.Message, out[last].Message):
			out[last] = one
		case !strings.HasPrefix(out[last].Message, one.Message):
			out = append(out, one)
		}
	}
	return out
}

// schema adds the faults of a validation error, with pointers below at.
func (f *faults) schema(err error, at string) {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		f.leaves(invalid, at)
	}
}

// leaves adds the leaves of a validation error. Of several alternatives, only the closest is reported.
func (f *faults) leaves(e *jsonschema.ValidationError, at string) {
	if len(e.Causes) == 0 {
		f.leaf(e, at)
		return
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf:
		best, depth := e.Causes[0], len(e.InstanceLocation)
		for _, c := range e.Causes[1:] {
			if distance(c, depth) < distance(best, depth) {
				best = c
			}
		}
		before, said := len(f.all), ""
		if distance(best, depth) >= far {
			said = f.others(e.Causes, best, depth)
			best = together(best, e.Causes)
		} else if n := countOf(e.Causes); n > 1 {
			said = fmt.Sprintf(" (by the nearest of %d alternatives%s)", n, f.alternatives(e.Causes))
		}
		f.leaves(best, at)
		if len(f.all) > before {
			f.hint(said)
		}
	default:
		for _, c := range e.Causes {
			f.leaves(c, at)
		}
	}
}

// others returns what the alternatives beside best take that want a value of another type: their names, or else the types. Without it
// the fault of one alternative would seem to be all that is possible.
func (f *faults) others(all []*jsonschema.ValidationError, best *jsonschema.ValidationError, depth int) string {
	var take []string
	for _, e := range all {
		name := ""
		if k, ok := e.ErrorKind.(*kind.Reference); ok {
			name = spec.ShortName(f.name(k.URL))
		}
		for len(e.Causes) == 1 {
			e = e.Causes[0]
		}
		k, ok := e.ErrorKind.(*kind.Type)
		if !ok || len(e.InstanceLocation) > depth || slices.Equal(k.Want, []string{"null"}) || within(best, e) {
			continue
		}
		if name == "" {
			name = strings.Join(k.Want, " or ")
		}
		if !slices.Contains(take, name) {
			take = append(take, name)
		}
	}
	switch {
	case len(take) == 0:
		return ""
	case len(take) > 6:
		take = append(take[:6], "…")
	}
	return " (another alternative takes " + strings.Join(take, ", or ") + ")"
}

// within reports whether one is e, or below it with nothing beside it.
func within(e, one *jsonschema.ValidationError) bool {
	for e != one && len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	return e == one
}

// alternatives returns the names of the alternatives, if all have one, at most six.
func (f *faults) alternatives(all []*jsonschema.ValidationError) string {
	var names []string
	for _, e := range all {
		if k, ok := e.ErrorKind.(*kind.Reference); ok {
			if name := f.name(k.URL); name != "" {
				names = append(names, spec.ShortName(name))
			}
		}
	}
	switch {
	case len(names) < countOf(all):
		return ""
	case len(names) > 6:
		names = append(names[:6], "…")
	}
	return ": " + strings.Join(names, ", ")
}

// countOf counts the alternatives except null.
func countOf(all []*jsonschema.ValidationError) (n int) {
	for _, e := range all {
		for len(e.Causes) == 1 {
			e = e.Causes[0]
		}
		if k, ok := e.ErrorKind.(*kind.Type); !ok || !slices.Equal(k.Want, []string{"null"}) {
			n++
		}
	}
	return n
}

// far is the distance of an alternative of another type or kind than was meant.
const far = 1000

// shallow is the distance of one fault of the value's own fields.
const shallow = 20

// distance returns how far an alternative is from matching a value at that depth. One that requires another type, or
// another constant in a field, is far: it is not the alternative that was meant. A fault of the value's own fields weighs
// more than one inside of them, which the alternative shares.
func distance(e *jsonschema.ValidationError, depth int) int {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		if len(e.InstanceLocation) <= depth && slices.Equal(k.Want, []string{"null"}) {
			return 2 * far
		}
		if len(e.InstanceLocation) <= depth {
			return far
		}
	case *kind.Const, *kind.Enum:
		if len(e.InstanceLocation) <= depth+1 {
			return far
		}
	}
	if len(e.Causes) == 0 && len(e.InstanceLocation) <= depth {
		return shallow
	}
	n := 0
	for _, c := range e.Causes {
		n += distance(c, depth)
	}
	return max(n, 1)
}

// together returns best. If best fails on the allowed values of a field, together returns an error with the values that
// all alternatives allow for that field. Any of these alternatives may be meant.
func together(best *jsonschema.ValidationError, all []*jsonschema.ValidationError) *jsonschema.ValidationError {
	words, got := wordsOf(best)
	if words == nil {
		return best
	}
	var want []any
	for _, e := range all {
		if found, _ := wordsOf(e); found != nil && slices.Equal(found.InstanceLocation, words.InstanceLocation) {
			for _, w := range wanted(found) {
				if !slices.ContainsFunc(want, func(has any) bool { return fmt.Sprint(has) == fmt.Sprint(w) }) {
					want = append(want, w)
				}
			}
		}
	}
	return &jsonschema.ValidationError{InstanceLocation: words.InstanceLocation, ErrorKind: &kind.Enum{Got: got, Want: want}}
}

// wordsOf returns the first leaf of an alternative that lists allowed values, and the value given.
func wordsOf(e *jsonschema.ValidationError) (*jsonschema.ValidationError, any) {
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		return e, k.Got
	case *kind.Const:
		return e, k.Got
	}
	for _, c := range e.Causes {
		if found, got := wordsOf(c); found != nil {
			return found, got
		}
	}
	return nil, nil
}

func wanted(e *jsonschema.ValidationError) []any {
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		return k.Want
	case *kind.Const:
		return []any{k.Want}
	}
	return nil
}

// leaf adds the fault of one keyword of a schema, at the place of the value below the pointer at, in a sentence about the value. A
// fault without a sentence of its own has that of the validator.
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
	case *kind.RefCycle: // a schema that refers only to itself has no effect
	case *kind.Required:
		for _, missing := range k.Missing {
			f.add(at+"/"+escape(missing), rule, "the field %q is missing", missing)
		}
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
	case *kind.Format:
		if !shown(f.example, e.InstanceLocation, k.Want) {
			f.add(at, rule, "%s", formats[k.Want].sentence(name, k.Got))
		}
	case *kind.FalseSchema:
		unknown := e.InstanceLocation[max(len(e.InstanceLocation)-1, 0):]
		f.add(at, "unknown", "unknown field %q", problem.Cut(strings.Join(unknown, "")))
	case *kind.AdditionalProperties:
		for _, unknown := range k.Properties {
			f.add(at+"/"+escape(problem.Cut(unknown)), "unknown", "unknown field %q", problem.Cut(unknown))
		}
	default:
		f.add(at, rule, "%s", argcheck.FaultSentence(name, k))
	}
}

// nearValue returns a hint to the nearest value of an enum.
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

// escape encodes a name as a token of an RFC 6901 pointer.
func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
