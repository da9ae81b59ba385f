package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// TestPingRecovers checks that the next attempt of Ping notices that records can be appended again, even if no record
// is appended.
func TestPingRecovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bailiwick.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	due := func() error {
		s.probe.mu.Lock()
		s.probe.at = time.Time{}
		s.probe.mu.Unlock()
		return s.Ping(t.Context())
	}
	record := func(step string) error {
		return s.Append(t.Context(), &audit.Record{Time: time.Now(), Principal: "token:bot", Tool: "query", Outcome: audit.OK, Step: step})
	}
	refuse := func(statement string) {
		t.Helper()
		if _, err := s.write.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name         string
		breaks, mend func()
	}{
		{"file moved", func() { rename(path, path+".kept") }, func() { rename(path+".kept", path) }},
		{"records refused", func() { refuse(`CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no'); END`) }, func() { refuse(`DROP TRIGGER no`) }},
	} {
		if err := due(); err != nil {
			t.Fatalf("%s: before: %v", tt.name, err)
		}
		tt.breaks()
		if err := due(); err == nil {
			t.Errorf("%s: ready before a record is refused", tt.name)
		}
		if err := record(tt.name); err == nil {
			t.Errorf("%s: a record was appended", tt.name)
		}
		if err := due(); err == nil {
			t.Errorf("%s: ready", tt.name)
		}
		readers(t, s)
		tt.mend()
		if err := due(); err != nil {
			t.Errorf("%s: mended, and not ready: %v", tt.name, err)
		}
		if err := record(tt.name); err != nil {
			t.Errorf("%s: mended: %v", tt.name, err)
		}
		for _, err := range readers(t, s) {
			if err != nil {
				t.Errorf("%s: mended: a connection made meanwhile: %v", tt.name, err)
			}
		}
	}
}

// readers reads the store over all connections of its pool except the watcher's, and returns their errors.
func readers(t *testing.T, s *Store) (errs []error) {
	for range 7 {
		c, err := s.read.Conn(t.Context())
		if err == nil {
			defer c.Close()
			var n int
			err = c.QueryRowContext(t.Context(), `SELECT count(*) FROM token_version`).Scan(&n)
		}
		errs = append(errs, err)
	}
	return errs
}
