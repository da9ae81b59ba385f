package sqlparse

import (
	"reflect"
	"slices"
	"strings"
)

// RewriteIdioms replaces each idiom in q by its meaning. It returns an error for an idiom with an unknown part.
func RewriteIdioms(q *Query) error {
	t := &taker{}
	t.in(reflect.ValueOf(q))
	return t.err
}

// A taker rewrites idioms and keeps the first error.
type taker struct{ err error }

func (t *taker) fail(at Pos, suggestion, format string, args ...any) {
	if t.err == nil {
		f := Faultf(at, format, args...)
		f.Suggestion = suggestion
		t.err = f
	}
}

// in replaces the expressions in v, starting with the innermost. It includes queries inside expressions.
func (t *taker) in(v reflect.Value) {
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		t.in(v.Elem())
		if e, ok := v.Interface().(Expr); ok && v.CanSet() {
			v.Set(reflect.ValueOf(t.expression(e)))
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		t.in(v.Elem())
		if s, ok := v.Interface().(*Select); ok {
			t.moveListToFrom(s)
			expandQualify(s)
		}
	case reflect.Slice:
		for i := range v.Len() {
			t.in(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Item]() {
			t.item(v)
			return
		}
		for i := range v.NumField() {
			t.in(v.Field(i))
		}
	}
}

// item replaces the expression of an item in a select list. The column keeps the name that it has as written.
func (t *taker) item(v reflect.Value) {
	it := v.Addr().Interface().(*Item)
	before, named := it.Title()
	t.in(v.FieldByName("X"))
	if after, _ := it.Title(); after != before && named == nil {
		it.Alias = &Ident{Text: before, Quoted: true, At: it.X.Pos()}
	}
}

// expression returns the meaning of e, or e if it isn't an idiom.
func (t *taker) expression(e Expr) Expr {
	switch e := e.(type) {
	case *Call:
		if of, ok := formOf(e.Name); ok && of.least <= len(e.Args) && len(e.Args) <= of.most && !e.Star {
			out := of.take(t, e)
			if _, call := out.(*Call); out != nil && (call || e.Over == nil && e.Filter == nil && !e.Distinct && e.Order == nil && e.Within == nil) {
				return out
			}
		}
	case *Any:
		if e.List != nil {
			e.List = parseArrayText(e.List)
		}
	case *Binary:
		return t.rewriteContainment(e)
	}
	return e
}

// expandQualify replaces a name in QUALIFY by the item of the select list with that name, if the item has a window
// function.
func expandQualify(s *Select) {
	if s.Qualify == nil {
		return
	}
	Replace(&s.Qualify, func(n *Name) Expr {
		for _, it := range slices.Backward(s.Items) {
			if it.Alias != nil && HasWindow(it.X) && len(n.Parts) == 1 && strings.EqualFold(it.Alias.Text, n.Parts[0].Text) {
				return it.X
			}
		}
		return nil
	})
}
