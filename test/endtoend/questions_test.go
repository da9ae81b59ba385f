package endtoend

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestQuestions asks typical questions about a shop and a tracker, through the tools, and expects the same right answers
// on every database. The data, the questions and the answers are in testdata/questions; the answers are independent of
// this module: a program in plain Python computes them (answers.py).
func TestQuestions(t *testing.T) {
	questions := readQuestions(t)
	if n := slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.refused != nil }); len(n) < 100 {
		t.Fatalf("%d questions that every database answers, want a hundred", len(n))
	}
	shop := readShop(t)
	for _, on := range []struct {
		name string
		open func(*testing.T, []shopTable) source.Source
	}{
		{"SQLite", openSQLiteShop}, {"PostgreSQL", openPostgresShop}, {"MariaDB", openMariaDBShop}, {"memory", openMemoryShop},
	} {
		t.Run(on.name, func(t *testing.T) {
			set := shopTools(t, on.open(t, shop))
			for _, q := range questions {
				t.Run(q.words, func(t *testing.T) {
					wrong := q.ask(t.Context(), set, on.name)
					if wrong == "" && q.call.Name == "aggregate" && !slices.Contains(q.refused, on.name) {
						wrong = q.again(t.Context(), set)
					}
					if wrong != "" {
						t.Errorf("%s\n%s %s\n%s", q.words, q.call.Name, q.call.Arguments, wrong)
					}
				})
			}
		})
	}
}

// TestQuestionsCanFail checks that each spoiled answer is found.
func TestQuestionsCanFail(t *testing.T) {
	for _, tt := range []struct {
		want, got   string
		approximate bool
		differs     string
	}{
		{`{"a": [1, 2.50, null]}`, `{"a": [1.0, 2.5, null], "more": true}`, false, ""},
		{`{"a": [{"b": null}], "cut": null}`, `{"a": [{}], "cut": false}`, false, ""},
		{`{"a": [{"b": 1}]}`, `{"a": [{"b": 1, "c": 2}]}`, false, "/a/0/c: want nothing, got 2"},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, false, "/a/0: want 1, got 2\n/a/1: want 2, got 1"},
		{`{"a": [1]}`, `{"a": [1, 2]}`, false, "/a: want 1 elements, got 2\n/a/1: want nothing, got 2"},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740992}`, true, "/a: want 9007199254740993, got 9007199254740992"},
		{`{"a": 0.1}`, `{"a": 0.10000000001}`, false, "/a: want 0.1, got 0.10000000001"},
		{`{"a": 0.1}`, `{"a": 0.10000000001}`, true, ""},
		{`{"a": 0.1}`, `{"a": 0.100001}`, true, "/a: want 0.1, got 0.100001"},
		{`{"a": "1"}`, `{"a": 1}`, true, `/a: want "1", got 1`},
		{`{"a": null}`, `{"a": 0}`, true, "/a: want nothing, got 0"},
		{`{"a": ""}`, `{}`, true, `/a: want "", got nothing`},
	} {
		want, err := value.Read([]byte(tt.want), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.Read([]byte(tt.got), 0)
		if err != nil {
			t.Fatal(err)
		}
		q := question{answer: want, approximate: tt.approximate}
		if differs := q.differs(got); differs != tt.differs {
			t.Errorf("want %s, got %s: found %q, want %q", tt.want, tt.got, differs, tt.differs)
		}
	}
}

// A question is a call and the members of its answer that are compared.
type question struct {
	words       string
	call        tool.Request
	answer      value.Value
	approximate bool     // numbers that aren't whole may be 1e-9 of their size off
	refused     []string // the databases that refuse it as unsupported
}

func readQuestions(t *testing.T) []question {
	t.Helper()
	var out []question
	for _, v := range readJSON(t, "questions.json").List() {
		words, _ := v.Get("question")
		name, _ := v.Get("tool")
		arguments, _ := v.Get("arguments")
		answer, _ := v.Get("answer")
		approximate, _ := v.Get("approximate")
		q := question{words.Text(), tool.Request{Name: name.Text(), Arguments: arguments}, answer, approximate.Bool(), nil}
		refused, _ := v.Get("refused_by")
		for _, name := range refused.List() {
			q.refused = append(q.refused, name.Text())
		}
		out = append(out, q)
	}
	return out
}

func readJSON(t *testing.T, name string) value.Value {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "questions", name))
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Read(raw, 0)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// ask returns what is wrong with the answer over the database called on, or "".
func (q question) ask(ctx context.Context, set *tool.Set, on string) string {
	got, err := answered(ctx, set, q.call)
	if slices.Contains(q.refused, on) {
		if problem.CodeOf(err) != problem.Unsupported {
			return fmt.Sprintf("want %s to refuse it as unsupported_by_source, got %v", on, err)
		}
		return ""
	}
	if err != nil {
		p := problem.Of(err)
		return fmt.Sprintf("%s: %s %s %v", p.Code, p.Detail, p.Suggestion, p.Err)
	}
	return q.differs(got)
}

// again checks that a pipeline has the same answer as explain_query prints it, and in an export.
func (q question) again(ctx context.Context, set *tool.Set) string {
	explained, err := answered(ctx, set, tool.Request{Name: "explain_query", Arguments: q.call.Arguments})
	if err != nil {
		return fmt.Sprintf("explained: %v", err)
	}
	class, _ := q.call.Arguments.Get("class_name")
	pipeline, _ := explained.Get("pipeline")
	arguments := []value.Member{{Name: "class_name", Value: class}, {Name: "pipeline", Value: pipeline}}
	got, err := answered(ctx, set, tool.Request{Name: "aggregate", Arguments: value.OfObject(arguments)})
	if err != nil {
		return fmt.Sprintf("as %s: %v", pipeline, err)
	}
	if wrong := q.differs(got); wrong != "" {
		return fmt.Sprintf("as %s:\n%s", pipeline, wrong)
	}
	arguments = append(arguments, value.Member{Name: "format", Value: value.OfString("jsonl")})
	exported, err := answered(ctx, set, tool.Request{Name: "export_data", Arguments: value.OfObject(arguments)})
	if err != nil {
		return fmt.Sprintf("exported: %v", err)
	}
	output, _ := exported.Get("output")
	var rows []value.Value
	for line := range strings.Lines(output.Text()) {
		row, err := value.Read([]byte(line), 0)
		if err != nil {
			return fmt.Sprintf("exported: %s: %v", line, err)
		}
		rows = append(rows, row)
	}
	if wrong := q.differs(value.OfObject([]value.Member{{Name: "results", Value: value.OfArray(rows)}})); wrong != "" {
		return "exported:\n" + wrong
	}
	return ""
}

func answered(ctx context.Context, set *tool.Set, call tool.Request) (value.Value, error) {
	res, err := set.Call(ctx, reader, call)
	if err != nil {
		return value.Value{}, err
	}
	return value.Read(res.Structured, 0)
}

// differs compares the members of the answer with the expected ones, by value and in order. Null and missing are the
// same.
func (q question) differs(got value.Value) string {
	var out []string
	for _, m := range q.answer.Members() {
		v, _ := got.Get(m.Name)
		if m.Value.IsNull() && v.Kind() == value.Bool && !v.Bool() {
			continue // it is present only when true
		}
		q.compare("/"+m.Name, m.Value, v, &out)
	}
	const most = 8
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("and %d more", len(out)-most))
	}
	return strings.Join(out, "\n")
}

func (q question) compare(at string, want, got value.Value, out *[]string) {
	switch {
	case want.Kind() == value.Array && got.Kind() == value.Array:
		if len(want.List()) != len(got.List()) {
			*out = append(*out, fmt.Sprintf("%s: want %d elements, got %d", at, len(want.List()), len(got.List())))
		}
		for i := range max(len(want.List()), len(got.List())) {
			var a, b value.Value
			if i < len(want.List()) {
				a = want.List()[i]
			}
			if i < len(got.List()) {
				b = got.List()[i]
			}
			q.compare(fmt.Sprintf("%s/%d", at, i), a, b, out)
		}
	case want.Kind() == value.Object && got.Kind() == value.Object:
		for _, m := range want.Members() {
			v, _ := got.Get(m.Name)
			q.compare(at+"/"+m.Name, m.Value, v, out)
		}
		for _, m := range got.Members() {
			if _, ok := want.Get(m.Name); !ok {
				q.compare(at+"/"+m.Name, value.Value{}, m.Value, out)
			}
		}
	case want.IsNumber() && got.IsNumber():
		if !q.near(want, got) {
			*out = append(*out, fmt.Sprintf("%s: want %s, got %s", at, shown(want), shown(got)))
		}
	case !value.Equal(want, got):
		*out = append(*out, fmt.Sprintf("%s: want %s, got %s", at, shown(want), shown(got)))
	}
}

func shown(v value.Value) string {
	if v.IsNull() {
		return "nothing"
	}
	return string(v.AppendJSON(nil))
}

// near reports whether numbers are the same: exactly, if both are whole or no approximation is allowed.
func (q question) near(want, got value.Value) bool {
	a, _ := new(big.Rat).SetString(want.String())
	b, _ := new(big.Rat).SetString(got.String())
	if !q.approximate || a.IsInt() && b.IsInt() {
		return a.Cmp(b) == 0
	}
	off := new(big.Rat).Sub(a, b)
	within := new(big.Rat).Mul(a, big.NewRat(1, 1e9))
	return off.Abs(off).Cmp(within.Abs(within)) <= 0
}

func shopTools(t *testing.T, src source.Source) *tool.Set {
	t.Helper()
	g, warnings, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"shop": src}, Rules: policy.Rules{Unlisted: true},
		Audit: forgetful{}, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}, Budget: 4 << 20})
	if err != nil {
		t.Fatal(err, warnings)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}
