package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// maxEnum is the maximum number of enum values in a list.
const maxEnum = 12

// kind returns the text of a type, such as string, array<Team>, map<integer> or "one of A, B".
func (p *printer) kind(s spec.Schema, depth int) string {
	text := ""
	switch p.kinds++; {
	case depth > 4 || p.kinds > maxKinds:
		text = "any"
	case len(s.Enum) > 0:
		text = p.enum(s)
	case s.Name != "" && (len(s.Properties) > 0 || len(s.AllOf) > 0 || known[s.Name] != ""):
		text = name(s.Name)
	case len(s.Properties) == 0 && len(s.OneOf)+len(s.AnyOf) > 0:
		if text = p.choices(s, append(slices.Clone(s.OneOf), s.AnyOf...), depth); s.Name != "" && depth == 0 {
			text = name(s.Name) + ", " + text
		}
	case s.Items != nil && s.Is("array"):
		text = "array<" + p.kind(p.v.Schema(s.Items), depth+1) + ">"
	case s.Additional.Kind() == '{' && len(s.Properties) == 0 && s.Is("object"):
		text = "map<" + p.kind(p.v.Schema(s.Additional), depth+1) + ">"
	case p.form && s.Is("string") && (s.Format == "binary" || s.Format == "base64" || s.Raw.Get("contentMediaType") != nil && s.Format == ""):
		text = "file {name, content (base64), type}"
	case len(s.Types) > 0:
		kinds := make([]string, len(s.Types))
		for i, t := range s.Types {
			kinds[i] = oneLine(t, 20)
		}
		switch text = strings.Join(kinds, " or "); s.Format {
		case "", text: // grpc-gateway repeats the word boolean
		case "byte":
			text += "(bytes in base64)"
		default:
			text += "(" + oneLine(s.Format, 30) + ")"
		}
	case len(s.Properties) > 0 || len(s.AllOf) > 0:
		text = "object"
	default:
		text = "any"
	}
	switch {
	case s.Nullable && text == "any" && s.Raw.Get("type") != nil:
		return "null"
	case s.Nullable:
		text += " or null"
	}
	return text
}

// enum describes a type by its values, at most maxEnum of them. The name of its schema, if any, comes first.
func (p *printer) enum(s spec.Schema) string {
	var values []string
	for i, e := range s.Enum {
		if i == maxEnum && len(s.Enum) > maxEnum+1 {
			values = append(values, fmt.Sprintf("… %d in all", len(s.Enum)))
			break
		}
		values = append(values, value(e))
	}
	text := "enum(" + strings.Join(values, "|") + ")"
	if s.Name != "" {
		text = name(s.Name) + " " + text
	}
	return text
}

// value returns the text of an enum value. Only empty strings are quoted.
func value(e spec.Raw) string {
	switch e.Kind() {
	case '"':
		if e.Text() == "" {
			return `""`
		}
		return oneLine(e.Text(), 60)
	case '{', '[':
		return "…"
	}
	return oneLine(string(e), 60)
}

// choices lists the alternatives of a schema by name, and unnamed alternatives by their fields. It shows fewer levels
// than other types, because each level may have many alternatives.
func (p *printer) choices(s spec.Schema, all []spec.Raw, depth int) string {
	depth = max(depth+1, 3)
	var names []string
	for _, r := range all {
		in := p.v.Schema(r)
		text := ""
		switch {
		case in.Name != "":
			text = name(in.Name)
		case len(in.Properties) > 0:
			var fields []string
			for _, f := range p.v.Object(in).Fields {
				if f.Required || len(in.Required) == 0 {
					fields = append(fields, oneLine(f.Name, 60)+": "+p.kind(p.v.Schema(f.Schema), depth))
				}
			}
			text = "{" + strings.Join(fields[:min(len(fields), 4)], ", ") + "}"
		case in.Title != "":
			text = oneLine(in.Title, 60)
		case len(in.Required) > 0:
			hidden := func(f string) bool { return !p.v.Field(s.Name, f) || !p.v.Field("", f) }
			text = "with " + oneLine(strings.Join(slices.DeleteFunc(slices.Clone(in.Required), hidden), ", "), 60)
		default:
			text = p.kind(in, depth)
		}
		if !slices.Contains(names, text) {
			names = append(names, text)
		}
	}
	if len(names) > maxEnum {
		names = append(names[:maxEnum], fmt.Sprintf("… %d in all", len(all)))
	}
	word := "one of "
	if len(s.OneOf) == 0 {
		word = "any of "
	}
	return word + strings.Join(names, ", ")
}

// values lists the values of an enum.
func (p *printer) values(s spec.Schema) {
	var values []string
	for i, e := range s.Enum {
		if i == 200 {
			values = append(values, fmt.Sprintf("… %d in all", len(s.Enum)))
			break
		}
		values = append(values, value(e))
	}
	p.line(0, "**Enum values:** "+strings.Join(values, ", "))
}
