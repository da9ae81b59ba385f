package search

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

func load(t testing.TB, file string) *spec.Document {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func everything(t testing.TB, d *spec.Document) *spec.View {
	t.Helper()
	rules, err := spec.NewClassifier(d, spec.ClassOptions{RPCNames: true})
	if err != nil {
		t.Fatal(err)
	}
	return spec.NewView(d, rules, spec.Filter{})
}

// A task is a search task with the expected operation.
type task struct{ id, api, user string }

// gold reads the tasks of a document.
func gold(t testing.TB, name string) []task {
	t.Helper()
	b, err := os.ReadFile("../testdata/gold.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []task
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if len(f) == 4 && f[0] == name {
			out = append(out, task{f[1], f[2], f[3]})
		}
	}
	return out
}

// ranks returns the rank of each task's operation in the results, or 0 if it is not in the first ten.
func ranks(t testing.TB, ix *Index, tasks []task, words func(task) string) []int {
	t.Helper()
	out := make([]int, len(tasks))
	for i, task := range tasks {
		r, err := ix.Search(Query{Text: words(task), Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		for n, op := range r.Operations {
			if op.ID == task.id {
				out[i] = n + 1
			}
		}
		if ix.v.Operations()[0] != nil && (out[i] == 0 || out[i] > 5) {
			var got []string
			for _, op := range r.Operations[:min(3, len(r.Operations))] {
				got = append(got, op.ID)
			}
			t.Logf("%q finds %s at %d: %s", words(task), task.id, out[i], strings.Join(got, ", "))
		}
	}
	return out
}

func recall(all []int, k int) float64 {
	n := 0
	for _, r := range all {
		if r > 0 && r <= k {
			n++
		}
	}
	return float64(n) / float64(len(all))
}

// TestRecall checks the recall of searches without synonyms.
func TestRecall(t *testing.T) {
	var api, user []int
	for _, name := range []string{"trackline.json", "fleet.yaml"} {
		d := load(t, filepath.Join("../testdata", name))
		ix := New(everything(t, d), Options{})
		tasks := gold(t, strings.TrimSuffix(name, filepath.Ext(name)))
		for _, task := range tasks {
			if d.Operation(task.id) == nil {
				t.Fatalf("%s has no operation %s", name, task.id)
			}
		}
		api = append(api, ranks(t, ix, tasks, func(t task) string { return t.api })...)
		user = append(user, ranks(t, ix, tasks, func(t task) string { return t.user })...)
	}
	if len(api) < 60 {
		t.Fatalf("only %d tasks", len(api))
	}
	for _, tt := range []struct {
		words string
		ranks []int
		k     int
		want  float64
	}{
		{"API", api, 1, .90}, {"API", api, 5, .98}, {"API", api, 10, .98},
		{"user's", user, 1, 0}, {"user's", user, 5, 0}, {"user's", user, 10, .80},
	} {
		got := recall(tt.ranks, tt.k)
		t.Logf("%s words, recall@%d: %.2f", tt.words, tt.k, got)
		if got < tt.want {
			t.Errorf("%s words, recall@%d is %.2f, want %.2f", tt.words, tt.k, got, tt.want)
		}
	}
}

// TestThesaurus checks that the thesaurus is large and that its groups consist of words. It also checks that a word
// finds names that contain another word of its group.
func TestThesaurus(t *testing.T) {
	groups := 0
	for line := range strings.Lines(thesaurusText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		groups++
		for entry := range strings.SplitSeq(line, ",") {
			if n := len(split(entry)); n == 0 || n > longest {
				t.Errorf("%q has %d words", line, n)
			}
		}
	}
	if groups < 300 {
		t.Errorf("%d groups", groups)
	}
	for word, want := range map[string]string{"kick": "remov", "money back": "refund", "ticket": "issu"} {
		if all := general()[strings.Join(stemmer{}.whole(word), " ")]; !slices.Contains(all, want) {
			t.Errorf("%s: %q", word, all)
		}
	}
}
