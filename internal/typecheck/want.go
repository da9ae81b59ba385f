package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Want returns n as a value of type t, for use as an operand of op. Otherwise it returns an error that describes n. If
// the type of n is known only at run time, a value of another type gives null.
func (n *Node) Want(t schema.Type, op string) (plan.Expr, error) {
	if t == schema.JSON {
		return n.JSON(), nil
	}
	if n.IsObject() {
		return nil, problem.Invalid(n.At, "%s takes %s here, not an object", op, operandName(t))
	}
	if n.Constant || n.IsNull() {
		v := n.Expr.(plan.Const).Value
		if fitted, ok := fit(v, t); ok {
			return Constant(fitted, t), nil
		}
		return nil, problem.Invalid(n.At, "%s takes %s here, not %s%s", op, operandName(t), quoteValue(v), dollar(op, v))
	}
	from := n.Expr.Type()
	switch {
	case from == t:
		return n.Expr, nil
	case Dynamic(from) && !n.List:
		if t == schema.UUID || t == schema.Day || t == schema.Bytes {
			break
		}
		return plan.As{X: n.Expr, T: t}, nil
	case Numeric(from) && Numeric(t) && wider(from, t) == t, from == schema.Day && t == schema.Date, from == schema.UUID && t == schema.String:
		return plan.Widen{X: n.Expr, T: t}, nil
	}
	if n.List {
		return nil, problem.Invalid(n.At, "%s takes %s here, not a list. $unwind the list first", op, operandName(t))
	}
	return nil, problem.Invalid(n.At, "%s takes %s here, not %s", op, operandName(t), a(from))
}

// operandName returns the name of a type as an operand, for messages.
func operandName(t schema.Type) string {
	switch t {
	case schema.Integer:
		return "a whole number"
	case schema.Decimal, schema.Double:
		return "a number"
	}
	return a(t)
}

// fit converts a constant to type t, and reports whether that is possible.
func fit(v value.Value, t schema.Type) (value.Value, bool) {
	if v.IsNull() {
		return v, true
	}
	switch t {
	case schema.Integer:
		n, ok := v.AsInt()
		return value.OfInt(n), ok
	case schema.Decimal:
		return v, v.IsNumber()
	case schema.Double:
		f, ok := v.AsFloat()
		return value.OfFloat(f), ok
	case schema.Boolean:
		return v, v.Kind() == value.Bool
	case schema.String:
		return v, v.Kind() == value.String
	case schema.Date, schema.Day:
		if v.Kind() == value.String {
			return value.OfDateText(v.Text())
		}
		return v, v.Kind() == value.Date || v.Kind() == value.Day
	case schema.UUID:
		u, ok := value.OfUUIDText(v.Text())
		return u, ok && v.Kind() == value.String
	}
	return v, false
}

// dollar returns the hint that a field requires a dollar, if an operator of pipelines has v, the name of a field, as an
// operand. Otherwise it returns "".
func dollar(op string, v value.Value) string {
	if _, err := query.CheckPath(v.Text(), ""); err != nil || !strings.HasPrefix(op, "$") || strings.ContainsAny(v.Text(), " $") {
		return ""
	}
	return fmt.Sprintf("; a field is written %q", "$"+v.Text())
}

func quoteValue(v value.Value) string {
	text := string(v.AppendJSON(nil))
	if len(text) > 60 {
		return "this " + v.Kind().String()
	}
	return text
}

// AsID converts the constant n to the type of the column with which it is compared, if that column contains ids. Agents
// write ids as text, and pointers also as objects.
func AsID(n Node, with *plan.Column) Node {
	v := n.Expr.(plan.Const).Value
	if class, ok := v.Get("className"); ok && with != nil && class.Text() == with.Class {
		v, _ = v.Get("objectId")
	}
	if with != nil && with.ID && v.Kind() == value.String {
		if id, ok := ID(with.Type, v.Text()); ok && (with.Type != schema.Boolean || id.Kind() == value.Bool) {
			v = id
		}
	}
	n.Become(v, Natural(v))
	return n
}

// single returns n, a value inside JSON with a known type, as a value of that type. The bool reports whether it is an
// id that is text in JSON.
func (n Node) single() (Node, bool) {
	k := n.Known
	if k == nil || k.List || k.Members != nil || n.List || n.IsObject() || n.Expr.Type() != schema.JSON {
		return n, false
	}
	t, id := k.Type, k.ID && Numeric(k.Type)
	switch {
	case id, t == schema.UUID:
		t = schema.String
	case t == schema.Day:
		t = schema.Date
	case t != schema.String && t != schema.Date && t != schema.Boolean && !Numeric(t):
		return n, false
	}
	return Node{Expr: plan.As{X: n.Expr, T: t}, At: n.At}, id
}

// asText returns n as text. n is compared with an id that is text.
func (n Node) asText() Node {
	switch {
	case n.IsObject() || n.IsNull():
	case n.Constant:
		if v := n.Expr.(plan.Const).Value; v.IsNumber() {
			n.Become(value.OfString(v.String()), schema.String)
		}
	case n.Column != nil && n.Column.ID && Numeric(n.Expr.Type()):
		n.Compute(plan.Convert{X: n.Expr, T: schema.String})
	}
	return n
}

// Alike returns two operands of op converted to a type in which they can be compared.
func Alike(x, y Node, op string) (plan.Expr, plan.Expr, error) {
	x, idOfX := x.single()
	y, idOfY := y.single()
	if idOfX {
		y = y.asText()
	}
	if idOfY {
		x = x.asText()
	}
	switch {
	case x.Constant && !y.IsObject():
		x = AsID(x, y.Column)
	case y.Constant && !x.IsObject():
		y = AsID(y, x.Column)
	}
	t, ok := meet(&x, &y)
	if !ok {
		wrong := problem.Invalid(y.At, "%s can't compare %s with %s: they are never alike", op, Describe(&x), Describe(&y))
		wrong.Suggestion = instead(&x, &y, op)
		return nil, nil, wrong
	}
	ex, err := x.Want(t, op)
	if err != nil {
		return nil, nil, err
	}
	ey, err := y.Want(t, op)
	return ex, ey, err
}

// meet returns the type in which two operands can be compared, and whether there is one.
func meet(x, y *Node) (schema.Type, bool) {
	tx, ty := x.Kind(), y.Kind()
	switch {
	case x.Constant && x.IsNull() && !y.IsObject():
		return orJSON(ty), true
	case y.Constant && y.IsNull() && !x.IsObject():
		return orJSON(tx), true
	case tx == ty && tx == schema.Any:
		return schema.JSON, true
	case tx == ty:
		return tx, tx != schema.Opaque
	case Numeric(tx) && Numeric(ty):
		return wider(tx, ty), true
	case Dynamic(tx) && Dynamic(ty), x.List, y.List, x.IsObject() && Dynamic(ty), y.IsObject() && Dynamic(tx):
		return schema.JSON, Dynamic(tx) && Dynamic(ty) || x.IsObject() || y.IsObject()
	case Dynamic(tx):
		return inJSON(ty)
	case Dynamic(ty):
		return inJSON(tx)
	}
	dates := []schema.Type{schema.Date, schema.Day}
	texts := []schema.Type{schema.String, schema.UUID}
	switch {
	case slices.Contains(dates, tx) && (slices.Contains(dates, ty) || y.dateText()):
		return schema.Date, true
	case slices.Contains(dates, ty) && x.dateText():
		return schema.Date, true
	case tx == schema.UUID && y.uuid(), ty == schema.UUID && x.uuid():
		return schema.UUID, true // without regard to case
	case slices.Contains(texts, tx) && slices.Contains(texts, ty):
		return schema.String, true
	}
	return 0, false
}

// inJSON returns the type in which a JSON value is compared with a value of type t, and whether they can be compared.
// Integers are compared as decimals, which is exact.
func inJSON(t schema.Type) (schema.Type, bool) {
	switch t {
	case schema.Integer:
		return schema.Decimal, true
	case schema.Day:
		return schema.Date, true
	case schema.UUID:
		return schema.String, true
	case schema.Bytes, schema.Opaque:
		return 0, false
	}
	return t, true
}

func orJSON(t schema.Type) schema.Type {
	if t == schema.Any {
		return schema.JSON
	}
	return t
}

// Kind returns the type of an operand. For a constant, it is its natural type.
func (n *Node) Kind() schema.Type {
	if n.IsObject() {
		return schema.JSON
	}
	if n.Constant {
		return Natural(n.Expr.(plan.Const).Value)
	}
	return n.Expr.Type()
}

// dateText reports whether n is a constant text that contains a date.
func (n *Node) dateText() bool {
	if !n.Constant {
		return false
	}
	_, ok := value.OfDateText(n.Expr.(plan.Const).Value.Text())
	return ok
}

// uuid reports whether n is a constant text that contains a UUID.
func (n *Node) uuid() bool {
	if !n.Constant {
		return false
	}
	_, ok := value.OfUUIDText(n.Expr.(plan.Const).Value.Text())
	return ok
}

// Describe describes an operand in a message: its column and type, or the constant as written.
func Describe(n *Node) string {
	switch {
	case n.IsObject():
		return "an object"
	case n.Constant:
		return quoteValue(n.Expr.(plan.Const).Value)
	case n.Column != nil && n.Column.Path != nil:
		return n.Column.Key() + " (" + n.Expr.Type().String() + ")"
	}
	return a(n.Expr.Type())
}

// common returns the common type of nodes. It is JSON if their types differ.
func common(nodes []Node) schema.Type {
	var t schema.Type
	found := false
	for i := range nodes {
		n := &nodes[i]
		if n.Constant && n.IsNull() {
			continue
		}
		k := n.Kind()
		switch {
		case k == schema.Any:
			return schema.JSON
		case !found:
			t, found = k, true
		case t == k:
		case Numeric(t) && Numeric(k):
			t = wider(t, k)
		case (t == schema.Date || t == schema.Day) && (k == schema.Date || k == schema.Day):
			t = schema.Date
		default:
			return schema.JSON
		}
	}
	if !found {
		return schema.JSON
	}
	return t
}
