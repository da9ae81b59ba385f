package statements

import (
	"os"
	"strings"
	"testing"
)

// TestDocs checks that the corpus contains every statement of docs/sql.md, so that its examples are tested.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, s := range read(t, corpus) {
		known[s.text] = true
	}
	n, inside := 0, false
	for line := range strings.Lines(string(page)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```sql"
		case inside:
			if n++; !known[line] {
				t.Errorf("docs/sql.md has a statement that isn't in corpus.txt: %s", line)
			}
		}
	}
	if n < 40 {
		t.Errorf("docs/sql.md has %d statements, want 40", n)
	}
}
