package sqlite_test

import (
	"context"
	"database/sql"
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
	"github.com/bailiwick-dev/bailiwick/store/storetest"
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
	a.Records(gone, 1, func(audit.Record) bool { return true }) // an interrupted reader must not take the memory along
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
			if len(files) != 3 {
				t.Errorf("files %v, want the database, -wal and -shm", files)
			}
			for _, f := range files {
				if info, err := f.Info(); err != nil || !strings.HasPrefix(f.Name(), name) || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
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

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	openFile(t, newer).Close()
	raw(t, newer, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	tests := []struct{ name, path, want string }{
		{"no path", "", "no path"},
		{"no folder", filepath.Join(dir, "nowhere", "x.db"), "no such file or directory"},
		{"a folder", dir, "is a directory"},
		{"a device", os.DevNull, "no regular file"},
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

// TestOpenAtOnce opens a new file many times at once, as processes that start together do.
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

// raw runs SQL on the file, as someone with a database tool could.
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

const off = `DROP TRIGGER audit_never_changes; DROP TRIGGER audit_never_shrinks; `

// TestTampering edits the file behind the store's back.
func TestTampering(t *testing.T) {
	tests := []struct{ name, sql, want string }{
		{"nothing", ``, ""},
		{"a letter of the text", off + `UPDATE audit SET body = replace(body, 'ana@', 'bob@') WHERE seq = 5`, "altered 5-5"},
		{"white space in the text", off + `UPDATE audit SET body = replace(body, '"rows":', '"rows": ') WHERE seq = 5`, "altered 5-5"},
		{"no text", off + `UPDATE audit SET body = '' WHERE seq = 5`, "altered 5-5"},
		{"all texts", off + `UPDATE audit SET body = '{}'`, "altered 1-900"},
		{"the hash", off + `UPDATE audit SET hash = zeroblob(32) WHERE seq = 5`, "altered 5-5"},
		{"the hash cut", off + `UPDATE audit SET hash = substr(hash, 1, 31) WHERE seq = 5`, "altered 5-5"},
		{"the link", off + `UPDATE audit SET prev = zeroblob(32) WHERE seq = 5`, "altered 5-5"},
		{"one gone", off + `DELETE FROM audit WHERE seq = 5`, "missing 5-5"},
		{"a page gone", off + `DELETE FROM audit WHERE seq BETWEEN 200 AND 750`, "missing 200-750"},
		{"the tail gone", off + `DELETE FROM audit WHERE seq > 890`, "truncated 891-900"},
		{"all gone", off + `DELETE FROM audit`, "truncated 1-900"},
		{"swapped", off + `UPDATE audit SET seq = -1 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 9; UPDATE audit SET seq = 9 WHERE seq = -1`,
			"reordered 5-5 reordered 9-9"},
		{"one before the first", `INSERT INTO audit SELECT -7, prev, hash, body FROM audit WHERE seq = 5`, "inserted 1-1"},
		{"one behind the last", `INSERT INTO audit SELECT 901, prev, hash, body FROM audit WHERE seq = 5`, "inserted 901-901"},
		{"the head moved back", `UPDATE audit_head SET seq = 899`, "forked 1-899 inserted 900-900"},
		{"the head moved on", `UPDATE audit_head SET seq = 901`, "truncated 901-901"},
		{"the head's hash", `UPDATE audit_head SET hash = zeroblob(32)`, "forked 1-900"},
	}
	whole := filepath.Join(t.TempDir(), "whole.db")
	s := openFile(t, whole)
	appendTo(t, s, 900)
	s.Close()
	image, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "b.db")
			if err := os.WriteFile(path, image, 0o600); err != nil {
				t.Fatal(err)
			}
			raw(t, path, tt.sql)
			s := openFile(t, path)
			defer s.Close()
			report, err := audit.Verify(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range report.Damage {
				got = append(got, fmt.Sprintf("%s %d-%d", d.Kind, d.Seq, d.Last))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
	t.Run("the file's own guard", func(t *testing.T) {
		db, err := sql.Open("sqlite", "file:"+whole)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range []string{`DELETE FROM audit`, `UPDATE audit SET body = ''`} {
			if _, err := db.Exec(statement); err == nil {
				t.Error(statement, "went through")
			}
		}
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

// BenchmarkVerify needs -benchtime=1x; it makes 1,000,000 records first.
func BenchmarkVerify(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "b.db"))
	defer s.Close()
	const n = 1_000_000
	start := time.Now()
	appendTo(b, s, n)
	b.Logf("%d appended in %v", n, time.Since(start))
	for b.Loop() {
		report, err := audit.Verify(b.Context(), s)
		if err != nil || !report.Whole() || report.Records != n {
			b.Fatal(report, err)
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	s := openFile(b, filepath.Join(b.TempDir(), "b.db"))
	defer s.Close()
	storetest.Benchmark(b, s)
}
