package sqlite

import "github.com/bailiwick-dev/bailiwick/internal/sqlgen"

// Writes implements sqlgen.Dialect.
func (dialect) Writes() sqlgen.Writes {
	return sqlgen.Writes{
		EmptyInsert:    " DEFAULT VALUES",
		MarkerColumns:  " (change_id TEXT PRIMARY KEY, digest TEXT NOT NULL, fence INTEGER NOT NULL, receipt TEXT, applied_at TEXT)",
		MarkerConflict: "ON CONFLICT (change_id) DO NOTHING",
		Now:            "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
		Types: map[string]string{
			"string": "TEXT", "integer": "INT", "double": "REAL", "decimal": "NUMERIC", "boolean": "BOOLEAN",
			"date": "DATETIME", "day": "DATE", "uuid": "UUID", "bytes": "BLOB", "json": "JSON",
		},
		KeyTypes:    map[string]string{"string": "TEXT", "integer": "INT", "uuid": "UUID"},
		Generated:   "INTEGER PRIMARY KEY AUTOINCREMENT",
		CreateTable: "CREATE TABLE ",
		Columns: func(place string) string {
			return "SELECT c.name FROM main.sqlite_schema AS s LEFT JOIN pragma_table_info(s.name, 'main') AS c WHERE lower(s.name) = lower(" + place + ") ORDER BY c.cid"
		},
	}
}
