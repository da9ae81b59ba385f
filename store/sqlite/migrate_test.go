package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/store/storetest"
)

// shrinks makes the trigger of files without an archive.
const shrinks = `CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit records are never deleted'); END`

// TestOlderFile checks that a token in an older file keeps its permissions.
func TestOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	if err := openFile(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`DROP TRIGGER audit_never_shrinks`, `DROP TABLE audit_base`, shrinks,
		`DROP TABLE change`, `DROP TABLE change_class`, `DROP TABLE change_event`, `DROP TABLE delivery`, `DROP TABLE delivered`,
		`DROP TABLE used`, `DROP TABLE change_after`, `DROP TABLE audit_step`, `DROP TABLE outbox`, `DROP TABLE ticket`, `DROP TABLE connection`, `DROP TABLE journal`, `DROP TABLE replica`,
		`ALTER TABLE token DROP COLUMN actions`, `ALTER TABLE token DROP COLUMN more`, `DROP TRIGGER audit_head_moves`, `ALTER TABLE audit_head DROP COLUMN moves`,
		`DELETE FROM goose_db_version WHERE version_id >= 3`,
		`INSERT INTO token VALUES ('1', 'prefix', zeroblob(32), 'bot', 'agent', '', '', 'read', '{"only":["query_class"]}', '{}', 'null', '', 1, 2, NULL, NULL)`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := openFile(t, path)
		if info, err := os.Stat(path + ".v2"); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("the file before the upgrade: %v, %v", info, err)
		}
		got, err := s.TokenByPrefix(t.Context(), "prefix")
		if err != nil || got.Name != "bot" || got.Tools.Allows("other") || !got.Tools.Allows("query_class") || !got.Actions.Allows("archive") || got.Actions.Only != nil {
			t.Errorf("%+v, %v", got, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVersions checks the rows by which older programs, which used a library, know the version of a file.
func TestVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	for range 2 {
		if err := openFile(t, path).Close(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, first, last int
	if err := db.QueryRow(`SELECT count(*), min(version_id), max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&rows, &first, &last); err != nil {
		t.Fatal(err)
	}
	if first != 0 || last < 11 || rows != last+1 {
		t.Errorf("%d rows, %d to %d", rows, first, last)
	}
}

func TestOlderChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	storetest.Older(t, func() storetest.Store { return openFile(t, path) }, func() {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, text := range []string{`DELETE FROM change_class WHERE class LIKE '%' || char(31) || '%'`, `DELETE FROM goose_db_version WHERE version_id >= 15`,
			`ALTER TABLE change DROP COLUMN leased`,
			`DROP TRIGGER audit_never_shrinks`, `DROP TABLE audit_base`, `DROP INDEX audit_step_seq`, `DROP TABLE connection`, `DROP TABLE journal`, `DROP TABLE replica`, shrinks} {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
	})
}
