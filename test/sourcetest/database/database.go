// Package database is the test suite for sources in SQL databases, on the real server. It runs the queries of package
// sourcetest and the packages below it, and tests that apply only to databases.
//
// The test of an adapter creates a Database and calls one of its methods in each test. Only tests import this
// package.
package database

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/ending"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/large"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/masks"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Source contains the methods of every database adapter.
type Source interface {
	source.Source
	source.Explainer
	io.Closer
}

// A Database is a kind of database with its adapter.
type Database struct {
	Kind       sourcetest.Kind
	Dialect    sqlgen.Dialect
	Tables     sourcetest.Limits // the abilities of tables that it doesn't support
	Pipelines  pipelines.Limits  // the abilities of pipelines that it doesn't support
	Statements statements.Limits // the parts of SQL that it doesn't support
	Every      int               // as Every of writing.Target
	// Fresh returns the path or URL of an empty database. The database is deleted after the test.
	Fresh func(testing.TB) string
	// Driver returns the driver of database/sql and the data source name, for connections other than the source's.
	Driver func(at string) (driver, dsn string)
	// Unchecked is a statement that disables foreign keys for a connection. It is "" if the scripts of datasets do
	// that.
	Unchecked string
	// Related returns a source with the relations of a dataset, for a database that can't declare relations. It is
	// nil for other databases.
	Related func(Source, sourcetest.Dataset) Source
	// Open opens the database as a source. Writable opens it for reading and writing.
	Open     func(ctx context.Context, name, at string) (Source, error)
	Writable func(ctx context.Context, at string) (writing.Writable, error)
}

// Outside opens the database on another connection and runs statements there.
func (d *Database) Outside(t testing.TB, at string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open(d.Driver(at))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	return db
}

// OpenWith runs statements in a new database and opens it as the source app.
func (d *Database) OpenWith(t testing.TB, statements ...string) Source {
	t.Helper()
	at := d.Fresh(t)
	d.Outside(t, at, statements...).Close()
	return d.openSource(t, "app", at)
}

func (d *Database) openSource(t testing.TB, name, at string) Source {
	t.Helper()
	s, err := d.Open(t.Context(), name, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Load is the sourcetest.Open of the database.
func (d *Database) Load(t *testing.T, data sourcetest.Dataset) source.Source {
	t.Helper()
	at := d.Fresh(t)
	outside := d.Outside(t, at)
	outside.SetMaxOpenConns(1)
	if d.Unchecked != "" {
		if _, err := outside.Exec(d.Unchecked); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := outside.Begin() // one transaction, because SQLite waits for the disk at the end of each
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range data.Script(t, d.Kind) {
		if _, err := tx.Exec(s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	outside.Close()
	s := d.openSource(t, "suite", at)
	if d.Related != nil {
		s = d.Related(s, data)
	}
	return s
}

func oracle(classes []schema.Class, rows map[string][]value.Row) source.Source {
	return memory.New(classes, rows)
}

// show returns the SQL text that is run for a permit.
func (d *Database) show(p policy.Permit) string {
	st, err := sqlgen.SQL(p, d.Dialect)
	return fmt.Sprintf("%s\n%v %v", st.Text, st.Args, err)
}

func (d *Database) target() pipelines.Target {
	return pipelines.Target{Open: d.Load, Tables: d.Tables, Limits: d.Pipelines, Oracle: oracle, Show: d.show}
}

// The following suites apply to all sources.

// TestQueries runs every query of package sourcetest.
func (d *Database) TestQueries(t *testing.T) { sourcetest.Run(t, d.Load, d.Tables) }

// TestEnding checks reads whose context ends.
func (d *Database) TestEnding(t *testing.T) { ending.Run(t, d.Load) }

// TestLarge reads large values.
func (d *Database) TestLarge(t *testing.T) {
	large.Run(t, d.Load)
	large.Lists(t, d.Load)
}

// TestMasks reads masked fields.
func (d *Database) TestMasks(t *testing.T) { masks.Run(t, d.Load, d.Tables) }

// TestDifferential compares random queries with the oracle.
func (d *Database) TestDifferential(t *testing.T) {
	sourcetest.Differential(t, d.Load, d.Tables, oracle, d.show)
}

// TestPipelines runs every pipeline of package pipelines.
func (d *Database) TestPipelines(t *testing.T) { pipelines.Run(t, d.target()) }

// TestPipelinesDifferential compares random pipelines with the oracle.
func (d *Database) TestPipelinesDifferential(t *testing.T) { pipelines.Differential(t, d.target()) }

// TestStatements runs every statement of the corpus.
func (d *Database) TestStatements(t *testing.T) { statements.Run(t, d.Load, d.Statements) }

// TestStatementsDifferential compares random statements with the oracle. If raw isn't nil, it also compares them with
// the results of running their text with raw.
func (d *Database) TestStatementsDifferential(t *testing.T, raw func(text string) ([]string, error)) {
	statements.Differential(t, statements.Target{Open: d.Load, Oracle: oracle, Raw: raw})
}
