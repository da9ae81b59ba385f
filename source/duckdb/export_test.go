package duckdb

import "github.com/bailiwick-dev/bailiwick/internal/sqlgen"

// Dialect returns the dialect for DuckDB.
func Dialect() sqlgen.Dialect { return dialect{} }
