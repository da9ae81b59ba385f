package duckdb

import "github.com/bailiwick-dev/bailiwick/internal/sqlgen"

// Dialect returns how statements for DuckDB are written.
func Dialect() sqlgen.Dialect { return dialect{} }
