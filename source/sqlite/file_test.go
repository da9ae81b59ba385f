package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestSQLiteFileGoesAndComes removes the file under an open source, and puts another one in its place.
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
