package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedTests checks that the tests which SECURITY.md and docs/internals name exist. The pages say which test holds
// what, and would otherwise be right only until a test is renamed.
func TestNamedTests(t *testing.T) {
	t.Chdir("../..")
	all := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			all[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/internals/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	pages = append(pages, "SECURITY.md")
	named := regexp.MustCompile("`(Test\\w+)(…?)")
	n := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			n++
			is := all[string(m[1])]
			for name := range all {
				is = is || len(m[2]) > 0 && strings.HasPrefix(name, string(m[1]))
			}
			if !is {
				t.Errorf("%s: there is no test %s%s", page, m[1], m[2])
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d tests are named", n)
	}
}

// TestPromises checks that each promise of SECURITY.md names a test that holds it.
func TestPromises(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| promise") {
			n++
			if !strings.Contains(line, "`Test") {
				t.Errorf("a promise without a test: %s", line)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d promises", n)
	}
}
