package writes

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxEnum is the maximum number of allowed values listed in the schema of an argument. The class lists all of them.
const maxEnum = 50

// Hint returns the part of the check that the caller may know, or Null: {"class_name", "fields": {argument: field},
// "record"}. v is the caller's view of the class, or nil.
func (c *Check) Hint(v *policy.View) value.Value {
	var fields []value.Member
	for _, a := range c.arguments {
		if visibleField(v, c.fields[a]) != nil {
			fields = append(fields, value.Member{Name: a, Value: value.OfString(c.fields[a])})
		}
	}
	if fields == nil {
		return value.Value{}
	}
	record := CheckNew
	if c.changes {
		record = CheckOnChange
	}
	return value.OfObject([]value.Member{{Name: "class_name", Value: value.OfString(v.Name())}, {Name: "record", Value: value.OfString(string(record))},
		{Name: "fields", Value: value.OfObject(fields)}})
}

// CompleteSchema returns the JSON Schema of the arguments, completed with the fields that v shows. It adds the type,
// the allowed values and the length where the schema has no own. It also adds the required arguments.
func (c *Check) CompleteSchema(v *policy.View, arguments value.Value) value.Value {
	listed, _ := arguments.Get("required")
	required := slices.Clone(listed.List())
	out := with(arguments, "properties", func(properties value.Value) value.Value {
		for _, a := range c.arguments {
			f := visibleField(v, c.fields[a])
			if f == nil {
				continue
			}
			properties = with(properties, a, func(declared value.Value) value.Value { return addKeywords(declared, ArgumentSchema(f)) })
			said := slices.ContainsFunc(required, func(r value.Value) bool { return r.Text() == a })
			declared, _ := properties.Get(a)
			if _, filled := declared.Get("default"); !c.changes && f.Required && !f.Generated && !said && !filled {
				required = append(required, value.OfString(a))
			}
		}
		return properties
	})
	if len(required) == 0 {
		return out
	}
	members := slices.DeleteFunc(slices.Clone(out.Members()), func(m value.Member) bool { return m.Name == "required" })
	return value.OfObject(append(members, value.Member{Name: "required", Value: value.OfArray(required)}))
}

// visibleField returns a field of v that is visible and not masked, or nil.
func visibleField(v *policy.View, field string) *schema.Field {
	if v == nil || v.Mask(field) != nil {
		return nil
	}
	return v.Field(field)
}

// with returns a copy of an object with one of its members replaced.
func with(object value.Value, name string, of func(value.Value) value.Value) value.Value {
	members := slices.Clone(object.Members())
	for i, m := range members {
		if m.Name == name {
			members[i].Value = of(m.Value)
		}
	}
	return value.OfObject(members)
}

// addKeywords adds missing keywords to a schema. It copies them from another schema of the same type.
func addKeywords(declared, more value.Value) value.Value {
	a, says := declared.Get("type")
	if b, _ := more.Get("type"); says && !value.Equal(a, b) {
		return declared
	}
	members := slices.Clone(declared.Members())
	for _, m := range more.Members() {
		if _, has := declared.Get(m.Name); !has {
			members = append(members, m)
		}
	}
	return value.OfObject(members)
}

// ArgumentSchema returns the JSON Schema of an argument for f.
func ArgumentSchema(f *schema.Field) value.Value {
	text := value.OfString
	var members []value.Member
	typ := map[schema.Type]string{schema.String: "string", schema.Integer: "integer", schema.Double: "number", schema.Decimal: "number", schema.Boolean: "boolean",
		schema.Date: "string", schema.Day: "string", schema.UUID: "string", schema.Bytes: "string", schema.Array: "array", schema.JSON: "object"}[f.Type]
	if typ != "" {
		members = append(members, value.Member{Name: "type", Value: text(typ)})
	}
	if f.Type == schema.UUID {
		members = append(members, value.Member{Name: "format", Value: text("uuid")})
	}
	if f.Values != nil && len(f.Values) <= maxEnum && !holdsSeveral(f) {
		members = append(members, value.Member{Name: "enum", Value: value.OfArray(f.Values)})
	}
	if f.Length > 0 && typ == "string" {
		members = append(members, value.Member{Name: "maxLength", Value: value.OfInt(int64(f.Length))})
	}
	if f.Least > 0 && typ == "string" {
		members = append(members, value.Member{Name: "minLength", Value: value.OfInt(int64(f.Least))})
	}
	return value.OfObject(members)
}
