package sqlbind

import (
	"math"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// percentile binds percentile_disc, percentile_cont and median. Median is percentile_cont(0.5).
func (b *aggregateBinder) percentile(c *sqlparse.Call) (Aggregate, node, error) {
	fail := func(err error) (Aggregate, node, error) { return Aggregate{}, node{}, err }
	if c.Name == "mode" {
		return fail(unsupportedError(c.At, "count the values, and keep the first by ORDER BY count(*) DESC LIMIT 1", "mode isn't there over a window"))
	}
	if len(c.Args) == 1 && c.Name == "percentile_cont" {
		if l, ok := c.Args[0].(*sqlparse.Array); ok && len(l.Items) > 0 {
			return b.percentiles(c, l)
		}
	}
	of, share := c.Args, 0.5
	if c.Name != "median" {
		if len(c.Args) != 1 || len(c.Within) != 1 {
			return fail(invalid(c.At, "write %s(0.9) WITHIN GROUP (ORDER BY x)", c.Name))
		}
		// The share is a constant with at most 6 places, because plan.Points counts in millionths.
		v, err := b.Constant(c.Args[0])
		if err != nil {
			return fail(err)
		}
		f, ok := v.AsFloat()
		if !ok || f < 0 || f > 1 || math.Abs(f*plan.Points-math.Round(f*plan.Points)) > 1e-6 {
			return fail(invalid(c.Args[0].Pos(), "%s takes a number from 0 to 1, with at most 6 places", c.Name))
		}
		if c.Within[0].Desc {
			f = 1 - f
			if c.Name == "percentile_disc" {
				return fail(unsupportedError(c.At, "leave DESC out, and take 1 minus the share", "percentile_disc in descending order isn't there"))
			}
		}
		of, share = []sqlparse.Expr{c.Within[0].X}, f
	}
	if len(of) != 1 {
		return fail(invalid(c.At, "median takes 1 argument"))
	}
	x, err := b.Value(of[0])
	if err == nil {
		x, err = b.applyFilter(c, x)
	}
	if err != nil {
		return fail(err)
	}
	e := x.JSONOr()
	point := int64(math.Round(share * plan.Points))
	at := func(e plan.Expr, p int64) plan.Accumulator {
		return plan.Accumulator{Op: plan.Percentile, X: e, T: e.Type(), Point: p}
	}
	// percentile_disc is a value of the group. percentile_cont is computed from the two values around the place.
	if c.Name == "percentile_disc" {
		return Aggregate{Accumulators: []plan.Accumulator{at(e, point)}, Value: first}, WithoutExpr(&x), nil
	}
	if e, err = x.Want(schema.Double, c.Name); err != nil {
		return fail(err)
	}
	before, after := at(e, point), at(e, point)
	before.Among, after.Among = plan.BeforePlace, plan.AfterPlace
	return Aggregate{Accumulators: []plan.Accumulator{before, after, {Op: plan.Count, X: e, T: schema.Integer}}, Value: func(refs []plan.Expr) plan.Expr {
		return between(refs, point)
	}}, node{}, nil
}

// percentiles binds percentile_cont with a list of shares. The result is a list of values, or null if there are no
// values.
func (b *aggregateBinder) percentiles(c *sqlparse.Call, shares *sqlparse.Array) (Aggregate, node, error) {
	var all Aggregate
	var parts []Aggregate
	for _, share := range shares.Items {
		one := *c
		one.Args = []sqlparse.Expr{share}
		a, _, err := b.percentile(&one)
		if err != nil {
			return Aggregate{}, node{}, err
		}
		parts, all.Accumulators = append(parts, a), append(all.Accumulators, a.Accumulators...)
	}
	all.List = true
	all.Value = func(refs []plan.Expr) plan.Expr {
		l, number := plan.List{}, refs[len(parts[0].Accumulators)-1]
		for _, a := range parts {
			n := len(a.Accumulators)
			l.Elements, refs = append(l.Elements, plan.ToJSON{X: a.Value(refs[:n])}), refs[n:]
		}
		return someOf([]plan.Expr{l, number}, schema.JSON)
	}
	return all, node{}, nil
}

// between interpolates between the first two of refs, which are the values around a point. The third of refs is the
// number of all values.
func between(refs []plan.Expr, point int64) plan.Expr {
	of := func(op plan.Op, t schema.Type, x, y plan.Expr) plan.Expr {
		return plan.Apply{Op: op, Args: []plan.Expr{x, y}, T: t}
	}
	double := func(x plan.Expr) plan.Expr { return plan.Widen{X: x, T: schema.Double} }
	gaps := of(plan.Sub, schema.Integer, refs[2], Whole(1))
	rest := of(plan.Mod, schema.Integer, of(plan.Mul, schema.Integer, gaps, Whole(point)), Whole(plan.Points))
	share := of(plan.Div, schema.Double, double(rest), double(Whole(plan.Points)))
	along := of(plan.Add, schema.Double, refs[0], of(plan.Mul, schema.Double, share, of(plan.Sub, schema.Double, refs[1], refs[0])))
	return plan.Case{If: []plan.Expr{Test(plan.Same, rest, Whole(0))}, Then: []plan.Expr{refs[0]}, Else: along, T: schema.Double}
}
