package largeapis

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/classify"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/visible"
)

// TestTasks checks how many tasks find their operation in large documents, in the API's words and in those of users.
func TestTasks(t *testing.T) {
	indexes := map[string]*search.Index{}
	read := map[string]*spec.Document{}
	for _, file := range documents(t) {
		name := map[string]string{"api.github.com.json": "github", "stripe.json": "stripe"}[filepath.Base(file)]
		if name == "" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := spec.Load(b)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := classify.New(d, classify.Options{})
		if err != nil {
			t.Fatal(err)
		}
		read[name], indexes[name] = d, search.New(visible.New(d, rules, visible.Filter{}), search.Options{})
	}
	b, err := os.ReadFile("testdata/tasks.txt")
	if err != nil {
		t.Fatal(err)
	}
	tasks, first, five, ten := 0, 0, 0, 0
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if len(f) != 4 || indexes[f[0]] == nil {
			continue
		}
		op := read[f[0]].Called(f[1])
		if op == nil {
			t.Fatalf("%s has no %s", f[0], f[1])
		}
		tasks++
		rank := func(text string) int {
			r, err := indexes[f[0]].Search(search.Query{Text: text, Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			for i, found := range r.Operations {
				if found == op {
					return i + 1
				}
			}
			return 11
		}
		switch n := rank(f[2]); {
		case n == 1:
			first, five = first+1, five+1
		case n <= 5:
			five++
		default:
			t.Logf("%q finds %s at %d", f[2], f[1], n)
		}
		if rank(f[3]) <= 10 {
			ten++
		}
	}
	t.Logf("%d tasks: the API's words find %d first and %d among five; users' words find %d among ten", tasks, first, five, ten)
	if tasks == 0 || first*100 < tasks*85 || five*100 < tasks*97 || ten*100 < tasks*50 {
		t.Error("fewer than before")
	}
}
