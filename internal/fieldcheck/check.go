// Package fieldcheck holds values that somebody proposes against what is known of the fields they are for: type, required,
// picklist and length.
//
// It is a word beside schema, and pure. It says all that is wrong with values, each with its place, its rule and the
// nearest right thing, and gives those that are right as their fields hold them; it decides about nobody's rights, so what
// it says may be shown to who sees the fields that it was given. What it can't judge it lets pass: a field of type JSON,
// and a default that fills in what is missing.
package fieldcheck

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The rules, as Fault.Rule names them.
const (
	Unknown  = "unknown"  // there is no such field
	Required = "required" // the field must have a value
	Type     = "type"     // the value is of another type
	Values   = "values"   // the value is none of those that the field may hold
	Length   = "length"   // the text is longer than the field
)

// A Fault is one rule that a value breaks.
type ValueFault struct {
	problem.Fault
	Field string
	Near  []string // the nearest right names or values; nil for none
}

// Options say what is checked.
type Options struct {
	At      string                  // the JSON pointer of the values in the arguments, such as "/data"
	Changes bool                    // the values change a record that is there: what is left out stays
	Fields  map[string]string       // by argument, the field it is for, where arguments are called otherwise than fields; nil for none
	Others  bool                    // arguments that are no field pass
	Key     func(field string) bool // whether a field holds ids, which are texts on the wire whatever it holds; nil for none
	Open    bool                    // a field of type any takes lists and objects too: nothing is known of it, while a column takes plain values
}

// The bounds of a message: near names or values of a fault, faults that Problem tells in words, and values that are listed.
const (
	maxNear   = 3
	maxTold   = 3
	maxListed = 12
)

// Record checks values, an Object, for a record with these fields. It returns nil where all is right, and otherwise every
// fault, those of values in their order before those of fields that are missing.
func Record(fields []*schema.Field, values value.Value, o Options) (faults []ValueFault) {
	if values.Kind() != value.Object {
		return []ValueFault{{Fault: problem.Fault{Pointer: o.At, Rule: Type, Message: "must be an object with values by field"}}}
	}
	byName, names, given := map[string]*schema.Field{}, make([]string, len(fields)), map[string]bool{}
	for i, f := range fields {
		byName[f.Name], names[i] = f, f.Name
	}
	for _, m := range values.Members() {
		at, name := Pointer(o.At, m.Name), m.Name
		if field, ok := o.Fields[name]; ok {
			name = field
		}
		given[name] = true
		if f := byName[name]; f != nil {
			if _, fault := Value(f, m.Value, at, o); fault != nil {
				faults = append(faults, *fault)
			}
		} else if !o.Others {
			near := problem.Nearest(name, names, maxNear)
			faults = append(faults, *wrong(name, at, Unknown, fmt.Sprintf("there is no field %q", problem.Cut(name)), near))
		}
	}
	if o.Changes {
		return faults
	}
	return append(faults, Missing(fields, func(name string) bool { return given[name] }, o.At)...)
}

// Missing returns a fault, at the place at, for each of the fields that a new record needs and isn't given.
func Missing(fields []*schema.Field, given func(name string) bool, at string) (faults []ValueFault) {
	for _, f := range fields {
		if f.Required && !f.Generated && !given(f.Name) {
			faults = append(faults, *wrong(f.Name, at, Required, f.Name+" is required", nil))
		}
	}
	return faults
}

// Value checks v, which stands at the place at, for a field. It returns v as the field holds it, or what is wrong with it.
func Value(f *schema.Field, v value.Value, at string, o Options) (fitted value.Value, fault *ValueFault) {
	if v.IsNull() {
		if f.NotNull && !f.Generated {
			fault = wrong(f.Name, at, Required, f.Name+" can't be null", nil)
		}
		return v, fault
	}
	fitted, must := typed(f, v, o)
	if must != "" {
		return v, wrong(f.Name, at, Type, fmt.Sprintf("%s must be %s, not %s", f.Name, must, kind(v)), nil)
	}
	if message, near := listed(f, fitted); message != "" {
		return v, wrong(f.Name, at, Values, message, near)
	}
	if n := utf8.RuneCountInString(fitted.Text()); f.Length > 0 && fitted.Kind() == value.String && n > f.Length {
		return v, wrong(f.Name, at, Length, fmt.Sprintf("%s holds at most %d characters, not %d", f.Name, f.Length, n), nil)
	}
	return fitted, nil
}

// Problem makes one refusal of faults; nil of none.
func Problem(faults []ValueFault) error {
	if len(faults) == 0 {
		return nil
	}
	p := &problem.Error{Code: problem.InvalidArgument, Kind: faults[0].Rule, Pointer: faults[0].Pointer, Near: faults[0].Near}
	var told []string
	for i, f := range faults {
		p.Faults = append(p.Faults, f.Fault)
		if i < maxTold {
			told = append(told, f.Message)
		}
	}
	p.Detail = strings.Join(told, "; ")
	if more := len(faults) - maxTold; more > 0 {
		p.Detail += fmt.Sprintf("; and %d more", more)
	}
	return p
}

// Pointer returns the JSON pointer of a member below at. A long name is cut.
func Pointer(at, name string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(problem.Cut(name))
}

// wrong is a fault; message stands without the near names, which are put after it.
func wrong(field, at, rule, message string, near []string) *ValueFault {
	if len(near) == 0 {
		near = nil
	}
	return &ValueFault{problem.Fault{Pointer: at, Rule: rule, Message: message + problem.DidYouMean(near)}, field, near}
}

// kind says what v is, as a sentence has it.
func kind(v value.Value) string {
	switch v.Kind() {
	case value.String:
		return fmt.Sprintf("the text %q", problem.Cut(v.Text()))
	case value.Array:
		return "a list"
	case value.Object:
		return "an object"
	}
	return problem.Cut(v.String())
}

// listed says what is wrong with v where f may hold only some values: each of several, where it takes several.
func listed(f *schema.Field, v value.Value) (message string, near []string) {
	if f.Values == nil {
		return "", nil
	}
	allowed := make([]string, len(f.Values))
	for i, a := range f.Values {
		allowed[i] = a.String()
	}
	parts := []string{v.String()}
	if Several(f) {
		parts = strings.Split(v.String(), ";")
	}
	i := slices.IndexFunc(parts, func(part string) bool { return !slices.Contains(allowed, part) })
	if i < 0 {
		return "", nil
	}
	near = problem.Nearest(parts[i], allowed, maxNear)
	if len(allowed) <= maxListed {
		return fmt.Sprintf("%s must be one of %s, not %q", f.Name, strings.Join(allowed, ", "), problem.Cut(parts[i])), near
	}
	return fmt.Sprintf("%s can't be %q, which is none of its %d values", f.Name, problem.Cut(parts[i]), len(allowed)), near
}

// Several reports whether a field takes several of its values, parted by semicolons.
func Several(f *schema.Field) bool {
	native := strings.ToLower(f.Native)
	return native == "multipicklist" || native == "multiselectpicklist"
}
