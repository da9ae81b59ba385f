package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// TestJournal checks that a record reaches the tables by itself, also with SyncEvery, that a store that wasn't closed has
// it, and that a program that knows no journal can't append.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	s := openFile(t, path)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := range 2 {
		s.SyncEvery(time.Duration(n) * time.Millisecond)
		r := record(n)
		if err := s.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		found := 0
		for late := time.Now().Add(time.Minute); found <= n; time.Sleep(10 * time.Millisecond) {
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM audit").Scan(&found); err != nil {
				t.Fatal(err)
			}
			if time.Now().After(late) {
				t.Fatal("the record does not reach the table")
			}
		}
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE audit_head SET seq = 9, hash = x'00'"); err == nil || !strings.Contains(err.Error(), "newer Bailiwick") {
		t.Error("an older program's append:", err)
	}
	r := record(2)
	if err := s.Append(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	other := openFile(t, path) // s is still open, as a process that was stopped
	defer other.Close()
	if report, err := audit.Verify(t.Context(), other); err != nil || !report.Whole() || report.Records != 3 {
		t.Errorf("%+v, %v; want 3 records", report, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
