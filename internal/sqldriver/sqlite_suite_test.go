package sqldriver_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sourcetest"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/large"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/masks"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/value"
)

// sqliteLimits are what SQLite can't do.
var sqliteLimits = sourcetest.Limits{
	sourcetest.NaN:           "it stores a NaN as null",
	sourcetest.ExactDecimals: "its numbers are 64-bit integers and doubles",
	sourcetest.AnyKey:        "its JSON paths have no escapes",
	sourcetest.Microseconds:  "its date functions count milliseconds",
	sourcetest.Lists:         "it keeps them as JSON",
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
	for _, statement := range d.Script(t, sqlgen.SQLite) {
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
	s, err := sqldriver.OpenSQLite(t.Context(), "suite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func oracle(classes []schema.Class, rows map[string][]value.Row) source.Source {
	return memory.New(classes, rows)
}

// statement returns the text that is run for a permit.
func statement(p policy.Permit, d sqlgen.Dialect) string {
	st, err := sqlgen.SQL(p, d)
	return fmt.Sprintf("%s\n%v %v", st.Text, st.Args, err)
}

func TestSQLiteSuite(t *testing.T) {
	sourcetest.Run(t, openSQLiteSuite, sqliteLimits)
}

func TestSQLiteLarge(t *testing.T) { large.Run(t, openSQLiteSuite) }

func TestSQLiteMasks(t *testing.T) { masks.Run(t, openSQLiteSuite, sqliteLimits) }

func TestSQLiteDifferential(t *testing.T) {
	sourcetest.Differential(t, openSQLiteSuite, sqliteLimits, oracle, func(p policy.Permit) string { return statement(p, sqlgen.SQLite) })
}

// sqlitePipelineLimits are the parts of pipelines that SQLite can't do.
var sqlitePipelineLimits = pipelines.Limits{
	pipelines.Decimals: "its numbers are 64-bit integers and doubles",
	pipelines.Digits:   "its numbers are 64-bit integers and doubles",
}

func sqliteTarget() pipelines.Target {
	return pipelines.Target{Open: openSQLiteSuite, Tables: sqliteLimits, Limits: sqlitePipelineLimits, Oracle: oracle,
		Show: func(p policy.Permit) string { return statement(p, sqlgen.SQLite) }}
}

func TestSQLitePipelines(t *testing.T) {
	pipelines.Run(t, sqliteTarget())
}

func TestSQLitePipelinesDifferential(t *testing.T) {
	pipelines.Differential(t, sqliteTarget())
}
