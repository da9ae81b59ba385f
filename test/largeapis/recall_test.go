package largeapis

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/scaffold"
	"github.com/bailiwick-dev/bailiwick/policy"
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
		op := read[f[0]].FindOperation(f[1])
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

// TestHeldOut checks how many tasks find an operation in documents by which no weight was chosen when the tasks were
// written. The tasks are in the words of the API, of users, and of a model that says in several ways what a user wants.
// It also checks how often the first operation is wrong where a search says that nothing matches well. It searches all
// operations, and those that the configuration of init leaves agents. The documents other than SendGrid's are among
// those of BAILIWICK_APIS.
func TestHeldOut(t *testing.T) {
	files := fixtures(t)
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		files = append(files, documents(t)...)
	}
	for _, tt := range []struct {
		tasks                             string
		first, five, ten, answer, phrased int // the least that are found, in a hundred
	}{
		{"heldout.txt", 78, 95, 40, 75, 0}, {"fresh.txt", 80, 98, 75, 85, 0}, {"fresh2.txt", 90, 95, 50, 70, 95}, {"fresh3.txt", 90, 98, 55, 80, 95}, {"fresh4.txt", 90, 98, 40, 65, 95},
	} {
		b, err := os.ReadFile(filepath.Join("testdata", tt.tasks))
		if err != nil {
			t.Fatal(err)
		}
		var all, left heldOut
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if name == "oai_v3_stoplight" {
				name = "sendgrid"
			}
			if !strings.Contains(string(b), "\n"+name+" | ") {
				continue
			}
			d, ix := indexed(t, file)
			reach := configured(t, d)
			everything := spec.NewView(d, rules(t, d), spec.Filter{})
			for line := range strings.Lines(string(b)) {
				f := strings.Split(strings.TrimSpace(line), " | ")
				if len(f) < 4 || f[0] != name {
					continue
				}
				all.task(t, everything, ix, f)
				if slices.ContainsFunc(strings.Split(f[1], " ; "), func(name string) bool { return reach.View.Has(d.FindOperation(name)) }) {
					left.task(t, reach.View, reach.Index(), f)
				}
			}
		}
		t.Logf("%s: %s", tt.tasks, all)
		t.Logf("%s, as init writes it: %s", tt.tasks, left)
		for _, h := range []heldOut{all, left} {
			if h.tasks > 0 && (h.first*100 < h.tasks*tt.first || h.five*100 < h.tasks*tt.five || h.ten*100 < h.tasks*tt.ten || h.answer*100 < h.tasks*tt.answer || h.phrased*100 < h.tasks*tt.phrased) {
				t.Errorf("%s: fewer than before", tt.tasks)
			}
		}
	}
}

// configured returns what an agent reaches of a document under the configuration that init writes.
func configured(t *testing.T, d *spec.Document) *calls.Reach {
	t.Helper()
	contents := config.Document{Document: d, Digest: "0"}
	draft, err := scaffold.OfAPI(scaffold.API{Name: "app", Document: "https://app.example/openapi.json", BaseURL: "https://app.example", Contents: contents})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("bailiwick.yaml", []byte(draft.Text), func(name string) (string, bool) {
		if strings.Contains(draft.Text, "${"+name+"}") {
			return "secret", true
		}
		return "", false
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fetch(func(config.Source) (config.Document, error) { return contents, nil }); err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(c.Rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	reach, err := p.APIs().Reach(identity.Principal{ID: "token:1", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}, "app", "")
	if err != nil {
		t.Fatal(err)
	}
	return reach
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
	return d, search.New(spec.NewView(d, rules(t, d), spec.Filter{}), search.Options{})
}

func rules(t *testing.T, d *spec.Document) *spec.Classifier {
	t.Helper()
	rules, err := spec.NewClassifier(d, spec.ClassOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// heldOut counts what was found.
type heldOut struct{ tasks, first, five, ten, answer, phrased, size, weak, wrong int }

func (h heldOut) String() string {
	return fmt.Sprintf("%d tasks: the API's words find %d first and %d among five; users' words find %d among ten, and %d anywhere in an answer of %d tokens; phrasings of a model find %d among five; %d of %d weak matches are wrong", h.tasks, h.first, h.five, h.ten, h.answer, h.size/4/max(h.tasks, 1), h.phrased, h.wrong, h.weak)
}

// task searches for one task in both kinds of words.
func (h *heldOut) task(t *testing.T, v *spec.View, ix *search.Index, f []string) {
	t.Helper()
	right := strings.Split(f[1], " ; ")
	is := func(op *spec.Operation) bool { return slices.Contains(right, op.Name()) }
	if !slices.ContainsFunc(v.Operations(), is) {
		t.Fatalf("%s has no %s", f[0], f[1])
	}
	rank := func(text string) int {
		r, err := ix.Search(search.Query{Text: text, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(r.Operations, is)
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
	if len(f) > 4 {
		if n := rank(f[4]); n >= 0 && n < 5 {
			h.phrased++
		}
	}
	r, err := ix.Search(search.Query{Text: f[3]})
	if err != nil {
		t.Fatal(err)
	}
	said := search.DescribeResult(v, r)
	h.size += len(said)
	if slices.ContainsFunc(v.Operations(), func(op *spec.Operation) bool { return is(op) && tells(said, op.ID) }) {
		h.answer++
	}
}

// tells reports whether a search result names an operation: by itself, or among others that begin alike.
func tells(said, id string) bool {
	if at := strings.LastIndexAny(id, "./") + 1; at > 0 {
		for group := range strings.SplitSeq(said, id[:at]+"{") {
			ends, _, _ := strings.Cut(group, "}")
			if group != said && slices.Contains(strings.Split(ends, ", "), id[at:]) {
				return true
			}
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" ,:\n", r) }), func(w string) bool { return w == id })
}
