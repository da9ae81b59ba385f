package sourcetest

// A Kind is a kind of SQL database.
type Kind uint8

// The values of Kind.
const (
	SQLite Kind = iota
	PostgreSQL
	MySQL // tested with MariaDB
	DuckDB
)
