package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A cond is a condition. Yes is true if the condition is true, and No is true if it is false. Neither is ever null. If
// the condition is unknown, both are false.
type cond struct{ Yes, No plan.Expr }

// constantly returns a constant condition.
func constantly(b bool) plan.Expr { return plan.Const{Value: value.OfBool(b), T: schema.Boolean} }

// Test returns a condition.
func Test(o plan.Op, args ...plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: args, T: schema.Boolean}
}

// Not returns the condition that x, which is never null, doesn't hold.
func Not(x plan.Expr) plan.Expr { return Test(plan.Not, x) }

// isNull returns the condition that x is null.
func isNull(x plan.Expr) plan.Expr { return Test(plan.IsNull, x) }

// All returns the condition that all of xs hold. It returns nil for no conditions.
func All(xs []plan.Expr) plan.Expr {
	switch len(xs) {
	case 0:
		return nil
	case 1:
		return xs[0]
	}
	return Test(plan.And, xs...)
}

// Always is a condition that is always true.
var Always = cond{constantly(true), constantly(false)}

// And returns the condition that a and b hold.
func (a cond) And(b cond) cond { return cond{Test(plan.And, a.Yes, b.Yes), Test(plan.Or, a.No, b.No)} }
func or(a, b cond) cond        { return cond{Test(plan.Or, a.Yes, b.Yes), Test(plan.And, a.No, b.No)} }

// NegateIf returns the negation of c if not is set, otherwise c.
func (c cond) NegateIf(not bool) cond {
	if not {
		return cond{c.No, c.Yes}
	}
	return c
}

// sure returns the condition x, which is never unknown.
func sure(x plan.Expr) cond { return cond{x, Not(x)} }

var unknown = cond{constantly(false), constantly(false)}

// value returns c as a Boolean. It is null if the condition is unknown.
func (c cond) value() plan.Expr {
	return plan.Case{If: []plan.Expr{c.Yes, c.No}, Then: []plan.Expr{constantly(true), constantly(false)}, Else: plan.Const{T: schema.Boolean}, T: schema.Boolean}
}

// Cond binds a condition.
func (b *Binder) Cond(e sqlparse.Expr) (cond, error) {
	c, err := b.condition(e)
	if err == nil {
		err = b.checkSize(e.Pos(), c.Yes, c.No)
	}
	return c, err
}

// condition binds e by its kind. truth binds values that a group or a window has computed, and expressions that don't
// have the form of a condition.
func (b *Binder) condition(e sqlparse.Expr) (cond, error) {
	if _, ok := b.Names.ComputedValue(e); ok {
		return b.truth(e)
	}
	switch e := e.(type) {
	case *sqlparse.Binary:
		switch e.Op {
		case "and", "or":
			return b.logic(e)
		case "=", "<>", "<", "<=", ">", ">=":
			return b.comparison(e.Op, e.L, e.R, e.At)
		}
	case *sqlparse.Unary:
		if e.Op == "not" {
			c, err := b.Cond(e.X)
			return c.NegateIf(true), err
		}
	case *sqlparse.Is:
		return b.is(e)
	case *sqlparse.Between:
		return b.between(e)
	case *sqlparse.In:
		return b.in(e)
	case *sqlparse.Like:
		return b.like(e)
	case *sqlparse.Any:
		return b.any(e)
	case *sqlparse.Exists:
		x, err := b.Names.Exists(e)
		return sure(x), err
	case *sqlparse.Word:
		switch e.Text {
		case "true", "false":
			return sure(constantly(e.Text == "true")), nil
		case "null":
			return unknown, nil
		}
	}
	return b.truth(e)
}

// truth binds a value as a condition.
func (b *Binder) truth(e sqlparse.Expr) (cond, error) {
	x, err := b.Value(e)
	if err != nil {
		return cond{}, err
	}
	switch t := x.Kind(); {
	case x.IsNull():
		return unknown, nil
	case t == schema.Boolean:
		b, err := x.Want(schema.Boolean, "a condition")
		return cond{Test(plan.Same, b, constantly(true)), Test(plan.Same, b, constantly(false))}, err
	case typecheck.Dynamic(t): // a JSON true or false
		b := plan.As{X: x.JSON(), T: schema.Boolean}
		return cond{Test(plan.Same, b, constantly(true)), Test(plan.Same, b, constantly(false))}, nil
	case typecheck.Numeric(t): // as in SQLite and MySQL
		return b.Compare("<>", x, literal(value.OfInt(0), e.Pos()), e.Pos())
	}
	return cond{}, invalid(e.Pos(), "a condition is expected here, not %s", typecheck.Describe(&x.Node))
}

func (b *Binder) logic(e *sqlparse.Binary) (cond, error) {
	x, err := b.Cond(e.L)
	if err != nil {
		return cond{}, err
	}
	y, err := b.Cond(e.R)
	if err != nil {
		return cond{}, err
	}
	if e.Op == "and" {
		return x.And(y), nil
	}
	return or(x, y), nil
}

// comparison binds a comparison of x with y. Lists in parentheses are compared member by member.
func (b *Binder) comparison(sign string, x, y sqlparse.Expr, p sqlparse.Pos) (cond, error) {
	xs, isX := x.(*sqlparse.Tuple)
	ys, isY := y.(*sqlparse.Tuple)
	if isX && isY {
		if len(xs.Items) != len(ys.Items) || sign != "=" && sign != "<>" {
			return cond{}, unsupportedError(p, "compare the values one by one", "lists of values can only be compared for equality, with as many on each side")
		}
		out := sure(constantly(true))
		for i := range xs.Items {
			c, err := b.comparison("=", xs.Items[i], ys.Items[i], p)
			if err != nil {
				return cond{}, err
			}
			out = out.And(c)
		}
		return out.NegateIf(sign == "<>"), nil
	}
	nx, err := b.Value(x)
	if err != nil {
		return cond{}, err
	}
	ny, err := b.Value(y)
	if err != nil {
		return cond{}, err
	}
	return b.Compare(sign, nx, ny, y.Pos())
}

// Compare returns the comparison of two values.
func (b *Binder) Compare(sign string, x, y node, p sqlparse.Pos) (cond, error) {
	if x.IsNull() || y.IsNull() {
		return unknown, nil
	}
	b.noteMidnight(sign, &x, &y)
	ex, ey, err := b.Alike(&x, &y, sign)
	if err != nil {
		return cond{}, suggesting(err, "write a value of the same type on both sides, or CAST one of them")
	}
	var c cond
	switch sign {
	case "=", "<>":
		c = cond{Test(plan.Same, ex, ey), Test(plan.Differ, ex, ey)}.NegateIf(sign == "<>")
	case "<":
		c = cond{Test(plan.Under, ex, ey), Test(plan.UpTo, ey, ex)}
	case "<=":
		c = cond{Test(plan.UpTo, ex, ey), Test(plan.Under, ey, ex)}
	case ">":
		c = cond{Test(plan.Under, ey, ex), Test(plan.UpTo, ex, ey)}
	case ">=":
		c = cond{Test(plan.UpTo, ey, ex), Test(plan.Under, ex, ey)}
	}
	if ex.Type() == schema.JSON { // comparisons of JSON treat null as a value
		there := Test(plan.And, Not(isNull(ex)), Not(isNull(ey)))
		c = cond{Test(plan.And, there, c.Yes), Test(plan.And, there, c.No)}
	}
	return c, nil
}

// suggesting adds a suggestion to an error that has neither a suggestion nor a similar name.
func suggesting(err error, suggestion string) error {
	if p := problem.Of(err); p.Suggestion == "" && p.Near == nil {
		p.Suggestion = suggestion
	}
	return err
}

// is binds IS [NOT] NULL, TRUE, FALSE, UNKNOWN and DISTINCT FROM, which are never unknown. IS NULL accepts columns that
// Value refuses.
func (b *Binder) is(e *sqlparse.Is) (cond, error) {
	switch e.What {
	case "null":
		if n, ok := e.X.(*sqlparse.Name); ok && !b.isComputed(n) { // also for a column of a type that only the database knows
			x, err := b.Names.PassColumn(n)
			if err != nil {
				return cond{}, err
			}
			if x.Column == nil || x.Column.Mask == nil {
				return sure(x.Nothing()).NegateIf(e.Not), nil
			}
		}
		x, err := b.Value(e.X)
		if err != nil {
			return cond{}, err
		}
		return sure(x.Nothing()).NegateIf(e.Not), nil
	case "distinct":
		x, err := b.Value(e.X)
		if err != nil {
			return cond{}, err
		}
		y, err := b.Value(e.Y)
		if err != nil {
			return cond{}, err
		}
		if x.IsNull() || y.IsNull() {
			other := x
			if x.IsNull() {
				other = y
			}
			return sure(other.Nothing()).NegateIf(!e.Not), nil
		}
		ex, ey, err := b.Alike(&x, &y, "IS DISTINCT FROM")
		return sure(Test(plan.Eq, ex, ey)).NegateIf(!e.Not), err
	}
	c, err := b.Cond(e.X)
	holds := map[string]plan.Expr{"true": c.Yes, "false": c.No}[e.What]
	if e.What == "unknown" {
		holds = Not(Test(plan.Or, c.Yes, c.No))
	}
	return sure(holds).NegateIf(e.Not), err
}

// between binds BETWEEN as two comparisons. With SYMMETRIC, the bounds may be in either order.
func (b *Binder) between(e *sqlparse.Between) (cond, error) {
	bounded := func(low, high sqlparse.Expr) (cond, error) {
		x, err := b.comparison(">=", e.X, low, e.At)
		if err != nil {
			return cond{}, err
		}
		y, err := b.comparison("<=", e.X, high, e.At)
		return x.And(y), err
	}
	c, err := bounded(e.Low, e.High)
	if err == nil && e.Symmetric {
		var other cond
		other, err = bounded(e.High, e.Low)
		c = or(c, other)
	}
	return c.NegateIf(e.Not), err
}

// in binds IN. A list becomes equalities. A query becomes a sub-query for an equal value. If the result may also be
// false, a second sub-query looks for a value that may be equal.
func (b *Binder) in(e *sqlparse.In) (cond, error) {
	if e.Query != nil {
		c, err := b.Names.In("=", e.X, e.Query, e.At)
		return c.NegateIf(e.Not), err
	}
	if c, ok, err := b.amongConstants(e); ok || err != nil {
		return c.NegateIf(e.Not), err
	}
	var out *cond
	for _, item := range e.List {
		c, err := b.comparison("=", e.X, item, e.At)
		if err != nil {
			return cond{}, err
		}
		if out == nil {
			out = &c
		} else {
			*out = cond{flat(plan.Or, out.Yes, c.Yes), flat(plan.And, out.No, c.No)}
		}
	}
	return out.NegateIf(e.Not), nil
}

// any binds a comparison with ANY or ALL of ARRAY[…] or of a query. Only = also accepts a list. As in PostgreSQL, the
// result may be unknown if there is a null.
func (b *Binder) any(e *sqlparse.Any) (cond, error) {
	sign, negate := e.Op, false
	if e.All { // x = ALL q is NOT (x <> ANY q)
		sign = map[string]string{"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}[e.Op]
		negate = true
	}
	if e.Query != nil {
		c, err := b.Names.In(sign, e.X, e.Query, e.At)
		return c.NegateIf(negate), err
	}
	if l := e.Among(); l != nil {
		return b.in(l)
	}
	list, ok := e.List.(*sqlparse.Array)
	if !ok {
		x, err := b.Value(e.X)
		if err != nil {
			return cond{}, err
		}
		l, err := b.Value(e.List)
		if err != nil {
			return cond{}, err
		}
		items, err := l.Elements("ANY")
		if err != nil || sign != "=" {
			return cond{}, unsupportedError(e.At, "use = ANY (list), or IN", "ANY takes a list or a query")
		}
		v, err := x.Element("ANY")
		if err != nil {
			return cond{}, err
		}
		c := sure(Test(plan.InList, v, items))
		null := Test(plan.Or, isNull(v), isNull(items))
		c = cond{Test(plan.And, Not(null), c.Yes), Test(plan.And, Not(null), c.No)}
		return c.NegateIf(negate), nil
	}
	out := sure(constantly(false))
	for _, item := range list.Items {
		c, err := b.comparison(sign, e.X, item, e.At)
		if err != nil {
			return cond{}, err
		}
		out = or(out, c)
	}
	return out.NegateIf(negate), nil
}
