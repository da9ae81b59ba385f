package writes

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The rules, as in Fault.Rule.
const (
	unknown  = "unknown"  // there is no such field
	Required = "required" // the field must have a value
	Type     = "type"     // the value is of another type
	Values   = "values"   // the value is not one that the field allows
	length   = "length"   // the text is too long or too short for the field
	Range    = "range"    // the number is not within the bounds of the field
)

// A valueFault is one rule that a value breaks.
type valueFault struct {
	problem.Fault
	Field string
	Near  []string // the nearest valid names or values, or nil
}

// fieldOptions configure the checks.
type fieldOptions struct {
	At      string                  // the JSON pointer of the values in the arguments, such as "/data"
	Changes bool                    // the values update a record: missing fields keep their values
	Fields  map[string]string       // by argument, its field, if their names differ, or nil
	Others  bool                    // accept arguments that are not fields
	Key     func(field string) bool // whether a field holds ids, which requests may write as text, or nil
	Open    bool                    // a field of type any also accepts lists and objects, or else only plain values, as columns do
}

// The limits of a message: near names or values of a fault, faults that fieldProblem describes, and values listed.
const (
	maxNear   = 3
	maxTold   = 3
	maxListed = 12
)

// checkRecord checks values, an Object, for a record with these fields. It returns every fault, those of values in their
// order before those of missing fields, or nil if there is none.
func checkRecord(fields []*schema.Field, values value.Value, o fieldOptions) (faults []valueFault) {
	if values.Kind() != value.Object {
		return []valueFault{{Fault: problem.Fault{Pointer: o.At, Rule: Type, Message: "must be an object with values by field"}}}
	}
	byName, names, given := map[string]*schema.Field{}, make([]string, len(fields)), map[string]bool{}
	for i, f := range fields {
		byName[f.Name], names[i] = f, f.Name
	}
	for _, m := range values.Members() {
		at, name := fieldPointer(o.At, m.Name), m.Name
		if field, ok := o.Fields[name]; ok {
			name = field
		}
		given[name] = true
		if f := byName[name]; f != nil {
			if _, fault := checkValue(f, m.Value, at, o); fault != nil {
				faults = append(faults, *fault)
			}
		} else if !o.Others {
			near := problem.Nearest(name, names, maxNear)
			faults = append(faults, *wrong(name, at, unknown, fmt.Sprintf("there is no field %q", problem.Cut(name)), near))
		}
	}
	if o.Changes {
		return faults
	}
	return append(faults, missingFields(fields, func(name string) bool { return given[name] }, o.At)...)
}

// missingFields returns a fault at the pointer at for each required field of a new record that is not given.
func missingFields(fields []*schema.Field, given func(name string) bool, at string) (faults []valueFault) {
	for _, f := range fields {
		if f.Required && !f.Generated && !given(f.Name) {
			faults = append(faults, *wrong(f.Name, at, Required, f.Name+" is required", nil))
		}
	}
	return faults
}

// checkValue checks v, whose pointer is at, for a field. It returns v converted to the field's type, or a fault.
func checkValue(f *schema.Field, v value.Value, at string, o fieldOptions) (fitted value.Value, fault *valueFault) {
	if v.IsNull() {
		if f.NotNull && !f.Generated {
			fault = wrong(f.Name, at, Required, f.Name+" can't be null", nil)
		}
		return v, fault
	}
	if plain, ok := literals.Extended(v); ok && f.Type != schema.JSON && f.Type != schema.Any {
		v = plain
	}
	fitted, must := typed(f, v, o)
	if must != "" {
		return v, wrong(f.Name, at, Type, fmt.Sprintf("%s must be %s, not %s", f.Name, must, kind(v)), nil)
	}
	if f.Type == schema.Array && f.Element != nil {
		return elements(f.Name, f.Element, fitted, at, o)
	}
	if message, near := listed(f, fitted); message != "" {
		return v, wrong(f.Name, at, Values, message, near)
	}
	if n := utf8.RuneCountInString(fitted.Text()); f.Length > 0 && fitted.Kind() == value.String && n > f.Length {
		return v, wrong(f.Name, at, length, fmt.Sprintf("%s holds at most %d characters, not %d", f.Name, f.Length, n), nil)
	}
	if message := outside(f, fitted); message != "" {
		return v, wrong(f.Name, at, Range, message, nil)
	}
	return fitted, nil
}

// elements checks the elements of a list, also those of lists in it, and returns it with elements of the type that it declares.
func elements(name string, f *schema.Field, v value.Value, at string, o fieldOptions) (value.Value, *valueFault) {
	of := *f
	of.Name, o.Key = "an element of "+name, nil
	list := make([]value.Value, len(v.List()))
	for i, e := range v.List() {
		here, fault := fmt.Sprintf("%s/%d", at, i), (*valueFault)(nil)
		if e.Kind() == value.Array && f.Type != schema.JSON {
			list[i], fault = elements(name, f, e, here, o)
		} else {
			list[i], fault = checkValue(&of, e, here, o)
		}
		if fault != nil {
			fault.Field = name
			return v, fault
		}
	}
	return value.OfArray(list), nil
}

// outside describes the first bound of a field that v isn't within, or "".
func outside(f *schema.Field, v value.Value) string {
	if n := utf8.RuneCountInString(v.Text()); v.Kind() == value.String && n < f.Least {
		return fmt.Sprintf("%s must have at least %d %s, not %d", f.Name, f.Least, map[bool]string{true: "character", false: "characters"}[f.Least == 1], n)
	}
	if _, fraction, _ := strings.Cut(v.Text(), "."); f.Scaled && (len(fraction) > f.Scale || strings.ContainsAny(v.Text(), "eE")) {
		return "" // the source compares it as it is rounded
	}
	for _, b := range f.Bounds {
		if v.IsNumber() && !b.Holds(v) {
			return fmt.Sprintf("%s must be %s %s, not %s", f.Name, b.Words(), b.Value.String(), problem.Cut(v.String()))
		}
	}
	return ""
}

// fieldProblem combines faults into one error, or nil.
func fieldProblem(faults []valueFault) error {
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

// fieldPointer returns the JSON pointer of a member below at. A long name is cut.
func fieldPointer(at, name string) string {
	return at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(problem.Cut(name))
}

// wrong returns a fault. It appends the near names to message.
func wrong(field, at, rule, message string, near []string) *valueFault {
	if len(near) == 0 {
		near = nil
	}
	return &valueFault{problem.Fault{Pointer: at, Rule: rule, Message: message + problem.DidYouMean(near)}, field, near}
}

// kind describes v within a sentence.
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

// listed returns what is wrong with v for a field with allowed values: with each element, if it takes several.
func listed(f *schema.Field, v value.Value) (message string, near []string) {
	if f.Values == nil {
		return "", nil
	}
	allowed := make([]string, len(f.Values))
	for i, a := range f.Values {
		allowed[i] = a.String()
	}
	parts := []string{v.String()}
	if holdsSeveral(f) {
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

// holdsSeveral reports whether a field takes several of its values, separated by semicolons.
func holdsSeveral(f *schema.Field) bool {
	native := strings.ToLower(f.Native)
	return native == "multipicklist" || native == "multiselectpicklist"
}
