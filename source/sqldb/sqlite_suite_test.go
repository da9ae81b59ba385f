package sqldb_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/compile"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sourcetest"
	"github.com/bailiwick-dev/bailiwick/source/sqldb"
)

// sqliteLimits are what SQLite can't do.
var sqliteLimits = sourcetest.Limits{
	sourcetest.NaN:           "it stores a NaN as null",
	sourcetest.ExactDecimals: "its numbers are 64-bit integers and doubles",
	sourcetest.AnyKey:        "its JSON paths have no escapes",
	sourcetest.Microseconds:  "its date functions count milliseconds",
}

func openSQLiteSuite(t *testing.T, d sourcetest.Dataset) source.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suite.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range d.Script(t, compile.SQLite) {
		if _, err := tx.Exec(statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := sqldb.OpenSQLite(t.Context(), "suite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSQLiteSuite(t *testing.T) {
	sourcetest.Run(t, openSQLiteSuite, sqliteLimits)
}
