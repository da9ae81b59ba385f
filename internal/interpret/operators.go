package interpret

import (
	"math"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// apply returns the value of an operator.
func (at *place) apply(e plan.Apply) value.Value {
	switch e.Op {
	case plan.And, plan.Or:
		for _, arg := range e.Args {
			if at.eval(arg).Bool() == (e.Op == plan.Or) {
				return value.OfBool(e.Op == plan.Or)
			}
		}
		return value.OfBool(e.Op == plan.And)
	case plan.IfNull:
		for _, arg := range e.Args {
			if v := at.eval(arg); !v.IsNull() {
				return v
			}
		}
		return value.Value{}
	}
	args := at.all(e.Args)
	if v, ok := ofNull(e, args); ok {
		return v
	}
	for _, arg := range args {
		if arg.IsNull() {
			return value.Value{}
		}
	}
	for _, family := range []func(plan.Apply, []value.Value) (value.Value, bool){arithmetic, apply, ofLists} {
		if v, ok := family(e, args); ok {
			return v
		}
	}
	at.fail("interpret: there is no operator %s", e.Op)
	return value.Value{}
}

// ofNull returns the value of an operator that is never null, and whether e is such an operator.
func ofNull(e plan.Apply, args []value.Value) (value.Value, bool) {
	switch e.Op {
	case plan.Eq, plan.Ne, plan.Gt, plan.Gte, plan.Lt, plan.Lte:
		return value.OfBool(comparisonHolds(e.Op, args[0], args[1], e.Args[0].Type())), true
	case plan.Same:
		return value.OfBool(!args[0].IsNull() && !args[1].IsNull() && comparisonHolds(plan.Eq, args[0], args[1], e.Args[0].Type())), true
	case plan.Differ, plan.Under, plan.UpTo:
		op := map[plan.Op]plan.Op{plan.Differ: plan.Ne, plan.Under: plan.Lt, plan.UpTo: plan.Lte}[e.Op]
		return value.OfBool(!args[0].IsNull() && !args[1].IsNull() && comparisonHolds(op, args[0], args[1], e.Args[0].Type())), true
	case plan.Cmp:
		return value.OfInt(int64(beside(args[0], args[1]))), true
	case plan.IsNull:
		return value.OfBool(args[0].IsNull()), true
	case plan.Not:
		return value.OfBool(!args[0].Bool()), true
	case plan.Truth:
		x := args[0]
		return value.OfBool(!x.IsNull() && !value.Equal(x, value.OfBool(false)) && !value.Equal(x, value.OfInt(0))), true
	case plan.InList:
		for _, element := range args[1].List() {
			if value.Equal(args[0], element) {
				return value.OfBool(true), true
			}
		}
		return value.OfBool(false), true
	case plan.IsList:
		return value.OfBool(args[0].Kind() == value.Array), true
	case plan.TypeOf:
		names := map[value.Kind]string{value.Null: "null", value.Bool: "bool", value.Int: "number", value.Decimal: "number",
			value.String: "string", value.Array: "array", value.Object: "object"}
		return value.OfString(names[args[0].Kind()]), true
	}
	return value.Value{}, false
}

// beside compares x and y. Numbers are compared as doubles if one is a double. Values of different types are compared
// by value.Order.
func beside(x, y value.Value) int {
	if order, alike := value.Compare(x, y); alike {
		return order
	}
	return value.Order(x, y)
}

// comparisonHolds reports whether x op y. Two different objects, or two lists, are neither less nor greater.
func comparisonHolds(op plan.Op, x, y value.Value, t schema.Type) bool {
	order := beside(x, y)
	equal := order == 0
	if t == schema.JSON {
		equal, order = value.Equal(x, y), orderJSON(x, y)
	}
	switch op {
	case plan.Eq:
		return equal
	case plan.Ne:
		return !equal
	case plan.Gt:
		return order > 0
	case plan.Gte:
		return order > 0 || equal
	case plan.Lt:
		return order < 0
	}
	return order < 0 || equal
}

// arithmetic returns the value of an operator on numbers or dates. The bool is false for another operator.
func arithmetic(e plan.Apply, args []value.Value) (value.Value, bool) {
	x := args[0]
	switch e.Op {
	case plan.Add, plan.Sub, plan.Mul, plan.Div, plan.Mod:
		so := x
		for _, y := range args[1:] {
			if so = binary(e.Op, e.T, so, y); so.IsNull() {
				break
			}
		}
		return so, true
	case plan.Quo:
		if y := args[1].Int(); y != 0 {
			return value.OfInt(x.Int() / y), true
		}
		return value.Value{}, true
	case plan.Abs, plan.Ceil, plan.Floor:
		return whole(e.Op, e.T, x), true
	case plan.Sqrt, plan.Pow, plan.Ln, plan.Log10, plan.Exp:
		return plan.RealOf(e.Op, args), true
	case plan.Trunc, plan.Round:
		return roundNumber(e.T, x, args[1].Int(), map[plan.Op]rounding{plan.Trunc: cutRounding, plan.Round: nearest}[e.Op]), true
	case plan.BitAnd:
		return value.OfInt(x.Int() & args[1].Int()), true
	case plan.BitOr:
		return value.OfInt(x.Int() | args[1].Int()), true
	case plan.BitXor:
		return value.OfInt(x.Int() ^ args[1].Int()), true
	case plan.Millis:
		return value.OfInt((x.Micros() - args[1].Micros()) / 1000), true
	}
	return value.Value{}, false
}

// binary applies an operator to two numbers that aren't null. Integers and Decimals are computed exactly. The result is
// null if t can't represent it. Mod applies to integers and is null for a divisor of zero.
func binary(op plan.Op, t schema.Type, x, y value.Value) value.Value {
	if t == schema.Double {
		return doubles(op, x.Float(), y.Float())
	}
	if op == plan.Mod {
		if y.Int() == 0 {
			return value.Value{}
		}
		return value.OfInt(x.Int() % y.Int())
	}
	a, aok := NumberOf(x)
	b, bok := NumberOf(y)
	if !aok || !bok {
		return value.Value{}
	}
	switch op {
	case plan.Add:
		a = a.Plus(b)
	case plan.Sub:
		a = a.Minus(b)
	case plan.Mul:
		a = a.Times(b)
	default: // Div is only for Doubles
		return value.Value{}
	}
	return a.To(t)
}

// doubles applies an operator to two Doubles. The result is null for a divisor of zero. It is also null for numbers out
// of the range of arithmetic (plan.IsInRange), because backends differ there.
func doubles(op plan.Op, x, y float64) value.Value {
	if !plan.IsInRange(x) || !plan.IsInRange(y) {
		return value.Value{}
	}
	switch op {
	case plan.Add:
		return Double(x + y)
	case plan.Sub:
		return Double(x - y)
	case plan.Mul:
		return Double(x * y)
	}
	if y == 0 || op != plan.Div {
		return value.Value{}
	}
	return Double(x / y)
}

// whole evaluates Abs, Ceil or Floor.
func whole(op plan.Op, t schema.Type, x value.Value) value.Value {
	if t == schema.Double && !plan.IsInRange(x.Float()) {
		return value.Value{}
	}
	d, ok := NumberOf(x)
	if !ok {
		return value.Value{}
	}
	switch {
	case op == plan.Ceil:
		d = d.Round(0, Up)
	case op == plan.Floor:
		d = d.Round(0, Down)
	case op == plan.Abs:
		d = d.Abs()
	}
	if t == schema.Double {
		return d.Double()
	}
	return d.To(t)
}

// roundNumber evaluates Trunc or Round. A Double is rounded by its decimal form.
func roundNumber(t schema.Type, x value.Value, places int64, how rounding) value.Value {
	if t == schema.Double && !plan.IsInRange(x.Float()) {
		return value.Value{}
	}
	d, ok := NumberOf(x)
	if !ok {
		return value.Value{}
	}
	if t != schema.Double {
		return d.Round(int(places), how).To(t)
	}
	if math.Abs(x.Float()) > 1e15 {
		return Double(x.Float())
	}
	return d.Round(int(places), how).Double()
}
