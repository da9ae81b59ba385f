package largeapis

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/search"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/getkin/kin-openapi/openapi3"
)

// documents returns the files of BAILIWICK_APIS.
func documents(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("BAILIWICK_APIS")
	if dir == "" || dir == "none" {
		t.Skip("LEFT OUT: large APIs: BAILIWICK_APIS names no folder; see scripts/apis")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no documents in BAILIWICK_APIS: %v", err)
	}
	return files
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// allocated returns the total bytes ever allocated, whose growth bounds any peak.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func p95[T int | time.Duration](all []T) T {
	slices.Sort(all)
	return all[len(all)*95/100]
}

// TestLarge loads, indexes and renders every operation and schema of the documents, and compiles every schema used to
// check arguments.
func TestLarge(t *testing.T) {
	for _, file := range documents(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, at := allocated(), time.Now()
			d, err := spec.Load(b)
			if err != nil {
				t.Fatal(err)
			}
			load, memory := time.Since(at), allocated()-before
			for _, w := range d.Warnings {
				t.Log(w)
			}
			rules, err := spec.NewClassifier(d, spec.ClassOptions{RPCNames: true})
			if err != nil {
				t.Fatal(err)
			}
			v := spec.NewView(d, rules, spec.Filter{})
			at = time.Now()
			ix := search.New(v, search.Options{})
			indexed := time.Since(at)
			t.Logf("%d KB, %d operations, %d schemas: loaded in %v with %d MB, indexed in %v", len(b)>>10, len(d.Operations), len(v.Schemas()), load, memory>>20, indexed)
			if memory+uint64(len(b)) > 100<<20 && len(b) < 20<<20 {
				t.Errorf("loading takes %d MB", (memory+uint64(len(b)))>>20)
			}
			if len(d.Operations) == 0 || len(d.Warnings) > len(d.Operations)/10+5 {
				t.Errorf("%d operations, %d warnings", len(d.Operations), len(d.Warnings))
			}
			texts(t, v)
			searches(t, v, ix)
			callAll(t, v)
		})
	}
}

func texts(t *testing.T, v *spec.View) {
	t.Helper()
	var details, schemas []int
	var times []time.Duration
	for _, op := range v.Operations() {
		at := time.Now()
		details = append(details, len(search.DescribeOperation(v, op))/4)
		times = append(times, time.Since(at))
	}
	for _, name := range v.Schemas() {
		text, err := search.DescribeSchema(v, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		schemas = append(schemas, len(text)/4)
	}
	t.Logf("details: p95 %d tokens in %v, at most %d; schemas: p95 %d", p95(details), p95(times), details[len(details)-1], p95(schemas))
	if p95(details) > 1600 {
		t.Errorf("the p95 of a detail is %d tokens", p95(details))
	}
}

// searches searches for every operation's summary, as it is and with one word left out.
func searches(t *testing.T, v *spec.View, ix *search.Index) {
	t.Helper()
	var times []time.Duration
	found, asked := 0, 0
	for _, op := range v.Operations() {
		if op.Summary == "" {
			continue
		}
		at := time.Now()
		r, err := ix.Search(search.Query{Text: op.Summary, Limit: 5})
		times = append(times, time.Since(at))
		if err != nil {
			t.Fatal(err)
		}
		asked++
		if slices.Contains(r.Operations, op) {
			found++
		}
	}
	if asked > 0 {
		t.Logf("search: p95 %v; %d of %d operations are found by their own summary among five", p95(times), found, asked)
		if found*100 < asked*75 { // in some documents many operations have the same summary
			t.Errorf("%d of %d are found", found, asked)
		}
	}
}

// callAll checks and builds a call of every operation, with texts for required arguments.
func callAll(t *testing.T, v *spec.View) {
	t.Helper()
	check := validate.New(v, validate.Options{})
	built := 0
	for _, op := range v.Operations() {
		a := validate.Arguments{Path: value.OfObject(nil), HasBody: op.Body != nil, Body: value.OfObject(nil)}
		var path []value.Member
		for _, p := range op.Parameters {
			if p.In == "path" {
				path = append(path, value.Member{Name: p.Name, Value: value.OfInt(1)})
			}
		}
		a.Path = value.OfObject(path)
		checked, err := check.Check(context.Background(), op, a)
		if err != nil {
			if problem.CodeOf(err) != problem.InvalidArgument {
				t.Errorf("%s: %v %v", op.ID, err, problem.Of(err).Err)
			}
			continue
		}
		if _, err := calls.BuildRequest(checked, calls.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", op.ID, err)
		}
		built++
	}
	t.Logf("%d of %d operations take a call of almost nothing", built, len(v.Operations()))
}

// TestGrowth checks that 10,000 searches, details and calls don't grow the heap.
func TestGrowth(t *testing.T) {
	file := documents(t)[0]
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := spec.Load(b)
	if err != nil {
		t.Fatal(err)
	}
	v := spec.NewView(d, nil, spec.Filter{})
	ix := search.New(v, search.Options{})
	check := validate.New(v, validate.Options{})
	ops := v.Operations()
	ask := func(n int) {
		op := ops[n%len(ops)]
		search.DescribeOperation(v, op)
		if _, err := ix.Search(search.Query{Text: fmt.Sprintf("%s %d", op.Summary, rand.N(1000))}); err != nil {
			t.Fatal(err)
		}
		_, _ = check.Check(context.Background(), op, validate.Arguments{Body: value.OfString("x"), HasBody: true}) // refused or not: only memory matters here
	}
	for n := range len(ops) {
		ask(n)
	}
	before := heap()
	for n := range 10_000 {
		ask(n)
	}
	if after := heap(); after > before+before/20+1<<20 {
		t.Errorf("the heap grew from %d to %d KB", before>>10, after>>10)
	}
	runtime.KeepAlive(check)
}

// TestAgainstOracle compares the operations of GitHub's document with those that kin-openapi reads.
func TestAgainstOracle(t *testing.T) {
	for _, file := range documents(t) {
		if filepath.Base(file) != "api.github.com.json" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := openapi3.NewLoader().LoadFromData(b)
		if err != nil {
			t.Fatal(err)
		}
		d, err := spec.Load(b)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for path, item := range want.Paths.Map() {
			for method, op := range item.Operations() {
				n++
				got := d.Operation(op.OperationID)
				if got == nil || got.Name() != method+" "+path || got.Summary != op.Summary || len(got.Tags) != len(op.Tags) || len(got.Responses) != op.Responses.Len() ||
					(got.Body != nil) != (op.RequestBody != nil) {
					t.Errorf("%s %s: %+v", method, path, got)
					continue
				}
				for _, p := range op.Parameters {
					if q := got.Parameter(p.Value.In, p.Value.Name); q == nil || q.Required != p.Value.Required || !strings.EqualFold(q.Name, p.Value.Name) {
						t.Errorf("%s: parameter %s %s: %+v", op.OperationID, p.Value.In, p.Value.Name, q)
					}
				}
			}
		}
		if n != len(d.Operations) {
			t.Errorf("%d operations, kin-openapi has %d", len(d.Operations), n)
		}
	}
}
