package prose

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The most words of the docs that people write, of a decision record and of the changelog. The others are the most
// records, and terms in the glossary.
const maxDocs, maxRecord, maxChangelog, maxRecords, maxTerms = 45_000, 400, 700, 40, 60

// TestCounts checks how many words the docs have. Words are counted as markdown says. The docs are all that is checked
// but the decisions and the changelog.
func TestCounts(t *testing.T) {
	t.Chdir("../..")
	docs, records := 0, 0
	err := files(".", func(path string, src []byte) error {
		folder, name := filepath.Split(path)
		switch {
		case path == "CHANGELOG.md":
			_, n := markdown(src)
			atMost(t, path, n, maxChangelog, "words")
		case folder == "docs/decisions/" && name != "README.md":
			records++
			_, n := markdown(src)
			atMost(t, path, n, maxRecord, "words")
		case folder == "docs/decisions/":
		case strings.HasPrefix(path, "docs/") && strings.HasSuffix(path, ".md"), slices.Contains(outside, path):
			_, n := markdown(src)
			docs += n
		}
		if path == "docs/glossary.md" {
			atMost(t, path, terms(src), maxTerms, "terms")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if docs == 0 || records == 0 {
		t.Fatalf("%d words of docs, %d records", docs, records)
	}
	t.Logf("%d words of docs, %d decision records", docs, records)
	atMost(t, "docs", docs, maxDocs, "words")
	atMost(t, "docs/decisions", records, maxRecords, "records")
}

func atMost(t *testing.T, what string, n, most int, unit string) {
	t.Helper()
	if n > most {
		t.Errorf("%s: %d %s, at most %d. Shorten it, or join it with another", what, n, unit, most)
	}
}

// terms counts the rows of the tables of a page, without their heads.
func terms(src []byte) int {
	n := 0
	for line := range strings.Lines(string(src)) {
		if strings.HasPrefix(line, "|") {
			n++
		}
		if strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| ---") {
			n -= 2
		}
	}
	return n
}
