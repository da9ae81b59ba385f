package search

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// maxExample is the maximum size of an example in bytes.
const maxExample = 600

// A sample limits how much of an example is shown.
type sample struct{ depth, elements, members, text int }

// samples are tried in order until an example is short enough.
var samples = []sample{{8, 2, 30, 80}, {6, 1, 20, 40}, {4, 1, 12, 24}, {3, 1, 8, 16}}

// example writes the document's example of a body, if it has objects without declared names. Only the example shows
// which names these objects have.
func (p *printer) example(c *spec.Content) {
	if !p.descriptions {
		return
	}
	s := p.v.Schema(c.Schema)
	given := c.Example
	if given == nil {
		given = s.Example
	}
	if !p.free(s, 0) {
		return
	}
	if given == nil {
		given = p.composeExample(s)
	}
	if given.Kind() != '{' && given.Kind() != '[' {
		return
	}
	for _, m := range samples {
		if text, ok := (&sampler{v: p.v, sample: m}).value(given, c.Schema, m.depth); ok && len(text) <= maxExample {
			if len(text) > 2 {
				p.line(0, "Example of the body: "+text)
			}
			return
		}
	}
}

// composeExample returns an object made from the examples of those fields of s that are free objects.
func (p *printer) composeExample(s spec.Schema) spec.Raw {
	out := []byte{'{'}
	for _, f := range p.v.Object(s).Fields {
		in := p.v.Schema(f.Schema)
		if in.Example.Kind() != '{' || !p.free(in, 1) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, f.Name), ':'), in.Example...)
	}
	return append(out, '}')
}

// maxLooks is the maximum number of schemas that are examined to find a free object.
const maxLooks = 200

// free reports whether s, or a field of s down to two levels, is an object without declared names. It examines each
// named schema once.
func (p *printer) free(s spec.Schema, level int) bool {
	past, looks := map[string]bool{}, 0
	var look func(s spec.Schema, level int) bool
	look = func(s spec.Schema, level int) bool {
		s = p.element(s)
		if looks++; looks > maxLooks || s.Name != "" && past[s.Name] {
			return false
		}
		past[s.Name] = true
		if isFree(p.v, s) {
			return true
		}
		return level <= 2 && slices.ContainsFunc(p.v.Object(s).Fields, func(f spec.FieldFilter) bool { return look(p.v.Schema(f.Schema), level+1) })
	}
	return look(s, level)
}

// isFree reports whether s is an object for which the document declares no names and allows any values.
func isFree(v *spec.View, s spec.Schema) bool {
	if !slices.Contains(s.Types, "object") && s.Additional.Kind() != 't' {
		return false
	}
	o := v.Object(s)
	return len(o.Fields) == 0 && len(o.Choices) == 0 && len(o.Patterns) == 0 && o.Open && (o.Further == nil || len(o.Further.Compact()) == 2)
}

// A sampler shortens an example to the parts that the view shows.
type sampler struct {
	v *spec.View
	sample
}

// value returns a value of the schema as shortened JSON, and whether it is visible. A value without a description in
// the view is not visible, because its schema may be hidden.
func (x *sampler) value(r, schema spec.Raw, depth int) (string, bool) {
	s := x.v.Schema(schema)
	switch {
	case depth == 0:
		return `"…"`, true
	case r.Kind() == '[':
		if s.Items == nil {
			return "", false
		}
		return x.list(r, func(e spec.Raw) (string, bool) { return x.value(e, s.Items, depth-1) }), true
	case r.Kind() == '{':
		return x.object(r, s, depth)
	case len(s.Types) == 0 && len(s.Enum) == 0 && len(x.v.Object(s).Choices) == 0:
		return "", false
	}
	return x.plain(r), true
}

// object returns an object with the members that the view declares, or with any members if it declares none.
func (x *sampler) object(r spec.Raw, s spec.Schema, depth int) (string, bool) {
	if isFree(x.v, s) {
		return x.open(r, depth), true
	}
	o := x.v.Object(s)
	var others []spec.FieldFilter // fields of alternatives. The example may be of an alternative that hides a name
	for _, c := range o.Choices {
		others = append(others, x.v.Object(x.v.Schema(c)).Fields...)
	}
	if len(o.Fields)+len(others) == 0 && o.Further == nil {
		return "", false
	}
	of := func(all []spec.FieldFilter, name string) int {
		return slices.IndexFunc(all, func(f spec.FieldFilter) bool { return f.Name == name })
	}
	return x.members(r, func(name string, m spec.Raw) (string, bool) {
		declared := o.Further
		if i := of(o.Fields, name); i >= 0 {
			declared = o.Fields[i].Schema
		} else if !x.allowsName(name) {
			return "", false
		} else if i := of(others, name); i >= 0 {
			declared = others[i].Schema
		}
		if declared == nil || x.v.Schema(declared).ReadOnly {
			return "", false
		}
		return x.value(m, declared, depth-1)
	}), true
}

// open returns a shortened value that the document doesn't describe.
func (x *sampler) open(r spec.Raw, depth int) string {
	switch {
	case depth == 0:
		return `"…"`
	case r.Kind() == '{':
		return x.members(r, func(name string, m spec.Raw) (string, bool) { return x.open(m, depth-1), x.allowsName(name) })
	case r.Kind() == '[':
		return x.list(r, func(e spec.Raw) (string, bool) { return x.open(e, depth-1), true })
	}
	return x.plain(r)
}

// allowsName reports whether no schema hides a field with the given name.
func (x *sampler) allowsName(name string) bool {
	return x.v.AllowsExtraField(name) && !x.v.HidesName(name)
}

// members returns the visible members of r.
func (x *sampler) members(r spec.Raw, of func(name string, m spec.Raw) (string, bool)) string {
	out, n := []byte{'{'}, 0
	for name, m := range r.Members() {
		text, ok := of(name, m)
		if !ok {
			continue
		}
		if n++; n > x.sample.members {
			break
		}
		if n > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, oneLine(name, 2*maxValue)), ':'), text...)
	}
	return string(append(out, '}'))
}

// list returns the first visible elements of r.
func (x *sampler) list(r spec.Raw, of func(e spec.Raw) (string, bool)) string {
	out, n := []byte{'['}, 0
	for e := range r.Elements() {
		text, ok := of(e)
		if !ok {
			continue
		}
		if n++; n > x.elements {
			break
		}
		if n > 1 {
			out = append(out, ',')
		}
		out = append(out, text...)
	}
	return string(append(out, ']'))
}

// plain returns a string, shortened, or another value unchanged.
func (x *sampler) plain(r spec.Raw) string {
	if r.Kind() != '"' {
		if text := string(r.Compact()); len(text) <= maxValue && utf8.ValidString(text) {
			return text
		}
		return `"…"`
	}
	return strconv.Quote(oneLine(r.Text(), x.text))
}
