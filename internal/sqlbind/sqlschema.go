package sqlbind

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Table is a table of a catalogue: its columns and its records.
type Table struct {
	Names []string
	Types []schema.Type
	Rows  []value.Row
}

// A Wanted describes the required records of a table. By column, it contains tests that the text of the column must
// satisfy. A table may contain more records.
type Wanted struct {
	tests map[string][]func(text string) bool
	among map[string][]string // by column: the texts of one of the tests, or nil for other tests
}

func (w *Wanted) test(column string, is func(text string) bool) {
	if w.tests == nil {
		w.tests, w.among = map[string][]func(string) bool{}, map[string][]string{}
	}
	w.tests[column] = append(w.tests[column], is)
}

// Among adds a test that a column has one of the texts. It ignores case.
func (w *Wanted) Among(column string, texts []string) {
	w.test(column, func(text string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(t, text) })
	})
	w.among[column] = texts
}

// Like adds a test that a column matches a pattern of LIKE without escapes. It ignores case.
func (w *Wanted) Like(column, pattern string) {
	of := []rune(strings.ToLower(pattern))
	w.test(column, func(text string) bool { return like([]rune(strings.ToLower(text)), of) })
}

// like reports whether text matches a pattern. In the pattern, % matches any text and _ any character.
func like(text, pattern []rune) bool {
	at, back, from := 0, -1, 0 // back is the position after the last %, which matches from position from in text
	for i := 0; i < len(text); {
		switch {
		case at < len(pattern) && pattern[at] == '%':
			at++
			back, from = at, i
		case at < len(pattern) && (pattern[at] == '_' || pattern[at] == text[i]):
			at++
			i++
		case back >= 0:
			from++
			at, i = back, from
		default:
			return false
		}
	}
	for at < len(pattern) && pattern[at] == '%' {
		at++
	}
	return at == len(pattern)
}

// views returns what a view must have for a name so that there can be records about it, in the form of Tables.All.
func (w Wanted) views() (keep func(name string) bool, among []string) {
	return func(name string) bool { return w.has("table_name", name) && w.has("tablename", name) }, append(w.among["table_name"], w.among["tablename"]...)
}

// has reports whether a record with this text in a column may be required.
func (w Wanted) has(column, text string) bool {
	for _, test := range w.tests[column] {
		if !test(text) {
			return false
		}
	}
	return true
}

// A described is a table of a catalogue: the names of its columns, and a function that adds the records for a view.
// Columns in schemaNumbers are integers.
type described struct {
	names []string
	of    func(t *typecheck.Relation, add func(...value.Value))
}

// schemaNumbers are the names of columns with integers.
var schemaNumbers = []string{"ordinal_position", "position_in_unique_constraint"}

var catalogues = map[string]map[string]described{
	"information_schema": {
		"tables": {[]string{"table_schema", "table_name", "table_type"}, func(t *typecheck.Relation, add func(...value.Value)) {
			add(text("public"), text(t.Name), text("BASE TABLE"))
		}},
		// The rows of metrics aren't those of views: package metric puts a list in the place of this table.
		"metrics": {[]string{"name", "unit", "description", "definition", "class", "dimensions"}, func(*typecheck.Relation, func(...value.Value)) {}},
		"columns": {[]string{"table_schema", "table_name", "column_name", "ordinal_position", "is_nullable", "data_type", "mask"}, describeColumns},
		"key_column_usage": {[]string{"constraint_schema", "constraint_name", "table_schema", "table_name", "column_name", "ordinal_position", "position_in_unique_constraint",
			"referenced_table_schema", "referenced_table_name", "referenced_column_name"}, describeKeys},
		"table_constraints": {[]string{"constraint_schema", "constraint_name", "table_schema", "table_name", "constraint_type"}, func(t *typecheck.Relation, add func(...value.Value)) {
			for _, c := range constraints(t) {
				add(text("public"), text(c.name), text("public"), text(t.Name), text(c.kind))
			}
		}},
		"referential_constraints": {[]string{"constraint_schema", "constraint_name", "unique_constraint_schema", "unique_constraint_name", "table_name", "referenced_table_name"},
			func(t *typecheck.Relation, add func(...value.Value)) {
				for _, c := range constraints(t) {
					if c.target != "" {
						add(text("public"), text(c.name), text("public"), text(c.unique), text(t.Name), text(c.target))
					}
				}
			}},
		"constraint_column_usage": {[]string{"table_schema", "table_name", "column_name", "constraint_schema", "constraint_name"}, func(t *typecheck.Relation, add func(...value.Value)) {
			for _, c := range constraints(t) {
				for i, column := range c.columns {
					of := t.Name
					if c.target != "" { // as in PostgreSQL: the columns to which the constraint refers
						of, column = c.target, c.targets[i]
					}
					add(text("public"), text(of), text(column), text("public"), text(c.name))
				}
			}
		}},
	},
	"pg_catalog": {
		"pg_tables": {[]string{"schemaname", "tablename"}, func(t *typecheck.Relation, add func(...value.Value)) {
			add(text("public"), text(t.Name))
		}},
		"pg_constraint": {[]string{"conname", "contype", "conrelid", "confrelid", "conkey", "confkey"}, func(t *typecheck.Relation, add func(...value.Value)) {
			for _, c := range constraints(t) {
				to, keys := value.Value{}, value.Value{}
				if c.target != "" {
					to, keys = text(c.target), text(strings.Join(c.targets, ","))
				}
				add(text(c.name), text(map[string]string{primaryKey: "p", unique: "u", foreignKey: "f"}[c.kind]), text(t.Name), to, text(strings.Join(c.columns, ",")), keys)
			}
		}},
	},
}

// The kinds of constraints.
const (
	primaryKey = "PRIMARY KEY"
	unique     = "UNIQUE"
	foreignKey = "FOREIGN KEY"
)

// A constraint is a key, a unique index or a pointer of a view. Only a pointer has target and targets.
type constraint struct {
	name, kind string
	columns    []string
	target     string
	targets    []string
	unique     string // the name of the constraint to which a pointer refers
}

// constraints returns the constraints of a view. All their fields are visible.
func constraints(t *typecheck.Relation) []constraint {
	var out []constraint
	if t.Key != nil {
		out = append(out, constraint{name: t.Name + "_pkey", kind: primaryKey, columns: t.Key})
	}
	if t.Constraints == nil {
		return out
	}
	points, indexes := t.Constraints()
	for _, fields := range indexes {
		out = append(out, constraint{name: t.Name + "_" + strings.Join(fields, "_") + "_key", kind: unique, columns: fields})
	}
	for _, p := range points {
		out = append(out, constraint{name: t.Name + "_" + p.Field + "_fkey", kind: foreignKey, columns: []string{p.Field}, target: p.Target, targets: []string{p.TargetKey}, unique: p.Unique})
	}
	return out
}

// describeKeys adds the columns of the constraints of t.
func describeKeys(t *typecheck.Relation, add func(...value.Value)) {
	for _, c := range constraints(t) {
		for i, column := range c.columns {
			at, schema, table, to := value.Value{}, value.Value{}, value.Value{}, value.Value{}
			if c.target != "" {
				at, schema, table, to = value.OfInt(int64(i+1)), text("public"), text(c.target), text(c.targets[i])
			}
			add(text("public"), text(c.name), text("public"), text(t.Name), text(column), value.OfInt(int64(i+1)), at, schema, table, to)
		}
	}
}

// describeColumns adds the visible fields of a view with PostgreSQL's names of types. PostgreSQL has no column mask. It
// contains the kind of a field's mask, or null for a field without a mask.
func describeColumns(t *typecheck.Relation, add func(...value.Value)) {
	for i, f := range t.Fields {
		nullable := "YES"
		if f.NotNull {
			nullable = "NO"
		}
		var masked value.Value
		if m := t.Masks[f.Name]; m != nil {
			masked = text(m.String())
		}
		add(text("public"), text(t.Name), text(f.Name), value.OfInt(int64(i+1)), text(nullable), text(typeNames[f.Type]), masked)
	}
}

func text(s string) value.Value { return value.OfString(s) }

// describedTable returns a table with at least the wanted records for the views. If there is no such table, it returns
// nil and the names of the existing tables.
func describedTable(catalogue, name string, wanted Wanted, views func(keep func(name string) bool, among []string) []*typecheck.Relation) (*Table, []string) {
	d, ok := catalogues[catalogue][strings.ToLower(name)]
	if !ok {
		return nil, slices.Sorted(maps.Keys(catalogues[catalogue]))
	}
	t := &Table{Names: d.names}
	for _, n := range t.Names {
		is := schema.String
		if slices.Contains(schemaNumbers, n) {
			is = schema.Integer
		}
		t.Types = append(t.Types, is)
	}
	keep, among := wanted.views()
	if strings.EqualFold(name, "constraint_column_usage") { // its rows may be about other tables
		keep, among = func(string) bool { return true }, nil
	}
	for _, v := range views(keep, among) {
		if !keep(v.Name) {
			continue
		}
		d.of(v, func(cells ...value.Value) {
			for i, c := range cells {
				if t.Types[i] == schema.String && !wanted.has(t.Names[i], c.Text()) {
					return
				}
			}
			t.Rows = append(t.Rows, append(make(value.Row, 0, len(cells)+1), cells...)) // the capacity includes a position
		})
	}
	return t, nil
}

// typeNames are the names of types in PostgreSQL.
var typeNames = map[schema.Type]string{schema.String: "text", schema.Integer: "bigint", schema.Double: "double precision", schema.Decimal: "numeric", schema.Boolean: "boolean",
	schema.Date: "timestamp", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Array: "jsonb"}
