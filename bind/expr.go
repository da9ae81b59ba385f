package bind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A scope is where expressions of one stage are bound: the records, and the elements of lists that are walked.
type scope struct {
	*records
	elements []element // the innermost last
}

// element is a list being walked: the name of its element, and whether what came before has a name too ($reduce).
type element struct {
	name   string
	before bool
}

// expr binds e.
func (s scope) expr(e query.Expr) (node, error) {
	switch e := e.(type) {
	case query.FieldRef:
		return s.field(e.Path, e.At)
	case query.VariableRef:
		return s.variable(e)
	case query.Literal:
		return node{expr: algebra.Const{Value: e.Value, T: natural(e.Value)}, constant: true, at: e.At}, nil
	case query.ObjectExpr:
		return s.members(e)
	case query.ListExpr:
		return s.list(e)
	case query.Switch:
		return s.branches(e)
	case query.Lambda:
		return s.over(e)
	case query.Call:
		args := make([]node, len(e.Args))
		for i, a := range e.Args {
			if a == nil {
				args[i] = node{expr: algebra.Const{T: schema.JSON}, constant: true, at: e.At}
				continue
			}
			n, err := s.expr(a)
			if err != nil {
				return node{}, err
			}
			args[i] = n
		}
		n, err := call(e, args)
		n.at = e.At
		return n, err
	}
	return node{}, problem.New(problem.Internal, "bind knows no such expression")
}

func (s scope) variable(e query.VariableRef) (node, error) {
	if e.Name == "ROOT" || e.Name == "CURRENT" {
		if len(e.Path) > 0 {
			return s.field(e.Path, e.At)
		}
		n, _ := s.below(nil, e.At)
		return n, nil
	}
	for i := range s.elements {
		el := s.elements[len(s.elements)-1-i]
		switch {
		case e.Name == el.name:
			return part(node{expr: algebra.Element{Up: i}, at: e.At}, query.Path{"$$" + e.Name}, e.Path, e.At)
		case el.before && e.Name == "value":
			return part(node{expr: algebra.Before{Up: i}, at: e.At}, query.Path{"$$value"}, e.Path, e.At)
		}
	}
	up := 1
	for r := s.records; r.outer != nil; r, up = r.outer, up+1 {
		n, ok := r.lets[e.Name]
		if !ok {
			continue
		}
		for inner := s.records; ; inner = inner.outer {
			inner.used = true
			if inner == r {
				break
			}
		}
		ref := n.expr.(algebra.Ref) // lookup made columns of them
		return part(node{expr: algebra.Outer{Up: up, Column: ref.Column, T: ref.T}, list: n.list, at: e.At}, query.Path{"$$" + e.Name}, e.Path, e.At)
	}
	return node{}, invalid(e.At, "unknown variable $$%s", problem.Cut(e.Name))
}

func (s scope) members(e query.ObjectExpr) (node, error) {
	n := node{at: e.At}
	for _, m := range e.Members {
		v, err := s.expr(m.Value)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, member{m.Name[0], v})
	}
	if n.members == nil { // the empty object has no parts to keep apart
		return node{expr: algebra.Const{Value: value.OfObject(nil), T: schema.JSON}, constant: true, at: e.At}, nil
	}
	return n, nil
}

func (s scope) list(e query.ListExpr) (node, error) {
	l := algebra.List{}
	for _, x := range e.Elements {
		v, err := s.expr(x)
		if err != nil {
			return node{}, err
		}
		if err := v.shown(); err != nil {
			return node{}, err
		}
		l.Elements = append(l.Elements, v.json())
	}
	return node{expr: l, list: true, at: e.At}, nil
}

func (s scope) branches(e query.Switch) (node, error) {
	op := "$switch"
	if e.Cond {
		op = "$cond"
	}
	var c algebra.Case
	var values []node
	for _, branch := range e.Cases {
		when, err := s.expr(branch.If)
		if err != nil {
			return node{}, err
		}
		holds, err := when.truth(op)
		if err != nil {
			return node{}, err
		}
		then, err := s.expr(branch.Then)
		if err != nil {
			return node{}, err
		}
		c.If, values = append(c.If, holds), append(values, then)
	}
	other := node{expr: algebra.Const{T: schema.JSON}, constant: true, at: e.At}
	if e.Default != nil {
		var err error
		if other, err = s.expr(e.Default); err != nil {
			return node{}, err
		}
	}
	values = append(values, other)
	all, t, err := together(values, op)
	if err != nil {
		return node{}, err
	}
	c.Then, c.Else, c.T = all[:len(all)-1], all[len(all)-1], t
	return node{expr: c, list: lists(values), at: e.At}, nil
}

// together gives nodes the type that they have in common.
func together(nodes []node, op string) ([]algebra.Expr, schema.Type, error) {
	t := common(nodes)
	out := make([]algebra.Expr, len(nodes))
	for i := range nodes {
		if err := nodes[i].shown(); err != nil {
			return nil, t, err
		}
		var err error
		if out[i], err = nodes[i].want(t, op); err != nil {
			return nil, t, err
		}
	}
	return out, t, nil
}

// lists reports whether all of nodes are lists or null.
func lists(nodes []node) bool {
	return !slices.ContainsFunc(nodes, func(n node) bool { return !n.list && !n.null() })
}

// shown refuses what the database alone can read.
func (n *node) shown() error {
	if !n.object() && n.expr.Type() == schema.Opaque {
		return unsupported(n.at, "%s can't be computed with: its type is known to the database alone", what(n))
	}
	return nil
}

// truth returns n as a condition: null, false and 0 don't hold, all else does.
func (n *node) truth(op string) (algebra.Expr, error) {
	if err := n.shown(); err != nil {
		return nil, err
	}
	known := algebra.Apply{Op: algebra.Not, T: schema.Boolean}
	switch t := n.kind(); {
	case n.object() || dynamic(t):
		return algebra.Apply{Op: algebra.Truth, Args: []algebra.Expr{n.json()}, T: schema.Boolean}, nil
	case t == schema.Boolean:
		return n.want(schema.Boolean, op)
	case numeric(t):
		zero, _ := fit(value.OfInt(0), t)
		x, err := n.want(t, op)
		known.Args = []algebra.Expr{algebra.Apply{Op: algebra.IsNull, Args: []algebra.Expr{x}, T: schema.Boolean}}
		return algebra.Apply{Op: algebra.And, T: schema.Boolean, Args: []algebra.Expr{known,
			algebra.Apply{Op: algebra.Ne, Args: []algebra.Expr{x, algebra.Const{Value: zero, T: t}}, T: schema.Boolean}}}, err
	default:
		x, err := n.want(t, op)
		known.Args = []algebra.Expr{algebra.Apply{Op: algebra.IsNull, Args: []algebra.Expr{x}, T: schema.Boolean}}
		return known, err
	}
}

func (s scope) over(e query.Lambda) (node, error) {
	input, err := s.expr(e.Input)
	if err != nil {
		return node{}, err
	}
	o := algebra.Over{}
	if o.Input, err = input.elements(e.Op); err != nil {
		return node{}, err
	}
	inside := s
	inside.elements = append(slices.Clone(s.elements), element{e.As, e.Op == "$reduce"})
	body, err := inside.expr(e.Body)
	if err != nil {
		return node{}, err
	}
	n := node{at: e.At, list: true}
	switch e.Op {
	case "$filter":
		o.Do = algebra.SelectEach
		if o.Body, err = body.truth(e.Op); err != nil {
			return node{}, err
		}
		if e.Limit != nil {
			limit, err := s.expr(e.Limit)
			if err != nil {
				return node{}, err
			}
			if o.Limit, err = limit.want(schema.Integer, "$filter.limit"); err != nil {
				return node{}, err
			}
		}
	case "$map":
		o.Do, o.Body = algebra.MapEach, body.json()
	default:
		initial, err := s.expr(e.Initial)
		if err != nil {
			return node{}, err
		}
		o.Do, o.Body, o.Initial, n.list = algebra.ReduceEach, body.json(), initial.json(), false
	}
	n.expr = o
	return n, body.shown()
}

// elements returns n as a list, as far as is known.
func (n *node) elements(op string) (algebra.Expr, error) {
	if n.object() || !dynamic(n.kind()) || n.constant && !n.null() && n.expr.(algebra.Const).Value.Kind() != value.Array {
		return nil, invalid(n.at, "%s takes a list, not %s", op, what(n))
	}
	return n.json(), nil
}
