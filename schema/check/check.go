// Package check holds values that somebody proposes against what is known of the fields they are for: type, required,
// picklist and length.
//
// It is a word beside schema, and pure. It looks at one record's values and says all that is wrong with them, each with its
// place, its rule and the nearest right thing; it decides about nobody's rights, so it must be given the fields that the
// proposer may see, and no others. What it can't judge it lets pass: a field of type any, and a default that fills in what
// is missing.
package check

import (
	"encoding/base64"
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
type Fault struct {
	problem.Fault
	Field string
	Near  []string // the nearest right names or values; nil for none
}

// Options say what is checked.
type Options struct {
	At      string            // the JSON pointer of the values in the arguments, such as "/data"
	Changes bool              // the values change a record that is there: what is left out stays
	Fields  map[string]string // by argument, the field it is for, where arguments are called otherwise than fields; nil for none
	Others  bool              // arguments that are no field pass
}

// maxNear is how many near names or values a fault has.
const maxNear = 3

// Record checks values, an Object, for a record with these fields. It returns nil where all is right, and otherwise every
// fault, those of values in their order before those of fields that are missing.
func Record(fields []*schema.Field, values value.Value, o Options) []Fault {
	c := checker{byName: make(map[string]*schema.Field, len(fields)), given: map[string]bool{}, Options: o}
	for _, f := range fields {
		c.byName[f.Name] = f
		c.names = append(c.names, f.Name)
	}
	if values.Kind() != value.Object {
		return []Fault{{Fault: problem.Fault{Pointer: o.At, Rule: Type, Message: "must be an object with values by field"}}}
	}
	for _, m := range values.Members() {
		c.member(m)
	}
	if !o.Changes {
		for _, f := range fields {
			if f.Required && !f.Generated && !c.given[f.Name] {
				c.fault(o.At, f.Name, Required, f.Name+" is required")
			}
		}
	}
	return c.faults
}

// Problem makes one refusal of faults; nil of none.
func Problem(faults []Fault) error {
	if len(faults) == 0 {
		return nil
	}
	p := &problem.Error{Code: problem.InvalidArgument, Kind: "typed_check", Pointer: faults[0].Pointer, Near: faults[0].Near}
	messages := make([]string, 0, maxNear)
	for i, f := range faults {
		p.Faults = append(p.Faults, f.Fault)
		if i < maxNear {
			messages = append(messages, f.Message)
		}
	}
	p.Detail = strings.Join(messages, "; ")
	if more := len(faults) - maxNear; more > 0 {
		p.Detail += fmt.Sprintf("; and %d more", more)
	}
	return p
}

// A checker gathers the faults of one record.
type checker struct {
	Options
	byName map[string]*schema.Field
	names  []string
	given  map[string]bool
	faults []Fault
}

// fault notes what is wrong; message stands without the near names, which are put after it.
func (c *checker) fault(at, field, rule, message string, near ...string) {
	if len(near) == 0 {
		near = nil
	}
	c.faults = append(c.faults, Fault{problem.Fault{Pointer: at, Rule: rule, Message: message + problem.DidYouMean(near)}, field, near})
}

// member checks one value.
func (c *checker) member(m value.Member) {
	at, name := c.At+"/"+escape.Replace(m.Name), m.Name
	if field, ok := c.Fields[name]; ok {
		name = field
	}
	f := c.byName[name]
	if f == nil {
		if !c.Others {
			c.fault(at, name, Unknown, fmt.Sprintf("there is no field %q", problem.Cut(name)), problem.Nearest(name, c.names, maxNear)...)
		}
		return
	}
	c.given[name] = true
	v := m.Value
	if v.IsNull() {
		if f.NotNull && !f.Generated {
			c.fault(at, name, Required, name+" can't be null")
		}
		return
	}
	if want := mustBe(f.Type, v); want != "" {
		c.fault(at, name, Type, fmt.Sprintf("%s must be %s, not %s", name, want, kind(v)))
		return
	}
	c.values(at, f, v)
	if n := utf8.RuneCountInString(v.Text()); f.Length > 0 && v.Kind() == value.String && f.Type == schema.String && n > f.Length {
		c.fault(at, name, Length, fmt.Sprintf("%s holds at most %d characters, not %d", name, f.Length, n))
	}
}

// escape writes a name as a part of a JSON pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1")

// kind says what v is, as a sentence has it.
func kind(v value.Value) string {
	switch k := v.Kind(); k {
	case value.String:
		return fmt.Sprintf("the text %q", problem.Cut(v.Text()))
	case value.Array:
		return "a list"
	case value.Object:
		return "an object"
	default:
		return v.String()
	}
}

// values checks v against those that f may hold: each of several, where the field takes several.
func (c *checker) values(at string, f *schema.Field, v value.Value) {
	if f.Values == nil {
		return
	}
	allowed := make([]string, len(f.Values))
	for i, a := range f.Values {
		allowed[i] = a.String()
	}
	parts := []string{v.String()}
	if several(f) && v.Kind() == value.String {
		parts = strings.Split(v.Text(), ";")
	}
	for _, part := range parts {
		if slices.Contains(allowed, part) {
			continue
		}
		near := problem.Nearest(part, allowed, maxNear)
		if len(near) == 0 && len(allowed) <= 12 {
			c.fault(at, f.Name, Values, fmt.Sprintf("%s must be one of %s, not %q", f.Name, strings.Join(allowed, ", "), problem.Cut(part)))
			continue
		}
		c.fault(at, f.Name, Values, fmt.Sprintf("%s can't be %q, of %d values", f.Name, problem.Cut(part), len(allowed)), near...)
	}
}

// several reports whether a field takes several of its values, parted by semicolons.
func several(f *schema.Field) bool {
	native := strings.ToLower(f.Native)
	return native == "multipicklist" || native == "multiselectpicklist"
}

// mustBe says what a value of a type is; "" where v is one.
func mustBe(t schema.Type, v value.Value) string {
	ok, want := true, ""
	switch t {
	case schema.String:
		ok, want = v.Kind() == value.String, "text"
	case schema.Integer:
		_, whole := v.AsInt()
		ok, want = v.IsNumber() && whole, "a whole number"
	case schema.Double, schema.Decimal:
		ok, want = v.IsNumber(), "a number"
	case schema.Boolean:
		ok, want = v.Kind() == value.Bool, "true or false"
	case schema.Date:
		d, _ := value.OfDateText(v.Text())
		ok, want = v.Kind() == value.Date || v.Kind() == value.String && d.Kind() == value.Date, "an instant such as 2026-01-31T13:00:00Z"
	case schema.Day:
		d, _ := value.OfDateText(v.Text())
		ok, want = v.Kind() == value.Day || v.Kind() == value.String && d.Kind() == value.Day, "a date such as 2026-01-31"
	case schema.UUID:
		_, uuid := value.OfUUIDText(v.Text())
		ok, want = v.Kind() == value.String && uuid, "a UUID"
	case schema.Bytes:
		_, err := base64.StdEncoding.DecodeString(v.Text())
		ok, want = v.Kind() == value.Bytes || v.Kind() == value.String && err == nil, "base64"
	case schema.Array:
		ok, want = v.Kind() == value.Array, "a list"
	}
	if ok {
		return ""
	}
	return want
}
