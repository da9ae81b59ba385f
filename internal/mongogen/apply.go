package mongogen

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// comparisons are the operators that the server evaluates with the same meaning, for values of one type.
var comparisons = map[plan.Op]string{plan.Eq: "$eq", plan.Ne: "$ne"}

// less writes the condition that a is less than b. Null is less than all other values. It doesn't rely on the server's
// order of types.
func less(a, b any) bson.D {
	return of("$let", "vars", bson.D{{Key: "a", Value: a}, {Key: "b", Value: b}}, "in",
		op("$and", op("$ne", "$$b", nil), op("$or", op("$eq", "$$a", nil), op("$lt", "$$a", "$$b"))))
}

// hasSameOrder reports whether the server orders the values of a type in the same way as expressions do.
func hasSameOrder(t schema.Type) bool {
	switch t {
	case schema.String, schema.Integer, schema.Double, schema.Boolean, schema.Date:
		return true
	}
	return false
}

// apply writes an operator.
func (f *flow) apply(e plan.Apply) (any, bool) {
	args, ok := f.all(e.Args)
	if !ok || len(args) == 0 {
		return nil, false
	}
	t := e.Args[0].Type()
	if name, is := comparisons[e.Op]; is {
		return op(name, args...), hasSameOrder(t)
	}
	switch e.Op {
	case plan.Lt:
		return less(args[0], args[1]), hasSameOrder(t)
	case plan.Gt:
		return less(args[1], args[0]), hasSameOrder(t)
	case plan.Gte:
		return op("$not", less(args[0], args[1])), hasSameOrder(t)
	case plan.Lte:
		return op("$not", less(args[1], args[0])), hasSameOrder(t)
	case plan.Same, plan.Differ, plan.Under, plan.UpTo:
		name := map[plan.Op]string{plan.Same: "$eq", plan.Differ: "$ne", plan.Under: "$lt", plan.UpTo: "$lte"}[e.Op]
		return op("$and", op("$ne", args[0], nil), op("$ne", args[1], nil), op(name, args...)), hasSameOrder(t)
	case plan.IsNull:
		return op("$eq", args[0], nil), true
	case plan.And:
		return op("$and", args...), true
	case plan.Or:
		return op("$or", args...), true
	case plan.Not:
		return op("$not", args...), true
	case plan.IfNull:
		return op("$ifNull", append(args, literal(nil))...), true
	case plan.BitAnd, plan.BitOr, plan.BitXor:
		return op(map[plan.Op]string{plan.BitAnd: "$bitAnd", plan.BitOr: "$bitOr", plan.BitXor: "$bitXor"}[e.Op], args...), true
	case plan.Concat:
		return op("$concat", args...), true
	case plan.Length:
		return unlessNull(args[0], func(x string) any { return bson.D{{Key: "$strLenCP", Value: x}} }), true
	case plan.Size:
		return let(args[0], func(x string) any {
			return cond3(bson.D{{Key: "$isArray", Value: bson.A{x}}}, bson.D{{Key: "$size", Value: x}}, nil)
		}), true
	case plan.IsList:
		return bson.D{{Key: "$isArray", Value: bson.A{args[0]}}}, true
	case plan.Millis:
		return let(op("$subtract", args...), func(x string) any { return x }), true
	}
	return arithmetic(e, args)
}

// unlessNull writes in(x) unless x is null.
func unlessNull(x any, in func(x string) any) any {
	return let(x, func(x string) any { return cond3(op("$eq", x, nil), nil, in(x)) })
}

// arithmetic writes operators on numbers. On the server, an Integer beyond 64 bits becomes a double, which the
// expression turns into null. Doubles are computed only within a range in which no precision is lost silently.
func arithmetic(e plan.Apply, args []any) (any, bool) {
	name := map[plan.Op]string{plan.Add: "$add", plan.Sub: "$subtract", plan.Mul: "$multiply", plan.Div: "$divide"}[e.Op]
	if name == "" || e.T != schema.Integer && e.T != schema.Double || e.Op == plan.Div && e.T != schema.Double {
		return nil, false
	}
	so := args[0]
	for _, y := range args[1:] {
		if e.T == schema.Integer {
			so = let(op(name, so, y), func(x string) any { return cond3(isType(x, "int", "long"), x, nil) })
			continue
		}
		test := op("$and", operand("$$a"), operand("$$b"))
		if e.Op == plan.Div {
			test = op("$and", operand("$$a"), operand("$$b"), op("$ne", "$$b", literal(0.0)))
		}
		result := op("$add", op(name, "$$a", "$$b"), literal(0.0)) // removes the sign of a zero
		so = of("$let", "vars", bson.D{{Key: "a", Value: so}, {Key: "b", Value: y}}, "in", cond3(test, result, nil))
	}
	return so, len(args) > 1
}

// operand tests whether a double is in the range of arithmetic.
func operand(x string) bson.D {
	size := bson.D{{Key: "$abs", Value: x}}
	return op("$or", op("$eq", x, literal(0.0)), op("$and", op("$gte", size, literal(1e-150)), op("$lte", size, literal(1e150))))
}
