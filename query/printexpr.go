package query

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// printExpr encodes x as JSON that ParseExpr parses to x. It encodes nil as null.
func printExpr(x Expr) value.Value {
	switch x := x.(type) {
	case FieldRef:
		return value.OfString("$" + x.Path.String())
	case VariableRef:
		return value.OfString("$$" + append(Path{x.Name}, x.Path...).String())
	case Literal:
		return printLiteral(x.Value)
	case ObjectExpr:
		return value.OfObject(printComputedFields(x.Members))
	case ListExpr:
		return printExprs(x.Elements...)
	case Call:
		return one(x.Op, printCall(x))
	case Switch:
		if x.Cond {
			return one("$cond", printExprs(x.Cases[0].If, x.Cases[0].Then, x.Default))
		}
		branches := make([]value.Value, len(x.Cases))
		for i, c := range x.Cases {
			branches[i] = object("", expr("case", c.If), expr("then", c.Then)).Value
		}
		return one("$switch", object("", when(true, "branches", value.OfArray(branches)), expr("default", x.Default)).Value)
	case Let:
		return one("$let", object("", value.Member{Name: "vars", Value: value.OfObject(printComputedFields(x.Vars))}, expr("in", x.In)).Value)
	case Lambda:
		body := "in"
		if x.Op == "$filter" {
			body = "cond"
		}
		as := when(x.Op != "$reduce" && x.As != "this", "as", value.OfString(x.As))
		return one(x.Op, object("", expr("input", x.Input), as, expr("initialValue", x.Initial), expr(body, x.Body), expr("limit", x.Limit)).Value)
	}
	return value.Value{}
}

// printLiteral encodes a constant so that it isn't parsed as a path or an operator.
func printLiteral(v value.Value) value.Value {
	switch k := v.Kind(); {
	case k == value.Date || k == value.Day:
		return one("$date", value.OfString(v.String()))
	case k == value.Object || !constant(v):
		return one("$literal", v)
	}
	return v
}

func printExprs(xs ...Expr) value.Value {
	list := make([]value.Value, len(xs))
	for i, x := range xs {
		list[i] = printExpr(x)
	}
	return value.OfArray(list)
}

// printCall encodes arguments as in the signature. A single argument has no list if that is unambiguous.
func printCall(c Call) value.Value {
	sig, _ := SignatureOf(c.Op)
	if sig.Names == nil {
		if list := printExprs(c.Args...); len(c.Args) != 1 || list.List()[0].Kind() == value.Array {
			return list
		}
		return printExpr(c.Args[0])
	}
	args := make([]value.Member, len(c.Args))
	for j, x := range c.Args {
		args[j] = expr(sig.Names[j], x)
	}
	if sig.isPart() && c.Args[1] == nil && strings.HasPrefix(args[0].Value.Text(), "$") {
		return args[0].Value
	}
	return object("", args...).Value
}
