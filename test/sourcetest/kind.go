package sourcetest

// A Kind is a kind of SQL database.
type Kind uint8

// The kinds.
const (
	SQLite Kind = iota
	PostgreSQL
	MySQL // MariaDB
	DuckDB
)
