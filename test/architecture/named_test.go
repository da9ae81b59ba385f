package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNamedTests checks that the tests which docs/internals names are there: the pages say which test holds what, and would otherwise
// be right only until a test is renamed.
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
