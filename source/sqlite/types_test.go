package sqlite_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
)

// TestKeyTypes checks that records are found by the shown id, for every type that can be a key. In SQLite, a column
// can hold values of any type, regardless of its own type.
func TestKeyTypes(t *testing.T) {
	suite.TestKeyTypes(t, nil, []database.Key{
		{"INTEGER", "1", "-9223372036854775808", "9007199254740993"},
		{"INT", "1", "1.5", "'abc'"},
		{"BIGINT", "9007199254740993"},
		{"REAL", "1.5", "0.1", "1e300", "1e21", "1e-7", "3", "9e999", "-9e999", "'abc'"},
		{"DOUBLE PRECISION", "1.5", "2"},
		{"NUMERIC", "1.5", "3", "9007199254740993", "'abc'"},
		{"DECIMAL(10,2)", "1.50", "3", "0.1"},
		{"BOOLEAN", "1", "0", "2", "'yes'"},
		{"TEXT", "'a'", "'A'", "'042'", "'42'", "''", "'[1]'", "'é'"},
		{"TEXT COLLATE NOCASE", "'a'", "'B'"},
		{"VARCHAR(10)", "'a'", "'5'"},
		{"BLOB", "x'00ff'", "'text'", "5"},
		{"DATE", "'2026-01-31'", "'soon'", "''"},
		{"DATETIME", "'2026-01-31 10:00:00'", "'2026-02-01T10:00:00.123Z'", "'soon'", "1769853601"},
		{"TIMESTAMP", "1769853600", "1769853600123"},
		{"UUID", "'b0000000-0000-0000-0000-000000000000'", "'A0000000-0000-0000-0000-00000000000F'", "'not a uuid'"},
		{"JSON", `'{"a":1}'`, `'x'`},
		{"MONEY", "1.5", "'5 EUR'"},
		{"BIT", "1", "0", "2"},
		{"ENUM", "'a'", "'b'"},
		{"TIME", "'10:00'", "'9'"},
		{"YEAR", "2026"},
		{"", "5", "1.5", "'a'", "'042'"},
		{"ANY", "6", "'x'"},
	})
}
