package bind

import (
	"slices"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// want returns n as a value of type t, which an operator called op takes; or says what it is instead. What is known
// only when it runs counts as null where it is of another type.
func (n *node) want(t schema.Type, op string) (algebra.Expr, error) {
	if t == schema.JSON {
		return n.json(), nil
	}
	if n.object() {
		return nil, invalid(n.at, "%s takes %s here, not an object", op, wanted(t))
	}
	if n.constant {
		v := n.expr.(algebra.Const).Value
		if fitted, ok := fit(v, t); ok {
			return constant(fitted, t), nil
		}
		return nil, invalid(n.at, "%s takes %s here, not %s", op, wanted(t), quoted(v))
	}
	from := n.expr.Type()
	switch {
	case from == t:
		return n.expr, nil
	case dynamic(from) && !n.list:
		if t == schema.UUID || t == schema.Day || t == schema.Bytes {
			break
		}
		return algebra.As{X: n.expr, T: t}, nil
	case numeric(from) && numeric(t) && wider(from, t) == t, from == schema.Day && t == schema.Date, from == schema.UUID && t == schema.String:
		return algebra.Widen{X: n.expr, T: t}, nil
	}
	if n.list {
		return nil, invalid(n.at, "%s takes %s here, not a list; $unwind the list first", op, wanted(t))
	}
	return nil, invalid(n.at, "%s takes %s here, not %s", op, wanted(t), a(from))
}

// wanted names a type that an operator takes.
func wanted(t schema.Type) string {
	switch t {
	case schema.Integer:
		return "a whole number"
	case schema.Decimal, schema.Double:
		return "a number"
	}
	return a(t)
}

// fit returns a constant as what type t holds, and whether it can be that.
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

func quoted(v value.Value) string {
	text := string(v.AppendJSON(nil))
	if len(text) > 60 {
		return "this " + v.Kind().String()
	}
	return text
}

// id returns a constant that is compared with an id as what the column holds: ids are text to agents, and a pointer
// may be written as an object.
func id(n node, with *algebra.Column) node {
	v := n.expr.(algebra.Const).Value
	if class, ok := v.Get("className"); ok && with != nil && class.Text() == with.Class {
		v, _ = v.Get("objectId")
	}
	if with != nil && with.ID && with.Type == schema.Integer && v.Kind() == value.String {
		if i, err := strconv.ParseInt(v.Text(), 10, 64); err == nil && strconv.FormatInt(i, 10) == v.Text() {
			v = value.OfInt(i)
		}
	}
	n.expr = algebra.Const{Value: v, T: natural(v)}
	return n
}

// alike returns two operands of op as values of one type, in which they can be compared.
func alike(x, y node, op string) (algebra.Expr, algebra.Expr, error) {
	switch {
	case x.constant && !y.object():
		x = id(x, y.column)
	case y.constant && !x.object():
		y = id(y, x.column)
	}
	t, ok := meet(&x, &y)
	if !ok {
		return nil, nil, invalid(y.at, "%s can't compare %s with %s: they are never alike", op, what(&x), what(&y))
	}
	ex, err := x.want(t, op)
	if err != nil {
		return nil, nil, err
	}
	ey, err := y.want(t, op)
	return ex, ey, err
}

// meet returns the type in which two operands can be compared.
func meet(x, y *node) (schema.Type, bool) {
	tx, ty := x.kind(), y.kind()
	switch {
	case x.constant && x.null() && !y.object():
		return orJSON(ty), true
	case y.constant && y.null() && !x.object():
		return orJSON(tx), true
	case tx == ty && tx == schema.Any:
		return schema.JSON, true
	case tx == ty:
		return tx, tx != schema.Opaque
	case numeric(tx) && numeric(ty):
		return wider(tx, ty), true
	case dynamic(tx) && dynamic(ty), x.list, y.list, x.object() && dynamic(ty), y.object() && dynamic(tx):
		return schema.JSON, dynamic(tx) && dynamic(ty) || x.object() || y.object()
	case dynamic(tx):
		return inJSON(ty)
	case dynamic(ty):
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
		return schema.UUID, true // in either case of its letters
	case slices.Contains(texts, tx) && slices.Contains(texts, ty):
		return schema.String, true
	}
	return 0, false
}

// inJSON is the type in which a value that is known only when it runs is compared with one of type t: whole numbers
// beside it are exact, and it may be none.
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

// kind is the type of an operand: of a constant, as it is written.
func (n *node) kind() schema.Type {
	if n.object() {
		return schema.JSON
	}
	if n.constant {
		return natural(n.expr.(algebra.Const).Value)
	}
	return n.expr.Type()
}

// dateText reports whether n is a constant text that writes a date.
func (n *node) dateText() bool {
	if !n.constant {
		return false
	}
	_, ok := value.OfDateText(n.expr.(algebra.Const).Value.Text())
	return ok
}

// uuid reports whether n is a constant text that writes a UUID.
func (n *node) uuid() bool {
	if !n.constant {
		return false
	}
	_, ok := value.OfUUIDText(n.expr.(algebra.Const).Value.Text())
	return ok
}

func what(n *node) string {
	switch {
	case n.object():
		return "an object"
	case n.constant:
		return quoted(n.expr.(algebra.Const).Value)
	case n.column != nil && n.column.Path != nil:
		return n.column.Key() + " (" + n.expr.Type().String() + ")"
	}
	return a(n.expr.Type())
}

// common returns the type that all of nodes can have: JSON where they differ.
func common(nodes []node) schema.Type {
	var t schema.Type
	found := false
	for i := range nodes {
		n := &nodes[i]
		if n.constant && n.null() {
			continue
		}
		k := n.kind()
		switch {
		case k == schema.Any:
			return schema.JSON
		case !found:
			t, found = k, true
		case t == k:
		case numeric(t) && numeric(k):
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
