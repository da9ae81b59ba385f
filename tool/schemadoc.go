package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

func schemaMember(name string, v value.Value) value.Member { return value.Member{Name: name, Value: v} }

func schemaText(name, s string) value.Member { return schemaMember(name, value.OfString(s)) }

// describeView returns a view in the form of get_schema.
func describeView(v *policy.View, writable func(*schema.Field) bool) value.Value {
	fields := make([]value.Value, len(v.Fields()))
	for i, f := range v.Fields() {
		fields[i] = describeField(v, f, writable(f))
	}
	doc := []value.Member{schemaText("class_name", v.Name())}
	if d := aboutView(v); d != "" {
		doc = append(doc, schemaText("description", d))
	}
	if v.Class().Recordless {
		doc = append(doc, schemaMember("description_only", value.OfBool(true)))
	}
	doc = append(doc, schemaMember("fields", value.OfArray(fields)))
	if key := v.Key(); key != nil {
		doc = append(doc, schemaMember("key", value.OfStrings(key)))
	}
	if l := v.Label(); l != "" {
		doc = append(doc, schemaText("label", l))
	}
	doc = append(doc, schemaMember("relations", relations(v)), schemaMember("indexes", indexes(v)))
	if fields := v.SearchFields(); fields != nil {
		doc = append(doc, schemaMember("text_fields", value.OfStrings(fields)))
	}
	if where, ok := schemaCanonical(v); ok {
		doc = append(doc, schemaMember("canonical_filter", where))
	}
	if only := v.Rule().Visible; only != nil {
		doc = append(doc, schemaMember("agent_fields", value.OfStrings(only)))
	}
	if join := v.Rule().Join; join != nil {
		doc = append(doc, schemaMember("agent_join_fields", value.OfStrings(join)))
	}
	return value.OfObject(doc)
}

// aboutView returns the owner's description of the class, or otherwise the source's.
func aboutView(v *policy.View) string {
	if d := v.Rule().Description; d != "" {
		return d
	}
	return v.Class().Description
}

// maskNote returns a text about the possible uses of a masked field.
func maskNote(kind policy.Mask) string {
	if kind == policy.Pseudonym {
		return "masked: a name for each id. Group, distinct and count take it, but no condition, order, search, join or expression"
	}
	return "masked: shown, but no condition, order, group, search, join or expression takes it"
}

// describeField returns the description of a field for agents: its name, its type, and the facts for queries and
// writes. For a masked field it omits facts that would show values: allowed values, length, default.
func describeField(v *policy.View, f *schema.Field, writable bool) value.Value {
	rule := v.Rule().Fields[f.Name]
	typ, hint := f.Type.String(), ""
	out := []value.Member{schemaText("name", f.Name)}
	var target value.Value
	if p, ok := v.Pointer(f.Name); ok {
		target = value.OfString(p.Target)
		typ, hint = pointer(v, p)
	}
	switch {
	case f.Form != "" && f.Type == schema.Opaque:
		typ, hint = schema.String.String(), f.Form+"; conditions on it are "+f.Operators()
	case f.Form != "":
		hint = f.Form
	}
	m := v.Mask(f.Name)
	if m != nil {
		if m.Kind != policy.Null && m.Kind != policy.Inside {
			typ = schema.String.String() // masked values are returned as text
		}
		hint = maskNote(m.Kind)
	}
	out = append(out, schemaText("type", typ), schemaMember("required", value.OfBool(f.Required)))
	if d := rule.Description; d != "" || f.Description != "" {
		if d == "" {
			d = f.Description
		}
		out = append(out, schemaText("description", d))
	}
	if m != nil {
		out = append(out, schemaText("masked", m.String()))
	}
	if allowed := allowedValues(f, rule); allowed != nil && m == nil { // a mask hides the occurring values
		out = append(out, schemaMember("allowed_values", value.OfArray(allowed)))
	}
	if f.Element != nil && m == nil {
		out = append(out, schemaMember("elements", elements(f.Element)))
	}
	if f.Length > 0 && m == nil {
		out = append(out, schemaMember("max_length", value.OfInt(int64(f.Length))))
	}
	if v.Large(f.Name) {
		out = append(out, schemaMember("large_field", value.OfBool(true)))
	}
	if !target.IsNull() {
		out = append(out, schemaMember("target_class", target))
	}
	if hint != "" {
		out = append(out, schemaText("query_hint", hint))
	}
	out = append(out, schemaMember("writable", value.OfBool(writable)))
	if f.Default != "" && m == nil {
		out = append(out, schemaText("default", f.Default))
	}
	return value.OfObject(out)
}

// elements describes the elements of a list: their type, their allowed values, and the form of their texts.
func elements(f *schema.Field) value.Value {
	typ := f.Type
	if typ == schema.Opaque && f.Form != "" {
		typ = schema.String
	}
	out := []value.Member{schemaText("type", typ.String())}
	if f.Values != nil {
		out = append(out, schemaMember("allowed_values", value.OfArray(f.Values)))
	}
	if f.Length > 0 {
		out = append(out, schemaMember("max_length", value.OfInt(int64(f.Length))))
	}
	if f.Form != "" {
		out = append(out, schemaText("form", f.Form))
	}
	return value.OfObject(out)
}

// pointer returns the type of a pointer or of a list of pointers, and a hint for queries with it.
func pointer(v *policy.View, p policy.Relation) (typ, hint string) {
	to, id := v.Behind(p.Field), "id"
	if !slices.Equal(to.Key(), []string{p.TargetKey}) {
		id = p.TargetKey
	}
	label := cmp.Or(to.Label(), p.TargetKey)
	if p.List {
		return "list of pointers", fmt.Sprintf(`the %[1]ss of records of %[2]s: "<%[1]s>" finds the lists with it; a condition on %[3]s.%[4]s holds for one of the records; keys and include show them; a pipeline follows it after $unwind`,
			id, p.Target, p.Field, label)
	}
	return "pointer", fmt.Sprintf(`the %[1]s of a record of %[2]s: "<%[1]s>" or {"$in": ["<%[1]s>", "<%[1]s>"]}; %[3]s.%[4]s can be named wherever a field can; include shows the record`,
		id, p.Target, p.Field, label)
}

// allowedValues returns the owner's documented values, with their meanings if given, or otherwise the source's.
func allowedValues(f *schema.Field, rule policy.FieldRule) []value.Value {
	if rule.Values == nil {
		return f.Values
	}
	out := make([]value.Value, len(rule.Values))
	for i, v := range rule.Values {
		out[i] = documentedValue(f, v.Value)
		if v.Meaning != "" {
			out[i] = value.OfObject([]value.Member{schemaMember("value", out[i]), schemaText("meaning", v.Meaning)})
		}
	}
	return out
}

// documentedValue converts a value that the owner documents to the type of its field, which conditions use too.
func documentedValue(f *schema.Field, written string) value.Value {
	switch f.Type {
	case schema.Integer, schema.Double, schema.Decimal, schema.Boolean:
		if v, err := value.Read([]byte(written), 0); err == nil && v.Kind() != value.String {
			return v
		}
	}
	return value.OfString(written)
}

// relations returns the pointers of the class and the pointers of other classes to it.
func relations(v *policy.View) value.Value {
	out := []value.Value{}
	for _, r := range v.Relations() {
		out = append(out, value.OfObject([]value.Member{schemaText("field", r.Field), schemaText("target_class", r.Target)}))
	}
	for _, other := range v.PointedBy() {
		for _, r := range other.Relations() {
			if r.Target == v.Name() {
				out = append(out, value.OfObject([]value.Member{schemaText("from_class", other.Name()), schemaText("field", r.Field)}))
			}
		}
	}
	return value.OfArray(out)
}

// indexes returns the indexes whose fields are all visible and usable in conditions.
func indexes(v *policy.View) value.Value {
	out := []value.Value{}
	for _, x := range v.Class().Indexes {
		if slices.ContainsFunc(x.Fields, func(f string) bool { return v.Field(f) == nil || v.Mask(f) != nil }) {
			continue
		}
		out = append(out, value.OfObject([]value.Member{schemaMember("fields", value.OfStrings(x.Fields)), schemaMember("unique", value.OfBool(x.Unique))}))
	}
	return value.OfArray(out)
}

// schemaCanonical returns the canonical filter, unless it names fields that are hidden.
func schemaCanonical(v *policy.View) (value.Value, bool) {
	f := v.Canonical()
	if f == nil || !v.CanName(f) {
		return value.Value{}, false
	}
	return query.Print(f), true
}

// docText formats one line per field.
func docText(doc value.Value) string {
	var b strings.Builder
	name, _ := doc.Get("class_name")
	b.WriteString(name.Text())
	if d, ok := doc.Get("description"); ok {
		b.WriteString(": " + d.Text())
	}
	fields, _ := doc.Get("fields")
	for _, f := range fields.List() {
		b.WriteByte('\n')
		for i, m := range f.Members() {
			switch {
			case i == 0:
				b.WriteString(m.Value.Text())
			case i == 1:
				b.WriteString(": " + m.Value.Text())
			case m.Name == "query_hint":
				b.WriteString(" (" + m.Value.Text() + ")")
			case m.Value.Kind() == value.Bool:
				if m.Value.Bool() {
					b.WriteString(", " + m.Name)
				}
			default:
				b.WriteString(", " + m.Name + " " + m.Value.String())
			}
		}
	}
	for _, more := range []string{"description_only", "key", "label", "relations", "indexes", "text_fields", "canonical_filter", "agent_join_fields", "actions", "metrics", "queries"} {
		if v, ok := doc.Get(more); ok {
			b.WriteString("\n" + more + ": " + v.String())
		}
	}
	return b.String()
}
