// Package questions asks analytical questions about a shop and a tracker through the tools. It is a part of the suite
// for sources.
//
// The data, the questions and the answers are in testdata. The answers don't depend on this module, because a plain
// Python program computes them (answers.py). Only tests import it.
package questions

import (
	"context"
	_ "embed"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

//go:embed testdata/questions.json
var asked string

//go:embed testdata/shop.json
var shop string

// Run tests a source that contains the shop with every question. on is the name of the source in questions that it
// refuses as unsupported. The rules declare the types that the source doesn't have.
func Run(t *testing.T, on string, src source.Source, rules map[string]policy.ClassRule) {
	if asked := Some(t, on, src, rules, func(string) bool { return true }); asked < 208 {
		t.Errorf("%d questions, want 208", asked)
	}
	set := tools(t, src, rules)
	t.Run("find_values", func(t *testing.T) { finds(t, set) })
}

// Some is like Run for the questions whose words satisfy which. It returns their number.
func Some(t *testing.T, on string, src source.Source, rules map[string]policy.ClassRule, which func(words string) bool) (asked int) {
	t.Helper()
	questions := read(t)
	if n := slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.refused != nil }); len(n) < 100 {
		t.Fatalf("%d questions that every source answers, want a hundred", len(n))
	}
	set := tools(t, src, rules)
	for _, q := range questions {
		if !which(q.words) {
			continue
		}
		asked++
		t.Run(q.words, func(t *testing.T) {
			wrong := q.ask(t.Context(), set, on)
			if wrong == "" && q.call.Name == "aggregate" && !slices.Contains(q.refused, on) {
				wrong = q.again(t.Context(), set)
			}
			if wrong != "" {
				t.Errorf("%s\n%s %s\n%s", q.words, q.call.Name, q.call.Arguments, wrong)
			}
		})
	}
	t.Logf("%d of %d questions", asked, len(questions))
	return asked
}

// columns contains the columns for the types in shop.json. If a column has its own collation for texts, the collation
// ignores case.
var columns = map[string]sourcetest.Column{"integer": {Is: schema.Integer}, "day": {Is: schema.Day}, "date": {Is: schema.Date}, "boolean": {Is: schema.Boolean},
	"text":    {Is: schema.String, MySQL: "varchar(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"},
	"decimal": {Is: schema.Decimal, SQLite: "NUMERIC(10,2)", Postgres: "numeric(10,2)", MySQL: "decimal(10,2)"},
	"double":  {Is: schema.Double}, "json": {Is: schema.JSON}}

// Shop returns the tables for the questions.
func Shop(t testing.TB) sourcetest.Dataset {
	t.Helper()
	word := func(v value.Value, name string) string {
		w, _ := v.Get(name)
		return w.Text()
	}
	list := func(v value.Value, name string) []value.Value {
		l, _ := v.Get(name)
		return l.List()
	}
	var out sourcetest.Dataset
	for _, v := range list(mustRead(t, shop), "tables") {
		table := sourcetest.Table{Name: word(v, "name")}
		for _, k := range list(v, "key") {
			table.Key = append(table.Key, k.Text())
		}
		for _, c := range list(v, "columns") {
			column := columns[word(c, "type")]
			column.Name = word(c, "name")
			table.Columns = append(table.Columns, column)
		}
		for _, f := range list(v, "foreign") {
			table.Foreign = append(table.Foreign, schema.Relation{Fields: []string{word(f, "field")}, Target: word(f, "class"), TargetFields: []string{word(f, "key")}})
		}
		var rows strings.Builder
		for _, r := range list(v, "rows") {
			cells := slices.Clone(r.List())
			for i := range cells {
				if cells[i].IsNull() && table.Columns[i].Is == schema.JSON {
					cells[i] = value.OfObject([]value.Member{{Name: "$sql"}})
				}
			}
			rows.Write(value.OfArray(cells).AppendJSON(nil))
			rows.WriteByte('\n')
		}
		table.Rows = rows.String()
		out.Tables = append(out.Tables, table)
	}
	return out
}

// reader may read everything.
var reader = identity.Principal{ID: "test", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}

// A forgetful is an audit log that discards its records.
type forgetful struct{}

func (forgetful) Append(context.Context, *audit.Record) error { return nil }

func tools(t *testing.T, src source.Source, rules map[string]policy.ClassRule) *tool.Set {
	t.Helper()
	classes, _, err := src.Describe(t.Context())
	if err != nil || len(classes) == 0 {
		t.Fatal(classes, err)
	}
	g, warnings, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{classes[0].Source: src}, Rules: policy.Rules{Unlisted: true, Classes: rules},
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

// A question is a call with the compared members of its answer.
type question struct {
	words       string
	call        tool.Request
	answer      value.Value
	approximate bool     // numbers that aren't whole may differ by 1e-9 of their size
	refused     []string // the databases that refuse the question as unsupported
}

func read(t *testing.T) []question {
	t.Helper()
	var out []question
	for _, v := range mustRead(t, asked).List() {
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

func mustRead(t testing.TB, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// ask describes what is wrong with the answer of the database on, or returns "".
func (q question) ask(ctx context.Context, set *tool.Set, on string) string {
	got, err := callTool(ctx, set, q.call)
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

// again checks that a pipeline has the same answer in an export and in the form that explain_query prints.
func (q question) again(ctx context.Context, set *tool.Set) string {
	explained, err := callTool(ctx, set, tool.Request{Name: "explain_query", Arguments: q.call.Arguments})
	if err != nil {
		return fmt.Sprintf("explained: %v", err)
	}
	class, _ := q.call.Arguments.Get("class_name")
	pipeline, _ := explained.Get("pipeline")
	arguments := []value.Member{{Name: "class_name", Value: class}, {Name: "pipeline", Value: pipeline}}
	got, err := callTool(ctx, set, tool.Request{Name: "aggregate", Arguments: value.OfObject(arguments)})
	if err != nil {
		return fmt.Sprintf("as %s: %v", pipeline, err)
	}
	if wrong := q.differs(got); wrong != "" {
		return fmt.Sprintf("as %s:\n%s", pipeline, wrong)
	}
	arguments = append(arguments, value.Member{Name: "format", Value: value.OfString("jsonl")})
	exported, err := callTool(ctx, set, tool.Request{Name: "export_data", Arguments: value.OfObject(arguments)})
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

func callTool(ctx context.Context, set *tool.Set, call tool.Request) (value.Value, error) {
	res, err := set.Call(ctx, reader, call)
	if err != nil {
		return value.Value{}, err
	}
	return value.Read(res.Structured, 0)
}

// differs compares the members of the answer with the expected members by value and in order. Null and missing
// members count as equal.
func (q question) differs(got value.Value) string {
	var out []string
	for _, m := range q.answer.Members() {
		v, _ := got.Get(m.Name)
		if m.Value.IsNull() && v.Kind() == value.Bool && !v.Bool() {
			continue // this member is present only if true
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
			*out = append(*out, fmt.Sprintf("%s: want %s, got %s", at, valueText(want), valueText(got)))
		}
	case !value.Equal(want, got):
		*out = append(*out, fmt.Sprintf("%s: want %s, got %s", at, valueText(want), valueText(got)))
	}
}

func valueText(v value.Value) string {
	if v.IsNull() {
		return "nothing"
	}
	return string(v.AppendJSON(nil))
}

// near reports whether two numbers are equal. It tolerates a small difference if approximate is set and they are not
// whole.
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
