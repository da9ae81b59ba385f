// Package sqlschema makes the tables of information_schema and pg_catalog, of the views that a caller may read.
package sqlschema

import (
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Table is one of them: its columns, and its records.
type Table struct {
	Names []string
	Types []schema.Type
	Rows  []value.Row
}

// A Wanted tells which records are needed: those of whose columns all tests hold, by column. More records may be made.
type Wanted map[string][]func(text string) bool

// Among adds that a column has one of the texts. Case is ignored.
func (w Wanted) Among(column string, texts []string) {
	w[column] = append(w[column], func(text string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.EqualFold(t, text) })
	})
}

// Like adds that a column matches a pattern of LIKE without escapes. Case is ignored.
func (w Wanted) Like(column, pattern string) {
	of := []rune(strings.ToLower(pattern))
	w[column] = append(w[column], func(text string) bool { return like([]rune(strings.ToLower(text)), of) })
}

// like reports whether text matches a pattern, in which % is any text and _ any character.
func like(text, pattern []rune) bool {
	at, back, from := 0, -1, 0 // back is after the last %, which begins at from in text
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

// has reports whether a record with this text in a column may be needed.
func (w Wanted) has(column, text string) bool {
	for _, test := range w[column] {
		if !test(text) {
			return false
		}
	}
	return true
}

// A described is a table of a catalogue: the names of its columns, of which those in numbers are integers, and the
// records of a view.
type described struct {
	names []string
	of    func(t *typecheck.Relation, add func(...value.Value))
}

// numbers are the columns of integers.
var numbers = []string{"ordinal_position"}

var catalogues = map[string]map[string]described{
	"information_schema": {
		"tables": {[]string{"table_schema", "table_name", "table_type"}, func(t *typecheck.Relation, add func(...value.Value)) {
			add(text("public"), text(t.Name), text("BASE TABLE"))
		}},
		"columns": {[]string{"table_schema", "table_name", "column_name", "ordinal_position", "is_nullable", "data_type"}, describeColumns},
		"key_column_usage": {[]string{"table_schema", "table_name", "column_name", "ordinal_position", "constraint_name"}, func(t *typecheck.Relation, add func(...value.Value)) {
			for i, k := range t.Key {
				add(text("public"), text(t.Name), text(k), value.OfInt(int64(i+1)), text(t.Name+"_pkey"))
			}
		}},
	},
	"pg_catalog": {
		"pg_tables": {[]string{"schemaname", "tablename"}, func(t *typecheck.Relation, add func(...value.Value)) {
			add(text("public"), text(t.Name))
		}},
	},
}

// describeColumns adds the visible fields of a view, with PostgreSQL's names of types.
func describeColumns(t *typecheck.Relation, add func(...value.Value)) {
	for i, f := range t.Fields {
		nullable := "YES"
		if f.NotNull {
			nullable = "NO"
		}
		add(text("public"), text(t.Name), text(f.Name), value.OfInt(int64(i+1)), text(nullable), text(typeNames[f.Type]))
	}
}

func text(s string) value.Value { return value.OfString(s) }

// Of returns a table with at least the wanted records of the views, or nil and the names of the tables that are there.
func Of(catalogue, name string, wanted Wanted, views func() []*typecheck.Relation) (*Table, []string) {
	d, ok := catalogues[catalogue][strings.ToLower(name)]
	if !ok {
		return nil, slices.Sorted(maps.Keys(catalogues[catalogue]))
	}
	t := &Table{Names: d.names}
	for _, n := range t.Names {
		is := schema.String
		if slices.Contains(numbers, n) {
			is = schema.Integer
		}
		t.Types = append(t.Types, is)
	}
	for _, v := range views() {
		if !wanted.has("table_name", v.Name) || !wanted.has("tablename", v.Name) {
			continue
		}
		d.of(v, func(cells ...value.Value) {
			for i, c := range cells {
				if t.Types[i] == schema.String && !wanted.has(t.Names[i], c.Text()) {
					return
				}
			}
			t.Rows = append(t.Rows, append(make(value.Row, 0, len(cells)+1), cells...)) // with room for its place
		})
	}
	return t, nil
}

// typeNames are the names of types in PostgreSQL.
var typeNames = map[schema.Type]string{schema.String: "text", schema.Integer: "bigint", schema.Double: "double precision", schema.Decimal: "numeric", schema.Boolean: "boolean",
	schema.Date: "timestamp", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Array: "jsonb"}
