package sqlite_test

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// digests returns the digest of each file below a folder, by path.
func digests(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") { // the shared memory of processes that have the file open
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = sha256.Sum256(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestExamine examines unused stores, a store that a process uses, and older, newer and foreign files. No file may
// change.
func TestExamine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "b.db")
	if _, err := sqlite.Examine(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("no file:", err)
	}
	s := openFile(t, path)
	row := health.ReplicaRow{ID: "1", Name: "a process 7", Rules: "r1", Key: "k1", Program: "v1"}
	if _, err := s.Beat(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	look := func(name string) *sqlite.Examination {
		t.Helper()
		before := digests(t, dir)
		e, err := sqlite.Examine(t.Context(), path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if after := digests(t, dir); !cmp.Equal(before, after) {
			t.Errorf("%s: files have changed", name)
		}
		return e
	}
	for _, name := range []string{"in use", "not in use"} {
		e := look(name)
		if e.Version != e.Newest || e.Version == 0 || e.Unwritable != nil || !e.Private || !cmp.Equal(e.Replicas, []health.ReplicaRow{row}) || (e.Journal != "") != (name == "in use") {
			t.Errorf("%s: %+v", name, e)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	raw(t, path, `DROP TABLE replica; DELETE FROM migration`)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if e := look("older"); e.Version != 0 || e.Replicas != nil || e.Private {
		t.Errorf("older: %+v", e)
	}
	raw(t, path, `INSERT INTO migration VALUES (9999, 0)`)
	if e := look("newer"); e.Version != 9999 {
		t.Errorf("newer: %+v", e)
	}
	if err := os.WriteFile(path, []byte("this is no database, and long enough that SQLite reads it as a header of one"+strings.Repeat(" ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Examine(t.Context(), path); err == nil || !strings.Contains(err.Error(), "the file is no SQLite database") {
		t.Error("no database:", err)
	}
}
