package sqlite

import "testing"

// TestURI checks the URIs of files of both kinds of systems: a drive is not an authority.
func TestURI(t *testing.T) {
	for path, want := range map[string]string{"/data/a b.db": "file:///data/a%20b.db?mode=ro", "C:/data/a?#.db": "file:///C:/data/a%3F%23.db?mode=ro"} {
		if got := uri(path, "mode=ro"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
