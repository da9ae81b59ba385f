package validate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/argcheck"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// A translator converts schemas of a document to JSON Schema 2020-12, one level of named schemas at a time. It
// ignores unknown and malformed keywords, and the server checks them.
type translator struct {
	v    *spec.View
	urls map[string]int // by name, or by target if the schema has no name
	at   []place
	open bool // accept undeclared properties, even if the schema doesn't
	free bool // leave formats to the server
}

// A place is a schema that other schemas refer to.
type place struct {
	raw  spec.Raw
	of   string
	part bool // part of a composition. The composition decides whether it is closed

	unsent []string // for a part: names that the composition declares readOnly. A request may omit them
}

const scheme = "api:///"

// Load implements jsonschema.URLLoader for the URLs returned by refer.
func (t *translator) Load(url string) (any, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(url, scheme))
	if err != nil || n < 0 || n >= len(t.at) {
		return nil, fmt.Errorf("no schema %s", url)
	}
	return t.schema(t.at[n]), nil
}

// refer returns the URL of a schema that is loaded on demand.
func (t *translator) refer(key string, p place) string {
	n, ok := t.urls[key]
	if !ok {
		n = len(t.at)
		t.urls[key] = n
		t.at = append(t.at, p)
	}
	return scheme + strconv.Itoa(n)
}

// name returns the name of the schema at a URL from refer, or "" if the schema has no name.
func (t *translator) name(url string) string {
	at, _, _ := strings.Cut(strings.TrimPrefix(url, scheme), "#")
	if n, err := strconv.Atoi(at); err == nil && n >= 0 && n < len(t.at) {
		return t.at[n].of
	}
	return ""
}

// schema translates p. If p is an allOf part of a named schema, p.of is the name of that schema. Otherwise p.of is
// "".
func (t *translator) schema(p place) any {
	r, out := p.raw, map[string]any{}
	if to, name, ok := t.v.Follow(r); ok {
		if to == nil {
			return true
		}
		key := "name " + name
		if name == "" {
			key = "ref " + spec.Reference(r)
		}
		if p.part {
			key = "part " + key
		}
		if len(p.unsent) > 0 {
			key += " without " + strings.Join(p.unsent, ",")
		}
		out["$ref"] = t.refer(key, place{to, name, p.part, p.unsent})
		if t.v.Dialect() != spec.OpenAPI31 {
			return out
		}
	}
	if r.Kind() != '{' {
		return r.Kind() != 'f'
	}
	p.unsent = t.readOnlyNames(p)
	w := written{}
	for name, m := range r.Members() {
		t.member(out, &w, name, m, p)
	}
	t.discriminate(out, r)
	several(out)
	t.close(out, r, p)
	if !t.free {
		w.restrict(out, r)
	}
	w.finish(out)
	return out
}

// close sets which undeclared properties an object may have. In a composition, additionalProperties would ignore the
// properties of parts and alternatives, which is not what authors intend. So unevaluatedProperties is used instead. A
// part is closed by the composition that contains it.
func (t *translator) close(out map[string]any, r spec.Raw, p place) {
	composed := out["allOf"] != nil || out["anyOf"] != nil || out["if"] != nil
	closed := out["additionalProperties"] == false
	for part := range r.Get("allOf").Elements() {
		s := t.v.Schema(part)
		closed = closed || s.Additional.Kind() == 'f'
	}
	if closed && (composed || p.part || t.open) {
		delete(out, "additionalProperties")
		if composed && !p.part && !t.open {
			out["unevaluatedProperties"] = false
		}
	}
}

// parts translates the list of a composition. Alternatives next to properties are parts of one object too.
func (t *translator) parts(out map[string]any, name string, m spec.Raw, p place, whole spec.Raw) {
	of, part := "", p.part || whole.Get("properties") != nil || whole.Get("allOf") != nil
	if name == "allOf" {
		of, part = p.of, true
	}
	t.list(out, name, m, place{of: of, part: part, unsent: p.unsent})
}

// several makes a oneOf accept a value that fits several alternatives, as anyOf does. An integer is also a number,
// and a date is also a string. An object with a name and a list fits each alternative that has both. Authors don't
// want these values refused, and services accept them.
func several(out map[string]any) {
	one := out["oneOf"]
	switch {
	case one == nil:
		return
	case onlyRequire(one): // as for a oneof of protocol buffers: setting none of its fields is valid
	case out["anyOf"] == nil:
		out["anyOf"] = one
	default:
		parts, _ := out["allOf"].([]any)
		out["allOf"] = append(slices.Clip(parts), map[string]any{"anyOf": one})
	}
	delete(out, "oneOf")
}

// written contains keywords that affect other keywords.
type written struct {
	nullable                           bool
	exclusiveMinimum, exclusiveMaximum bool
	format                             string
}

// member translates one keyword of a schema into out. It puts keywords whose meaning depends on another keyword into
// w, such as nullable and OpenAPI 3.0's Boolean exclusiveMinimum. It omits malformed keywords.
func (t *translator) member(out map[string]any, w *written, name string, m spec.Raw, p place) {
	switch name {
	case "type":
		kinds(out, m)
	case "nullable", "x-nullable":
		w.nullable = w.nullable || m.True() // also in 3.1. That version has no such keyword, but documents still use it
	case "format":
		w.format = m.Text()
	case "enum":
		if list, ok := plain(m).([]any); ok && len(list) > 0 {
			out["enum"] = list
		}
	case "const":
		out["const"] = plain(m)
	case "properties":
		t.properties(out, m, p.of)
	case "required":
		t.writeRequiredKeyword(out, m, p)
	case "items", "additionalProperties", "not", "propertyNames":
		if k := m.Kind(); k == '{' || k == 't' || k == 'f' {
			out[name] = t.schema(place{raw: m})
		}
		if not, ok := out["not"].(map[string]any); ok {
			delete(not, "format") // formats here accept more strings than really have the format
		}
	case "allOf", "oneOf", "anyOf":
		t.parts(out, name, m, p, p.raw)
	case "patternProperties":
		t.patterns(out, m)
	case "prefixItems":
		t.list(out, name, m, place{})
	case "pattern":
		if m.Kind() == '"' {
			out[name] = m.Text()
		}
	case "uniqueItems":
		out[name] = m.True()
	case "exclusiveMinimum", "exclusiveMaximum":
		if m.Kind() == 't' {
			w.exclusiveMinimum = w.exclusiveMinimum || name == "exclusiveMinimum"
			w.exclusiveMaximum = w.exclusiveMaximum || name == "exclusiveMaximum"
			return
		}
		setNumber(out, name, m)
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		setNumber(out, name, m)
	}
}

// kinds writes the keyword type. If one of the types is not a type of JSON Schema, it omits the keyword. The schema
// then allows more, and the server checks.
func kinds(out map[string]any, m spec.Raw) {
	all := m.Texts()
	if m.Kind() == '"' {
		all = []string{m.Text()}
	}
	list := []any{}
	for _, kind := range all {
		if slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object", "null"}, kind) && !slices.Contains(list, any(kind)) {
			list = append(list, kind)
		}
	}
	if len(list) > 0 && len(list) == len(all) {
		out["type"] = list
	}
}

func (t *translator) properties(out map[string]any, m spec.Raw, of string) {
	all := map[string]any{}
	for field, schema := range m.Members() {
		if t.v.Field(of, field) {
			all[field] = t.schema(place{raw: schema})
		}
	}
	out["properties"] = all
}

// writeRequiredKeyword writes the keyword required. It omits fields that the view hides, because a caller could not
// set them. It also omits fields that the server sets.
func (t *translator) writeRequiredKeyword(out map[string]any, m spec.Raw, p place) {
	names := []any{}
	for _, name := range m.Texts() {
		if t.v.Field(p.of, name) && !slices.Contains(p.unsent, name) && !slices.Contains(names, any(name)) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		out["required"] = names
	}
}

// list writes a keyword whose value is a list of schemas. It omits an empty list, because JSON Schema doesn't allow
// one.
func (t *translator) list(out map[string]any, name string, m spec.Raw, each place) {
	var list []any
	for part := range m.Elements() {
		each.raw = part
		list = append(list, t.schema(each))
	}
	if len(list) > 0 {
		out[name] = list
	}
}

// setNumber sets the keyword name of out to the number m, if m is valid for that keyword.
func setNumber(out map[string]any, name string, m spec.Raw) {
	if m.Kind() != '0' || !argcheck.Comparable(string(m)) {
		return
	}
	switch name {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
	case "multipleOf":
		if f, err := strconv.ParseFloat(string(m), 64); err != nil || f <= 0 {
			return
		}
	default:
		if n, err := strconv.ParseInt(string(m), 10, 32); err != nil || n < 0 {
			return
		}
	}
	out[name] = json.Number(m)
}

// finish applies the keywords that depend on several others.
func (w *written) finish(out map[string]any) {
	if w.exclusiveMinimum && out["minimum"] != nil {
		out["exclusiveMinimum"] = out["minimum"]
		delete(out, "minimum")
	}
	if w.exclusiveMaximum && out["maximum"] != nil {
		out["exclusiveMaximum"] = out["maximum"]
		delete(out, "maximum")
	}
	// Protocol buffers write 64-bit numbers as strings, and also read them as numbers.
	if kinds, ok := out["type"].([]any); ok && (w.format == "int64" || w.format == "uint64") && slices.Equal(kinds, []any{"string"}) {
		out["type"] = []any{"string", "integer"}
	}
	if w.format == "int-or-string" && out["type"] != nil {
		out["type"] = []any{"string", "integer"}
	}
	relaxEnum(out)
	if !w.nullable {
		return
	}
	if kinds, ok := out["type"].([]any); ok && !slices.Contains(kinds, any("null")) {
		out["type"] = append(kinds, "null")
	}
	if list, ok := out["enum"].([]any); ok && !slices.Contains(list, nil) {
		out["enum"] = append(list, nil)
	}
	// If null doesn't match a composition, it is added as an alternative.
	for _, name := range []string{"$ref", "allOf", "anyOf", "if"} {
		if out[name] != nil {
			rest := map[string]any{}
			for k, v := range out {
				rest[k] = v
				delete(out, k)
			}
			out["anyOf"] = []any{map[string]any{"type": "null"}, rest}
			return
		}
	}
}

// plain converts a raw value to the types of encoding/json, with exact numbers.
func plain(r spec.Raw) any {
	switch r.Kind() {
	case '{':
		out := map[string]any{}
		for name, m := range r.Members() {
			out[name] = plain(m)
		}
		return out
	case '[':
		out := []any{}
		for e := range r.Elements() {
			out = append(out, plain(e))
		}
		return out
	case '"':
		return r.Text()
	case 't', 'f':
		return r.True()
	case '0':
		if argcheck.Comparable(string(r)) {
			return json.Number(r)
		}
		return string(r)
	}
	return nil
}
