package typecheck

import (
	"encoding/base64"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// operand converts v to the type of field f, and reports whether the two are comparable.
func (b *filters) operand(f *schema.Field, path query.Path, v value.Value) (value.Value, bool) {
	target, _ := b.scope.Pointer(f.Name)
	inside := len(path) > 1 || f.Type.IsStructured()
	if _, ok := v.Get("__type"); ok && target == "" && inside {
		return v, true // a pointer in a list or an object is stored as written
	} else if ok {
		if target == "" {
			return v, false
		}
		if v = b.pointerID(target, v); v.Kind() == value.Object {
			return v, false // a pointer to another class
		}
	} else if target != "" {
		v = b.pointerID(target, v)
	}
	if inside && target != "" && len(path) == 1 {
		v = b.member(f.Name, v)
	}
	if inside {
		return v, v.Kind() != value.Date && v.Kind() != value.Day // JSON has no dates
	}
	switch f.Type {
	case schema.Integer, schema.Double, schema.Decimal:
		if v.Kind() == value.String && b.scope.ID(f.Name) {
			return ID(f.Type, v.Text())
		}
		return v, v.IsNumber()
	case schema.Boolean:
		if v.Kind() == value.String && b.scope.ID(f.Name) {
			return ID(f.Type, v.Text())
		}
		return v, v.Kind() == value.Bool
	case schema.Opaque:
		return v, v.Kind() == value.String
	case schema.String:
		if v.IsNumber() && b.relations != nil && b.scope.ID(f.Name) {
			v = value.OfString(v.String())
		}
		return v, v.Kind() == value.String
	case schema.UUID:
		return value.OfUUIDText(v.Text())
	case schema.Date, schema.Day:
		if v.Kind() == value.String {
			return f.ParseDate(v.Text())
		}
		return v, v.Kind() == value.Date || v.Kind() == value.Day
	case schema.Bytes:
		raw, err := base64.StdEncoding.DecodeString(v.Text())
		return value.OfBytes(string(raw)), err == nil && v.Kind() == value.String
	case schema.Any:
		return v, v.IsNumber() || v.Kind() == value.String
	}
	return v, false
}

// member converts v, which is compared with the elements of a list of pointers, to the kind of their keys. The list is
// the field called name. Ids are texts in answers.
func (b *filters) member(name string, v value.Value) value.Value {
	class, key := b.scope.Pointer(name)
	if b.relations == nil {
		return v
	}
	to, err := b.relations.Open(class, "")
	if err != nil {
		return v
	}
	f, _, _, err := to.Scope.Field(query.Path{key}, "")
	if err != nil {
		return v
	}
	switch n, ok := ID(schema.Integer, v.Text()); {
	case f.Type == schema.Integer && v.Kind() == value.String && ok:
		return n
	case f.Type == schema.String && v.IsNumber():
		return value.OfString(v.String())
	}
	return v
}
