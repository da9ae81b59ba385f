package bind

import (
	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// targets are the types that values convert to, by the name that $convert has for them.
var targets = map[string]schema.Type{"int": schema.Integer, "long": schema.Integer, "double": schema.Double, "decimal": schema.Decimal,
	"string": schema.String, "bool": schema.Boolean, "date": schema.Date}

func conversion(e query.Call, args []node) (node, bool, error) {
	names := map[string]string{"$toInt": "int", "$toLong": "long", "$toDouble": "double", "$toDecimal": "decimal", "$toString": "string",
		"$toBool": "bool", "$toDate": "date"}
	if to, ok := names[e.Op]; ok {
		n, err := convert(e, &args[0], targets[to])
		return n, true, err
	}
	switch e.Op {
	case "$convert":
		name, _ := args[1].constantText()
		t, ok := targets[name]
		if !ok {
			return node{}, true, &problem.Error{Code: problem.InvalidQuery, Pointer: query.Pointer(e.At, "to"), Detail: "$convert converts to int, long, double, decimal, string, bool or date",
				Near: problem.Nearest(name, []string{"int", "long", "double", "decimal", "string", "bool", "date"}, 2)}
		}
		n, err := convert(e, &args[0], t)
		if err != nil || args[2].null() && args[3].null() {
			return n, true, err
		}
		n, err = fallbacks(args, n)
		return n, true, err
	case "$type":
		n, err := typeOf(&args[0])
		return n, true, err
	}
	return node{}, false, nil
}

func convert(e query.Call, n *node, t schema.Type) (node, error) {
	if n.object() {
		return node{}, invalid(e.At, "%s takes a single value, not an object", e.Op)
	}
	from := n.expr.Type()
	switch {
	case n.constant && n.null():
		return node{expr: algebra.Const{T: t}}, nil
	case from == t:
		return node{expr: n.expr, constant: n.constant}, nil
	case n.constant:
		return node{expr: algebra.Convert{X: constant(n.expr.(algebra.Const).Value, from), T: t}}, nil
	case n.list:
		return node{}, invalid(e.At, "%s takes a single value, not a list; use it in $map, or $unwind the list first", e.Op)
	case from == schema.Any:
		return node{expr: algebra.Convert{X: algebra.ToJSON{X: n.expr}, T: t}}, nil
	case from == schema.Bytes, from == schema.Boolean && t == schema.Date, from == schema.UUID && t != schema.String:
		return node{}, invalid(e.At, "%s can't convert %s", e.Op, what(n))
	case from == schema.Day && t != schema.String:
		if t == schema.Date {
			return node{expr: algebra.Widen{X: n.expr, T: t}}, nil
		}
		return node{expr: algebra.Convert{X: algebra.Widen{X: n.expr, T: schema.Date}, T: t}}, nil
	}
	return node{expr: algebra.Convert{X: n.expr, T: t}}, nil
}

// fallbacks gives a $convert its onNull where the input is null, and its onError where the result is.
func fallbacks(args []node, converted node) (node, error) {
	onError, onNull := args[2], args[3]
	out, all, err := together([]node{onNull, onError, converted}, "$convert")
	if err != nil {
		return node{}, err
	}
	input, failed := args[0].nothing(), converted.nothing()
	return node{expr: algebra.Case{If: []algebra.Expr{input, failed}, Then: out[:2], Else: out[2], T: all}}, nil
}

// typeOf binds $type. What the type is, is known before it runs for all but JSON.
func typeOf(n *node) (node, error) {
	name := func(s string) algebra.Expr { return algebra.Const{Value: value.OfString(s), T: schema.String} }
	if n.object() && !n.optional {
		return node{expr: name("object"), constant: true}, nil
	}
	if n.object() || dynamic(n.kind()) {
		return node{expr: algebra.Apply{Op: algebra.TypeOf, Args: []algebra.Expr{n.json()}, T: schema.String}}, nil
	}
	if n.constant {
		n.expr = constant(n.expr.(algebra.Const).Value, n.expr.Type())
	}
	names := map[schema.Type]string{schema.Integer: "number", schema.Double: "number", schema.Decimal: "number", schema.Boolean: "bool",
		schema.Date: "date", schema.Day: "date", schema.Bytes: "binData"}
	is, ok := names[n.kind()]
	if !ok {
		is = "string"
	}
	return node{expr: algebra.Case{If: []algebra.Expr{n.nothing()}, Then: []algebra.Expr{name("null")}, Else: name(is), T: schema.String}}, nil
}
