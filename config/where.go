package config

import (
	"fmt"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// where is a filter in the where language.
func where(into *query.Filter) shape {
	return shape{schema: map[string]any{"type": "object", "minProperties": 1}, read: func(r *reader, n ast.Node, at string) {
		v, ok := r.datum(n, at)
		if !ok {
			return
		}
		if v.Kind() != value.Object {
			r.must(n, at, "a where object, such as {deleted_at: null}")
			return
		}
		f, err := query.ParseWhere(v, at)
		switch {
		case err != nil:
			p := problem.Of(err)
			r.wrongAt(p.Pointer, p.Detail+problem.DidYouMean(p.Near))
		case f == nil:
			r.wrong(start(n), at, "is empty; leave it out to keep every record")
		default:
			*into = f
		}
	}}
}

// data is an object of any values.
func data(into *value.Value) shape {
	return shape{schema: map[string]any{"type": "object"}, read: func(r *reader, n ast.Node, at string) {
		v, ok := r.datum(n, at)
		if !ok {
			return
		}
		if v.Kind() != value.Object {
			r.must(n, at, "an object")
			return
		}
		*into = v
	}}
}

// datum reads any value exactly, as value.Read reads JSON. It reports whether all of it is good, after noting why not.
func (r *reader) datum(n ast.Node, at string) (value.Value, bool) {
	switch n := n.(type) {
	case *ast.NullNode:
		if n.Token.Type == token.ImplicitNullType {
			r.wrong(r.near(n, at), at, "has no value; write null when null is meant")
			return value.Value{}, false
		}
		return value.Value{}, true
	case *ast.BoolNode:
		return value.OfBool(n.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return r.number(n, at)
	case *ast.StringNode:
		if kind(n) == "a number" {
			return r.number(n, at)
		}
	case *ast.SequenceNode:
		list, ok := make([]value.Value, len(n.Values)), true
		for i, item := range n.Values {
			at := query.Pointer(at, strconv.Itoa(i))
			r.places[at] = start(item)
			v, good := r.datum(item, at)
			list[i], ok = v, ok && good
		}
		return value.OfArray(list), ok
	case *ast.MappingNode, *ast.MappingValueNode:
		before := r.count()
		entries, _ := r.entries(n, at)
		members, ok := make([]value.Member, len(entries)), r.count() == before
		for i, e := range entries {
			v, good := r.datum(e.value, e.at)
			members[i], ok = value.Member{Name: e.name, Value: v}, ok && good
		}
		return value.OfObject(members), ok
	}
	s, ok := r.text(n, at)
	return value.OfString(s), ok
}

// number reads a number as JSON writes it. Other spellings mean different numbers to different readers of YAML.
func (r *reader) number(n ast.Node, at string) (value.Value, bool) {
	s := n.GetToken().Value
	if !number(s) {
		r.wrong(start(n), at, "write the number in decimal as JSON does, or in quotes when it is text")
		return value.Value{}, false
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value.OfInt(v), true
	}
	return value.OfDecimal(s), true
}

// near returns the place of the key at, or of n when it stands under none.
func (r *reader) near(n ast.Node, at string) position {
	if p, ok := r.places[at]; ok {
		return p
	}
	return start(n)
}

// filters are where objects by class, or for every class under "default".
func filters(into *map[string]query.Filter) shape {
	return each(table{names: "class", of: func(name string) (shape, func()) {
		var f query.Filter
		return where(&f), func() {
			if *into == nil {
				*into = map[string]query.Filter{}
			}
			(*into)[name] = f
		}
	}})
}

// described values of a field: each value and its meaning.
func meanings(r *reader, n ast.Node, at string, add func(v, meaning string)) {
	entries, ok := r.entries(n, at)
	switch {
	case !ok:
		r.must(n, at, "an object of each value and its meaning")
		return
	case len(entries) == 0:
		r.wrong(start(n), at, "is empty; name a value or leave it out")
	}
	for _, e := range entries {
		text(fmt.Sprintf("the meaning of %s", problem.Cut(e.name)), func(s string) string { add(e.name, s); return "" }).value(r, e)
	}
}
