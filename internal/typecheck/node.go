package typecheck

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Node is an expression whose type may still be open. A constant gets the type that its context requires. The members
// of an object with known members stay separate as long as possible, so that each keeps its type.
type Node struct {
	Expr     plan.Expr    // nil for an object
	Column   *plan.Column // the column of a plain reference, or the column whose ids Expr may contain
	Constant bool         // Expr is a Const as the query contains it
	List     bool         // JSON that is always a list or null
	Known    *plan.Known  // the known contents of JSON, or nil
	Members  []member     // the members of an object
	Optional bool         // the object is null if all its members are null
	At       string       // the JSON pointer
}

// A member is a member of an object with known members.
type member struct {
	Name string
	Node Node
}

// Literal returns the constant v. at is its JSON pointer.
func Literal(v value.Value, at string) Node {
	return Node{Expr: plan.Const{Value: v, T: Natural(v)}, Constant: true, List: v.Kind() == value.Array, At: at}
}

// Compute replaces the expression of n by e, which is computed from it. After that, n doesn't represent the written
// constant or the column.
func (n *Node) Compute(e plan.Expr) { n.Expr, n.Column, n.Constant, n.Known = e, nil, false, nil }

// Elsewhere replaces the expression of n by e, which reads the same value from a different place.
func (n *Node) Elsewhere(e plan.Expr) { n.Expr, n.Constant = e, false }

// Become turns n into another constant.
func (n *Node) Become(v value.Value, t schema.Type) {
	n.Known = nil
	n.Expr, n.Column, n.Constant, n.List = plan.Const{Value: v, T: t}, nil, true, v.Kind() == value.Array || n.List && v.IsNull()
}

// IsObject reports whether n is an object with known members.
func (n *Node) IsObject() bool { return n.Expr == nil }

// IsNull reports whether n is the constant null.
func (n *Node) IsNull() bool {
	c, ok := n.Expr.(plan.Const)
	return ok && c.Value.IsNull()
}

// Part returns the part rest of n. path is the path of n.
func Part(n Node, path, rest query.Path, at string) (Node, error) {
	whole := func() query.Path { return append(slices.Clone(path), rest...) }
	switch {
	case len(rest) == 0:
		return n, nil
	case n.IsObject():
		for _, m := range n.Members {
			if m.Name == rest[0] {
				return Part(m.Node, append(slices.Clone(path), rest[0]), rest[1:], at)
			}
		}
		return Node{}, problem.Invalid(at, "%q: the object %s has no member %s", whole(), path, rest[0])
	case n.Expr.Type() != schema.JSON:
		return Node{}, problem.Invalid(at, "%q: %s is %s and has no parts", whole(), path, a(n.Expr.Type()))
	case n.Column != nil && n.Column.Class != "":
		return Node{}, problem.Invalid(at, "%s is a list of pointers: $unwind it first, in a pipeline", path)
	}
	known, missing := Within(n.Known, path, rest, at)
	switch {
	case missing != nil:
		return Node{}, missing
	case n.List:
		return Node{Expr: parts(n.Expr, slices.Clone(rest)), List: true, Known: plan.ListOf(known), At: at}, nil
	}
	return Node{Expr: plan.Part{X: n.Expr, Path: slices.Clone(rest)}, Known: known, At: at}, nil
}

// Within returns the knowledge about the part rest of a JSON value. path is the path of the value, and k describes it.
// Within returns an error if there can be no such part. All elements of a list have the same members, so without the
// error a wrong name would silently match nothing.
func Within(k *plan.Known, path, rest query.Path, at string) (*plan.Known, error) {
	known, n, ok := k.At(rest)
	if ok {
		return known, nil
	}
	holder := append(slices.Clone(path), rest[:n]...)
	whole := append(slices.Clone(path), rest...)
	switch {
	case known.Class != "":
		return nil, &problem.Error{Code: problem.Unsupported, Pointer: at,
			Detail:     fmt.Sprintf("%q: %s holds an id of %s, and no pointer is followed from within a list or an object", whole, holder, known.Class),
			Suggestion: "ask before the list is made: in a $match, or in the pipeline of the $lookup, a path follows pointers. Or put $unwind right behind the $lookup"}
	case known.Members == nil:
		return nil, problem.Invalid(at, "%q: %s is %s and has no parts", whole, holder, a(known.Type))
	}
	return nil, &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_field", Pointer: at,
		Detail: fmt.Sprintf("unknown field %q: what %s holds has no member of that name", problem.Cut(whole.String()), holder),
		Near:   problem.Nearest(rest[n], known.Names(), 3)}
}

// Knowledge returns the Known of n after its conversion to JSON.
func (n *Node) Knowledge() *plan.Known {
	switch {
	case n.IsObject():
		k := &plan.Known{Members: []plan.KnownMember{}}
		for i := range n.Members {
			k.Members = append(k.Members, plan.KnownMember{Name: n.Members[i].Name, Value: n.Members[i].Node.Knowledge()})
		}
		return k
	case n.Known != nil:
		return n.Known
	case n.Constant, Dynamic(n.Kind()):
		return nil
	}
	k := &plan.Known{Type: n.Kind()}
	if n.Column != nil {
		k.ID, k.Class = n.Column.ID, n.Column.Class
	}
	return k
}

// parts returns the list of the values at path in the elements of a list. Elements without such a value are omitted.
func parts(list plan.Expr, path query.Path) plan.Expr {
	all := plan.Over{Do: plan.MapEach, Input: list, Body: plan.Part{X: plan.Element{}, Path: path}}
	some := plan.Apply{Op: plan.Not, Args: []plan.Expr{isNull(plan.Element{})}, T: schema.Boolean}
	return plan.Over{Do: plan.SelectEach, Input: all, Body: some}
}

// JSON returns n as JSON. Ids become text, as in every answer to an agent.
func (n *Node) JSON() plan.Expr {
	switch {
	case n.IsObject():
		o := plan.Object{}
		for _, m := range n.Members {
			o.Names = append(o.Names, m.Name)
			o.Values = append(o.Values, m.Node.JSON())
		}
		if n.Optional {
			return plan.Case{If: []plan.Expr{n.absent()}, Then: []plan.Expr{plan.Const{T: schema.JSON}}, Else: o, T: schema.JSON}
		}
		return o
	case n.Constant:
		return Constant(n.Expr.(plan.Const).Value, schema.JSON)
	case n.Expr.Type() == schema.JSON:
		return n.Expr
	case n.Column != nil && n.Column.ID && Numeric(n.Expr.Type()):
		return plan.ToJSON{X: plan.Convert{X: n.Expr, T: schema.String}}
	}
	return plan.ToJSON{X: n.Expr}
}

// absent returns the condition that all members of the object n are null.
func (n *Node) absent() plan.Expr {
	var nulls []plan.Expr
	var walk func(n *Node)
	walk = func(n *Node) {
		for i := range n.Members {
			if m := &n.Members[i].Node; m.IsObject() {
				walk(m)
			} else {
				nulls = append(nulls, isNull(m.Expr))
			}
		}
	}
	walk(n)
	return plan.Apply{Op: plan.And, Args: nulls, T: schema.Boolean}
}

// Nothing returns the condition that n is null at run time.
func (n *Node) Nothing() plan.Expr {
	if n.IsObject() {
		if n.Optional {
			return n.absent()
		}
		return plan.Const{Value: value.OfBool(false), T: schema.Boolean}
	}
	x := n.Expr
	if x.Type() == schema.Any {
		x = plan.ToJSON{X: x}
	}
	return isNull(x)
}

func isNull(x plan.Expr) plan.Expr {
	return plan.Apply{Op: plan.IsNull, Args: []plan.Expr{x}, T: schema.Boolean}
}

// Constant returns v as a constant of type t. v must fit t. In JSON, dates and bytes become text.
func Constant(v value.Value, t schema.Type) plan.Const {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		if t == schema.JSON {
			v = value.OfString(v.String())
		}
	}
	return plan.Const{Value: v, T: t}
}

// Natural returns the type of a constant as written. It is JSON for null, lists and objects.
func Natural(v value.Value) schema.Type {
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

// Numeric reports whether t is a numeric type.
func Numeric(t schema.Type) bool {
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

// Dynamic reports whether the actual type of a value of type t is known only at run time.
func Dynamic(t schema.Type) bool { return t == schema.JSON || t == schema.Any }

// a returns the name of a type with its article, for messages.
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
