package typecheck

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Nearest rounds to a whole number. The half of a Double is rounded to the even number, and the half of a Decimal away
// from zero.
func Nearest(x plan.Expr, t schema.Type) plan.Expr {
	zero := plan.Const{Value: value.OfInt(0), T: schema.Integer}
	of := func(o plan.Op, args ...plan.Expr) plan.Expr { return plan.Apply{Op: o, Args: args, T: t} }
	rounded := of(plan.Round, x, zero)
	if t != schema.Double {
		return rounded
	}
	number := func(f float64) plan.Expr { return plan.Const{Value: value.OfFloat(f), T: schema.Double} }
	half := plan.Apply{Op: plan.Same, T: schema.Boolean, Args: []plan.Expr{of(plan.Abs, of(plan.Sub, x, of(plan.Trunc, x, zero))), number(0.5)}}
	even := of(plan.Mul, number(2), of(plan.Round, of(plan.Div, x, number(2)), zero))
	return plan.Case{If: []plan.Expr{half}, Then: []plan.Expr{even}, Else: rounded, T: t}
}
