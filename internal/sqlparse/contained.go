package sqlparse

import (
	"github.com/bailiwick-dev/bailiwick/value"
)

// rewriteContainment rewrites PostgreSQL's containment with a column and constants: list @> ARRAY[…], list && '{a,b}',
// and json @> '{"a": 1}'. The result repeats the column for each constant, but the column is only a name.
func (t *taker) rewriteContainment(e *Binary) Expr {
	whole, part := e.L, e.R
	switch e.Op {
	case "<@":
		whole, part = part, whole
	case "@>":
	case "&&":
		whole, part = words(whole), words(part)
		if _, list := part.(*Array); !list {
			whole, part = part, whole
		}
		if _, list := part.(*Array); !list {
			t.fail(e.At, "AND joins conditions. list && ARRAY['a', 'b'] tests whether lists have an element in common", "&& is an operator of lists here, one of them written as ARRAY[…]")
			return e
		}
	default:
		return e
	}
	column, ok := whole.(*Name)
	if !ok {
		return e
	}
	switch part := part.(type) {
	case *Array:
		op := "and"
		if e.Op == "&&" {
			op = "or"
		}
		return elements(column, part, op, e.At)
	case *Cast:
		if s, ok := part.X.(*String); ok && (part.Type == "jsonb" || part.Type == "json") {
			return members(column, s, e)
		}
	case *String:
		if out := members(column, part, e); out != e {
			return out
		}
		if list, ok := words(part).(*Array); ok {
			return elements(column, list, "and", e.At)
		}
	}
	return e
}

// words returns the list in the text of an array, as PostgreSQL reads it. In '{2}', the 2 may be a text or a number,
// depending on the other list, whose type isn't known here. A text with such an element stays unchanged.
func words(e Expr) Expr {
	list, ok := parseArrayText(e).(*Array)
	if !ok {
		return e
	}
	for _, x := range list.Items {
		s, ok := x.(*String)
		if !ok {
			return e
		}
		if _, err := value.Read([]byte(s.Text), 1); err == nil {
			return e
		}
	}
	return list
}

// most is the maximum number of constants that are tested one by one.
const most = 50

// elements tests each element of part separately. A null in the column's list doesn't make the result unknown.
func elements(column *Name, part *Array, op string, at Pos) Expr {
	if len(part.Items) > most {
		return &Binary{Op: "@>", L: column, R: part, At: at}
	}
	var all Expr = &Word{Text: map[string]string{"and": "true", "or": "false"}[op], At: at}
	for i, x := range part.Items {
		switch x.(type) {
		case *String, *Number, *Param:
		default:
			return &Binary{Op: "@>", L: column, R: part, At: at}
		}
		var one Expr = &Is{X: &Any{X: x, Op: "=", List: column, At: at}, What: "true", At: at}
		if i > 0 {
			one = &Binary{Op: op, L: all, R: one, At: at}
		}
		all = one
	}
	null := []Expr{isNull(column, false, at)}
	return &Case{When: null, Then: []Expr{&Word{Text: "null", At: at}}, Else: all, At: at}
}

// members tests each member of an object. Members are texts, numbers and booleans. For other constants, the operator
// stays unchanged and is refused later.
func members(column *Name, s *String, e *Binary) Expr {
	v, err := value.Read([]byte(s.Text), 2)
	if err == nil && v.Kind() == value.Array && len(v.List()) > 0 {
		list := &Array{At: s.At}
		for _, x := range v.List() {
			switch {
			case x.Kind() == value.String:
				list.Items = append(list.Items, idiomText(x.Text(), s.At))
			case x.Kind() == value.Int && x.Int() >= 0:
				list.Items = append(list.Items, &Number{Text: x.String(), At: s.At})
			default:
				return e
			}
		}
		return elements(column, list, "and", e.At)
	}
	if err != nil || v.Kind() != value.Object || len(v.Members()) > most {
		return e
	}
	var all Expr
	and := func(x Expr) {
		if all != nil {
			x = &Binary{Op: "and", L: all, R: x, At: e.At}
		}
		all = x
	}
	for _, m := range v.Members() {
		at := func(op string) Expr {
			return &Binary{Op: op, L: column, R: idiomText(m.Name, e.At), At: e.At}
		}
		kind, want := "string", Expr(idiomText(m.Value.Text(), e.At))
		found := at("->>")
		switch {
		case m.Value.Kind() == value.String:
		case m.Value.IsNumber():
			kind, want, found = "number", &Cast{X: idiomText(m.Value.String(), e.At), Type: "numeric", At: e.At}, &Cast{X: found, Type: "numeric", At: e.At}
		case m.Value.Kind() == value.Bool:
			kind, want = "boolean", idiomText(m.Value.String(), e.At)
		default:
			return e
		}
		and(&Binary{Op: "=", L: &Call{Name: "jsonb_typeof", Args: []Expr{at("->")}, At: e.At}, R: idiomText(kind, e.At), At: e.At})
		and(&Binary{Op: "=", L: found, R: want, At: e.At})
	}
	if all == nil {
		return e
	}
	null := []Expr{isNull(column, false, e.At)}
	return &Case{When: null, Then: []Expr{&Word{Text: "null", At: e.At}}, Else: &Is{X: all, What: "true", At: e.At}, At: e.At}
}
