package argcheck

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// An Explainer describes which keywords of a JSON Schema a value violates.
type Explainer struct {
	Value value.Value
	At    string                                 // its JSON pointer in the arguments
	Noun  string                                 // the word for a member of an object, such as "argument"
	Known func(at []string) []string             // returns the allowed names of the object at a position. May be nil
	Named func(url string) string                // returns the name of a schema, or "". With nil, schemas have no names
	Skip  func(*jsonschema.ValidationError) bool // reports whether to ignore a violated keyword. Nil ignores none
}

// Faults returns a fault for each keyword that the value violates according to err, an error of the validation. Of
// several alternatives, it uses only the nearest.
func (x Explainer) Faults(err error) []Fault {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return x.faults(invalid)
	}
	return nil
}

func (x Explainer) faults(e *jsonschema.ValidationError) (out []Fault) {
	if len(e.Causes) == 0 {
		return x.leaf(e)
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return x.nearest(e)
	}
	for _, cause := range e.Causes {
		out = append(out, x.faults(cause)...)
	}
	return out
}

// leaf returns the faults of one keyword at the position of the value.
func (x Explainer) leaf(e *jsonschema.ValidationError) (out []Fault) {
	if x.Skip != nil && x.Skip(e) {
		return nil
	}
	at, got := x.At, x.Value
	for _, token := range e.InstanceLocation {
		at, got = query.Pointer(at, token), member(got, token)
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
			out = append(out, Missing(at, x.Noun, missing))
		}
	case *kind.Enum:
		var allowed []string
		for _, w := range k.Want {
			if text := constant(w); !slices.Contains(allowed, text) {
				allowed = append(allowed, text)
			}
		}
		out = append(out, OneOf(at, name, got, allowed))
	case *kind.FalseSchema:
		if last := len(e.InstanceLocation) - 1; last >= 0 {
			out = append(out, x.unknown(at[:strings.LastIndexByte(at, '/')], e.InstanceLocation[last], e.InstanceLocation[:last]))
		} else {
			out = append(out, Must(at, rule, name, "be left out", ""))
		}
	case *kind.AdditionalProperties:
		for _, unknown := range k.Properties {
			out = append(out, x.unknown(at, unknown, e.InstanceLocation))
		}
	default:
		f := Must(at, rule, name, must(k), found(k, got))
		if several, ok := k.(*kind.MaxProperties); ok && several.Want == 1 {
			f.Message += apart(got)
		}
		out = append(out, f)
	}
	return out
}

// apart returns the end of a message that shows how to write an object of several fields as objects of one field each. It
// returns "" for a large object.
func apart(v value.Value) string {
	b := []byte(". Write one object for each: ")
	for i, m := range v.Members() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = value.OfObject([]value.Member{m}).AppendJSON(b)
	}
	if len(b) > 200 {
		return ""
	}
	return string(b)
}

// unknown returns the fault for an unknown name in the object at a position.
func (x Explainer) unknown(at, name string, place []string) Fault {
	if x.Known != nil {
		return UnknownName(at, x.Noun, name, x.Known(place))
	}
	f := problem.Fault{Pointer: At(at, name), Rule: RuleUnknown, Message: fmt.Sprintf("unknown %s %q", x.Noun, problem.Cut(name))}
	return Fault{Fault: f, Name: name}
}

// member returns the part of v for one token of a JSON pointer.
func member(v value.Value, token string) value.Value {
	if v.Kind() == value.Array {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.List()) {
			return v.List()[i]
		}
	}
	part, _ := v.Get(token)
	return part
}

// constant formats an enum value for people.
func constant(v any) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(v)
}

// must completes "the value must …" for a keyword.
func must(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "be " + types(k.Want)
	case *kind.Const:
		return "be " + constant(k.Want)
	case *kind.Format:
		return "be " + formatWords(k.Want)
	case *kind.Pattern:
		return "match " + k.Want
	case *kind.Minimum:
		return "be at least " + number(k.Want)
	case *kind.Maximum:
		return "be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "be a multiple of " + number(k.Want)
	case *kind.MinLength:
		return "have at least " + Count(k.Want, "character")
	case *kind.MaxLength:
		return "have at most " + Count(k.Want, "character")
	case *kind.MinItems:
		return "have at least " + Count(k.Want, "item")
	case *kind.MaxItems:
		return "have at most " + Count(k.Want, "item")
	case *kind.MinProperties:
		return "have at least " + Count(k.Want, "field")
	case *kind.MaxProperties:
		return "have at most " + Count(k.Want, "field")
	case *kind.UniqueItems:
		return fmt.Sprintf("have no item twice: those at %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	}
	return "be valid: " + k.LocalizedString(message.NewPrinter(language.English))
}

// found describes a value that violates a keyword, by its size or its content. It doesn't repeat bytes, because they
// may be a secret.
func found(k jsonschema.ErrorKind, got value.Value) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return strconv.Itoa(k.Got)
	case *kind.MaxLength:
		return strconv.Itoa(k.Got)
	case *kind.MinItems:
		return strconv.Itoa(k.Got)
	case *kind.MaxItems:
		return strconv.Itoa(k.Got)
	case *kind.MinProperties:
		return strconv.Itoa(k.Got)
	case *kind.MaxProperties:
		return strconv.Itoa(k.Got)
	case *kind.Format:
		if k.Want == "byte" {
			return ""
		}
		return fmt.Sprintf("%q", problem.Cut(got.Text()))
	case *kind.Type, *kind.Const, *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		return Found(got)
	}
	return ""
}

// types returns words for JSON types.
func types(all []string) string {
	words := make([]string, len(all))
	for i, t := range all {
		words[i] = map[string]string{"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
			"array": "a list", "object": "an object", "null": "null"}[t]
	}
	return strings.Join(words, " or ")
}

// Count returns a number with its noun, such as "1 character".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// number formats a number for people.
func number(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// formatWords describes a text format, with an example.
func formatWords(name string) string {
	switch name {
	case "date-time", "datetime":
		return "a date and time, such as 2026-11-28T13:05:00Z"
	case "date":
		return "a date, such as 2026-11-28"
	case "time":
		return "a time, such as 13:05:00Z"
	case "uuid", "guid":
		return "a UUID, such as 3fa85f64-5717-4562-b3fc-2c963f66afa6"
	case "email", "idn-email":
		return "an e-mail address, such as ana@example.com"
	case "uri", "iri":
		return "a URI, such as https://example.com/path"
	case "url":
		return "a URL, such as https://example.com/path"
	case "hostname":
		return "a host name, such as db.example.com"
	case "ipv4":
		return "an IPv4 address, such as 192.0.2.1"
	case "ipv6":
		return "an IPv6 address, such as 2001:db8::1"
	case "int64", "uint64":
		return "a whole number, such as 42"
	case "byte":
		return "bytes in base64, such as aGVsbG8="
	}
	return "of the format " + name
}
