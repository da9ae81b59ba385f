package sqlite

import "testing"

// TestURI checks the URIs of file paths on Unix and Windows. A drive must not become the authority.
func TestURI(t *testing.T) {
	for path, want := range map[string]string{"/data/a b.db": "file:///data/a%20b.db?mode=ro", "C:/data/a?#.db": "file:///C:/data/a%3F%23.db?mode=ro"} {
		if got := uri(path, "mode=ro"); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
