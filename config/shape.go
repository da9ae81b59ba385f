package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/goccy/go-yaml/ast"
)

// A shape is what may stand at one place of the file: how it is read and how editors are told of it.
type shape struct {
	read   func(r *reader, n ast.Node, at string)
	schema map[string]any // JSON Schema
}

// A key is one key of an object.
type key struct {
	name  string
	doc   string
	shape shape
	must  bool // the object needs it
	later bool // it is of the design, but this version does nothing with it
}

// later returns keys that this version doesn't support: accepting them would be a promise.
func later(names ...string) []key {
	out := make([]key, len(names))
	for i, n := range names {
		out[i] = key{name: n, later: true}
	}
	return out
}

// object is a mapping with the given keys. check, which may be nil, runs after a mapping was read.
func object(keys []key, check func(r *reader, n ast.Node, at string)) shape {
	properties := map[string]any{}
	var names, required []string
	for _, k := range keys {
		if k.later {
			continue
		}
		names = append(names, k.name)
		properties[k.name] = k.shape.described(k.doc)
		if k.must {
			required = append(required, k.name)
		}
	}
	s := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return shape{schema: s, read: func(r *reader, n ast.Node, at string) {
		entries, ok := r.entries(n, at)
		if !ok {
			r.must(n, at, "an object with "+anyOf(names))
			return
		}
		given := map[string]bool{}
		for _, e := range entries {
			given[e.name] = true
			i := slices.IndexFunc(keys, func(k key) bool { return k.name == e.name })
			switch {
			case i < 0:
				r.unknown(e, at, "key", names)
			case keys[i].later:
				r.wrong(e.key, e.at, "not supported yet by this version; take it out")
			default:
				keys[i].shape.value(r, e)
			}
		}
		for _, name := range required {
			if !given[name] {
				r.wrong(start(n), at, "needs the key %s", name)
			}
		}
		if check != nil {
			check(r, n, at)
		}
	}}
}

// value reads the value of e.
func (s shape) value(r *reader, e entry) {
	if _, null := e.value.(*ast.NullNode); null || e.value == nil {
		r.absent(e.value, e.at)
		return
	}
	s.read(r, e.value, e.at)
}

// described returns the JSON Schema of s with a description.
func (s shape) described(doc string) map[string]any {
	out := map[string]any{"description": doc}
	for k, v := range s.schema {
		out[k] = v
	}
	return out
}

// A table is a mapping whose keys are names.
type table struct {
	names string                                       // what a key is, in messages: "source"
	check func(r *reader, e entry) bool                // reports whether the name is right, after noting why not; may be nil
	of    func(name string) (value shape, keep func()) // the value of a name, and what to do when it is read; keep may be nil
}

// each is a mapping of names to values. An empty one is refused.
func each(t table) shape {
	value, _ := t.of("")
	return shape{
		schema: map[string]any{"type": "object", "minProperties": 1, "additionalProperties": value.schema},
		read: func(r *reader, n ast.Node, at string) {
			entries, ok := r.entries(n, at)
			switch {
			case !ok:
				r.must(n, at, "an object with one key for each "+t.names)
				return
			case len(entries) == 0:
				r.wrong(start(n), at, "is empty; name a %s or leave it out", t.names)
			}
			for _, e := range entries {
				switch {
				case strings.TrimSpace(e.name) == "":
					r.wrong(e.key, at, "a %s needs a name", t.names)
					continue
				case t.check != nil && !t.check(r, e):
					continue
				}
				value, keep := t.of(e.name)
				value.value(r, e)
				if keep != nil {
					keep()
				}
			}
		}}
}

// list is a list of texts, no text twice. check, which may be nil, returns what is wrong with one.
func list(into *[]string, of string, check func(string) string) shape {
	return shape{
		schema: map[string]any{"type": "array", "minItems": 1, "uniqueItems": true, "items": map[string]any{"type": "string", "minLength": 1}},
		read: func(r *reader, n ast.Node, at string) {
			s, ok := n.(*ast.SequenceNode)
			switch {
			case !ok:
				r.must(n, at, "a list of "+of)
				return
			case len(s.Values) == 0:
				r.wrong(start(n), at, "the list is empty; name at least one or leave it out")
				return
			}
			*into = []string{}
			for i, v := range s.Values {
				at := query.Pointer(at, fmt.Sprint(i))
				r.places[at] = start(v)
				text, ok := r.text(v, at)
				if !ok {
					continue
				}
				switch {
				case text == "":
					r.wrong(start(v), at, "is empty")
				case slices.Contains(*into, text):
					r.wrong(start(v), at, "stands in the list twice")
				case check != nil && check(text) != "":
					r.wrong(start(v), at, "%s", check(text))
				}
				*into = append(*into, text)
			}
		}}
}

// oneOf is a text out of a few.
func oneOf[T ~string](into *T, values ...T) shape {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return text("one of "+strings.Join(names, ", "), func(s string) string {
		i := slices.Index(names, s)
		if i < 0 {
			return "must be " + anyOf(names) + problem.DidYouMean(problem.Nearest(s, names, 1))
		}
		*into = values[i]
		return ""
	}).with("anyOf", []any{map[string]any{"enum": names}, map[string]any{"type": "string", "pattern": `\$\{`}})
}

// with returns s with one keyword of its JSON Schema set; "type" goes where others say it.
func (s shape) with(keyword string, v any) shape {
	out := map[string]any{}
	for k, v := range s.schema {
		if keyword != "anyOf" || k != "type" {
			out[k] = v
		}
	}
	out[keyword] = v
	s.schema = out
	return s
}

// anyOf joins names: "a, b or c".
func anyOf(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
