package validate

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxNames is the maximum depth to which names are checked. Values can't be nested deeper.
const maxNames = 64

// names refuses names in v that no schema declares, at any depth, and names of hidden fields. There are several
// schemas if alternatives declare the same field, and none if v is not declared.
func (c *Checker) names(f *faults, schemas []spec.Raw, v value.Value, at string, depth int) {
	if depth > maxNames {
		return
	}
	schemas = distinct(schemas)
	switch v.Kind() {
	case value.Array:
		var items []spec.Raw
		for _, r := range schemas {
			if s := c.v.Schema(r); s.Items != nil {
				items = append(items, s.Items)
			}
		}
		for i, e := range v.List() {
			c.names(f, items, e, fmt.Sprintf("%s/%d", at, i), depth+1)
		}
	case value.Object:
		k := known{v: v, fields: map[string][]spec.Raw{}, past: map[string]bool{}, open: len(schemas) == 0 || c.o.OpenBodies}
		for _, r := range schemas {
			c.collectNames(&k, r, 0)
		}
		for _, m := range v.Members() {
			schemas, ok := k.fields[m.Name]
			switch {
			case ok:
				c.names(f, schemas, m.Value, at+"/"+escape(m.Name), depth+1)
			case k.open && !k.closed && c.v.AllowsExtraField(m.Name):
				c.names(f, k.further, m.Value, at+"/"+escape(m.Name), depth+1)
			default:
				f.add(argcheck.UnknownName(at, "field", m.Name, k.names))
			}
		}
	}
}

// distinct returns the schemas without duplicates.
func distinct(schemas []spec.Raw) []spec.Raw {
	past := map[string]bool{}
	var out []spec.Raw
	for _, r := range schemas {
		if !past[string(r)] {
			past[string(r)] = true
			out = append(out, r)
		}
	}
	return out
}

// known contains the names that an object may have. They come from a schema and from the alternatives that may apply
// to v.
type known struct {
	v       value.Value
	fields  map[string][]spec.Raw
	names   []string
	open    bool
	closed  bool // a field is hidden, so no other names are accepted, even if open
	further []spec.Raw
	past    map[string]bool // the schemas already read, by their text
}

// collectNames adds to k the names that schema r and the alternatives that may apply declare. An open k accepts any
// name. k is open in three cases. There is no schema, a schema allows any name, or alternatives are nested deeper
// than four levels.
func (c *Checker) collectNames(k *known, r spec.Raw, depth int) {
	s := c.v.Schema(r)
	if r == nil {
		k.open = true
		return
	}
	if k.past[string(r)] { // reached by another path. There may be too many paths to follow all
		return
	}
	k.past[string(r)] = true
	k.closed = k.closed || c.v.Closes(r)
	if len(s.Types) > 0 && !s.Is("object") && depth > 0 {
		return
	}
	o := c.v.Object(s)
	for _, field := range o.Fields {
		if k.fields[field.Name] == nil {
			k.names = append(k.names, field.Name)
		}
		k.fields[field.Name] = append(k.fields[field.Name], field.Schema)
	}
	for _, m := range k.v.Members() {
		for _, pattern := range o.Patterns {
			if pattern.Match(m.Name) && c.v.AllowsExtraField(m.Name) {
				k.fields[m.Name] = append(k.fields[m.Name], pattern.Schema)
			}
		}
	}
	if o.Further != nil {
		k.further = append(k.further, o.Further)
	}
	choices := c.choices(o, k.v)
	switch {
	case len(choices) == 0:
		k.open = k.open || o.Open
	default:
		open := o.Additional.Kind() == 't' || o.Further != nil || depth > 4
		k.open = k.open || open
		for _, choice := range choices {
			if open && !c.v.Hides(choice) {
				continue
			}
			// An alternative that only lists required fields declares no names.
			if in := c.v.Schema(choice); len(o.Fields) > 0 && len(in.Properties)+len(in.Types)+len(in.AllOf)+len(in.OneOf)+len(in.AnyOf) == 0 && in.Name == "" {
				continue
			}
			c.collectNames(k, choice, depth+1)
		}
	}
}

// choices returns the alternatives of o that v may be. It omits an alternative that doesn't allow the value of a
// field of v, or if o's discriminator names another one. If this omits all, it returns all. For an object without
// alternatives but with a discriminator, the schemas in the mapping are the alternatives. Without a mapping, they are
// the schemas that extend the object.
func (c *Checker) choices(o spec.ObjectFilter, v value.Value) []spec.Raw {
	d := discriminatorOf(o.Raw)
	all := o.Choices
	if len(all) == 0 {
		to := d.to(v)
		if to == nil {
			to = c.subtype(d, o.Name, v)
		}
		if name := c.v.Schema(to).Name; name != "" && name != o.Name { // a hidden schema has no name
			return []spec.Raw{to}
		}
		return nil
	}
	var left []spec.Raw
	for _, choice := range all {
		tags := d.tags(c.v, choice)
		given, ok := v.Get(d.field)
		if ok && len(tags) > 0 && !contains(tags, given.Text()) || c.contradicts(choice, v) {
			continue
		}
		left = append(left, choice)
	}
	if left == nil {
		return all
	}
	return left
}

// contradicts reports whether the schema r doesn't allow the value of a field of v.
func (c *Checker) contradicts(r spec.Raw, v value.Value) bool {
	for _, field := range c.v.Object(c.v.Schema(r)).Fields {
		given, ok := v.Get(field.Name)
		if !ok || given.Kind() == value.Object || given.Kind() == value.Array || given.Kind() == value.Null {
			continue
		}
		if s := c.v.Schema(field.Schema); len(s.Enum) > 0 && !allows(s.Enum, given) {
			return true
		}
	}
	return false
}

func allows(enum []spec.Raw, v value.Value) bool {
	for _, e := range enum {
		if e.Kind() == '"' && e.Text() == v.Text() || e.Kind() != '"' && string(e) == v.String() {
			return true
		}
	}
	return false
}
