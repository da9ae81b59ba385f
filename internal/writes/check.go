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

// Rules of faults, in addition to the rules of package argcheck.
const (
	ruleLength = "length" // the text has the wrong length for the field
	ruleRange  = "range"  // the value is not within the bounds of the field
)

// fieldOptions configures the checks of a record.
type fieldOptions struct {
	At      string                  // the JSON pointer of the values in the arguments, such as "/data"
	Changes bool                    // the values update a record, so missing fields keep their values
	Fields  map[string]string       // the field of each argument with another name, or nil
	Key     func(field string) bool // reports whether a field contains ids, which may be written as text. May be nil
	Open    bool                    // a field of type any also accepts lists and objects. Otherwise it accepts only plain values, as columns do
}

// checkRecord checks values, an Object, for a record with these fields. It ignores values without a field. It returns
// all faults, or nil. Faults of values come first, in the order of the values, then missing fields.
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

// missingFields returns a fault at the pointer at for each required field of a new record that has no value.
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

// elements checks the elements of a list, including nested lists. It returns the list with its elements converted to
// the declared type.
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

// outside describes the first bound of a field that v violates, and the value found. It returns "" if v is within all
// bounds.
func outside(f *schema.Field, v value.Value) (must, got string) {
	if n := utf8.RuneCountInString(v.Text()); v.Kind() == value.String && n < f.Least {
		return "have at least " + argcheck.Count(f.Least, "character"), strconv.Itoa(n)
	}
	if _, fraction, _ := strings.Cut(v.Text(), "."); f.Scaled && (len(fraction) > f.Scale || strings.ContainsAny(v.Text(), "eE")) {
		return "", "" // the source rounds the value before it compares
	}
	for _, b := range f.Bounds {
		if v.IsNumber() && !b.Holds(v) {
			return "be " + b.Words() + " " + b.Value.String(), argcheck.Found(v)
		}
	}
	return "", ""
}

// checkAllowedValues returns a fault if v is not an allowed value of the field. For a field with several values it
// reports the first invalid element.
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

// holdsSeveral reports whether a field contains several allowed values, separated by semicolons.
func holdsSeveral(f *schema.Field) bool {
	native := strings.ToLower(f.Native)
	return native == "multipicklist" || native == "multiselectpicklist"
}
