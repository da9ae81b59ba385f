package yamlconf

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Where returns the shape of a filter of a rule, as for query.ParseRule, with at least one condition.
func Where(into *query.Filter) Shape {
	return Shape{Schema: map[string]any{"type": "object", "minProperties": 1}, Read: func(r *Reader, n Node, at string) {
		v, ok := r.datum(n, at)
		if !ok {
			return
		}
		if v.Kind() != value.Object {
			r.Must(n, at, "a where object, such as {deleted_at: null}")
			return
		}
		f, err := query.ParseRule(v, at)
		switch {
		case err != nil:
			p := problem.Of(err)
			r.WrongAt(p.Pointer, p.Detail+problem.DidYouMean(p.Near))
		case f == nil:
			r.Wrong(n.Start(), at, "is empty. Leave it out to keep every record")
		default:
			*into = f
		}
	}}
}

// Data returns the shape of an object with any values, exactly as in JSON.
func Data(into *value.Value) Shape {
	return Shape{Schema: map[string]any{"type": "object"}, Read: func(r *Reader, n Node, at string) {
		v, ok := r.datum(n, at)
		if !ok {
			return
		}
		if v.Kind() != value.Object {
			r.Must(n, at, "an object")
			return
		}
		*into = v
	}}
}

// Any returns the shape of any value, exactly as in JSON. It refuses null, because the key can be omitted instead.
func Any(into *value.Value) Shape {
	return Shape{Schema: map[string]any{}, Read: func(r *Reader, n Node, at string) {
		if v, ok := r.datum(n, at); ok {
			*into = v
		}
	}}
}

// datum reads any value exactly, as value.Read reads JSON. It returns false after reporting faults.
func (r *Reader) datum(n Node, at string) (value.Value, bool) {
	switch y := n.yaml.(type) {
	case *ast.NullNode:
		if y.Token.Type == token.ImplicitNullType {
			r.Wrong(r.near(n, at), at, "has no value. Write null when null is meant")
			return value.Value{}, false
		}
		return value.Value{}, true
	case *ast.BoolNode:
		return value.OfBool(y.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return r.number(n, at)
	case *ast.StringNode:
		if n.kind() == "a number" {
			return r.number(n, at)
		}
	case *ast.SequenceNode:
		elements, _ := n.List()
		list, ok := make([]value.Value, len(elements)), true
		for i, item := range elements {
			v, good := r.datum(item, r.element(item, at, i))
			list[i], ok = v, ok && good
		}
		return value.OfArray(list), ok
	case *ast.MappingNode, *ast.MappingValueNode:
		before := r.Count()
		entries, _ := r.Entries(n, at)
		members, ok := make([]value.Member, len(entries)), r.Count() == before
		for i, e := range entries {
			v, good := r.datum(e.Value, e.At)
			members[i], ok = value.Member{Name: e.Name, Value: v}, ok && good
		}
		return value.OfObject(members), ok
	}
	s, ok := r.text(n, at)
	return value.OfString(s), ok
}

// number reads a number in JSON's syntax, because YAML readers disagree about other spellings.
func (r *Reader) number(n Node, at string) (value.Value, bool) {
	s := n.yaml.GetToken().Value
	if !number(s) {
		r.Wrong(n.Start(), at, "write the number in decimal as JSON does, or in quotes when it is text")
		return value.Value{}, false
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value.OfInt(v), true
	}
	return value.OfDecimal(s), true
}
