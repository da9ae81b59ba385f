package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
)

// TestWide runs the suites over files whose texts are in UTF-16, which SQLite orders by their bytes.
func TestWide(t *testing.T) {
	for _, encoding := range []string{"UTF-16le", "UTF-16be"} {
		t.Run(encoding, func(t *testing.T) {
			d := suite
			d.Fresh = func(t testing.TB) string {
				at := filepath.Join(t.TempDir(), "app.db")
				db, err := sql.Open("sqlite", "file:"+at+"?_pragma=encoding('"+encoding+"')")
				if err != nil {
					t.Fatal(err)
				}
				defer db.Close()
				for _, s := range []string{"CREATE TABLE gone (id)", "DROP TABLE gone"} { // the first table determines the encoding
					if _, err := db.Exec(s); err != nil {
						t.Fatal(err)
					}
				}
				return at
			}
			t.Run("Queries", d.TestQueries)
			t.Run("Differential", d.TestDifferential)
			t.Run("Statements", d.TestStatements)
			t.Run("Pipelines", d.TestPipelines)
			if encoding == "UTF-16le" { // the encodings differ only in the order of the bytes
				t.Run("PipelinesDifferential", d.TestPipelinesDifferential)
				t.Run("StatementsDifferential", func(t *testing.T) { d.TestStatementsDifferential(t, nil) })
			}
		})
	}
}
