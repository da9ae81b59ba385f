//go:build duckdb

package endtoend

import (
	"context"
	"database/sql"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/duckdb"
)

// TestNonInterferenceDuckDB is run by scripts/duckdb, because this module doesn't require the module of the driver.
func TestNonInterferenceDuckDB(t *testing.T) {
	interfere(t, func(name string, twin bool) side { return duckdbSide(t, name, twin) })
}

// A reopened is a DuckDB source with the relations of the worlds. Nothing may write to the file while it is open.
// Each world is therefore written after the source is closed and before it is opened again.
type reopened struct {
	*duckdb.Source
	twin bool
}

// Describe implements source.Source. DuckDB's own foreign keys would refuse dangling pointers.
func (r *reopened) Describe(ctx context.Context) ([]schema.Class, []string, error) {
	classes, warnings, err := r.Source.Describe(ctx)
	for i := range classes {
		for _, t := range tables {
			if t.name == classes[i].Name {
				classes[i].Relations = t.relations(r.twin)
			}
		}
	}
	return classes, warnings, err
}

var foreignKeys = regexp.MustCompile(`, FOREIGN KEY \(\w+\) REFERENCES \w+ \(id\)| REFERENCES \w+ \(id\)`)

// reserved matches a column name that DuckDB accepts only in quotes.
var reserved = regexp.MustCompile(`, at( VARCHAR|,)`)

func duckdbSide(t *testing.T, name string, twin bool) side {
	path := filepath.Join(t.TempDir(), name+".duckdb")
	write := func(statements []string) error {
		db, err := sql.Open("duckdb", path)
		if err != nil {
			return err
		}
		defer db.Close()
		for _, s := range statements { // each in its own transaction, so that a key can be reused
			if _, err := db.ExecContext(t.Context(), reserved.ReplaceAllString(s, `, "at"$1`)); err != nil {
				return err
			}
		}
		return nil
	}
	words := foreignKeys.ReplaceAllString(ddl(map[string]string{"%json": "JSON", "%time": "TIMESTAMP", "%uuid": "UUID", "%double": "DOUBLE",
		"%inet": "VARCHAR", "%cidr": "VARCHAR", "%interval": "VARCHAR", "%clock": "VARCHAR", "%money": "DECIMAL(19, 2)", "%lexemes": "VARCHAR"}, twin), "")
	if err := write([]string{words}); err != nil {
		t.Fatal(err)
	}
	src := &reopened{twin: twin}
	open := func() (err error) {
		src.Source, err = duckdb.Open(t.Context(), duckdb.Options{Name: "app", Path: path})
		return err
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return side{twin: twin, source: src, fill: func(w world) error {
		if err := src.Close(); err != nil {
			return err
		}
		if err := write(w.load(twin)); err != nil {
			return err
		}
		return open()
	}}
}
