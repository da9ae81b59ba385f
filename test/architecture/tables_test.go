package architecture

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPackageTables checks that the tables of docs/architecture.md name each folder of internal/, and no other.
func TestPackageTables(t *testing.T) {
	t.Chdir("../..")
	_, rest, _ := strings.Cut(read(t, "docs/architecture.md"), "## Internal packages")
	tables, _, found := strings.Cut(rest, "## How it stays safe")
	if !found {
		t.Fatal("docs/architecture.md has no section of internal packages")
	}
	var named, there []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(tables, -1) {
		named = append(named, m[1])
	}
	folders, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		there = append(there, f.Name())
		if !slices.Contains(named, f.Name()) {
			t.Errorf("docs/architecture.md says nothing about internal/%s: give it a line", f.Name())
		}
	}
	for _, name := range named {
		if !slices.Contains(there, name) {
			t.Errorf("docs/architecture.md has a line for internal/%s, which is gone", name)
		}
	}
}
