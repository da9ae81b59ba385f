package writes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Rules of faults besides those of package argcheck.
const (
	ruleLength = "length" // the text is too long for the field
	ruleRange  = "range"  // the value is not within the bounds of the field
)

// fieldOptions configure the checks.
type fieldOptions struct {
	At      string                  // the JSON pointer of the values in the arguments, such as "/data"
	Changes bool                    // the values update a record: missing fields keep their values
	Fields  map[string]string       // by argument, its field, if their names differ, or nil
	Key     func(field string) bool // whether a field holds ids, which requests may write as text, or nil
	Open    bool                    // a field of type any also accepts lists and objects, or else only plain values, as columns do
}

// checkRecord checks values, an Object, for a record with these fields. Values without a field are not checked. It returns
// every fault, those of values in their order before those of missing fields, or nil if there is none.
func checkRecord(fields []*schema.Field, values value.Value, o fieldOptions) (faults []argcheck.Fault) {
	if values.Kind() != value.Object {
		return []argcheck.Fault{argcheck.Must(o.At, argcheck.RuleType, strings.TrimPrefix(o.At, "/"), "be an object, by field name", argcheck.Found(values))}
	}
	byName, given := map[string]*schema.Field{}, map[string]bool{}
	for _, f := range fields {
		byName[f.Name] = f
	}
	for _, m := range values.Members() {
		at, name := argcheck.At(o.At, m.Name), m.Name
		if field, ok := o.Fields[name]; ok {
			name = field
		}
		given[name] = true
		if f := byName[name]; f != nil {
			if _, fault := checkValue(f, m.Value, at, o); fault != nil {
				faults = append(faults, *fault)
			}
		}
	}
	if o.Changes {
		return faults
	}
	return append(faults, missingFields(fields, func(name string) bool { return given[name] }, o.At)...)
}

// missingFields returns a fault at the pointer at for each required field of a new record that is not given.
func missingFields(fields []*schema.Field, given func(name string) bool, at string) (faults []argcheck.Fault) {
	for _, f := range fields {
		if f.Required && !f.Generated && !given(f.Name) {
			faults = append(faults, argcheck.Missing(at, "field", f.Name))
		}
	}
	return faults
}

// checkValue checks v, whose pointer is at, for a field. It returns v converted to the field's type, or a fault.
func checkValue(f *schema.Field, v value.Value, at string, o fieldOptions) (fitted value.Value, fault *argcheck.Fault) {
	if v.IsNull() {
		if f.NotNull && !f.Generated {
			fault = new(argcheck.Must(at, argcheck.RuleRequired, f.Name, "have a value", "null"))
		}
		return v, fault
	}
	if plain, ok := literals.ParseMongoLiteral(v); ok && f.Type != schema.JSON && f.Type != schema.Any {
		v = plain
	}
	fitted, must := fitType(f, v, o)
	if must != "" {
		return v, new(argcheck.Must(at, argcheck.RuleType, f.Name, "be "+must, argcheck.Found(v)))
	}
	if f.Type == schema.Array && f.Element != nil {
		return elements(f.Name, f.Element, fitted, at, o)
	}
	if fault = checkAllowedValues(f, fitted, at); fault != nil {
		return v, fault
	}
	if n := utf8.RuneCountInString(fitted.Text()); f.Length > 0 && fitted.Kind() == value.String && n > f.Length {
		return v, new(argcheck.Must(at, ruleLength, f.Name, "have at most "+argcheck.Count(f.Length, "character"), strconv.Itoa(n)))
	}
	if must, got := outside(f, fitted); must != "" {
		return v, new(argcheck.Must(at, ruleRange, f.Name, must, got))
	}
	return fitted, nil
}

// elements checks the elements of a list, also those of lists in it, and returns it with elements of the type that it declares.
func elements(name string, f *schema.Field, v value.Value, at string, o fieldOptions) (value.Value, *argcheck.Fault) {
	of := *f
	of.Name, o.Key = "an element of "+name, nil
	list := make([]value.Value, len(v.List()))
	for i, e := range v.List() {
		here, fault := fmt.Sprintf("%s/%d", at, i), (*argcheck.Fault)(nil)
		if e.Kind() == value.Array && f.Type != schema.JSON {
			list[i], fault = elements(name, f, e, here, o)
		} else {
			list[i], fault = checkValue(&of, e, here, o)
		}
		if fault != nil {
			fault.Name = name
			return v, fault
		}
	}
	return value.OfArray(list), nil
}

// outside returns what v must do to be within the first bound of a field that it breaks, or "", and what was found.
func outside(f *schema.Field, v value.Value) (must, got string) {
	if n := utf8.RuneCountInString(v.Text()); v.Kind() == value.String && n < f.Least {
		return "have at least " + argcheck.Count(f.Least, "character"), strconv.Itoa(n)
	}
	if _, fraction, _ := strings.Cut(v.Text(), "."); f.Scaled && (len(fraction) > f.Scale || strings.ContainsAny(v.Text(), "eE")) {
		return "", "" // the source compares it as it is rounded
	}
	for _, b := range f.Bounds {
		if v.IsNumber() && !b.Holds(v) {
			return "be " + b.Words() + " " + b.Value.String(), argcheck.Found(v)
		}
	}
	return "", ""
}

// checkAllowedValues returns the fault of v for a field with allowed values: of the first element, if it takes several.
func checkAllowedValues(f *schema.Field, v value.Value, at string) *argcheck.Fault {
	if f.Values == nil {
		return nil
	}
	allowed := make([]string, len(f.Values))
	for i, a := range f.Values {
		allowed[i] = a.String()
	}
	if !holdsSeveral(f) {
		if slices.Contains(allowed, v.String()) {
			return nil
		}
		return new(argcheck.OneOf(at, f.Name, v, allowed))
	}
	for part := range strings.SplitSeq(v.String(), ";") {
		if !slices.Contains(allowed, part) {
			return new(argcheck.OneOf(at, f.Name, value.OfString(part), allowed))
		}
	}
	return nil
}

// holdsSeveral reports whether a field takes several of its values, separated by semicolons.
func holdsSeveral(f *schema.Field) bool {
	native := strings.ToLower(f.Native)
	return native == "multipicklist" || native == "multiselectpicklist"
}
