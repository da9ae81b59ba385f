package query

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// PrintExpr writes x as the JSON that ParseExpr reads as x.
func PrintExpr(x Expr) value.Value {
	switch x := x.(type) {
	case FieldRef:
		return value.OfString("$" + x.Path.String())
	case VariableRef:
		return value.OfString("$$" + append(Path{x.Name}, x.Path...).String())
	case Literal:
		return printLiteral(x.Value)
	case ObjectExpr:
		return printComputed(x.Members)
	case ListExpr:
		return printExprs(x.Elements)
	case Call:
		return one(x.Op, printCall(x))
	case Switch:
		return printSwitch(x)
	case Lambda:
		return printLambda(x)
	}
	return one("$never", value.Value{}) // a nil Expr, which no parser makes
}

// printLiteral writes a constant so that it can't be taken for a path or an operator.
func printLiteral(v value.Value) value.Value {
	switch k := v.Kind(); {
	case k == value.Date || k == value.Day:
		return one("$date", value.OfString(v.String()))
	case k == value.Object || !constant(v):
		return one("$literal", v)
	}
	return v
}

func printExprs(xs []Expr) value.Value {
	list := make([]value.Value, len(xs))
	for i, x := range xs {
		list[i] = PrintExpr(x)
	}
	return value.OfArray(list)
}

func printCall(c Call) value.Value {
	i := slices.IndexFunc(Signatures, func(sig Signature) bool { return sig.Op == c.Op })
	if i >= 0 && Signatures[i].Names != nil {
		return printNamed(Signatures[i], c.Args)
	}
	if list := printExprs(c.Args); len(c.Args) != 1 || list.List()[0].Kind() == value.Array {
		return list
	}
	return PrintExpr(c.Args[0])
}

func printNamed(sig Signature, args []Expr) value.Value {
	o := &object{}
	for i, x := range args {
		if x != nil {
			o.add(sig.Names[i], PrintExpr(x))
		}
	}
	if sig.isPart() && len(o.members) == 1 && o.members[0].Value.Kind() == value.String && strings.HasPrefix(o.members[0].Value.Text(), "$") {
		return o.members[0].Value
	}
	return o.value()
}

func printSwitch(s Switch) value.Value {
	if s.Cond {
		return one("$cond", printExprs([]Expr{s.Cases[0].If, s.Cases[0].Then, s.Default}))
	}
	branches := make([]value.Value, len(s.Cases))
	for i, c := range s.Cases {
		branch := &object{}
		branch.add("case", PrintExpr(c.If))
		branch.add("then", PrintExpr(c.Then))
		branches[i] = branch.value()
	}
	o := &object{}
	o.add("branches", value.OfArray(branches))
	if s.Default != nil {
		o.add("default", PrintExpr(s.Default))
	}
	return one("$switch", o.value())
}

func printLambda(l Lambda) value.Value {
	o := &object{}
	o.add("input", PrintExpr(l.Input))
	if l.Op != "$reduce" && l.As != "this" {
		o.add("as", value.OfString(l.As))
	}
	switch l.Op {
	case "$filter":
		o.add("cond", PrintExpr(l.Body))
		if l.Limit != nil {
			o.add("limit", PrintExpr(l.Limit))
		}
	case "$map":
		o.add("in", PrintExpr(l.Body))
	case "$reduce":
		o.add("initialValue", PrintExpr(l.Initial))
		o.add("in", PrintExpr(l.Body))
	}
	return one(l.Op, o.value())
}
