package bench_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/value"
)

// apis runs a benchmark for each API document. These are our own document, and GitHub's if scripts/apis has fetched
// it.
func apis(b *testing.B, run func(b *testing.B, text []byte)) {
	b.Helper()
	github := "none"
	if dir := os.Getenv("BAILIWICK_APIS"); dir != "" && dir != "none" {
		github = filepath.Join(dir, "api.github.com.json")
	}
	for _, api := range []struct{ name, file string }{{"trackline", "../../internal/openapi/testdata/trackline.json"}, {"github", github}} {
		b.Run(api.name, func(b *testing.B) {
			if api.file == "none" {
				b.Skip("LEFT OUT: large APIs: BAILIWICK_APIS names no folder; see scripts/apis")
			}
			text, err := os.ReadFile(api.file)
			if err != nil {
				b.Fatal(err)
			}
			run(b, text)
		})
	}
}

func apiView(b *testing.B, text []byte) *spec.View {
	b.Helper()
	d, err := spec.Load(text)
	if err != nil {
		b.Fatal(err)
	}
	rules, err := spec.NewClassifier(d, spec.ClassOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return spec.NewView(d, rules, spec.Filter{})
}

// BenchmarkAPILoad measures loading a document from its bytes.
func BenchmarkAPILoad(b *testing.B) {
	apis(b, func(b *testing.B, text []byte) {
		var before, after runtime.MemStats
		var d *spec.Document
		runtime.GC()
		runtime.ReadMemStats(&before)
		for b.Loop() {
			var err error
			if d, err = spec.Load(text); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(len(text))/1e6, "MB-document")
		b.ReportMetric(float64(max(after.HeapAlloc, before.HeapAlloc)-before.HeapAlloc)/1e6, "MB-kept")
		b.ReportMetric(float64(len(d.Operations)), "operations")
		b.ReportAllocs()
	})
}

// BenchmarkAPIIndex measures building the index of a principal's view.
func BenchmarkAPIIndex(b *testing.B) {
	apis(b, func(b *testing.B, text []byte) {
		v := apiView(b, text)
		for b.Loop() {
			search.New(v, search.Options{})
		}
		b.ReportAllocs()
	})
}

// BenchmarkAPISearch measures searching five operations for a text.
func BenchmarkAPISearch(b *testing.B) {
	asked := []string{"create issue", "list members of an organization", "which repositories did I star", "remove a label", "download workflow logs", "who can push to a branch", "xyzzy"}
	apis(b, func(b *testing.B, text []byte) {
		ix := search.New(apiView(b, text), search.Options{})
		var all []time.Duration
		n := 0
		for b.Loop() {
			at := time.Now()
			if _, err := ix.Search(search.Query{Text: asked[n%len(asked)]}); err != nil {
				b.Fatal(err)
			}
			all = append(all, time.Since(at))
			n++
		}
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)*95/100])/1e3, "µs-p95")
		b.ReportAllocs()
	})
}

// BenchmarkAPIRender measures rendering the details of an operation. It renders all operations in turn.
func BenchmarkAPIRender(b *testing.B) {
	apis(b, func(b *testing.B, text []byte) {
		v := apiView(b, text)
		var tokens []int
		for _, op := range v.Operations() {
			tokens = append(tokens, len(search.DescribeOperation(v, op))/4)
		}
		slices.Sort(tokens)
		n := 0
		for b.Loop() {
			search.DescribeOperation(v, v.Operations()[n%len(v.Operations())])
			n++
		}
		b.ReportMetric(float64(tokens[len(tokens)/2]), "tokens-p50")
		b.ReportMetric(float64(tokens[len(tokens)*95/100]), "tokens-p95")
		b.ReportAllocs()
	})
}

// BenchmarkAPICheck measures checking the arguments of a call with a compiled schema.
func BenchmarkAPICheck(b *testing.B) {
	text, err := os.ReadFile("../../internal/openapi/testdata/trackline.json")
	if err != nil {
		b.Fatal(err)
	}
	v := apiView(b, text)
	op, err := v.Operation("post_projects_projectId_issues")
	if err != nil {
		b.Fatal(err)
	}
	check := validate.New(v, validate.Options{})
	body, err := value.Read([]byte(`{"title":"Too slow","priority":"high","labelIds":["a","b"],"estimate":2.5,"customFields":{"team":"web"}}`), 0)
	if err != nil {
		b.Fatal(err)
	}
	a := validate.Arguments{Path: value.OfObject([]value.Member{{Name: "projectId", Value: value.OfString("p1")}}), Body: body, HasBody: true}
	for b.Loop() {
		if _, err := check.Check(b.Context(), op, a); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}

// BenchmarkAPIRecall reports how many of the tasks in openapi/testdata/gold.txt are found among the first 1, 5 and 10
// results. It uses the API's terms and a user's terms.
func BenchmarkAPIRecall(b *testing.B) {
	gold, err := os.ReadFile("../../internal/openapi/testdata/gold.txt")
	if err != nil {
		b.Fatal(err)
	}
	ixs := map[string]*search.Index{}
	for name, file := range map[string]string{"trackline": "trackline.json", "fleet": "fleet.yaml"} {
		text, err := os.ReadFile("../../internal/openapi/testdata/" + file)
		if err != nil {
			b.Fatal(err)
		}
		ixs[name] = search.New(apiView(b, text), search.Options{})
	}
	for column, words := range []string{"api", "user"} {
		b.Run(words, func(b *testing.B) {
			var places []int
			for b.Loop() {
				places = places[:0]
				for line := range strings.Lines(string(gold)) {
					f := strings.Split(strings.TrimSpace(line), " | ")
					if len(f) != 4 || ixs[f[0]] == nil {
						continue
					}
					r, err := ixs[f[0]].Search(search.Query{Text: f[2+column], Limit: 10})
					if err != nil {
						b.Fatal(err)
					}
					places = append(places, slices.IndexFunc(r.Operations, func(op *spec.Operation) bool { return op.ID == f[1] }))
				}
			}
			for _, k := range []struct {
				n    int
				unit string
			}{{1, "recall@1"}, {5, "recall@5"}, {10, "recall@10"}} {
				found := 0
				for _, p := range places {
					if p >= 0 && p < k.n {
						found++
					}
				}
				b.ReportMetric(float64(found)/float64(len(places)), k.unit)
			}
			b.ReportMetric(float64(len(places)), "tasks")
		})
	}
}
