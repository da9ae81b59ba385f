package store

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// A log is a store that records the statements that are run.
type log struct {
	version int
	fails   string // the statement that fails
	ran     []string
}

func (l *log) Version() (int, error) { return l.version, nil }

func (l *log) Run(statement string) error {
	if l.ran = append(l.ran, statement); statement == l.fails {
		return errors.New("no")
	}
	return nil
}

func (l *log) SetVersion(version int) error { l.version = version; return nil }

// TestApply migrates stores of several versions.
func TestApply(t *testing.T) {
	files := fstest.MapFS{"migrations/00001_a.sql": {Data: []byte("-- about\n\na1\n\n-- note\na2\n")}, "migrations/00002_b.sql": {Data: []byte("b1")}}
	for _, tt := range []struct {
		from    int
		fails   string
		ran     string
		reached int
		err     string
	}{
		{0, "", "a1|-- note\na2\n|b1", 2, ""},
		{1, "", "b1", 2, ""},
		{2, "", "", 2, ""},
		{3, "", "", 3, "a newer Bailiwick made it, or a build before 0.1.0. Use that one, or another store"},
		{0, "b1", "a1|-- note\na2\n|b1", 1, "migration 2: no"},
	} {
		l := &log{version: tt.from, fails: tt.fails}
		err := Migrate(files, l)
		if got := strings.Join(l.ran, "|"); got != tt.ran || l.version != tt.reached || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("from %d: ran %q to %d, %v", tt.from, got, l.version, err)
		}
	}
	if err := Migrate(fstest.MapFS{"migrations/00002_b.sql": {Data: []byte("b1")}}, &log{}); err == nil || err.Error() != "migrations/00002_b.sql: the number must be 1" {
		t.Error(err)
	}
}
