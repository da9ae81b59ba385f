package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
	"github.com/bailiwick-dev/bailiwick/test/storetest/chain"
	"github.com/bailiwick-dev/bailiwick/test/storetest/clocks"
	"github.com/bailiwick-dev/bailiwick/test/storetest/people"
	"github.com/bailiwick-dev/bailiwick/test/storetest/usage"
)

func open(t *testing.T, place string) storetest.Store {
	t.Helper()
	return openFile(t, filepath.Join(place, "bailiwick.db"))
}

func openFile(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) { storetest.Run(t, open) }

func TestPeople(t *testing.T) { people.Run(t, open) }

func TestUsage(t *testing.T) { usage.Run(t, open) }

func record(n int) audit.Record {
	return audit.Record{Time: time.UnixMicro(int64(n)), Principal: "token:t1", Owner: "ana@example.com", Tenant: "acme", TokenID: "t1",
		Correlation: fmt.Sprint("c", n), Tool: "query_class", Class: "tracker.issues", ArgKeys: []string{"class", "limit", "where"},
		ArgHash: strings.Repeat("ab", 32), Outcome: audit.OK, Policy: "9f86d081", Rows: n, Bytes: 1000, Tokens: 250, Micros: 1234}
}

func appendTo(t testing.TB, s *sqlite.Store, n int) {
	t.Helper()
	var wg sync.WaitGroup
	const writers = 64
	for w := range writers {
		wg.Go(func() {
			for i := w; i < n; i += writers {
				r := record(i)
				if err := s.Append(context.Background(), &r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestMemoryStore(t *testing.T) {
	a, b := openFile(t, sqlite.Memory), openFile(t, sqlite.Memory)
	defer a.Close()
	defer b.Close()
	appendTo(t, a, 100)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	a.Records(gone, 1, func(audit.Record) bool { return true }) // an interrupted reader must not lose the database in memory
	a.Secret(gone, "x")
	for s, want := range map[*sqlite.Store]int64{a: 100, b: 0} {
		if report, err := audit.Verify(t.Context(), s); err != nil || !report.Whole() || report.Records != want {
			t.Errorf("%+v, %v; want %d records", report, err, want)
		}
	}
	if _, err := os.Stat(sqlite.Memory); err == nil {
		t.Error("there is a file called :memory:")
	}
}

func TestFile(t *testing.T) {
	for _, name := range []string{"plain.db", "with space & % ? # é'\".db", "file:x.db", "no-ending"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			s := openFile(t, path)
			appendTo(t, s, 3)
			files, _ := os.ReadDir(dir)
			if len(files) != 4 {
				t.Errorf("files %v, want the database, -audit, -wal and -shm", files)
			}
			for _, f := range files {
				if info, err := f.Info(); err != nil || !strings.HasPrefix(f.Name(), name) || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s %v %v, want only its owner to read it", f.Name(), info.Mode(), err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if files, _ := os.ReadDir(dir); len(files) != 1 {
				t.Errorf("files %v after Close, want one", files)
			}
		})
	}
	t.Chdir(t.TempDir())
	s := openFile(t, "relative.db")
	defer s.Close()
	if _, err := os.Stat("relative.db"); err != nil {
		t.Error(err)
	}
}

// TestOpenLeavesOthers checks that Open doesn't change the file of another program, neither its content nor its mode.
func TestOpenLeavesOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	raw(t, path, `CREATE TABLE issues (id INTEGER PRIMARY KEY)`)
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	look := func() string {
		text, err := os.ReadFile(path)
		info, failed := os.Stat(path)
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		return info.Mode().String() + string(text)
	}
	before := look()
	if s, err := sqlite.Open(t.Context(), path); err == nil {
		s.Close()
		t.Fatal("it was taken for a store")
	}
	if look() != before {
		t.Error("the file was changed")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	openFile(t, newer).Close()
	raw(t, newer, `INSERT INTO migration VALUES (9999, 0)`)
	other := filepath.Join(dir, "other.db")
	raw(t, other, `CREATE TABLE issues (id INTEGER PRIMARY KEY)`)
	tests := []struct{ name, path, want string }{
		{"an application's database", other, "the file holds tables of another program"},
		{"no path", "", "no path"},
		{"no folder", filepath.Join(dir, "nowhere", "x.db"), "no such file or directory"},
		{"a folder", dir, "is a directory"},
		{"a device", os.DevNull, "not a regular file"},
		{"a text", text, "no SQLite database"},
		{"one of a newer version", newer, "a newer Bailiwick made it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := sqlite.Open(t.Context(), tt.path)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestOpenAtOnce opens a new file many times at the same time, like processes that start together.
func TestOpenAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "b.db")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s, err := sqlite.Open(context.Background(), path)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				r := record(1)
				if err := s.Append(context.Background(), &r); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// raw runs SQL on the file, like a database tool.
func raw(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

func TestTampering(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.db")
	s := openFile(t, path)
	defer s.Close()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	chain.CheckTampering(t, s, chain.Database{Byte: "x'00'", Off: "DROP TRIGGER audit_never_changes;DROP TRIGGER audit_never_shrinks;DROP TRIGGER audit_head_moves",
		Exec: func(text string) error { _, err := db.ExecContext(t.Context(), text); return err }})
}

func TestArchived(t *testing.T) {
	chain.CheckArchives(t, func(t *testing.T) chain.Case {
		path := filepath.Join(t.TempDir(), "b.db")
		s := openFile(t, path)
		t.Cleanup(func() { s.Close() })
		return chain.Case{Store: s, Database: chain.Database{Byte: "x'00'",
			Off: "DROP TRIGGER audit_never_changes;DROP TRIGGER audit_never_shrinks;DROP TRIGGER audit_base_moves;DROP TRIGGER audit_base_stays",
			Exec: func(text string) error {
				db, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=10000")
				if err == nil {
					_, err = db.ExecContext(t.Context(), text)
					err = errors.Join(err, db.Close())
				}
				return err
			}}}
	})
}

func TestClockJumps(t *testing.T) {
	clocks.Run(t, func(t *testing.T) clocks.Case {
		path := filepath.Join(t.TempDir(), "b.db")
		s := openFile(t, path)
		t.Cleanup(func() { s.Close() })
		return clocks.Case{Store: s, Jump: func(by time.Duration) error {
			raw(t, path, fmt.Sprintf("PRAGMA busy_timeout = 10000; UPDATE change SET expires = expires - %d, lease = lease - %[1]d, leased = leased - %[1]d; UPDATE replica SET seen = seen - %[1]d", by.Microseconds()))
			return nil
		}}
	})
}

func BenchmarkAppend(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "b.db"))
	defer s.Close()
	for b.Loop() {
		r := record(1)
		if err := s.Append(b.Context(), &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendParallel(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "b.db"))
	defer s.Close()
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r := record(1)
			if err := s.Append(b.Context(), &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkChanges(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "b.db"))
	defer s.Close()
	storetest.Benchmark(b, s)
}
