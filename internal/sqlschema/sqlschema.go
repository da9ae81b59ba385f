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

// Of returns a table over the views, or nil and the names of the tables that are there.
func Of(catalogue, name string, views []*typecheck.Relation) (*Table, []string) {
	tables := map[string]func([]*typecheck.Relation) ([]string, []value.Row){"tables": describedTables, "columns": describedColumns, "key_column_usage": describedKeys}
	if catalogue == "pg_catalog" {
		tables = map[string]func([]*typecheck.Relation) ([]string, []value.Row){"pg_tables": postgresTables}
	}
	make, ok := tables[strings.ToLower(name)]
	if !ok {
		return nil, slices.Sorted(maps.Keys(tables))
	}
	t := &Table{}
	t.Names, t.Rows = make(views)
	for _, n := range t.Names {
		is := schema.String
		if n == "ordinal_position" {
			is = schema.Integer
		}
		t.Types = append(t.Types, is)
	}
	return t, nil
}

func row(texts ...string) value.Row {
	out := value.Row{}
	for _, t := range texts {
		out = append(out, value.OfString(t))
	}
	return out
}

func describedTables(all []*typecheck.Relation) ([]string, []value.Row) {
	var rows []value.Row
	for _, t := range all {
		rows = append(rows, row("public", t.Name, "BASE TABLE"))
	}
	return []string{"table_schema", "table_name", "table_type"}, rows
}

func postgresTables(all []*typecheck.Relation) ([]string, []value.Row) {
	var rows []value.Row
	for _, t := range all {
		rows = append(rows, row("public", t.Name))
	}
	return []string{"schemaname", "tablename"}, rows
}

// describedColumns returns the columns and rows of information_schema.columns for the visible fields of all, by PostgreSQL's names.
func describedColumns(all []*typecheck.Relation) ([]string, []value.Row) {
	var rows []value.Row
	for _, t := range all {
		for i, f := range t.Fields {
			nullable := "YES"
			if f.NotNull {
				nullable = "NO"
			}
			r := row("public", t.Name, f.Name)
			r = append(r, value.OfInt(int64(i+1)))
			rows = append(rows, append(r, row(nullable, typeName(f.Type))...))
		}
	}
	return []string{"table_schema", "table_name", "column_name", "ordinal_position", "is_nullable", "data_type"}, rows
}

// describedKeys returns the columns and rows of information_schema.key_column_usage for the visible keys.
func describedKeys(all []*typecheck.Relation) ([]string, []value.Row) {
	var rows []value.Row
	for _, t := range all {
		for i, k := range t.Key {
			r := row("public", t.Name, k)
			rows = append(rows, append(append(r, value.OfInt(int64(i+1))), row(t.Name+"_pkey")...))
		}
	}
	return []string{"table_schema", "table_name", "column_name", "ordinal_position", "constraint_name"}, rows
}

// typeName returns the name of a type in PostgreSQL.
func typeName(t schema.Type) string {
	return map[schema.Type]string{schema.String: "text", schema.Integer: "bigint", schema.Double: "double precision", schema.Decimal: "numeric", schema.Boolean: "boolean",
		schema.Date: "timestamp", schema.Day: "date", schema.UUID: "uuid", schema.Bytes: "bytea", schema.JSON: "jsonb", schema.Array: "jsonb"}[t]
}
