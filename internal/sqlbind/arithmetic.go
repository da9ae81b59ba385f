package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// arithmetic binds an operator on numbers, dates and lengths of time.
func (b *Binder) arithmetic(sign string, x, y node, p sqlparse.Pos) (node, error) {
	if n, done, err := b.withTimes(sign, &x, &y, p); done || err != nil {
		return n, err
	}
	t := typecheck.Number([]typecheck.Node{x.Node, y.Node})
	if sign == "%" || sign == "mod" || sign == "div" {
		t = schema.Integer
	}
	if unknown := func(n *node) bool { return typecheck.Dynamic(n.Kind()) && !n.IsNull() }; sign == "/" &&
		(unknown(&x) && (unknown(&y) || y.Kind() == schema.Integer) || unknown(&y) && x.Kind() == schema.Integer) {
		return node{}, unsupportedError(p, "x::integer / y divides whole numbers to a whole number. x::double precision / y divides numbers of any kind", "/ can't know whether values without a declared type are whole numbers")
	}
	number := numberOf(x, y)
	if sign == "/" && (t != schema.Integer || number >= numeric) {
		t = schema.Double
	}
	if known := typecheck.Number([]typecheck.Node{x.Node, y.Node}); (sign == "%" || sign == "mod") && known != schema.Integer && typecheck.Numeric(x.Kind()) && typecheck.Numeric(y.Kind()) {
		return node{}, unsupportedError(p, "x - y * trunc(x / y) is the rest of numbers with a fraction, as a double", "%s takes whole numbers", sign)
	}
	x.At, y.At = At(p), At(p)
	const read = "CAST(x AS numeric) reads a number in a text, and meta->>'a' a member of JSON"
	ex, err := x.Want(t, sign)
	if err != nil {
		return node{}, suggesting(err, read)
	}
	ey, err := y.Want(t, sign)
	if err != nil {
		return node{}, suggesting(err, read)
	}
	n := computedOf(quotient(ex, ey, t), p)
	if op, ok := map[string]plan.Op{"+": plan.Add, "-": plan.Sub, "*": plan.Mul, "%": plan.Mod, "mod": plan.Mod}[sign]; ok {
		n = computedOf(plan.Apply{Op: op, Args: []plan.Expr{ex, ey}, T: t}, p)
		if k, ok := plan.Whole(op, ex, ey); ok {
			n = literal(k, p)
		}
	}
	n.Number = number
	return n, nil
}

// bits binds &, |, # (exclusive or) and ~ on whole numbers. For ~, y is -1. A number from JSON becomes null if it has a
// fraction.
func (b *Binder) bits(sign string, x, y node, p sqlparse.Pos) (node, error) {
	if n, done, err := b.withTimes(sign, &x, &y, p); done || err != nil {
		return n, err
	}
	x.At, y.At = At(p), At(p)
	both := plan.Apply{Op: map[string]plan.Op{"&": plan.BitAnd, "|": plan.BitOr, "#": plan.BitXor, "~": plan.BitXor}[sign], Args: make([]plan.Expr, 2), T: schema.Integer}
	for i, n := range []*node{&x, &y} {
		var err error
		if both.Args[i], err = n.Want(schema.Integer, sign); err != nil {
			return node{}, err
		}
	}
	return node{Node: typecheck.Node{Expr: both, At: At(p)}, Marks: Marks{Number: numberOf(x, y)}}, nil
}
