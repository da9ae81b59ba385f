// Package prose checks the words of the repository: sentences of the docs, of comments and of messages, and how many words
// the docs have.
//
// testdata/known.txt lists the hits that were there before the rules: a file, a rule and a count. Counts only shrink.
// "go test ./test/prose -update" writes smaller counts. It refuses to write larger ones, except for hits that move from one
// file to another. With -all the known hits are reported too.
package prose

import (
	"bufio"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write smaller counts into testdata/known.txt")
	all    = flag.Bool("all", false, "report known hits too")
)

const known = "test/prose/testdata/known.txt"

// A place is a file and a rule.
type place struct{ file, rule string }

// A hit is a sentence that breaks a rule.
type hit struct {
	line int
	text string
	fix  string
}

// outside are the Markdown files at the top that are checked beside docs.
var outside = []string{"README.md", "SECURITY.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"}

// TestProse compares the sentences that break a rule with the list of known ones.
func TestProse(t *testing.T) {
	t.Chdir("../..")
	hits, err := tree(".")
	if err != nil {
		t.Fatal(err)
	}
	have := map[place]int{}
	for at, found := range hits {
		have[at] = len(found)
	}
	want, err := read(known)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if grown := grown(want, have); grown != nil {
			t.Fatalf("-update only writes smaller counts. More hits than before:\n%s", strings.Join(grown, "\n"))
		}
		if err := os.WriteFile(known, list(have), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, at := range sorted(hits) {
		if have[at] > want[at] || *all {
			for _, h := range hits[at] {
				t.Errorf("%s:%d: %s: %s\n\t%s", at.file, h.line, at.rule, h.fix, h.text)
			}
			t.Logf("%s has %d hits of %s, %d are known", at.file, have[at], at.rule, want[at])
		}
	}
	for _, at := range sorted(want) {
		if have[at] < want[at] {
			t.Errorf("%s: %s: %d hits, and %s says %d. Run: go test ./test/prose -update", at.file, at.rule, have[at], known, want[at])
		}
	}
}

// tree returns the hits of all files below a folder.
func tree(root string) (map[place][]hit, error) {
	hits := map[place][]hit{}
	err := files(root, func(path string, src []byte) error {
		var passages []passage
		var err error
		switch {
		case strings.HasSuffix(path, ".go"):
			passages, err = code(path, src)
		case strings.HasPrefix(path, "docs/"), slices.Contains(outside, path):
			passages, _ = markdown(src)
		}
		for _, p := range passages {
			for _, s := range p.sentences() {
				for _, r := range broken(s) {
					at := place{path, r.name}
					hits[at] = append(hits[at], hit{s.line, s.text, r.fix})
				}
			}
		}
		return err
	})
	return hits, err
}

// files reads the Go and Markdown files below a folder.
func files(root string, visit func(path string, src []byte) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, name) || path != "." && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(name); ext != ".go" && ext != ".md" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(path), src)
	})
}

// grown lists the rules with more hits in all than before, and their files. Hits may move: a file gets another name.
func grown(before, now map[place]int) []string {
	sums := map[string]int{}
	for at, n := range before {
		sums[at.rule] -= n
	}
	for at, n := range now {
		sums[at.rule] += n
	}
	var out []string
	for _, at := range sorted(now) {
		if sums[at.rule] > 0 && now[at] > before[at] {
			out = append(out, fmt.Sprintf("%s: %s: %d, %d before", at.file, at.rule, now[at], before[at]))
		}
	}
	return out
}

// read returns the counts of a list.
func read(path string) (map[place]int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[place]int{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var at place
		var n int
		if _, err := fmt.Sscan(lines.Text(), &at.file, &at.rule, &n); err != nil {
			return nil, fmt.Errorf("%s: %q: want a file, a rule and a count", path, lines.Text())
		}
		out[at] = n
	}
	return out, lines.Err()
}

// list is the reverse of read.
func list(counts map[place]int) []byte {
	var b strings.Builder
	for _, at := range sorted(counts) {
		fmt.Fprintf(&b, "%s %s %d\n", at.file, at.rule, counts[at])
	}
	return []byte(b.String())
}

func sorted[T any](m map[place]T) []place {
	return slices.SortedFunc(maps.Keys(m), func(a, b place) int {
		return strings.Compare(a.file+" "+a.rule, b.file+" "+b.rule)
	})
}
