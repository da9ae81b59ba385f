package typecheck

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// targets maps the type names of $convert to types.
var targets = map[string]schema.Type{"int": schema.Integer, "long": schema.Integer, "double": schema.Double, "decimal": schema.Decimal,
	"string": schema.String, "bool": schema.Boolean, "date": schema.Date}

// convertTo binds $toInt … $toDate. A value that can't be converted is null. MongoDB fails in this case.
func convertTo(name string) operation {
	return func(e query.Call, args []Node) (Node, error) { return convert(e, &args[0], targets[name]) }
}

// conversion binds $convert. Its type must be a constant, because a column has one type. A value that can't be
// converted is null, or onError.
func conversion(e query.Call, args []Node) (Node, error) {
	name, _ := args[1].constantText()
	t, ok := targets[name]
	if !ok {
		return Node{}, &problem.Error{Code: problem.InvalidQuery, Pointer: query.Pointer(e.At, "to"), Detail: "$convert converts to int, long, double, decimal, string, bool or date",
			Near: problem.Nearest(name, []string{"int", "long", "double", "decimal", "string", "bool", "date"}, 2)}
	}
	n, err := convert(e, &args[0], t)
	if err != nil || args[2].IsNull() && args[3].IsNull() {
		return n, err
	}
	return fallbacks(args, n)
}

// convert returns n in type t, or null for values that can't be converted. It refuses types that never convert: an
// object, a list, bytes, and a Boolean to a date.
func convert(e query.Call, n *Node, t schema.Type) (Node, error) {
	if n.IsObject() {
		return Node{}, problem.Invalid(e.At, "%s takes a single value, not an object", e.Op)
	}
	from := n.Expr.Type()
	switch {
	case n.Constant && n.IsNull():
		return Node{Expr: plan.Const{T: t}}, nil
	case from == t:
		return Node{Expr: n.Expr, Constant: n.Constant}, nil
	case n.Constant:
		return Node{Expr: plan.Convert{X: Constant(n.Expr.(plan.Const).Value, from), T: t}}, nil
	case n.List:
		return Node{}, problem.Invalid(e.At, "%s takes a single value, not a list. Use it in $map, or $unwind the list first", e.Op)
	case from == schema.Any:
		return Node{Expr: plan.Convert{X: plan.ToJSON{X: n.Expr}, T: t}}, nil
	case from == schema.Bytes, from == schema.Boolean && t == schema.Date, from == schema.UUID && t != schema.String:
		return Node{}, problem.Invalid(e.At, "%s can't convert %s", e.Op, Describe(n))
	case from == schema.Day && t != schema.String:
		if t == schema.Date {
			return Node{Expr: plan.Widen{X: n.Expr, T: t}}, nil
		}
		return Node{Expr: plan.Convert{X: plan.Widen{X: n.Expr, T: schema.Date}, T: t}}, nil
	}
	return Node{Expr: plan.Convert{X: n.Expr, T: t}}, nil
}

// fallbacks returns a $convert that gives onNull if the input is null, and onError if the conversion gives null.
func fallbacks(args []Node, converted Node) (Node, error) {
	onError, onNull := args[2], args[3]
	out, all, err := Together([]Node{onNull, onError, converted}, "$convert")
	if err != nil {
		return Node{}, err
	}
	input, failed := args[0].Nothing(), converted.Nothing()
	return Node{Expr: plan.Case{If: []plan.Expr{input, failed}, Then: out[:2], Else: out[2], T: all}}, nil
}

// typeOf binds $type. The result is a constant for all types except JSON.
func typeOf(_ query.Call, args []Node) (Node, error) {
	n := &args[0]
	name := func(s string) plan.Expr { return plan.Const{Value: value.OfString(s), T: schema.String} }
	if n.IsObject() && !n.Optional {
		return Node{Expr: name("object"), Constant: true}, nil
	}
	if n.IsObject() || Dynamic(n.Kind()) {
		return Node{Expr: plan.Apply{Op: plan.TypeOf, Args: []plan.Expr{n.JSON()}, T: schema.String}}, nil
	}
	if n.Constant {
		k := Constant(n.Expr.(plan.Const).Value, n.Expr.Type())
		n.Become(k.Value, k.T)
	}
	names := map[schema.Type]string{schema.Integer: "number", schema.Double: "number", schema.Decimal: "number", schema.Boolean: "bool",
		schema.Date: "date", schema.Day: "date", schema.Bytes: "binData"}
	is, ok := names[n.Kind()]
	if !ok {
		is = "string"
	}
	return Node{Expr: plan.Case{If: []plan.Expr{n.Nothing()}, Then: []plan.Expr{name("null")}, Else: name(is), T: schema.String}}, nil
}
