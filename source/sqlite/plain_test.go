package sqlite

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlain checks that logs contain the kind of a database error. They contain the message only if it can't contain
// a value.
func TestPlain(t *testing.T) {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	_, violated := db.ExecContext(t.Context(), `CREATE TABLE a(b TEXT CHECK (b <> 'swordfish')); INSERT INTO a VALUES ('swordfish')`)
	if violated == nil || !strings.Contains(violated.Error(), "swordfish") {
		t.Fatal("no error of SQLite with a value in it: ", violated)
	}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{violated, "SQLite error 275: Abort due to constraint violation (SQLITE_CONSTRAINT)"},
		{errors.New("swordfish"), ""},
	} {
		if got := plain(tt.err); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
