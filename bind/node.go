package bind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A node is an expression whose type may still be open: a constant takes the type that is wanted of it, and an object
// whose members are known stays in its parts as long as it can, so that each keeps its type.
type node struct {
	expr     algebra.Expr
	column   *algebra.Column // what a plain reference refers to
	constant bool            // expr is a Const as written
	list     bool            // JSON that is always a list or null
	members  []member        // of an object, whose expr is nil
	optional bool            // the object is null where all of its members are
	at       string
}

type member struct {
	name string
	node node
}

func (n *node) object() bool { return n.expr == nil }

func (n *node) null() bool {
	c, ok := n.expr.(algebra.Const)
	return ok && c.Value.IsNull()
}

// column returns a reference to column i.
func (r *records) column(i int, at string) node {
	c := &r.shape.Columns[i]
	return node{expr: algebra.Ref{Column: i, T: c.Type}, column: c, list: c.List, at: at}
}

// field returns what a path names: a column, the object of the columns below it, or a part of a JSON column.
func (r *records) field(path query.Path, at string) (node, error) {
	for n := len(path); n > 0; n-- {
		i := r.shape.Find(path[:n].String())
		if i < 0 {
			continue
		}
		return part(r.column(i, at), path[:n], path[n:], at)
	}
	if n, ok := r.below(path, at); ok {
		return n, nil
	}
	for n := len(path) - 1; n > 0; n-- { // a member that an object hasn't got
		if _, ok := r.below(path[:n], at); ok {
			return node{}, r.computed(path, at)
		}
	}
	return node{}, r.unknown(path, at)
}

// below returns the object of the columns whose paths begin with path, and whether there are any.
func (r *records) below(path query.Path, at string) (node, bool) {
	object := node{at: at, optional: slices.ContainsFunc(r.shape.Optional, func(o query.Path) bool { return slices.Equal(o, path) })}
	for i := range r.shape.Columns {
		p := r.shape.Columns[i].Path
		if len(p) <= len(path) || !slices.Equal(p[:len(path)], path) {
			continue
		}
		name := p[len(path)]
		if slices.ContainsFunc(object.members, func(m member) bool { return m.name == name }) {
			continue
		}
		inner := append(slices.Clone(path), name)
		if len(p) == len(inner) {
			object.members = append(object.members, member{name, r.column(i, at)})
			continue
		}
		n, _ := r.below(inner, at)
		object.members = append(object.members, member{name, n})
	}
	return object, object.members != nil
}

// part returns what rest leads to in n, which is called path.
func part(n node, path, rest query.Path, at string) (node, error) {
	switch {
	case len(rest) == 0:
		return n, nil
	case n.object():
		for _, m := range n.members {
			if m.name == rest[0] {
				return part(m.node, append(slices.Clone(path), rest[0]), rest[1:], at)
			}
		}
		return node{}, invalid(at, "%q: the object %s has no member %s", append(slices.Clone(path), rest...), path, rest[0])
	case n.expr.Type() != schema.JSON:
		return node{}, invalid(at, "%q: %s is %s and has no parts", append(slices.Clone(path), rest...), path, a(n.expr.Type()))
	case n.list:
		return node{}, invalid(at, "%q: %s is a list; $unwind it first, or take its elements with $map, $filter or $arrayElemAt", append(slices.Clone(path), rest...), path)
	}
	return node{expr: algebra.Part{X: n.expr, Path: slices.Clone(rest)}, at: at}, nil
}

// json returns n as JSON. Ids are text there, as everywhere where an agent reads them.
func (n *node) json() algebra.Expr {
	switch {
	case n.object():
		o := algebra.Object{}
		for _, m := range n.members {
			o.Names = append(o.Names, m.name)
			o.Values = append(o.Values, m.node.json())
		}
		if n.optional {
			return algebra.Case{If: []algebra.Expr{n.absent()}, Then: []algebra.Expr{algebra.Const{T: schema.JSON}}, Else: o, T: schema.JSON}
		}
		return o
	case n.constant:
		return constant(n.expr.(algebra.Const).Value, schema.JSON)
	case n.expr.Type() == schema.JSON:
		return n.expr
	case n.column != nil && n.column.ID && n.expr.Type() == schema.Integer:
		return algebra.ToJSON{X: algebra.Convert{X: n.expr, T: schema.String}}
	}
	return algebra.ToJSON{X: n.expr}
}

// absent tells that all members of an object are null.
func (n *node) absent() algebra.Expr {
	var nulls []algebra.Expr
	var walk func(n *node)
	walk = func(n *node) {
		for i := range n.members {
			if m := &n.members[i].node; m.object() {
				walk(m)
			} else {
				nulls = append(nulls, algebra.Apply{Op: algebra.IsNull, Args: []algebra.Expr{m.expr}, T: schema.Boolean})
			}
		}
	}
	walk(n)
	return algebra.Apply{Op: algebra.And, Args: nulls, T: schema.Boolean}
}

// constant is v as a value of type t, which it fits. In JSON, dates and bytes are their text.
func constant(v value.Value, t schema.Type) algebra.Const {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		if t == schema.JSON {
			v = value.OfString(v.String())
		}
	}
	return algebra.Const{Value: v, T: t}
}

// natural is the type of a constant as written; JSON for null, lists and objects.
func natural(v value.Value) schema.Type {
	switch v.Kind() {
	case value.Bool:
		return schema.Boolean
	case value.Int:
		return schema.Integer
	case value.Float:
		return schema.Double
	case value.Decimal:
		return schema.Decimal
	case value.String:
		return schema.String
	case value.Date, value.Day:
		return schema.Date
	case value.Bytes:
		return schema.Bytes
	}
	return schema.JSON
}

func numeric(t schema.Type) bool {
	return t == schema.Integer || t == schema.Decimal || t == schema.Double
}

// wider returns the wider of two numeric types: Integer, Decimal, Double.
func wider(x, y schema.Type) schema.Type {
	switch {
	case x == schema.Double || y == schema.Double:
		return schema.Double
	case x == schema.Decimal || y == schema.Decimal:
		return schema.Decimal
	}
	return schema.Integer
}

// dynamic reports whether what an expression of type t holds is known only when it runs.
func dynamic(t schema.Type) bool { return t == schema.JSON || t == schema.Any }

// a names a type in a sentence.
func a(t schema.Type) string {
	switch t {
	case schema.Integer, schema.Any, schema.Array, schema.Opaque:
		return "an " + t.String()
	case schema.JSON:
		return "JSON"
	case schema.Bytes:
		return "bytes"
	}
	return "a " + t.String()
}
