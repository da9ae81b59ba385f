package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

// TestSharedFull applies changes that wait for each other until the file can't grow. Each must be complete or
// missing, and each reported one must exist. After the file can grow again, all changes must be applied exactly once.
func TestSharedFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	outside, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	for _, statement := range writing.Script(sourcetest.SQLite) {
		if _, err := outside.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	// Each change needs so much space that few fit.
	if _, err := outside.Exec(`CREATE TABLE ballast (x BLOB); CREATE TRIGGER hits_heavy AFTER INSERT ON hits BEGIN INSERT INTO ballast VALUES (zeroblob(3000)); END`); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	hits := writing.SQLHits(outside)
	last := 0
	for round := range 12 {
		from := last + 1
		limit := func(more int) {
			t.Helper()
			var pages, set int
			if err := w.db.QueryRow(`PRAGMA page_count`).Scan(&pages); err != nil {
				t.Fatal(err)
			}
			if err := w.db.QueryRow(fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+more)).Scan(&set); err != nil || set != pages+more {
				t.Fatal(set, err)
			}
		}
		limit(4 + 3*round)
		var said bytes.Buffer
		if err := (writing.Executor{From: from, Each: 2, Fence: 1, Beside: 8, To: from + 80}).Execute(w, &said); err == nil {
			t.Fatalf("80 changes fit into %d pages", 4+3*round)
		}
		last = hits.Whole(t, from, said.String())
		limit(10_000)
		said.Reset()
		if err := (writing.Executor{From: from, Each: 2, Fence: 2, Beside: 8, To: last}).Execute(w, &said); err != nil {
			t.Fatal(err)
		}
		if n := hits.Whole(t, from, said.String()); n < last {
			t.Fatalf("%d of %d changes were applied", n, last)
		} else {
			last = n
		}
	}
	var sound string
	if err := outside.QueryRow(`PRAGMA integrity_check`).Scan(&sound); err != nil || sound != "ok" {
		t.Error(sound, err)
	}
}
