package spec

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Schema is one schema of the document, read one level deep: nested schemas stay Raw.
type Schema struct {
	Name        string // of the component, or "" for an inline schema
	Missing     bool   // its reference can't be resolved
	Types       []string
	Nullable    bool
	Format      string
	Title       string
	Description string // the description next to the reference, else the schema's own description
	Enum        []Raw  // all allowed values. A const gives one value
	Properties  []Property
	Required    []string
	Items       Raw
	Additional  Raw // additionalProperties, or nil if absent
	AllOf       []Raw
	OneOf       []Raw
	AnyOf       []Raw
	Default     Raw
	Example     Raw
	ReadOnly    bool
	WriteOnly   bool
	Deprecated  bool
	Raw         Raw // the source, with references resolved
}

// A Property is a named property of an object.
type Property struct {
	Name   string
	Schema Raw
}

// Schema reads r, a schema of d, and follows its references. If a reference can't be resolved, or the value is not an
// object, the result accepts any value. Callers must not modify the lists in the result.
func (d *Document) Schema(r Raw) Schema {
	first := Reference(r)
	read, ok := d.read.Load(first)
	if !ok {
		to, ref, err := d.follow(r)
		if err != nil {
			return Schema{Missing: true, Description: r.Get("description").Text()}
		}
		s := d.schema(to, d.names[ref])
		if d.names[first] == "" {
			return s.beside(r, first)
		}
		d.read.Store(first, s) // at most as many entries as the document has schemas
		read = s
	}
	s := read.(Schema)
	return s.beside(r, first)
}

// beside returns s with the description next to the reference r.
func (s Schema) beside(r Raw, ref string) Schema {
	if ref != "" {
		if text := r.Get("description").Text(); text != "" {
			s.Description = text
		}
	}
	return s
}

func (d *Document) schema(r Raw, name string) Schema {
	s := Schema{Name: name, Raw: r}
	for member, v := range r.Members() {
		s.member(member, v)
	}
	return s
}

// member reads one member of a schema and skips unknown members. A const becomes an enum of one value. If there is no
// example, the first value of examples is used.
func (s *Schema) member(name string, v Raw) {
	switch name {
	case "type":
		s.kinds(v)
	case "nullable", "x-nullable":
		s.Nullable = s.Nullable || v.True()
	case "format":
		s.Format = v.Text()
	case "title":
		s.Title = v.Text()
	case "description":
		s.Description = v.Text()
	case "enum":
		s.Enum = slices.Collect(v.Elements())
	case "const":
		s.Enum = []Raw{v}
	case "properties":
		for n, p := range v.Members() {
			s.Properties = append(s.Properties, Property{n, p})
		}
	case "required":
		s.Required = v.Texts()
	case "items":
		s.Items = v
	case "additionalProperties":
		s.Additional = v
	case "allOf":
		s.AllOf = slices.Collect(v.Elements())
	case "oneOf":
		s.OneOf = slices.Collect(v.Elements())
	case "anyOf":
		s.AnyOf = slices.Collect(v.Elements())
	case "default":
		s.Default = v
	case "example":
		s.Example = v
	case "examples":
		if s.Example == nil && v.Kind() == '[' {
			s.Example = v.element(0)
		}
	case "readOnly":
		s.ReadOnly = v.True()
	case "writeOnly":
		s.WriteOnly = v.True()
	case "deprecated":
		s.Deprecated = v.True()
	}
}

// kinds reads the type, which is a string or, in OpenAPI 3.1, a list. A null in the list makes the schema nullable.
func (s *Schema) kinds(v Raw) {
	all := v.Texts()
	if v.Kind() == '"' {
		all = []string{v.Text()}
	}
	for _, t := range all {
		if t == "null" {
			s.Nullable = true
		} else if t != "" {
			s.Types = append(s.Types, t)
		}
	}
}

// Is reports whether s allows values of the JSON type kind.
func (s *Schema) Is(kind string) bool { return len(s.Types) == 0 || slices.Contains(s.Types, kind) }

// numbered matches keys that tools generate for unnamed schemas.
var numbered = regexp.MustCompile(`^(?:def|definition|schema|model|inline[-_a-zA-Z]*)?[-_]?[0-9]+$`)

// nameSchemas sets the name of every schema as shown to agents. The name is the key. If the key is generated, such as
// def-12, the name is the title, unless the title is not unique or equals another key.
func (d *Document) nameSchemas() {
	keys, titles := map[string]bool{}, map[string]int{}
	title := map[string]string{}
	for _, ref := range d.schemas {
		key := keyOf(ref)
		keys[key] = true
		if numbered.MatchString(key) {
			if t := strings.TrimSpace(d.parts[ref].Get("title").Text()); t != "" && plain(t) && len(t) <= 100 {
				title[ref] = t
				titles[t]++
			}
		}
	}
	for _, ref := range d.schemas {
		name := keyOf(ref)
		if t := title[ref]; t != "" && titles[t] == 1 && !keys[t] {
			name = t
		}
		d.names[ref], d.byName[name] = name, ref
	}
}

// keyOf returns the last part of a reference. For a reference to a whole file, it returns the file's name without its
// extension.
func keyOf(ref string) string {
	if file, ok := strings.CutSuffix(ref, "#"); ok {
		file = path.Base(file)
		return strings.TrimSuffix(file, path.Ext(file))
	}
	return unescape(ref[strings.LastIndexAny(ref, "/#")+1:])
}

// Names returns the names of all schemas in the document, in order.
func (d *Document) Names() []string {
	out := make([]string, len(d.schemas))
	for i, ref := range d.schemas {
		out[i] = d.names[ref]
	}
	return out
}

// SchemaRef returns a reference to the schema with the given name, for use with Schema, or nil.
func (d *Document) SchemaRef(name string) Raw {
	ref, ok := d.byName[name]
	if !ok {
		return nil
	}
	return Raw(append(appendJSONString([]byte(`{"$ref":`), ref), '}'))
}

// NameOf returns the name of the schema that ref ("#/components/schemas/Team") refers to, or "" if the schema has no
// name.
func (d *Document) NameOf(ref string) string { return d.names[ref] }

// ShortName returns the part of a schema's name after the last dot or slash: Instance for bytebase.v1.Instance.
func ShortName(name string) string {
	if at := strings.LastIndexAny(name, "./"); at >= 0 && at < len(name)-1 {
		return name[at+1:]
	}
	return name
}
