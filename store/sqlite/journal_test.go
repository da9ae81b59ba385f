package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestJournal checks that a record is moved to the tables automatically, also with SyncEvery. A store that wasn't
// closed must contain it. A program without the journal must not be able to append.
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
	other := openFile(t, path) // s is still open, like a process that was killed
	defer other.Close()
	if report, err := audit.Verify(t.Context(), other); err != nil || !report.Whole() || report.Records != 3 {
		t.Errorf("%+v, %v; want 3 records", report, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestJournalLost checks that a journal that is missing after an unclean end is reported as lost. After any other
// end, nothing may be reported.
func TestJournalLost(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.db")
	losses := func(s *sqlite.Store) []audit.Damage {
		t.Helper()
		lost, err := s.Losses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return lost
	}
	// copied opens a copy of the store in the state that a killed process leaves, with or without its journal.
	copied := func(name string, journal bool) *sqlite.Store {
		t.Helper()
		to := filepath.Join(dir, name)
		for _, end := range []string{"", "-wal"} {
			data, err := os.ReadFile(path + end)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to+end, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if journal {
			if err := os.CopyFS(to+"-audit", os.DirFS(path+"-audit")); err != nil {
				t.Fatal(err)
			}
		}
		s := openFile(t, to)
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := openFile(t, path)
	appended := 0
	appends := func(s *sqlite.Store) {
		t.Helper()
		r := record(appended)
		if err := s.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		appended++
	}
	appends(s)
	if _, err := s.Head(t.Context()); err != nil { // folds the journal
		t.Fatal(err)
	}
	appends(s)
	if lost := losses(copied("with.db", true)); lost != nil {
		t.Errorf("the journal is there, and %v", lost)
	}
	gone := copied("without.db", false)
	lost := losses(gone)
	if len(lost) != 1 || lost[0].Kind != audit.Lost || lost[0].Seq < 2 || lost[0].Seq > 3 {
		t.Errorf("the journal is gone, and %v", lost)
	}
	appends(gone)
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	if again := losses(openFile(t, filepath.Join(dir, "without.db"))); len(again) != 1 || again[0] != lost[0] {
		t.Errorf("after a clean end: %v; want %v", again, lost)
	}
	backup := filepath.Join(dir, "backup.db")
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	if lost := losses(openFile(t, backup)); lost != nil {
		t.Errorf("a backup has no journal, and %v", lost)
	}
	// If the write-ahead log is removed after a process was killed, the data that was committed to it is lost.
	if _, err := s.Head(t.Context()); err != nil { // folds the journal
		t.Fatal(err)
	}
	back := filepath.Join(dir, "back.db")
	if err := sqlite.Copy(path, back); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(back + "-wal"); err != nil {
		t.Fatal(err)
	}
	if other, err := sqlite.Open(t.Context(), back); err == nil || !strings.Contains(err.Error(), "Its -wal file was removed") {
		t.Errorf("without its -wal file: %v, %v", other, err)
	}
	if err := os.RemoveAll(back + "-audit"); err != nil {
		t.Fatal(err)
	}
	if s := openFile(t, back); losses(s) == nil {
		t.Error("the folder was moved away, and no loss is known")
	}
	// The folder of another store, whose records have the same numbers as records of this store.
	foreign := filepath.Join(dir, "foreign.db")
	o := openFile(t, foreign)
	appends(o)
	mixed := filepath.Join(dir, "mixed.db")
	if err := sqlite.Copy(path, mixed); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(mixed + "-audit"); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(mixed+"-audit", os.DirFS(foreign+"-audit")); err != nil {
		t.Fatal(err)
	}
	if other, err := sqlite.Open(t.Context(), mixed); err == nil || !strings.Contains(err.Error(), "lacks records") {
		t.Errorf("with the folder of another store: %v, %v", other, err)
	}
	// Another process closes the folder that this process has open.
	other := openFile(t, path)
	appends(other)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	appends(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if lost := losses(openFile(t, path)); lost != nil {
		t.Errorf("all were closed, and %v", lost)
	}
	// The folder is removed while a process uses it.
	s = openFile(t, path)
	if err := os.RemoveAll(path + "-audit"); err != nil {
		t.Fatal(err)
	}
	appends(s)
	if lost := losses(s); len(lost) != 1 {
		t.Errorf("the folder was removed, and %v", lost)
	}
}
