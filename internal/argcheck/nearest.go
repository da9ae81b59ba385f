package argcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// maxAlternatives is the maximum number of alternatives that a message names.
const maxAlternatives = 6

// nearest returns the faults of the alternative that is nearest to the value. The last message mentions the other
// alternatives.
func (x Explainer) nearest(e *jsonschema.ValidationError) []Fault {
	best, depth := e.Causes[0], len(e.InstanceLocation)
	for _, one := range e.Causes[1:] {
		if distance(one, depth) < distance(best, depth) {
			best = one
		}
	}
	said := ""
	if distance(best, depth) >= far {
		said = x.others(e.Causes, best, depth)
		best = together(best, e.Causes)
	} else if n := countOf(e.Causes); n > 1 {
		said = fmt.Sprintf(" (by the nearest of %d alternatives%s)", n, x.alternatives(e.Causes))
	}
	out := x.faults(best)
	if last := len(out) - 1; last >= 0 {
		out[last].Message += said
	}
	return out
}

// named returns the name of the schema of an alternative, or "".
func (x Explainer) named(e *jsonschema.ValidationError) string {
	if k, ok := e.ErrorKind.(*kind.Reference); ok && x.Named != nil {
		return x.Named(k.URL)
	}
	return ""
}

// others describes the alternatives other than best that accept a different type of value, by name or by type.
// Without this text, the fault of one alternative would look like the only possibility.
func (x Explainer) others(all []*jsonschema.ValidationError, best *jsonschema.ValidationError, depth int) string {
	var take []string
	for _, e := range all {
		name := x.named(e)
		for len(e.Causes) == 1 {
			e = e.Causes[0]
		}
		k, ok := e.ErrorKind.(*kind.Type)
		if !ok || len(e.InstanceLocation) > depth || slices.Equal(k.Want, []string{"null"}) || within(best, e) {
			continue
		}
		if name == "" {
			name = types(k.Want)
		}
		if !slices.Contains(take, name) {
			take = append(take, name)
		}
	}
	switch {
	case len(take) == 0:
		return ""
	case len(take) > maxAlternatives:
		take = append(take[:maxAlternatives], "…")
	}
	return " (another alternative takes " + strings.Join(take, ", or ") + ")"
}

// within reports whether one is e itself, or is below e through single causes only.
func within(e, one *jsonschema.ValidationError) bool {
	for e != one && len(e.Causes) == 1 {
		e = e.Causes[0]
	}
	return e == one
}

// alternatives returns the names of at most six alternatives, if all of them have a name.
func (x Explainer) alternatives(all []*jsonschema.ValidationError) string {
	var names []string
	for _, e := range all {
		if name := x.named(e); name != "" {
			names = append(names, name)
		}
	}
	switch {
	case len(names) < countOf(all):
		return ""
	case len(names) > maxAlternatives:
		names = append(names[:maxAlternatives], "…")
	}
	return ": " + strings.Join(names, ", ")
}

// countOf returns the number of alternatives except null.
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

// far is the distance of an alternative with the wrong type or kind.
const far = 1000

// shallow is the distance for each fault in the value's own fields.
const shallow = 20

// distance returns how far an alternative is from matching a value at that depth. An alternative that requires
// another type, or another constant in a field, is far. The caller probably didn't mean it. A fault in the value's
// own fields counts more than a fault inside a field, because other alternatives share the inner parts.
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

// together returns best. If best fails on the allowed values of a field, together returns an error with the values
// that all alternatives allow for that field. The caller may mean any alternative.
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

// wordsOf returns the first leaf of an alternative that lists allowed values, and the value found.
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
