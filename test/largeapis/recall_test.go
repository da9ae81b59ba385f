package largeapis

import (
	"os"
	"path/filepath"
	"slices"
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
		read[name], indexes[name] = indexed(t, file)
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

// TestHeldOut checks how many tasks find an operation in documents by which no weight was chosen, and how often the first one
// is wrong where a search says that nothing matches well. Vault's document is among those of BAILIWICK_APIS.
func TestHeldOut(t *testing.T) {
	b, err := os.ReadFile("testdata/heldout.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := fixtures(t)
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		files = append(files, documents(t)...)
	}
	var all heldOut
	for _, file := range files {
		name := map[string]string{"oai_v3_stoplight.json": "sendgrid", "vault.json": "vault"}[filepath.Base(file)]
		if name == "" {
			continue
		}
		d, ix := indexed(t, file)
		for line := range strings.Lines(string(b)) {
			if f := strings.Split(strings.TrimSpace(line), " | "); len(f) == 4 && f[0] == name {
				all.task(t, d, ix, f)
			}
		}
	}
	t.Logf("%d tasks: the API's words find %d first and %d among five; users' words find %d among ten; %d of %d weak matches are wrong", all.tasks, all.first, all.five, all.ten, all.wrong, all.weak)
	if all.tasks < 20 || all.first*100 < all.tasks*80 || all.five*100 < all.tasks*95 || all.ten*100 < all.tasks*40 {
		t.Error("fewer than before")
	}
}

// indexed returns the document in file, and its index.
func indexed(t *testing.T, file string) (*spec.Document, *search.Index) {
	t.Helper()
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
	return d, search.New(visible.New(d, rules, visible.Filter{}), search.Options{})
}

// heldOut counts what was found.
type heldOut struct{ tasks, first, five, ten, weak, wrong int }

// task searches for one task in both kinds of words.
func (h *heldOut) task(t *testing.T, d *spec.Document, ix *search.Index, f []string) {
	t.Helper()
	right := strings.Split(f[1], " ; ")
	for _, name := range right {
		if d.Called(name) == nil {
			t.Fatalf("%s has no %s", f[0], name)
		}
	}
	rank := func(text string) int {
		r, err := ix.Search(search.Query{Text: text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Operations, func(op *spec.Operation) bool { return slices.Contains(right, op.Name()) })
		if r.Weak {
			h.weak++
			if at != 0 {
				h.wrong++
			}
		}
		if at < 0 || at > 4 {
			var top []string
			for _, op := range r.Operations[:min(3, len(r.Operations))] {
				top = append(top, op.Name())
			}
			t.Logf("%q finds %s at %d: %s", text, right[0], at+1, strings.Join(top, ", "))
		}
		return at
	}
	h.tasks++
	switch n := rank(f[2]); {
	case n == 0:
		h.first, h.five = h.first+1, h.five+1
	case n > 0 && n < 5:
		h.five++
	}
	if rank(f[3]) >= 0 {
		h.ten++
	}
}
