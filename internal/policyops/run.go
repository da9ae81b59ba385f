package policyops

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// A TestResult is the result of a test. Without differences and errors the test has passed.
type TestResult struct {
	File    string           `json:"file"`
	Line    int              `json:"line"`
	Name    string           `json:"name"`
	Differs []testDifference `json:"differs,omitempty"`
	Verdict Verdict          `json:"verdict"` // the actual verdict
	Error   string           `json:"error,omitempty"`
}

// Good reports whether the test passed.
func (r TestResult) Good() bool { return r.Differs == nil && r.Error == "" }

// A testDifference is a difference between the expected and the actual outcome.
type testDifference struct {
	What     string `json:"what"`
	Expected string `json:"expected"`
	Got      string `json:"got"` // values of rules and filters are replaced by digests
}

// RunTests runs the tests of a file against regime. The argument known contains the principals of the configuration
// by name.
func RunTests(regime *Regime, f *TestFile, known map[string]identity.Principal) []TestResult {
	out := make([]TestResult, len(f.Tests))
	for i := range f.Tests {
		t := &f.Tests[i]
		out[i] = TestResult{File: f.Name, Line: t.Line, Name: t.Name}
		p, ok := f.Given[t.As]
		if !ok {
			p, ok = known[t.As]
		}
		if !ok {
			names := slices.Concat(slices.Sorted(maps.Keys(f.Given)), slices.Sorted(maps.Keys(known)))
			out[i].Error = fmt.Sprintf("no principal is called %q%s", t.As, problem.DidYouMean(problem.Nearest(t.As, names, 1)))
			continue
		}
		run := &run{regime: regime, who: p, test: t, result: &out[i]}
		run.outcome()
		run.compareView()
	}
	return out
}

// A run is the run of one test.
type run struct {
	regime *Regime
	who    identity.Principal
	test   *Test
	result *TestResult
}

func (r *run) differs(what, expected, got string) {
	r.result.Differs = append(r.result.Differs, testDifference{what, expected, got})
}

// outcome compares the outcome of the request with the expected outcome. It first judges the tool, the class and the
// fields that the tool uses. Then the policy itself judges the query, as for a call.
func (r *run) outcome() {
	w, want := &r.test.When, &r.test.Want
	v := r.regime.WouldPermit(r.who, w.Tool, w.Class)
	for i := 0; v.Allowed && i < len(w.Using); i++ {
		if v = r.regime.FieldVerdict(r.who, w.Class, w.Using[i]); v.Reason == "field_masked" {
			v.Allowed, v.DeniedAt = false, atMask // a masked field can't be used to group or sum
		}
	}
	if v.Allowed && w.asks() {
		if q, err := w.query(); err != nil {
			v = refusal(err)
		} else if _, err := r.regime.Policy().Read(r.who, q); err != nil {
			v = refusal(err)
		}
	}
	r.result.Verdict = v
	got, expected := "allowed", "allowed"
	if !v.Allowed {
		got = "refused, " + v.Reason
	}
	if want.Refused {
		expected = "refused"
		if want.Kind != "" {
			expected += ", " + want.Kind
		}
	}
	if want.Refused == v.Allowed || want.Kind != "" && want.Kind != v.Reason {
		r.differs("outcome", expected, got)
	}
}

// refusal converts the policy's refusal of a query to a verdict.
func refusal(err error) Verdict {
	p := problem.Of(err)
	v := Verdict{Reason: p.Kind, Why: p.Detail}
	if v.Reason == "" {
		v.Reason = string(p.Code)
	}
	return v
}

// query returns the query that w describes.
func (w *When) query() (query.Query, error) {
	if w.Pipeline != nil {
		return &query.Pipeline{Class: w.Class, Stages: w.Pipeline, Limit: 100}, nil
	}
	if w.Tool == "count_objects" {
		return &query.Count{Class: w.Class, Where: w.Where}, nil
	}
	q := &query.Find{Class: w.Class, Where: w.Where, Limit: 100}
	if w.ByID {
		q.IDs = []string{"1"}
	}
	for _, k := range w.Keys {
		q.Keys = append(q.Keys, query.ParsePath(k))
	}
	for _, k := range w.Include {
		q.Include = append(q.Include, query.ParsePath(k))
	}
	var err error
	q.Order, err = query.ParseOrder(w.Order, "/order")
	return q, err
}

// compareView compares the visible parts of the class and the tools that may be called.
func (r *run) compareView() {
	w := &r.test.Want
	if w.Tools != nil {
		tools := r.regime.Describe(r.who).Tools
		r.same("tools", w.Tools, tools)
	}
	r.declared()
	if r.test.When.Class == "" || w.Refused || !r.result.Verdict.Allowed {
		return
	}
	view, verdict := r.regime.DescribeClass(r.who, r.test.When.Class)
	if !verdict.Allowed {
		return
	}
	masks := map[string]string{}
	var fields, layers []string
	for _, f := range view.Fields {
		fields = append(fields, f.Name)
		if masks[f.Name] = string(f.Mask); f.Mask == "" {
			masks[f.Name] = "none"
		}
	}
	for _, f := range w.Visible {
		if !slices.Contains(fields, f) {
			r.differs(f, "visible", "hidden: "+r.regime.FieldVerdict(r.who, view.Class, f).Why)
		}
	}
	for _, f := range w.Hidden {
		if slices.Contains(fields, f) {
			r.differs(f, "hidden", "visible")
		}
	}
	if w.Only != nil {
		r.same("fields", w.Only, fields)
	}
	for _, f := range slices.Sorted(maps.Keys(w.Masked)) {
		got, ok := masks[f]
		if !ok {
			got = "hidden"
		}
		if got != w.Masked[f] {
			r.differs("mask of "+f, w.Masked[f], got)
		}
	}
	// A read by id ignores the canonical filter.
	for _, l := range view.Layers {
		if r.test.When.ByID && l.Name == "canonical" {
			continue
		}
		layers = append(layers, l.Name)
	}
	if w.Layers != nil && !slices.Equal(w.Layers, layers) {
		r.differs("layers", strings.Join(w.Layers, ", "), strings.Join(layers, ", "))
	}
	r.filters(view.Layers)
}

// declared compares the declared queries and metrics of the principal. A name that isn't declared differs, because a test
// of a misspelt name could never fail.
func (r *run) declared() {
	want := &r.test.Want
	if want.Has == nil && want.Lacks == nil {
		return
	}
	known, has := r.regime.declaredNames(), r.regime.declaredOf(r.who)
	for _, part := range []struct {
		names     []string
		has       bool
		want, got string
	}{{want.Has, true, "has it", "doesn't have it"}, {want.Lacks, false, "doesn't have it", "has it"}} {
		for _, name := range part.names {
			switch {
			case !slices.Contains(known, name):
				r.differs(name, part.want, "not declared"+problem.DidYouMean(problem.Nearest(name, known, 2)))
			case slices.Contains(has, name) != part.has:
				r.differs(name, part.want, part.got)
			}
		}
	}
}

// filters compares the filters of the layers.
func (r *run) filters(layers []Layer) {
	want := r.test.Want.Sees
	for _, name := range slices.Sorted(maps.Keys(want)) {
		var got []string
		for _, l := range layers {
			if l.Name == name {
				got = append(got, l.Where)
			}
		}
		if len(got) == 0 {
			got = []string{"no such layer"}
		}
		if !slices.Contains(got, DigestFilter(want[name])) {
			r.differs("layer "+name, string(query.Print(want[name]).AppendJSON(nil))+" = "+DigestFilter(want[name]), strings.Join(got, " and "))
		}
	}
}

// same compares two sets of names and records a difference.
func (r *run) same(what string, want, got []string) {
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(n string) bool { return slices.Contains(b, n) })
	}
	missing, more := without(want, got), without(got, want)
	if missing == nil && more == nil || len(missing)+len(more) == 0 {
		return
	}
	r.differs(what, "also "+orNone(missing), "also "+orNone(more))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "nothing else"
	}
	return strings.Join(names, ", ")
}
