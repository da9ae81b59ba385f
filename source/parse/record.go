package parse

import (
	"encoding/base64"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/coerce"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// row returns a record of the REST API as the values of c's fields. A field that the answer doesn't have is null.
func row(c *schema.Class, record value.Value) value.Row {
	out := make(value.Row, len(c.Fields))
	for i := range c.Fields {
		f := &c.Fields[i]
		if f.Name == readers {
			acl, limited := record.Get("ACL")
			out[i] = listed(acl, limited, "read")
			continue
		}
		if v, ok := record.Get(f.Name); ok && f.Stored != nil {
			out[i] = coerce.Stored(f, converted(&f.Stored.Field, v))
		} else if ok {
			out[i] = converted(f, v)
		}
	}
	return out
}

// converted returns a value of the REST API as one of f's type. A value of another type, which Parse Server doesn't
// store, is null.
func converted(f *schema.Field, v value.Value) value.Value {
	switch f.Type {
	case schema.String:
		if id, ok := v.Get("objectId"); ok && f.Native == "Pointer" {
			v = id
		}
		if v.Kind() == value.String {
			return v
		}
	case schema.Double:
		if x, ok := v.AsFloat(); ok {
			return value.OfFloat(x)
		}
	case schema.Boolean:
		if v.Kind() == value.Bool {
			return v
		}
	case schema.Date:
		if iso, ok := v.Get("iso"); ok {
			v = iso
		}
		if at, ok := value.OfDateText(v.Text()); ok && v.Kind() == value.String && at.Kind() == value.Date {
			return at
		}
	case schema.Bytes:
		if raw, err := base64.StdEncoding.DecodeString(text(v, "base64")); err == nil {
			return value.OfBytes(string(raw))
		}
	case schema.Array:
		if v.Kind() == value.Array {
			return v
		}
	default:
		return v
	}
	return value.Value{}
}

// listed returns the groups that an access list lets do what, as Parse's own column has them: null if there is no list.
func listed(acl value.Value, limited bool, what string) value.Value {
	if !limited {
		return value.Value{}
	}
	groups := []value.Value{}
	for _, m := range acl.Members() {
		if may, _ := m.Value.Get(what); may.Bool() {
			groups = append(groups, value.OfString(m.Name))
		}
	}
	return value.OfArray(groups)
}

// written returns a value of f as the REST API takes it.
func (c *class) written(f *schema.Field, v value.Value) (value.Value, error) {
	if v.IsNull() {
		return object("__op", value.OfString("Delete")), nil
	}
	if f.Stored != nil {
		held, why := coerce.Held(f, v)
		if why != "" {
			return v, &problem.Error{Code: problem.InvalidArgument, Kind: "value", Detail: f.Name + " " + why}
		}
		return c.written(&f.Stored.Field, held)
	}
	switch c.types[f.Name] {
	case "Pointer":
		return pointerTo(c.target(f.Name), v.Text()), nil
	case "Date":
		return date(v), nil
	case "Bytes":
		return value.OfObject([]value.Member{{Name: "__type", Value: value.OfString("Bytes")}, {Name: "base64", Value: value.OfString(v.String())}}), nil
	}
	return v, nil
}

// target returns the class that a pointer leads to.
func (c *class) target(field string) string {
	i := slices.IndexFunc(c.Relations, func(r schema.Relation) bool { return r.Fields[0] == field })
	if i < 0 {
		return ""
	}
	return c.Relations[i].Target
}
