package sqldriver

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A SchemaTemplate is the schema that tenants' schemas are compared with.
type SchemaTemplate struct {
	Name    string // the name of the schema
	Classes []schema.Class
	Code    RoutineCode
}

// A DefinedObject identifies code of a schema. Its Kind is view, trigger, rule or function. Triggers and rules have
// the name of their table.
type DefinedObject struct{ Kind, Name string }

// RoutineCode contains digests of the code of a schema, without the name of the schema. All functions of one name
// share one digest. All triggers of one table also share one digest, and so do all its rules.
type RoutineCode map[DefinedObject][sha256.Size]byte

// pathSet matches the line that sets the search path in the text of a function.
var pathSet = regexp.MustCompile(`(?m)^ SET search_path TO .*$`)

// RoutineCodeOf returns the digests of a schema's code from its texts. In the texts each name is qualified.
func RoutineCodeOf(texts map[DefinedObject][]string, space string) RoutineCode {
	names, own := qualifiers(space), "'"+strings.ReplaceAll(space, "'", "''")+"'"
	out := RoutineCode{}
	for at, list := range texts {
		for i := range list {
			list[i] = pathSet.ReplaceAllStringFunc(list[i], func(set string) string { return strings.ReplaceAll(set, own, "'"+schema.Unbound+"'") })
			list[i] = withoutQualifiers(list[i], names)
		}
		slices.Sort(list)
		sum := sha256.New()
		for _, text := range list {
			fmt.Fprintf(sum, "%d %s", len(text), text)
		}
		out[at] = [sha256.Size]byte(sum.Sum(nil))
	}
	return out
}

// qualifiers returns the ways to write the name of a schema before other names, each with a dot.
func qualifiers(space string) []string {
	names := []string{`"` + strings.ReplaceAll(space, `"`, `""`) + `".`}
	if LowerASCII(space) == space {
		names = append(names, space+".")
	}
	return names
}

// OwnClasses removes the name of the classes' schema from types and defaults. Otherwise no two schemas would have
// equal classes, and agents would see the name of a schema in a default.
func OwnClasses(classes []schema.Class, space string) {
	names := qualifiers(space)
	own := func(f *schema.Field) {
		if rest, ok := strings.CutPrefix(f.Native, space+"."); ok {
			f.Native = schema.Unbound + "." + rest
		}
		f.Default = withoutQualifiers(f.Default, names)
	}
	for i := range classes {
		for j := range classes[i].Fields {
			f := &classes[i].Fields[j]
			for k := range f.Origins {
				if o := f.Origins[k].Space; o == space || o == "" && space == "public" {
					f.Origins[k].Space = schema.Unbound
				}
			}
			if own(f); f.Element != nil {
				own(f.Element)
			}
		}
	}
}

// part matches one part of an expression: a comment, a literal with its cast, a quoted name, or the text between
// them. Quotes in a comment don't begin a literal.
var part = regexp.MustCompile(`--[^\n]*|/\*(?s:.*?)\*/|'(?:[^']|'')*'(?:::reg[a-z]+)?|"(?:[^"]|"")*"\.?|[^'"/-]+|.`)

// withoutQualifiers removes names from an expression as PostgreSQL writes it, wherever they qualify another name.
// Each of names ends with a dot. A literal counts as a name if it is cast to one, such as
// 'acme.issues_id_seq'::regclass.
func withoutQualifiers(text string, names []string) string {
	var out strings.Builder
	for _, p := range part.FindAllString(text, -1) {
		literal := p[0] == '\''
		switch {
		case literal && strings.Contains(p, "'::reg"):
			for _, name := range names {
				if rest, ok := strings.CutPrefix(p[1:], strings.ReplaceAll(name, "'", "''")); ok {
					p = "'" + rest
					break
				}
			}
		case literal:
		case slices.Contains(names, p):
			p = ""
		case p[0] != '"' && len(names) > 1 && strings.HasSuffix(out.String(), "."): // part of a longer qualified name
			p = strings.TrimPrefix(without("."+p, names[1]), ".")
		case p[0] != '"' && len(names) > 1:
			p = without(p, names[1])
		}
		out.WriteString(p)
	}
	return out.String()
}

// without removes each prefix in text that starts a name.
func without(text, prefix string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, prefix)
		if i < 0 {
			return out.String() + text
		}
		end := i + len(prefix)
		if i > 0 && (strings.IndexByte("_$.", text[i-1]) >= 0 || text[i-1] >= 0x80 || text[i-1] >= '0' && text[i-1] <= '9' || text[i-1]|0x20 >= 'a' && text[i-1]|0x20 <= 'z') {
			out.WriteString(text[:end])
		} else {
			out.WriteString(text[:i])
		}
		text = text[end:]
	}
}

// Table reports whether t has a class for the table called name.
func (t SchemaTemplate) Table(name string) bool {
	return slices.ContainsFunc(t.Classes, func(c schema.Class) bool { return c.Table == name })
}

// Difference returns a difference between t and the classes and code of a schema, or "". It compares only the parts
// that statements and rules depend on. It ignores additional tables and functions, additional indexes that are not
// unique, descriptions and the order of fields.
func (t SchemaTemplate) Difference(classes []schema.Class, code RoutineCode) string {
	for i := range t.Classes {
		want := &t.Classes[i]
		at := slices.IndexFunc(classes, func(c schema.Class) bool { return c.Table == want.Table })
		if at < 0 {
			return fmt.Sprintf("it has no table %s that the account may read", want.Table)
		}
		if d := difference(want, &classes[at]); d != "" {
			return want.Table + ": " + d
		}
	}
	return t.codeDifference(code)
}

// codeDifference returns a difference between t and the code of a schema, or "". A function counts only if t contains
// it, and other code only if it belongs to a table of t.
func (t SchemaTemplate) codeDifference(code RoutineCode) string {
	all := map[DefinedObject]bool{}
	for at := range t.Code {
		all[at] = true
	}
	for at := range code {
		all[at] = true
	}
	order := slices.SortedFunc(maps.Keys(all), func(a, b DefinedObject) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	for _, at := range order {
		want, wanted := t.Code[at]
		have, there := code[at]
		if wanted == there && want == have {
			continue
		}
		switch {
		case at.Kind == "function" && !there:
			return "it has no function " + at.Name
		case at.Kind == "function" && wanted:
			return fmt.Sprintf("its function %s has another definition", at.Name)
		case at.Kind == "function" || !t.Table(at.Name):
		case at.Kind == "view":
			return fmt.Sprintf("%s: the view has another definition", at.Name)
		default:
			return fmt.Sprintf("%s: its %ss are others", at.Name, at.Kind)
		}
	}
	return ""
}

// difference returns a difference between two classes, or "". want is the class of the template.
func difference(want, have *schema.Class) string {
	switch {
	case want.View != have.View:
		return "one is a table, and the other is a view"
	case !slices.Equal(want.Key, have.Key):
		return fmt.Sprintf("its key is (%s), not (%s)", strings.Join(have.Key, ", "), strings.Join(want.Key, ", "))
	}
	for i := range have.Fields {
		if want.Field(have.Fields[i].Name) == nil {
			return "it has the further column " + have.Fields[i].Name
		}
	}
	for i := range want.Fields {
		f, other := &want.Fields[i], have.Field(want.Fields[i].Name)
		if other == nil {
			return "it has no column " + f.Name
		}
		if !reflect.DeepEqual(alike(f), alike(other)) {
			if f.Default != other.Default {
				return fmt.Sprintf("its column %s has another default", f.Name)
			}
			return fmt.Sprintf("its column %s has another type or another constraint", f.Name)
		}
	}
	if !sameSet(want.Relations, have.Relations) {
		return "its foreign keys are others"
	}
	return paths(want, have)
}

// paths returns a difference between the indexes of two classes, or "". All indexes of the template must exist, and
// additional indexes must not be unique.
func paths(want, have *schema.Class) string {
	index := func(x schema.Index) schema.Index { x.Name = ""; return x }
	for _, x := range want.Indexes {
		if !slices.ContainsFunc(have.Indexes, func(y schema.Index) bool { return reflect.DeepEqual(index(x), index(y)) }) {
			return fmt.Sprintf("it has no such index as %s", x.Name)
		}
	}
	for _, y := range have.Indexes {
		if y.Unique && !slices.ContainsFunc(want.Indexes, func(x schema.Index) bool { return reflect.DeepEqual(index(x), index(y)) }) {
			return fmt.Sprintf("it has the further unique index %s", y.Name)
		}
	}
	text := func(x schema.TextIndex) schema.TextIndex { x.Name = ""; return x }
	for _, x := range want.Text {
		if !slices.ContainsFunc(have.Text, func(y schema.TextIndex) bool { return reflect.DeepEqual(text(x), text(y)) }) {
			return fmt.Sprintf("it has no such full-text index as %s", x.Name)
		}
	}
	return ""
}

// alike returns a copy of a field without the parts that may differ between schemas.
func alike(f *schema.Field) schema.Field {
	out := *f
	out.Description, out.Origins, out.Untraced = "", nil, "" // the code of views is compared separately
	if f.Element != nil {
		element := alike(f.Element)
		out.Element = &element
	}
	return out
}

// sameSet reports whether two lists hold the same relations, in any order.
func sameSet(a, b []schema.Relation) bool {
	in := func(list []schema.Relation, r schema.Relation) bool {
		return slices.ContainsFunc(list, func(o schema.Relation) bool { return reflect.DeepEqual(o, r) })
	}
	return len(a) == len(b) && !slices.ContainsFunc(a, func(r schema.Relation) bool { return !in(b, r) })
}
