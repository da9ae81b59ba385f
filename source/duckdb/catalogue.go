package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// reader reads the catalogue of one database.
type reader struct {
	db       *sql.DB
	list     []*sqldriver.FoundTable
	byName   map[[2]string]*sqldriver.FoundTable
	warnings []string
}

// describe returns the classes of a database, sorted, with source as their source. It also returns warnings about
// omitted classes.
func describe(ctx context.Context, db *sql.DB, source string, choice schema.Choice) ([]schema.Class, []string, error) {
	r := &reader{db: db, byName: map[[2]string]*sqldriver.FoundTable{}}
	for _, step := range []struct {
		name, query string
		take        func(text []string)
	}{{"classes", selectClasses, r.class}, {"columns", selectColumns, r.column}, {"constraints", selectConstraints, r.constraint}} {
		if err := sqldriver.EachRow(ctx, r.db, step.query, step.take); err != nil {
			return nil, nil, fmt.Errorf("describe %s: %s: %w", source, step.name, err)
		}
	}
	classes, more := sqldriver.SettleClasses(source, r.list, choice)
	for i := range classes {
		classes[i].Converts = false // stored values are read in their own types
	}
	return classes, append(r.warnings, more...), nil
}

const selectClasses = `
SELECT schema_name, table_name, 'table', comment FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND NOT temporary
UNION ALL
SELECT schema_name, view_name, 'view', comment FROM duckdb_views() WHERE database_name = current_database() AND NOT internal AND NOT temporary
ORDER BY 1, 2`

func (r *reader) class(x []string) {
	f := &sqldriver.FoundTable{}
	f.Table, f.View, f.Description = x[1], x[2] == "view", x[3]
	if x[0] != "main" {
		f.Space = x[0]
	}
	r.list, r.byName[[2]string{x[0], x[1]}] = append(r.list, f), f
}

const selectColumns = `
SELECT schema_name, table_name, column_name, data_type, is_nullable::VARCHAR, comment, numeric_precision::VARCHAR, numeric_scale::VARCHAR
FROM duckdb_columns() WHERE database_name = current_database() ORDER BY schema_name, table_name, column_index`

// types maps the names of types to schema types. All other types are Opaque.
var types = map[string]schema.Type{
	"VARCHAR": schema.String, "ENUM": schema.String, "BOOLEAN": schema.Boolean, "UUID": schema.UUID, "BLOB": schema.Bytes, "JSON": schema.JSON, "DATE": schema.Day,
	"TINYINT": schema.Integer, "SMALLINT": schema.Integer, "INTEGER": schema.Integer, "BIGINT": schema.Integer, "UTINYINT": schema.Integer, "USMALLINT": schema.Integer, "UINTEGER": schema.Integer,
	"UBIGINT": schema.Decimal, "HUGEINT": schema.Decimal, "UHUGEINT": schema.Decimal, "DECIMAL": schema.Decimal, "FLOAT": schema.Double, "DOUBLE": schema.Double,
	"TIMESTAMP": schema.Date, "TIMESTAMPTZ": schema.Date, "TIMESTAMP_NS": schema.Date, "TIMESTAMP_MS": schema.Date, "TIMESTAMP_S": schema.Date,
	"LIST": schema.Array, "STRUCT": schema.JSON, "MAP": schema.JSON,
}

// column adds a column as a field. x is a row of selectColumns. A type that isn't in types is Opaque.
func (r *reader) column(x []string) {
	f := r.byName[[2]string{x[0], x[1]}]
	if f == nil {
		return
	}
	field := schema.Field{Name: x[2], Description: x[5], NotNull: x[4] == "false" && !f.View, Native: native(x[3]), Type: schema.Opaque}
	if t, ok := types[field.Native]; ok {
		field.Type = t
	}
	if field.Native == "DECIMAL" {
		field.Scaled = true
		fmt.Sscan(x[6], &field.Digits)
		fmt.Sscan(x[7], &field.Scale)
	}
	if w := f.Add(field); w != "" {
		r.warnings = append(r.warnings, w)
	}
}

// native returns the name of a type without its parameters.
func native(full string) string {
	switch {
	case strings.HasSuffix(full, "]"):
		return "LIST"
	case full == "TIMESTAMP WITH TIME ZONE":
		return "TIMESTAMPTZ"
	}
	name, _, _ := strings.Cut(full, "(")
	return name
}

const selectConstraints = `
SELECT schema_name, table_name, constraint_type, array_to_string(constraint_column_names, chr(31)), coalesce(referenced_table, ''), coalesce(array_to_string(referenced_column_names, chr(31)), '')
FROM duckdb_constraints() WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
ORDER BY schema_name, table_name, constraint_index`

// constraint adds a key, a unique constraint or a foreign key to its class. In DuckDB, foreign keys reference only
// tables of the same schema.
func (r *reader) constraint(x []string) {
	f := r.byName[[2]string{x[0], x[1]}]
	if f == nil {
		return
	}
	columns := strings.Split(x[3], "\x1f")
	switch x[2] {
	case "PRIMARY KEY":
		f.Primary = columns
		f.Index("primary", columns, true, false)
	case "UNIQUE":
		f.Index("unique_"+strings.Join(columns, "_"), columns, true, false)
	case "FOREIGN KEY":
		if to := r.byName[[2]string{x[0], x[4]}]; to != nil {
			f.Links = append(f.Links, sqldriver.FoundLink{Fields: slices.Clone(columns), Targets: strings.Split(x[5], "\x1f"), To: to})
		}
	}
}
