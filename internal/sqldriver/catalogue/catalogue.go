// Package catalogue reads the catalogues of SQL databases: the fields, types, keys, indexes and relations of their
// tables.
//
// Package sqldriver describes its sources with it. There is one function per database; it reads the catalogue over an
// open connection and returns the classes, sorted by name, and warnings about what it left out. What a catalogue holds
// only as text, such as a check constraint, is used only where its meaning is certain. The package reads no records, and
// reports nothing that might not hold for every record.
package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A found is a class as read from the catalogue, before names, keys and relations are settled.
type found struct {
	schema.Class
	primary []string // the columns of its primary key, hidden ones too
	links   []link
}

// A link is a foreign key. A column that isn't a field is "".
type link struct {
	fields, targets []string
	to              *found
}

// addressable reports whether a path can name a field called name.
func addressable(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return name != "" && utf8.ValidString(name) && !strings.Contains(name, ".") && first != '$' && !unicode.IsControl(first)
}

// add appends field to f, or returns a warning if its name can't be addressed.
func (f *found) add(field schema.Field) (warning string) {
	if !addressable(field.Name) {
		return fmt.Sprintf("field %q of %s left out: no path can name it", field.Name, f.place())
	}
	f.Fields = append(f.Fields, field)
	return ""
}

// index adds an access path over columns, in order; a column that is an expression or not a field is "". more reports
// whether the index has other parts, such as a predicate.
func (f *found) index(name string, columns []string, unique, more bool) {
	n := len(columns)
	for i, c := range columns {
		if f.Field(c) == nil {
			n = i
			break
		}
	}
	if n > 0 {
		f.Indexes = append(f.Indexes, schema.Index{Name: name, Fields: columns[:n:n], Unique: unique && n == len(columns), More: more || n < len(columns)})
	}
}

// place returns the quoted table name of f for warnings, with its space if it has one.
func (f *found) place() string {
	if f.Space == "" {
		return fmt.Sprintf("%q", f.Table)
	}
	return fmt.Sprintf("%q.%q", f.Space, f.Table)
}

// settle turns what was read into the classes of source, sorted by name, and warnings.
func settle(source string, list []*found) ([]schema.Class, []string, error) {
	var warnings []string
	list = slices.DeleteFunc(list, func(f *found) bool {
		f.Source, f.Name = source, f.Table
		if f.Space != "" {
			f.Name = f.Space + "_" + f.Table
		}
		switch {
		case !utf8.ValidString(f.Name):
			warnings = append(warnings, fmt.Sprintf("class %s left out: its name is not UTF-8", f.place()))
		case len(f.Fields) == 0:
			warnings = append(warnings, fmt.Sprintf("class %s left out: it has no field", f.place()))
		default:
			return false
		}
		return true
	})
	slices.SortFunc(list, func(a, b *found) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Space, b.Space))
	})
	for i := 1; i < len(list); i++ {
		if a, b := list[i-1], list[i]; a.Name == b.Name {
			return nil, nil, fmt.Errorf("source %s: %s and %s would both be the class %q", source, a.place(), b.place(), a.Name)
		}
	}
	named := map[*found]bool{}
	for _, f := range list {
		named[f] = true
		slices.SortFunc(f.Indexes, func(a, b schema.Index) int { return cmp.Compare(a.Name, b.Name) })
		f.settleKey()
	}
	classes := make([]schema.Class, 0, len(list))
	for _, f := range list {
		f.settleRelations(named)
		classes = append(classes, f.Class)
	}
	slices.Sort(warnings)
	return classes, warnings, nil
}

// settleKey sets the primary key, or else the first unique index over fields that are never null. A view has neither.
func (f *found) settleKey() {
	if len(f.primary) > 0 && f.hasFields(f.primary) {
		f.Key = f.primary
		return
	}
	for _, x := range f.Indexes {
		if x.Unique && !slices.ContainsFunc(x.Fields, func(n string) bool { return !f.Field(n).NotNull }) {
			f.Key = slices.Clone(x.Fields)
			return
		}
	}
}

// settleRelations keeps the links that lead to at most one record of a class in named.
func (f *found) settleRelations(named map[*found]bool) {
	for _, l := range f.links {
		if !named[l.to] || !f.hasFields(l.fields) || !l.to.hasFields(l.targets) || !l.to.identified(l.targets) {
			continue
		}
		f.Relations = append(f.Relations, schema.Relation{Fields: l.fields, Target: l.to.Name, TargetFields: l.targets})
	}
	order := func(a, b schema.Relation) int {
		return cmp.Or(slices.Compare(a.Fields, b.Fields), cmp.Compare(a.Target, b.Target), slices.Compare(a.TargetFields, b.TargetFields))
	}
	slices.SortFunc(f.Relations, order)
	f.Relations = slices.CompactFunc(f.Relations, func(a, b schema.Relation) bool { return order(a, b) == 0 })
}

func (f *found) hasFields(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return f.Field(n) == nil })
}

// identified reports whether values of fields identify at most one record.
func (f *found) identified(fields []string) bool {
	within := func(names []string) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(fields, n) })
	}
	return within(f.Key) || slices.ContainsFunc(f.Indexes, func(x schema.Index) bool { return x.Unique && within(x.Fields) })
}
