package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEmbeddingPage checks that the code in docs/embedding.md is code of the examples, which compile and run: each line
// of it, but for shortened ones, is a line of theirs.
func TestEmbeddingPage(t *testing.T) {
	t.Chdir("../..")
	known := map[string]bool{}
	line := func(s string) string {
		s, _, _ = strings.Cut(s, " // ")
		return strings.Join(strings.Fields(s), " ")
	}
	for _, pattern := range []string{"example*_test.go", "examples/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for l := range strings.Lines(string(text)) {
				known[line(l)] = true
			}
		}
	}
	page, err := os.ReadFile("docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, block := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for l := range strings.Lines(block[1]) {
			if l = line(l); l == "" || strings.Contains(l, "…") {
				continue
			}
			if checked++; !known[l] {
				t.Errorf("no example has the line %s", l)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d lines of code", checked)
	}
}
