package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestSQLiteFileGoesAndComes removes the file of an open source, and later puts another file in its place.
func TestSQLiteFileGoesAndComes(t *testing.T) {
	write := func(path, statement string) {
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "app.db")
	write(path, "CREATE TABLE before (id INTEGER PRIMARY KEY)")
	s, err := Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	describe := func() (name string, err error) {
		classes, _, err := s.Describe(t.Context())
		if err == nil && len(classes) == 1 {
			name = classes[0].Name
		}
		return name, err
	}
	if name, err := describe(); name != "before" || err != nil {
		t.Fatal(name, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if name, err := describe(); err == nil {
		t.Errorf("without a file there still is %q", name)
	}
	if err := s.Ping(t.Context()); problem.CodeOf(err) != problem.Upstream {
		t.Errorf("Ping without a file: %v", err)
	}
	write(path, "CREATE TABLE after (id INTEGER PRIMARY KEY)")
	if name, err := describe(); name != "after" || err != nil {
		t.Errorf("with another file: %q, %v", name, err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestHotJournal reads a file beside the journal of an unfinished transaction. SQLite reports the same error while a
// journal is being deleted, so a read tries again. Only the journal of a killed writer remains.
func TestHotJournal(t *testing.T) {
	dir := t.TempDir()
	path, journal := filepath.Join(dir, "app.db"), filepath.Join(dir, "app.db-journal")
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(delete)&_pragma=cache_size(1)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	run := func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, printf('%200d', i) FROM n`)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run("BEGIN")
	run("UPDATE t SET x = printf('%200d', -id)") // the change exceeds the cache, so the journal is written before the end
	hot, err := os.ReadFile(journal)
	if err != nil || len(hot) < 1000 || hot[0] == 0 {
		t.Fatalf("no journal that is hot: %d bytes, %v", len(hot), err)
	}
	run("ROLLBACK")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(path, before)
	s, err := Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	write(journal, hot)
	gone := time.AfterFunc(20*time.Millisecond, func() { os.Remove(journal) })
	defer gone.Stop()
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("a journal that goes: %v", err)
	}
	write(journal, hot)
	p := problem.Of(s.Ping(t.Context()))
	if p == nil || p.Code != problem.Upstream || !p.Lasting || strings.Contains(p.Detail, "takes no writes") {
		t.Errorf("a journal that stays: %+v", p)
	} else if p.Err == nil || !strings.Contains(p.Err.Error(), "open the file once with a program that may write to it") {
		t.Errorf("the operator reads: %v", p.Err)
	}
	if db, err = sql.Open("sqlite", path); err != nil {
		t.Fatal(err)
	}
	run("PRAGMA user_version = 1")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("after the journal was rolled back: %v", err)
	}
}
