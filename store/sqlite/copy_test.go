package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestCopy copies a store while it is open, with records in its journal, and after it was closed. The copy must have
// all records, and must report no lost journal.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.db")
	s := openFile(t, path)
	const records = 30
	for i := range records {
		r := record(i)
		if err := s.Append(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		if i == records/2 {
			if _, err := s.Head(t.Context()); err != nil { // folds the journal
				t.Fatal(err)
			}
		}
	}
	whole := func(name string) {
		t.Helper()
		to := filepath.Join(dir, name)
		if err := sqlite.Copy(path, to); err != nil {
			t.Fatal(err)
		}
		c := openFile(t, to)
		defer c.Close()
		n := 0
		if err := c.Records(t.Context(), 0, func(audit.Record) bool { n++; return true }); err != nil || n != records {
			t.Errorf("%s has %d records, %v", name, n, err)
		}
		if lost, err := c.Losses(t.Context()); err != nil || len(lost) > 0 {
			t.Errorf("%s: %v %v", name, lost, err)
		}
	}
	whole("open.db")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole("closed.db")
	if err := sqlite.Copy(filepath.Join(dir, "none.db"), filepath.Join(dir, "x.db")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := sqlite.Copy(dir, filepath.Join(dir, "x.db")); err == nil {
		t.Error("a folder was copied")
	}
}

// TestRestoreInUse checks that Restore doesn't replace a store that a process has open.
func TestRestoreInUse(t *testing.T) {
	dir := t.TempDir()
	path, backup := filepath.Join(dir, "b.db"), filepath.Join(dir, "backup.db")
	s := openFile(t, path)
	if err := s.Backup(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), backup, path); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("got %v", err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Error("it was replaced", err)
	}
	r := record(0)
	if err := s.Append(t.Context(), &r); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := sqlite.Restore(t.Context(), backup, path); err != nil || kept == "" {
		t.Error(kept, err)
	}
	if err := os.WriteFile(path, []byte("this is no database any more, and long enough to be looked at as one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Restore(t.Context(), backup, path); err != nil {
		t.Error("over a damaged file:", err)
	}
}
