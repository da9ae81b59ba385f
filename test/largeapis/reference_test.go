package largeapis

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A reference checks bodies only by the document. It takes the document's schemas as JSON Schema 2020-12, where
// additionalProperties: false in a composition is unevaluatedProperties: false of the whole. It knows no rules of
// names, discriminators or bounds on steps. It shares with package validate the library that compares, but no code that
// makes schemas.
type reference struct {
	d        *spec.Document
	open     bool // every object takes further properties
	compiler *jsonschema.Compiler
	bodies   int
	urls     map[string]int
	at       []target
}

// A target is what a reference leads to, and whether it does so from a part of a composition.
type target struct {
	ref  string
	part bool
}

// anyPattern matches all: a pattern that RE2 doesn't know.
type anyPattern string

func (p anyPattern) String() string          { return string(p) }
func (p anyPattern) MatchString(string) bool { return true }

func newReference(d *spec.Document, open bool) *reference {
	r := &reference{d: d, open: open, compiler: jsonschema.NewCompiler(), urls: map[string]int{}}
	r.compiler.UseLoader(r)
	r.compiler.DefaultDraft(jsonschema.Draft2020)
	r.compiler.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		if re, err := regexp.Compile(pattern); err == nil {
			return re, nil
		}
		return anyPattern(pattern), nil
	})
	return r
}

// Load implements jsonschema.URLLoader.
func (r *reference) Load(url string) (any, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(url, "doc:///"))
	if err != nil || n >= len(r.at) {
		return nil, fmt.Errorf("no %s", url)
	}
	s, err := decoded(r.d.Lookup(r.at[n].ref))
	if err != nil {
		return nil, err
	}
	return r.schema(s, r.at[n].part), nil
}

func decoded(raw spec.Raw) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(raw)) }

// compile returns the schema of a body.
func (r *reference) compile(raw spec.Raw) (*jsonschema.Schema, error) {
	s, err := decoded(raw)
	if err != nil {
		return nil, err
	}
	r.bodies++
	url := "body:///" + strconv.Itoa(r.bodies)
	if err := r.compiler.AddResource(url, r.schema(s, false)); err != nil {
		return nil, err
	}
	return r.compiler.Compile(url)
}

func (r *reference) url(to target) string {
	key := fmt.Sprint(to)
	if _, ok := r.urls[key]; !ok {
		r.urls[key] = len(r.at)
		r.at = append(r.at, to)
	}
	return "doc:///" + strconv.Itoa(r.urls[key])
}

// schema translates a schema. part reports whether the composition around it decides whether it is closed.
func (r *reference) schema(in any, part bool) any {
	m, ok := in.(map[string]any)
	if !ok {
		return in != false
	}
	out := map[string]any{}
	if ref, ok := m["$ref"].(string); ok {
		out["$ref"] = r.url(target{ref, part})
		if r.d.Dialect != spec.OpenAPI31 {
			return out
		}
	}
	for _, name := range []string{"enum", "const", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "pattern", "required", "type", "exclusiveMinimum", "exclusiveMaximum"} {
		if v, ok := m[name]; ok {
			out[name] = v
		}
	}
	if list, ok := m["enum"].([]any); ok && len(list) == 0 {
		delete(out, "enum")
	}
	if _, ok := m["required"].([]any); !ok {
		delete(out, "required")
	}
	for name, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if exclusive, ok := m[name].(bool); ok {
			delete(out, name)
			if exclusive && out[bound] != nil {
				out[name] = out[bound]
				delete(out, bound)
			}
		}
	}
	r.types(out, m)
	r.below(out, m, part)
	if m["nullable"] == true || m["x-nullable"] == true {
		return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, out}}
	}
	return out
}

// types leaves out a type that JSON Schema doesn't have.
func (r *reference) types(out, m map[string]any) {
	known := []string{"string", "number", "integer", "boolean", "array", "object", "null"}
	if one, ok := m["type"].(string); ok && !slices.Contains(known, one) {
		delete(out, "type")
	}
	if m["format"] == "int-or-string" && m["type"] != nil {
		out["type"] = []any{"string", "integer"}
	}
}

// below translates the schemas in m.
func (r *reference) below(out, m map[string]any, part bool) {
	composed := false
	for _, name := range []string{"allOf", "oneOf", "anyOf"} {
		list, ok := m[name].([]any)
		if !ok || len(list) == 0 {
			continue
		}
		composed = true
		var all []any
		for _, s := range list {
			all = append(all, r.schema(s, name == "allOf" || part || m["properties"] != nil || m["allOf"] != nil))
		}
		if name == "oneOf" && m["anyOf"] == nil {
			name = "anyOf" // one that fits two alternatives is right
		}
		out[name] = all
	}
	if fields, ok := m["properties"].(map[string]any); ok {
		all := map[string]any{}
		for name, s := range fields {
			all[name] = r.schema(s, false)
		}
		out["properties"] = all
	}
	for _, name := range []string{"items", "additionalProperties", "not"} {
		switch m[name].(type) {
		case map[string]any, bool:
			out[name] = r.schema(m[name], false)
		}
	}
	if !r.closed(m) {
		return
	}
	delete(out, "additionalProperties")
	switch {
	case r.open || part:
	case composed:
		out["unevaluatedProperties"] = false
	default:
		out["additionalProperties"] = false
	}
}

// closed reports whether a schema, or one that it is composed of, has additionalProperties: false.
func (r *reference) closed(m map[string]any) bool {
	if m["additionalProperties"] == false {
		return true
	}
	list, _ := m["allOf"].([]any)
	return slices.ContainsFunc(list, func(s any) bool {
		in, _ := s.(map[string]any)
		if ref, ok := in["$ref"].(string); ok {
			to, _ := decoded(r.d.Lookup(ref))
			in, _ = to.(map[string]any)
		}
		return r.closed(in)
	})
}

// check returns what s finds in body.
func check(s *jsonschema.Schema, body value.Value) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body.AppendJSON(nil)))
	if err != nil {
		return err
	}
	return s.Validate(v)
}
