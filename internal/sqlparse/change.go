package sqlparse

import "reflect"

// Copy returns a copy of x, a part of a statement, that shares no memory with x.
func Copy[T any](x T) T {
	var out T
	reflect.ValueOf(&out).Elem().Set(copied(reflect.ValueOf(&x).Elem()))
	return out
}

// copied returns a copy of v. All fields of the parts of a statement are exported.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(copied(v.Elem()))
			out.Set(to)
		}
	case reflect.Interface:
		if !v.IsNil() {
			out.Set(copied(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(copied(v.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(copied(v.Field(i)))
		}
	default:
		out.Set(v)
	}
	return out
}

// Change replaces the calls in x, a pointer to a part of a statement. call returns the expression for a call, or nil to
// keep it and continue inside of it. Change doesn't enter queries: it passes each of them to query.
func Change(x any, call func(*Call) Expr, query func(*Query)) {
	change(reflect.ValueOf(x), call, query)
}

// change is Change within v.
func change(v reflect.Value, call func(*Call) Expr, query func(*Query)) {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if c, ok := v.Interface().(*Call); ok && v.CanSet() {
			if x := call(c); x != nil {
				v.Set(reflect.ValueOf(x))
				return
			}
		}
		change(v.Elem(), call, query)
	case reflect.Pointer:
		if q, ok := v.Interface().(*Query); ok && q != nil {
			query(q)
			return
		}
		if !v.IsNil() {
			change(v.Elem(), call, query)
		}
	case reflect.Slice:
		for i := range v.Len() {
			change(v.Index(i), call, query)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			change(v.Field(i), call, query)
		}
	}
}
