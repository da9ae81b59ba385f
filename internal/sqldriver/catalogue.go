package sqldriver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A FoundTable is a class as read from the catalogue, before its name, key and relations are settled.
type FoundTable struct {
	schema.Class
	Primary []string // the columns of its primary key, including hidden columns
	Links   []FoundLink
	Made    map[string][]Token // the expressions of generated columns, by field
	Columns []string           // its columns in order, including columns that are not fields
}

// A FoundLink is a foreign key. The name of a column that isn't a field is "".
type FoundLink struct {
	Fields, Targets []string
	To              *FoundTable
}

// addressable reports whether a path can name a field called name.
func addressable(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return name != "" && utf8.ValidString(name) && !strings.Contains(name, ".") && first != '$' && !unicode.IsControl(first)
}

// Add appends field to f, or returns a warning if its name can't be addressed.
func (f *FoundTable) Add(field schema.Field) (warning string) {
	f.Columns = append(f.Columns, field.Name)
	if !addressable(field.Name) {
		return fmt.Sprintf("field %q of %s left out: no path can name it", field.Name, f.Place())
	}
	f.Fields = append(f.Fields, field)
	return ""
}

// MadeBy stores the expression that computes a generated column.
func (f *FoundTable) MadeBy(field string, expression []Token) {
	if f.Made == nil {
		f.Made = map[string][]Token{}
	}
	f.Made[field] = expression
}

// Index adds an access path over columns, in order. The name "" means an expression or a column that isn't a field.
// more reports whether the index has other parts, such as a predicate.
func (f *FoundTable) Index(name string, columns []string, unique, more bool) {
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

// Place returns the quoted table name of f for warnings, with the name of its space if there is one.
func (f *FoundTable) Place() string {
	if f.Space == "" {
		return fmt.Sprintf("%q", f.Table)
	}
	return fmt.Sprintf("%q.%q", f.Space, f.Table)
}

// SettleClasses turns tables into the classes of source, sorted by name. It keeps the tables that choice selects. It
// skips each table that can't be a class, with a warning.
func SettleClasses(source string, list []*FoundTable, choice schema.Choice) ([]schema.Class, []string) {
	list, warnings := name(source, list, choice)
	// Relations need the keys of their target classes, so all keys are settled first.
	named := map[*FoundTable]bool{}
	for _, f := range list {
		named[f] = true
		slices.SortFunc(f.Indexes, func(a, b schema.Index) int { return cmp.Compare(a.Name, b.Name) })
		f.settleKey()
	}
	classes := make([]schema.Class, 0, len(list))
	for _, f := range list {
		f.settleRelations(named)
		f.setGeneratedSources()
		f.Converts = true
		classes = append(classes, f.Class)
	}
	slices.Sort(warnings)
	return classes, warnings
}

// settleKey sets the primary key as the key. Without a primary key, it uses the first unique index over fields that
// are never null. A view has neither. Lists and JSON can't be part of a key, because an id is a text and lists and
// JSON compare as values.
func (f *FoundTable) settleKey() {
	structured := func(n string) bool { return f.Field(n).Type.IsStructured() }
	if len(f.Primary) > 0 && f.hasFields(f.Primary) && !slices.ContainsFunc(f.Primary, structured) {
		f.Key = f.Primary
		return
	}
	for _, x := range f.Indexes {
		if x.Unique && !slices.ContainsFunc(x.Fields, structured) && !slices.ContainsFunc(x.Fields, func(n string) bool { return !f.Field(n).NotNull }) {
			f.Key = slices.Clone(x.Fields)
			return
		}
	}
}

// setGeneratedSources sets the columns from which generated columns are computed. In some databases a generated
// column can name another generated column.
func (f *FoundTable) setGeneratedSources() {
	for name := range f.Made {
		field := f.Field(name)
		if field == nil {
			continue
		}
		field.From = MentionedFields(f.Made[name], &f.Class)
		for i := 0; i < len(field.From); i++ {
			for _, by := range MentionedFields(f.Made[field.From[i]], &f.Class) {
				if by != name && !slices.Contains(field.From, by) {
					field.From = append(field.From, by)
				}
			}
		}
	}
}

// settleRelations removes links, except links that reference at most one record of a class in named.
func (f *FoundTable) settleRelations(named map[*FoundTable]bool) {
	for _, l := range f.Links {
		if !named[l.To] || !f.hasFields(l.Fields) || !l.To.hasFields(l.Targets) || !l.To.identifiesRecord(l.Targets) {
			continue
		}
		f.Relations = append(f.Relations, schema.Relation{Fields: l.Fields, Target: l.To.Name, TargetFields: l.Targets})
	}
	order := func(a, b schema.Relation) int {
		return cmp.Or(slices.Compare(a.Fields, b.Fields), cmp.Compare(a.Target, b.Target), slices.Compare(a.TargetFields, b.TargetFields))
	}
	slices.SortFunc(f.Relations, order)
	f.Relations = slices.CompactFunc(f.Relations, func(a, b schema.Relation) bool { return order(a, b) == 0 })
}

func (f *FoundTable) hasFields(names []string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return f.Field(n) == nil })
}

// identifiesRecord reports whether values of fields identify at most one record.
func (f *FoundTable) identifiesRecord(fields []string) bool {
	within := func(names []string) bool {
		return len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(fields, n) })
	}
	return within(f.Key) || slices.ContainsFunc(f.Indexes, func(x schema.Index) bool { return x.Unique && within(x.Fields) })
}

// SortText sorts the full-text indexes of each class by name.
func SortText(classes []schema.Class) {
	for i := range classes {
		slices.SortStableFunc(classes[i].Text, func(a, b schema.TextIndex) int { return cmp.Compare(a.Name, b.Name) })
	}
}
