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
	Description string // the description next to a reference, else the schema's own
	Enum        []Raw  // all allowed values. A const is one
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

// Schema reads r, a schema of d, and follows its references. A reference that can't be resolved, and a value that is
// not an object, give a schema that accepts any value. Callers must not modify its lists.
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
		d.read.Store(first, s) // as many as the document has schemas
		read = s
	}
	s := read.(Schema)
	return s.beside(r, first)
}

// beside returns s with the description next to the reference r to it.
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

// member reads one member of a schema. Unknown ones are skipped. A const is an enum of one value. examples, of JSON Schema, gives its
// first where there is no example.
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

// kinds reads type, a text or, in OpenAPI 3.1, a list, in which null makes the schema nullable.
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

// Is reports whether s allows values of that JSON type.
func (s *Schema) Is(kind string) bool { return len(s.Types) == 0 || slices.Contains(s.Types, kind) }

// numbered matches keys that tools generate for schemas without a name.
var numbered = regexp.MustCompile(`^(?:def|definition|schema|model|inline[-_a-zA-Z]*)?[-_]?[0-9]+$`)

// nameSchemas sets the name of every schema as shown to agents: its key, or its title if the key is generated, like
// def-12. A title that is not unique, or equals another schema's key, is not used.
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

// keyOf returns the last part of a reference. For a whole file, it is the file's name without its ending.
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

// SchemaRef returns a reference to the schema with that name, for use with Schema, or nil.
func (d *Document) SchemaRef(name string) Raw {
	ref, ok := d.byName[name]
	if !ok {
		return nil
	}
	return Raw(append(appendJSONString([]byte(`{"$ref":`), ref), '}'))
}

// NameOf returns the name of the schema that a reference ("#/components/schemas/Team") leads to, or "" if it has none.
func (d *Document) NameOf(ref string) string { return d.names[ref] }

// ShortName returns the part of a schema's name after the last dot or slash: Instance for bytebase.v1.Instance.
func ShortName(name string) string {
	if at := strings.LastIndexAny(name, "./"); at >= 0 && at < len(name)-1 {
		return name[at+1:]
	}
	return name
}
