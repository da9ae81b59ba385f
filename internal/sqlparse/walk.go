package sqlparse

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Walk calls visit for each expression in x, the outermost first. x is an Expr or contains some. It continues inside an
// expression if visit returns true. It doesn't enter sub-queries.
func Walk(x any, visit func(Expr) bool) { walk(reflect.ValueOf(x), visit) }

// HasWindow reports whether x has a window function outside of its sub-queries.
func HasWindow(x any) bool {
	found := false
	Walk(x, func(e Expr) bool {
		c, ok := e.(*Call)
		found = found || ok && c.Over != nil
		return !found
	})
	return found
}

// walk calls visit for the expressions in v and in all its fields, elements and interfaces. It doesn't enter a Query,
// because its names belong to another scope. It uses reflection, so new fields of expressions are included
// automatically.
func walk(v reflect.Value, visit func(Expr) bool) {
	if !v.IsValid() || v.Type() == reflect.TypeFor[*Query]() {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if e, ok := v.Interface().(Expr); ok && v.Kind() == reflect.Pointer && !visit(e) {
			return
		}
		walk(v.Elem(), visit)
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), visit)
		}
	}
}

// Key returns a text that is the same for expressions with the same meaning. name returns the text for a column.
func Key(x Expr, name func(*Name) string) string {
	var b strings.Builder
	key(&b, reflect.ValueOf(x), name)
	return b.String()
}

// key writes v to b: the names of types, fields in order, and values in quotes. So different expressions have different
// texts. It omits positions. It writes column names with the function name, because t.x and x may be the same column.
func key(b *strings.Builder, v reflect.Value, name func(*Name) string) {
	if !v.IsValid() || v.Type() == reflect.TypeFor[Pos]() {
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteByte('-')
			return
		}
		if n, ok := v.Interface().(*Name); ok {
			b.WriteString(name(n))
			return
		}
		key(b, v.Elem(), name)
	case reflect.Slice:
		b.WriteByte('[')
		for i := range v.Len() {
			key(b, v.Index(i), name)
		}
		b.WriteByte(']')
	case reflect.Struct:
		b.WriteString(v.Type().Name() + "{")
		for i := range v.NumField() {
			key(b, v.Field(i), name)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	default:
		fmt.Fprintf(b, "%q", fmt.Sprint(v.Interface()))
	}
}

// Conjuncts returns the parts of e that are joined by AND. It returns none for nil.
func Conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if and, ok := e.(*Binary); ok && and.Op == "and" {
		return append(Conjuncts(and.L), Conjuncts(and.R)...)
	}
	return []Expr{e}
}

// Affirms reports whether the conditions of e on queries are only parts of AND and OR. Then e is true if enough of
// these conditions are true. It makes no difference whether the others are false or unknown.
func Affirms(e Expr) bool {
	switch e := e.(type) {
	case *Binary:
		if e.Op == "and" || e.Op == "or" {
			return Affirms(e.L) && Affirms(e.R)
		}
	case *In:
		if e.Query != nil && !e.Not {
			return !hasSubquery(e.X)
		}
	}
	return !hasSubquery(e)
}

// hasSubquery reports whether e contains a sub-query, or a condition that may contain one.
func hasSubquery(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		switch e.(type) {
		case *In, *Any, *Exists, *Sub:
			found = true
		}
		return !found
	})
	return found
}

// Gathering returns the name of a column that collects values, or nil. The expression of the column contains a list or
// a joined text of the values of a group. These have a maximum size. It may also contain a column in which an inner
// query collects values.
func Gathering(it Item, name string, inner []string) (gathered []string) {
	Walk(it.X, func(e Expr) bool {
		switch e := e.(type) {
		case *Call:
			switch e.Name {
			case "string_agg", "group_concat", "listagg", "array_agg", "json_agg", "jsonb_agg", "json_group_array":
				gathered = []string{name}
			}
		case *Name:
			if slices.Contains(inner, e.Parts[len(e.Parts)-1].Text) {
				gathered = []string{name}
			}
		}
		return gathered == nil
	})
	return gathered
}

// Among returns e as an IN, if it is X = ANY of a list of elements. Otherwise it returns nil.
func (e *Any) Among() *In {
	if l, ok := e.List.(*Array); ok && e.Op == "=" && !e.All && len(l.Items) > 0 {
		return &In{X: e.X, List: l.Items, At: e.At}
	}
	return nil
}

// Side returns the side to which the columns in e belong: 1 or 2. It returns 0 for no columns or both sides, and for
// other forms than names and constants. The function in reports on which sides a name exists.
func Side(e Expr, in func(parts []Ident) (left, right bool)) int {
	side := 0
	Walk(e, func(e Expr) bool {
		s := side
		switch e := e.(type) {
		case *Name:
			left, right := in(e.Parts[max(0, len(e.Parts)-2):])
			switch {
			case left && !right:
				s = 1
			case right && !left:
				s = 2
			default:
				s = 3
			}
		case *Sub, *Exists, *In, *Any:
			s = 3
		}
		if side != 0 && s != side {
			s = 3
		}
		side = s
		return true
	})
	return side % 3
}

// Groupings returns the calls of GROUPING in x.
func Groupings(x any) []*Call {
	var out []*Call
	Walk(x, func(e Expr) bool {
		if c, ok := e.(*Call); ok && c.Over == nil && (c.Name == "grouping" || c.Name == "grouping_id") {
			out = append(out, c)
		}
		return true
	})
	return out
}

// Replace calls a function for each name in x and replaces the name by the result. If the result is nil, the name
// stays. It doesn't enter queries inside x, where a name may have another meaning.
func Replace(x *Expr, of func(*Name) Expr) { replace(reflect.ValueOf(x), of) }

// replace is Replace within v. It enters everything except queries, and sets the interfaces that contain names.
func replace(v reflect.Value, of func(*Name) Expr) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if name, ok := v.Interface().(*Name); ok && v.CanSet() {
			if x := of(name); x != nil {
				v.Set(reflect.ValueOf(x))
			}
			return
		}
		replace(v.Elem(), of)
	case reflect.Pointer:
		if _, query := v.Interface().(*Query); !v.IsNil() && !query {
			replace(v.Elem(), of)
		}
	case reflect.Slice:
		for i := range v.Len() {
			replace(v.Index(i), of)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			replace(v.Field(i), of)
		}
	}
}

// Params returns the parameters in q and in its sub-queries, in reading order.
func Params(q *Query) []*Param {
	var out []*Param
	params(reflect.ValueOf(q), &out)
	return out
}

// params appends the parameters in v. Like walk it uses reflection, but it also goes into queries.
func params(v reflect.Value, out *[]*Param) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if p, ok := v.Interface().(*Param); ok {
			*out = append(*out, p)
			return
		}
		params(v.Elem(), out)
	case reflect.Slice:
		for i := range v.Len() {
			params(v.Index(i), out)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			params(v.Field(i), out)
		}
	}
}
