package sqlaggregate

import (
	"math"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// percentile binds percentile_disc, and the median: of an even number of values the mean of the two in the middle.
func (b *binder) percentile(c *sqltext.Call, args []sqlexpr.Node) (Aggregate, sqlexpr.Node, error) {
	fail := func(err error) (Aggregate, sqlexpr.Node, error) { return Aggregate{}, sqlexpr.Node{}, err }
	if c.Name == "mode" {
		return fail(sqlexpr.Unsupported(c.At, "count the values, and keep the first by ORDER BY count(*) DESC LIMIT 1", "mode isn't there over a window"))
	}
	of, share := c.Args, 0.5
	if c.Name != "median" {
		if len(c.Args) != 1 || len(c.Within) != 1 {
			return fail(sqlexpr.Invalid(c.At, "write %s(0.9) WITHIN GROUP (ORDER BY x)", c.Name))
		}
		v, err := b.Constant(c.Args[0])
		if err != nil {
			return fail(err)
		}
		f, ok := v.AsFloat()
		if !ok || f < 0 || f > 1 || math.Abs(f*plan.Points-math.Round(f*plan.Points)) > 1e-6 {
			return fail(sqlexpr.Invalid(c.Args[0].Pos(), "%s takes a number from 0 to 1, with at most 6 places", c.Name))
		}
		if c.Within[0].Desc {
			f = 1 - f
			if c.Name == "percentile_disc" {
				return fail(sqlexpr.Unsupported(c.At, "leave DESC out, and take 1 minus the share", "percentile_disc in descending order isn't there"))
			}
		}
		of, share = []sqltext.Expr{c.Within[0].X}, f
	}
	if len(of) != 1 {
		return fail(sqlexpr.Invalid(c.At, "median takes 1 argument"))
	}
	x, err := b.Value(of[0])
	if err != nil {
		return fail(err)
	}
	e := x.JSONOr()
	point := int64(math.Round(share * plan.Points))
	at := func(e plan.Expr, p int64) plan.Accumulator {
		return plan.Accumulator{Op: plan.Percentile, X: e, T: e.Type(), Point: p}
	}
	if c.Name == "percentile_disc" {
		return Aggregate{Accumulators: []plan.Accumulator{at(e, point)}, Value: first}, sqlexpr.Kept(&x), nil
	}
	if e, err = x.Want(schema.Double, c.Name); err != nil {
		return fail(err)
	}
	if point == 0 || point == plan.Points {
		return Aggregate{Accumulators: []plan.Accumulator{at(e, point)}, Value: first}, sqlexpr.Node{}, nil
	}
	if point != plan.Points/2 {
		return fail(sqlexpr.Unsupported(c.At, "use percentile_disc, which gives a value that is there", "percentile_cont gives the median here, percentile_cont(0.5), and the ends"))
	}
	// The upper of the two in the middle is the value at the next point, as long as there are no more values than points.
	accumulators := []plan.Accumulator{at(e, point), at(e, point+1), {Op: plan.Count, X: e, T: schema.Integer}}
	return Aggregate{Accumulators: accumulators, Value: func(refs []plan.Expr) plan.Expr {
		even := sqlexpr.Test(plan.Same, plan.Apply{Op: plan.Mod, Args: []plan.Expr{refs[2], sqlexpr.Whole(2)}, T: schema.Integer}, sqlexpr.Whole(0))
		few := sqlexpr.Test(plan.UpTo, refs[2], sqlexpr.Whole(plan.Points))
		sum := plan.Apply{Op: plan.Add, Args: []plan.Expr{refs[0], refs[1]}, T: schema.Double}
		mean := plan.Apply{Op: plan.Div, Args: []plan.Expr{sum, plan.Widen{X: sqlexpr.Whole(2), T: schema.Double}}, T: schema.Double}
		return plan.Case{If: []plan.Expr{sqlexpr.Not(even), few}, Then: []plan.Expr{refs[0], mean}, Else: plan.Const{T: schema.Double}, T: schema.Double}
	}}, sqlexpr.Node{}, nil
}
