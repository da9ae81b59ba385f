package validate

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A discriminator names a field. The value of the field, a tag, selects one of several alternatives. The zero
// discriminator selects none.
type discriminator struct {
	field   string
	mapping []mapped // in the document's order
}

// mapped is a tag with the alternative that it selects, which is a reference or the name of a schema.
type mapped struct{ tag, to string }

// discriminatorOf reads the discriminator of a schema. It is an object or, in Swagger 2.0, the name of the field.
func discriminatorOf(r spec.Raw) discriminator {
	written := r.Get("discriminator")
	if written.Kind() == '"' {
		return discriminator{field: written.Text()}
	}
	d := discriminator{field: written.Get("propertyName").Text()}
	for tag, to := range written.Get("mapping").Members() {
		d.mapping = append(d.mapping, mapped{tag, to.Text()})
	}
	return d
}

// tags returns the tags that select the alternative r, or nil if they can't be known. If the mapping doesn't contain
// r, the name of r is its tag. If the field allows only some values, the tags are restricted to these values.
func (d discriminator) tags(v *spec.View, r spec.Raw) []string {
	if d.field == "" {
		return nil
	}
	target, name, ok := v.Follow(r)
	if ok && target == nil {
		return nil // hidden, so the caller doesn't know its tags
	}
	var tags []string
	for _, m := range d.mapping {
		if ok && (m.to == spec.Reference(r) || m.to == name || m.to == spec.ShortName(name)) {
			tags = append(tags, m.tag)
		}
	}
	for _, field := range v.Object(v.Schema(r)).Fields {
		if field.Name == d.field && len(tags) == 0 {
			for _, e := range v.Schema(field.Schema).Enum {
				tags = append(tags, e.Text())
			}
		}
	}
	if len(tags) == 0 && name != "" {
		tags = append(tags, spec.ShortName(name))
	}
	return tags
}

// to returns the schema that the mapping selects for v, or nil.
func (d discriminator) to(v value.Value) spec.Raw {
	given, _ := v.Get(d.field)
	for _, m := range d.mapping {
		if d.field != "" && m.tag == given.Text() && strings.Contains(m.to, "#") {
			return append(value.AppendQuote([]byte(`{"$ref":`), m.to), '}')
		}
	}
	return nil
}

// subtype returns the schema that the tag in v names and that extends the schema base with allOf, or nil. Swagger 2.0
// has no other way to select a subtype.
func (c *Checker) subtype(d discriminator, base string, v value.Value) spec.Raw {
	given, ok := v.Get(d.field)
	if !ok || d.field == "" || base == "" || given.Kind() != value.String {
		return nil
	}
	for _, at := range []string{"#/components/schemas/", "#/definitions/"} {
		to := spec.Raw(append(value.AppendQuote([]byte(`{"$ref":`), at+pointed.Replace(given.Text())), '}'))
		if c.extends(to, base, 0) {
			return to
		}
	}
	return nil
}

// pointed escapes a name for a JSON pointer.
var pointed = strings.NewReplacer("~", "~0", "/", "~1")

// extends reports whether the visible schema r has the schema base among its allOf parts, at any depth.
func (c *Checker) extends(r spec.Raw, base string, depth int) bool {
	if target, _, ok := c.v.Follow(r); !ok || target == nil || depth > 8 {
		return false
	}
	return slices.ContainsFunc(c.v.Schema(r).AllOf, func(part spec.Raw) bool {
		target, name, ok := c.v.Follow(part)
		return ok && target != nil && (name == base || c.extends(part, base, depth+1))
	})
}

// discriminate replaces the alternatives of a schema with the alternative that the discriminator's tag selects.
// Faults are then faults of the intended alternative. Without a tag, all alternatives remain.
func (t *translator) discriminate(out map[string]any, r spec.Raw) {
	d := discriminatorOf(r)
	if d.field == "" {
		return
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		list, _ := out[name].([]any)
		if list == nil {
			continue
		}
		tagged := map[string]any{"type": "object", "required": []any{d.field}}
		selected, all, open := []any{}, []any{}, false
		for n, choice := range slices.Collect(r.Get(name).Elements()) {
			tags := d.tags(t.v, choice)
			open = open || len(tags) == 0 && choice.Get("type").Text() != "null"
			for _, tag := range tags {
				all = append(all, tag)
				selected = append(selected, map[string]any{"if": map[string]any{"properties": map[string]any{d.field: map[string]any{"const": tag}}}, "then": list[n]})
			}
		}
		if open || len(all) == 0 {
			return // the tag of one alternative is unknown
		}
		delete(out, name)
		selected = append(selected, map[string]any{"properties": map[string]any{d.field: map[string]any{"enum": unique(all)}}})
		out["if"], out["then"], out["else"] = tagged, map[string]any{"allOf": selected}, map[string]any{"anyOf": list}
		return
	}
}

func unique(all []any) (out []any) {
	for _, one := range all {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
