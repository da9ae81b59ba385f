package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// TestUpgrade opens a file with a second migration. The migration must keep the rows, and a copy of the old file.
// Afterwards the older program must reject the file.
func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	s := openFile(t, path)
	key, err := s.Secret(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, err := sqlite.OpenSteps(t.Context(), path, map[string]string{"00006_color.sql": "ALTER TABLE secret ADD COLUMN color TEXT NOT NULL DEFAULT 'red'"})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path + ".v5"); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("the file before the upgrade: %v, %v", info, err)
		}
		if got, err := s.Secret(t.Context(), "a"); err != nil || string(got) != string(key) {
			t.Errorf("%x, %v; want %x", got, err, key)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var color string
	if err := db.QueryRow(`SELECT color FROM secret`).Scan(&color); err != nil || color != "red" {
		t.Error(color, err)
	}
	s, err = sqlite.Open(t.Context(), path)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "a newer Bailiwick made it") {
		t.Error("a file with a migration that the program doesn't know:", err)
	}
}

// TestOlderChangesAreFound checks that opening a store makes the changes of an older program findable.
func TestOlderChangesAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	s := openFile(t, path)
	c := &change.Change{ID: "01k", State: change.Pending, Source: "tracker", Reason: "The customer insists", Classes: []string{"tracker.issues"}, Agent: change.Party{Principal: "token:a"},
		History: []change.Step{{State: change.Pending, Event: change.EventCreated}}}
	if _, err := s.Put(t.Context(), c, change.Filing{Life: time.Hour, Most: 9}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, as := range []string{`DELETE FROM change_word`, `UPDATE change SET search = 'a title' || char(31) || 'the customer insists' || char(31) || id`} {
		if _, err := db.Exec(as); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s = openFile(t, path)
	defer s.Close()
	found, _, err := s.List(t.Context(), change.Filter{Text: "insist"})
	if err != nil || len(found) != 1 {
		t.Error(found, err)
	}
}
