package yamlconf

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/goccy/go-yaml/token"
)

// A Shape defines the allowed values at one place in a file: how they are read, and their schema for editors. Read
// reads the value, whose JSON pointer is at, and reports its faults. It stores the result where the constructor of
// the Shape specifies.
type Shape struct {
	Read   func(r *Reader, n Node, at string)
	Schema map[string]any // JSON Schema, draft 2020-12
	Null   func()         // handles an explicit null. If Null is nil, the key can't be null
}

// A Key is one key of an object.
type Key struct {
	Name  string
	Doc   string // for editors and for the documentation
	Shape Shape
	Must  bool // the key is required
	Later bool // planned, but not supported by this version

	Meant []string // other names that people write for the key. Their faults propose it
}

// Later returns keys that this version doesn't support. They are refused instead of ignored.
func Later(names ...string) []Key {
	out := make([]Key, len(names))
	for i, n := range names {
		out[i] = Key{Name: n, Later: true}
	}
	return out
}

// Object returns the shape of a mapping with the given keys. check, which may be nil, runs after the mapping has been
// read.
func Object(keys []Key, check func(r *Reader, n Node, at string)) Shape {
	// The JSON Schema and the reader are made from the same keys.
	properties := map[string]any{}
	var names, required []string
	for _, k := range keys {
		if k.Later {
			continue
		}
		names = append(names, k.Name)
		properties[k.Name] = k.Shape.schemaWithDoc(k.Doc)
		if k.Must {
			required = append(required, k.Name)
		}
	}
	s := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return Shape{Schema: s, Read: func(r *Reader, n Node, at string) {
		entries, ok := r.Entries(n, at)
		if !ok {
			r.Must(n, at, "an object with "+AnyOf(names))
			return
		}
		given := map[string]bool{}
		for _, e := range entries {
			given[e.Name] = true
			i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == e.Name })
			switch {
			case i < 0:
				r.reportUnknownKey(e, at, "key", names, insteadOf(e.Name, keys))
			case keys[i].Later:
				r.Wrong(e.Key, e.At, "not supported yet by this version. Take it out")
			default:
				keys[i].Shape.Value(r, e)
			}
		}
		for _, name := range required {
			if !given[name] {
				r.Wrong(n.Start(), at, "needs the key %s", name)
			}
		}
		if check != nil {
			check(r, n, at)
		}
	}}
}

// insteadOf returns the end of a message that proposes the key which people mean by name, with its description, or "".
func insteadOf(name string, keys []Key) string {
	for _, k := range keys {
		if slices.Contains(k.Meant, name) {
			return problem.DidYouMean([]string{k.Name}) + " " + k.Doc
		}
	}
	return ""
}

// NotEmpty is a check for Object that refuses an empty object.
func NotEmpty(r *Reader, n Node, at string) {
	if n.Empty() {
		r.Wrong(n.Start(), at, "is empty. Leave it out")
	}
}

// Value reads the value of e. It refuses a key without a value.
func (s Shape) Value(r *Reader, e Entry) {
	switch {
	case !e.Value.null():
		s.Read(r, e.Value, e.At)
	case s.Null != nil && e.Value.yaml != nil && e.Value.yaml.GetToken().Type != token.ImplicitNullType:
		s.Null()
	default:
		r.absent(e.Value, e.At)
	}
}

// schemaWithDoc returns the JSON Schema of s with a description.
func (s Shape) schemaWithDoc(doc string) map[string]any {
	out := map[string]any{"description": doc}
	maps.Copy(out, s.Schema)
	return out
}

// JSONSchema returns the indented JSON Schema (draft 2020-12) of a document with this shape.
func (s Shape) JSONSchema(title, doc string) []byte {
	all := s.schemaWithDoc(doc)
	all["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	all["title"] = title
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err) // never fails for plain data
	}
	return append(b, '\n')
}

// A Table is a mapping whose keys are names.
type Table struct {
	Names string                                       // the meaning of a name, in messages: "source"
	Blank bool                                         // names may be blank
	Check func(r *Reader, e Entry) bool                // returns false after reporting an invalid name. May be nil
	Of    func(name string) (value Shape, keep func()) // the shape of a name's value, and a function to call after it is read or nil
}

// Each returns the shape of a mapping from names to values. It refuses an empty mapping.
func Each(t Table) Shape {
	value, _ := t.Of("")
	return Shape{
		Schema: map[string]any{"type": "object", "minProperties": 1, "additionalProperties": value.Schema},
		Read: func(r *Reader, n Node, at string) {
			entries, ok := r.Entries(n, at)
			switch {
			case !ok:
				r.Must(n, at, "an object with one key for each "+t.Names)
				return
			case len(entries) == 0:
				r.Wrong(n.Start(), at, "is empty. Name a %s or leave it out", t.Names)
			}
			for _, e := range entries {
				switch {
				case !t.Blank && strings.TrimSpace(e.Name) == "":
					r.Wrong(e.Key, at, "a %s needs a name", t.Names)
					continue
				case t.Check != nil && !t.Check(r, e):
					continue
				}
				value, keep := t.Of(e.Name)
				value.Value(r, e)
				if keep != nil {
					keep()
				}
			}
		}}
}

// List returns the shape of a list of distinct texts. check, which may be nil, returns the fault in a text, or "".
func List(into *[]string, of string, check func(string) string) Shape {
	return Shape{
		Schema: map[string]any{"type": "array", "minItems": 1, "uniqueItems": true, "items": map[string]any{"type": "string", "minLength": 1}},
		Read: func(r *Reader, n Node, at string) {
			elements, ok := n.List()
			switch {
			case !ok:
				r.Must(n, at, "a list of "+of)
				return
			case len(elements) == 0:
				r.Wrong(n.Start(), at, "the list is empty. Name at least one or leave it out")
				return
			}
			*into = []string{}
			for i, v := range elements {
				at := r.element(v, at, i)
				text, ok := r.text(v, at)
				if !ok {
					continue
				}
				switch {
				case text == "":
					r.Wrong(v.Start(), at, "is empty")
				case slices.Contains(*into, text):
					r.Wrong(v.Start(), at, "is in the list twice")
				case check != nil && check(text) != "":
					r.Wrong(v.Start(), at, "%s", check(text))
				}
				*into = append(*into, text)
			}
		}}
}

// Items returns the shape of a list of values, each with its own shape. The argument of describes the values in
// messages: "rules". item returns the shape of an element, and a function to call after the element is read, which
// may be nil.
func Items(of string, item func(i int) (Shape, func())) Shape {
	one, _ := item(0)
	return Shape{Schema: map[string]any{"type": "array", "items": one.Schema}, Read: func(r *Reader, n Node, at string) {
		elements, ok := n.List()
		if !ok {
			r.Must(n, at, "a list of "+of)
			return
		}
		for i, v := range elements {
			one, keep := item(i)
			one.Read(r, v, r.element(v, at, i))
			if keep != nil {
				keep()
			}
		}
	}}
}

// element records the position of element i of a list and returns the element's JSON pointer. The argument at is the
// pointer of the list.
func (r *Reader) element(v Node, at string, i int) string {
	at = query.Pointer(at, fmt.Sprint(i))
	r.places[at] = v.Start()
	return at
}

// Either returns a shape that reads an object with by, and any other value with plain.
func Either(plain, by Shape) Shape {
	return Shape{Schema: map[string]any{"anyOf": []any{plain.Schema, by.Schema}}, Read: func(r *Reader, n Node, at string) {
		if n.IsObject() {
			by.Read(r, n, at)
		} else {
			plain.Read(r, n, at)
		}
	}}
}

// With returns s with one keyword of its JSON Schema set. Setting "anyOf" removes "type".
func (s Shape) With(keyword string, v any) Shape {
	out := maps.Clone(s.Schema)
	if keyword == "anyOf" {
		delete(out, "type")
	}
	out[keyword] = v
	s.Schema = out
	return s
}

// AnyOf joins names in the form "a, b or c".
func AnyOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Join returns the JSON pointer that consists of the keys.
func Join(keys ...string) string {
	at := ""
	for _, k := range keys {
		at = query.Pointer(at, k)
	}
	return at
}

// wrongKind reports a number, true or false where a text is required.
func (r *Reader) wrongKind(n Node, at string) {
	if k := n.kind(); k == "a number" || k == "true" || k == "false" {
		r.Wrong(n.Start(), at, "must be text, not %s. Put it in quotes", k)
		return
	}
	r.Must(n, at, "text")
}

// oneText returns the shape of one of several texts, which may be given by ${…}.
func oneText(names []string, take func(i int)) Shape {
	return Text("one of "+strings.Join(names, ", "), func(s string) string {
		i := slices.Index(names, s)
		if i < 0 {
			return "must be " + AnyOf(names) + problem.DidYouMean(problem.Nearest(s, names, 1))
		}
		take(i)
		return ""
	}).With("anyOf", []any{map[string]any{"enum": names}, map[string]any{"type": "string", "pattern": `\$\{`}})
}
