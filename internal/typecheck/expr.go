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

// Names resolves the names in an expression.
type Names interface {
	// Field returns the node to which a path refers, or an error with the JSON pointer at.
	Field(path query.Path, at string) (Node, error)
	// Record returns the whole record.
	Record(at string) Node
	// Outer returns a variable of the enclosing record, and whether a variable with that name exists.
	Outer(name, at string) (Node, bool)
	// Keep returns a column that contains the value of a node, so that the value is computed only once.
	Keep(Node) Node
}

// bind resolves the names in e and determines the type of e.
func bind(e query.Expr, names Names) (Node, error) { return scope{Names: names}.expr(e) }

// A scope binds expressions. It contains the names and the elements of the lists over which operators iterate.
type scope struct {
	Names
	elements []element // the innermost last
	lets     []let     // the innermost last
}

// A let is a variable of a $let. elements is the number of the scope's elements that existed when it was defined.
type let struct {
	name     string
	node     Node
	elements int
}

// element is the variable of a list over which an operator iterates. The field before reports whether the previous
// result also has a name, as in $reduce.
type element struct {
	name   string
	before bool
	known  *plan.Known // the known contents of each element
}

// expr binds e.
func (s scope) expr(e query.Expr) (Node, error) {
	switch e := e.(type) {
	case query.FieldRef:
		return s.Field(e.Path, e.At)
	case query.VariableRef:
		return s.variable(e)
	case query.Literal:
		return Literal(e.Value, e.At), nil
	case query.ObjectExpr:
		return s.members(e)
	case query.ListExpr:
		return s.list(e)
	case query.Switch:
		return s.branches(e)
	case query.Lambda:
		return s.over(e)
	case query.Let:
		return s.let(e)
	case query.Call:
		args := make([]Node, len(e.Args))
		for i, a := range e.Args {
			args[i] = Literal(value.Value{}, e.At)
			if a == nil {
				continue
			}
			var err error
			if args[i], err = s.expr(a); err != nil {
				return Node{}, err
			}
		}
		n, err := call(e, args)
		n.At = e.At
		return n, err
	}
	return Node{}, problem.New(problem.Internal, "typed knows no such expression")
}

// variable resolves $$name and the path after it, from the inside out. It searches the elements of the enclosing lists
// and the variables of $let between them. Then it searches the variables of the record around a $lookup's pipeline. The
// order matters, because an inner name hides an outer one.
func (s scope) variable(e query.VariableRef) (Node, error) {
	if e.Name == "ROOT" || e.Name == "CURRENT" {
		if len(e.Path) > 0 {
			return s.Field(e.Path, e.At)
		}
		return s.Record(e.At), nil
	}
	for i := range s.elements {
		if n, ok := s.letOf(e, len(s.elements)-i); ok {
			return Part(n, query.Path{"$$" + e.Name}, e.Path, e.At)
		}
		el := s.elements[len(s.elements)-1-i]
		switch {
		case e.Name == el.name:
			return Part(Node{Expr: plan.Element{Up: i}, Known: el.known, At: e.At}, query.Path{"$$" + e.Name}, e.Path, e.At)
		case el.before && e.Name == "value":
			return Part(Node{Expr: plan.Before{Up: i}, At: e.At}, query.Path{"$$value"}, e.Path, e.At)
		}
	}
	if n, ok := s.letOf(e, 0); ok {
		return Part(n, query.Path{"$$" + e.Name}, e.Path, e.At)
	}
	if n, ok := s.Outer(e.Name, e.At); ok {
		return Part(n, query.Path{"$$" + e.Name}, e.Path, e.At)
	}
	return Node{}, problem.Invalid(e.At, "unknown variable $$%s", problem.Cut(e.Name))
}

// members binds an object with known members. Each member keeps its type until the object must become a single value.
func (s scope) members(e query.ObjectExpr) (Node, error) {
	n := Node{At: e.At}
	for _, m := range e.Members {
		v, err := s.expr(m.Value)
		if err != nil {
			return Node{}, err
		}
		n.Members = append(n.Members, member{m.Name[0], v})
	}
	if n.Members == nil { // the empty object has no members to keep separate
		return Node{Expr: plan.Const{Value: value.OfObject(nil), T: schema.JSON}, Constant: true, At: e.At}, nil
	}
	return n, nil
}

// list binds a list, whose elements are JSON.
func (s scope) list(e query.ListExpr) (Node, error) {
	l := plan.List{}
	for _, x := range e.Elements {
		v, err := s.expr(x)
		if err != nil {
			return Node{}, err
		}
		if err := v.CheckComputable(); err != nil {
			return Node{}, err
		}
		l.Elements = append(l.Elements, v.JSON())
	}
	return Node{Expr: l, List: true, At: e.At}, nil
}

// branches binds $switch and $cond as a Case. Conditions are evaluated by Truth. The values are converted to their
// common type, with null for a missing default.
func (s scope) branches(e query.Switch) (Node, error) {
	op := "$switch"
	if e.Cond {
		op = "$cond"
	}
	var c plan.Case
	var values []Node
	for _, branch := range e.Cases {
		when, err := s.expr(branch.If)
		if err != nil {
			return Node{}, err
		}
		holds, err := when.Truth(op)
		if err != nil {
			return Node{}, err
		}
		then, err := s.expr(branch.Then)
		if err != nil {
			return Node{}, err
		}
		c.If, values = append(c.If, holds), append(values, then)
	}
	other := Node{Expr: plan.Const{T: schema.JSON}, Constant: true, At: e.At}
	if e.Default != nil {
		var err error
		if other, err = s.expr(e.Default); err != nil {
			return Node{}, err
		}
	}
	values = append(values, other)
	all, t, err := Together(values, op)
	if err != nil {
		return Node{}, err
	}
	c.Then, c.Else, c.T = all[:len(all)-1], all[len(all)-1], t
	return Node{Expr: c, List: Lists(values), At: e.At}, nil
}

// Together converts nodes to their common type.
func Together(nodes []Node, op string) ([]plan.Expr, schema.Type, error) {
	t := common(nodes)
	out := make([]plan.Expr, len(nodes))
	for i := range nodes {
		if err := nodes[i].CheckComputable(); err != nil {
			return nil, t, err
		}
		var err error
		if out[i], err = nodes[i].Want(t, op); err != nil {
			return nil, t, err
		}
	}
	return out, t, nil
}

// Lists reports whether all nodes are lists, apart from nulls. At least one must be a list.
func Lists(nodes []Node) bool {
	return slices.ContainsFunc(nodes, func(n Node) bool { return n.List }) &&
		!slices.ContainsFunc(nodes, func(n Node) bool { return !n.List && !n.IsNull() })
}

// CheckComputable returns an error for a value of a type that only the database knows.
func (n *Node) CheckComputable() error {
	if !n.IsObject() && n.Expr.Type() == schema.Opaque {
		refusal := problem.UnsupportedError(n.At, "%s can't be used in an expression: only the database knows its type", Describe(n))
		if n.Column != nil && n.Column.Field != nil && n.Column.Field.Form != "" {
			refusal.Suggestion = fmt.Sprintf(`{"$toString": "$%s"} is its text, as answers show it`, n.Column.Key())
		}
		return refusal
	}
	return nil
}

// Truth returns n as a condition. Null, false and 0 are false, and all other values are true.
func (n *Node) Truth(op string) (plan.Expr, error) {
	if err := n.CheckComputable(); err != nil {
		return nil, err
	}
	known := plan.Apply{Op: plan.Not, T: schema.Boolean}
	switch t := n.Kind(); {
	case n.IsObject() || Dynamic(t):
		return plan.Apply{Op: plan.Truth, Args: []plan.Expr{n.JSON()}, T: schema.Boolean}, nil
	case t == schema.Boolean:
		return n.Want(schema.Boolean, op)
	case Numeric(t):
		zero, _ := fit(value.OfInt(0), t)
		x, err := n.Want(t, op)
		known.Args = []plan.Expr{isNull(x)}
		return plan.Apply{Op: plan.And, T: schema.Boolean, Args: []plan.Expr{known,
			plan.Apply{Op: plan.Ne, Args: []plan.Expr{x, plan.Const{Value: zero, T: t}}, T: schema.Boolean}}}, err
	default:
		x, err := n.Want(t, op)
		known.Args = []plan.Expr{isNull(x)}
		return known, err
	}
}

// over binds $filter, $map and $reduce over a list. The body can use the element and, in $reduce, the result so far.
// Input, limit and initialValue can't. The result is a list, or JSON for $reduce.
func (s scope) over(e query.Lambda) (Node, error) {
	input, err := s.expr(e.Input)
	if err != nil {
		return Node{}, err
	}
	o := plan.Over{}
	if o.Input, err = input.Elements(e.Op); err != nil {
		return Node{}, err
	}
	inside := s
	inside.elements = append(slices.Clone(s.elements), element{e.As, e.Op == "$reduce", input.Known.Of()})
	body, err := inside.expr(e.Body)
	if err != nil {
		return Node{}, err
	}
	n := Node{At: e.At, List: true}
	switch e.Op {
	case "$filter":
		o.Do = plan.SelectEach
		if o.Body, err = body.Truth(e.Op); err != nil {
			return Node{}, err
		}
		if e.Limit != nil {
			limit, err := s.expr(e.Limit)
			if err != nil {
				return Node{}, err
			}
			if o.Limit, err = limit.Want(schema.Integer, "$filter.limit"); err != nil {
				return Node{}, err
			}
		}
	case "$map":
		o.Do, o.Body = plan.MapEach, body.JSON()
	default:
		initial, err := s.expr(e.Initial)
		if err != nil {
			return Node{}, err
		}
		o.Do, o.Body, o.Initial, n.List = plan.ReduceEach, body.JSON(), initial.JSON(), false
	}
	n.Compute(o)
	switch e.Op {
	case "$filter":
		n.Known = input.Known
	case "$map":
		n.Known = plan.ListOf(body.Knowledge())
	}
	return n, body.CheckComputable()
}

// Elements returns n as a list. It returns an error if n is known not to be a list.
func (n *Node) Elements(op string) (plan.Expr, error) {
	if n.IsObject() || !Dynamic(n.Kind()) || n.Constant && !n.IsNull() && n.Expr.(plan.Const).Value.Kind() != value.Array {
		return nil, problem.Invalid(n.At, "%s takes a list, not %s", op, Describe(n))
	}
	return n.JSON(), nil
}
