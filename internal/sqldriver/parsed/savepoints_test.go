package parsed

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSavepoints checks that the pages of a savepoint are in memory up to the bound, and in a file beyond it. So a
// transaction takes no more memory.
func TestSavepoints(t *testing.T) {
	if !roomy {
		t.Fatal("SQLite refused the bound: something opened a connection before the program started")
	}
	if runtime.GOOS != "linux" {
		return // the rest needs Linux's list of the process's open files
	}
	db := sql.OpenDB(connections("file:" + filepath.Join(t.TempDir(), "a.db") + "?_pragma=journal_mode(WAL)&_txlock=immediate"))
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(`CREATE TABLE t (n INTEGER PRIMARY KEY, x TEXT); INSERT INTO t
		WITH RECURSIVE r (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 400) SELECT k, hex(zeroblob(1500)) FROM r`); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		pages int // the minimum
		file  bool
	}{{24, false}, {300, true}} {
		tx, err := db.BeginTx(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, ask := range []string{`SAVEPOINT part`, fmt.Sprintf(`UPDATE t SET x = 'b' || substr(x, 2) WHERE n <= %d`, tt.pages)} {
			if _, err := tx.Exec(ask); err != nil {
				t.Fatal(err)
			}
		}
		if got := temporary(t); got != tt.file {
			t.Errorf("%d pages in a savepoint: a file is %t, not %t", tt.pages, got, tt.file)
		}
		var altered int
		if _, err := tx.Exec(`ROLLBACK TO part`); err != nil {
			t.Fatal(err)
		}
		if err := tx.QueryRow(`SELECT count(*) FROM t WHERE x LIKE 'b%'`).Scan(&altered); err != nil || altered != 0 {
			t.Errorf("%d pages in a savepoint: %d are altered after it was rolled back (%v)", tt.pages, altered, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// temporary reports whether this process has a temporary file of SQLite open.
func temporary(t *testing.T) bool {
	t.Helper()
	const folder = "/proc/self/fd"
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if name, err := os.Readlink(filepath.Join(folder, one.Name())); err == nil && strings.Contains(name, "etilqs_") {
			return true
		}
	}
	return false
}
