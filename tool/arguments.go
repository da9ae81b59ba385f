package tool

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// arguments are the arguments of a call, already checked against the tool's schema.
type arguments struct{ value.Value }

func (a arguments) has(name string) bool {
	v, ok := a.Get(name)
	return ok && !v.IsNull()
}

func (a arguments) text(name string) string {
	v, _ := a.Get(name)
	return v.Text()
}

func (a arguments) number(name string, otherwise int) int {
	v, ok := a.Get(name)
	n, exact := v.AsInt() // 5.0 is an integer in JSON Schema
	if !ok || !exact {
		return otherwise
	}
	return int(n)
}

// texts returns the list argument called name, or nil without it. The schema ensures that all elements are texts.
func (a arguments) texts(name string) []string {
	v, ok := a.Get(name)
	if !ok {
		return nil
	}
	out := make([]string, len(v.List()))
	for i, e := range v.List() {
		out[i] = e.Text()
	}
	return out
}

// raw reports whether the caller switched off the canonical filter.
func (a arguments) raw() bool {
	v, ok := a.Get("apply_canonical_filter")
	return ok && !v.Bool()
}

func (a arguments) where() (query.Filter, error) {
	v, ok := a.Get("where")
	if !ok {
		return nil, nil
	}
	return query.ParseWhere(v, "/where")
}

// paths returns the list argument called name as paths, each checked at its place, or nil without the argument.
func (a arguments) paths(name string) ([]query.Path, error) {
	texts := a.texts(name)
	if texts == nil {
		return nil, nil
	}
	out := make([]query.Path, len(texts))
	for i, s := range texts {
		p, err := query.CheckPath(s, fmt.Sprintf("/%s/%d", name, i))
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

// partLength is the default, and mostPart the maximum, number of characters in a part. They fit into an answer with any
// escapes.
const partLength, mostPart = 10_000, 16_000

// partSchema is the part of the input schema for reading a field in pieces.
const partSchema = `"part": {"type": "object", "additionalProperties": false, "required": ["field"], "description": "a piece of one large field, in place of keys: characters, or bytes", "properties": {
	"field": {"type": "string"}, "offset": {"type": "integer", "minimum": 0}, "length": {"type": "integer", "minimum": 1, "maximum": 16000, "description": "default 10000"}}}`

// part parses the requested piece of a field, or nil.
func (a arguments) part() (*query.Part, error) {
	v, ok := a.Get("part")
	if !ok {
		return nil, nil
	}
	for _, name := range []string{"keys", "include"} {
		if _, given := a.Get(name); given {
			return nil, invalid("/"+name, name+" and part exclude each other: part names the one field")
		}
	}
	p := arguments{v}
	return &query.Part{Field: p.text("field"), Offset: int64(p.number("offset", 0)), Length: int64(p.number("length", partLength))}, nil
}

// projection parses keys and include into a query.
func (a arguments) projection(q *query.Find) (err error) {
	if q.Keys, err = a.paths("keys"); err != nil {
		return err
	}
	q.Include, err = a.paths("include")
	return err
}

// member returns a member of a result.
func member(name string, v value.Value) value.Member { return value.Member{Name: name, Value: v} }

func text(name, s string) value.Member { return member(name, value.OfString(s)) }

func list(texts []string) value.Value {
	out := make([]value.Value, len(texts))
	for i, s := range texts {
		out[i] = value.OfString(s)
	}
	return value.OfArray(out)
}
