package result_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// made returns rows as a source returns them for a pipeline over notes with authors.
func made(t *testing.T, limit int, pipeline string, rows ...value.Row) redact.Rows {
	t.Helper()
	classes := []schema.Class{
		{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"}, Relations: []schema.Relation{{Fields: []string{"author"}, Target: "people", TargetFields: []string{"id"}}},
			Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "text", Type: schema.String}, {Name: "author", Type: schema.Integer}, {Name: "meta", Type: schema.JSON}}},
		{Source: "s", Name: "people", Table: "people", Key: []string{"id"},
			Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "name", Type: schema.String}}}}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := value.Read([]byte(pipeline), 0)
	if err != nil {
		t.Fatal(err)
	}
	stages, err := query.ParsePipeline(doc, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Pipeline{Class: "notes", Stages: stages, Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	out, err := redact.Apply(permit, plan.MaskKey{}, func(yield func(value.Row, error) bool) {
		for _, row := range rows {
			if !yield(slices.Clone(row), nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	one, two = value.OfInt(1), value.OfInt(2)
	null     = value.Value{}
)

func xs(n int) value.Value { return value.OfString(strings.Repeat("x", n)) }

const (
	byAuthor = `[{"$group": {"_id": "$author", "texts": {"$max": "$text"}}}]`
	joined   = `[{"$lookup": {"from": "people", "localField": "author", "foreignField": "id", "as": "who"}},
		{"$unwind": {"path": "$who", "preserveNullAndEmptyArrays": true}}, {"$project": {"_id": 0, "text": 1, "who": 1}}]`
)

func TestPipelinePages(t *testing.T) {
	for _, tt := range []struct {
		name     string
		limit    int
		pipeline string
		rows     []value.Row
		want     string
	}{
		{"ids are text, and point somewhere", 5, byAuthor, []value.Row{{one, xs(2)}, {null, null}},
			`[{"_id":"1","texts":"xx"},{"_id":null,"texts":null}] more=false full=0 map[_id:people]`},
		{"the limit cuts", 1, byAuthor, []value.Row{{one, xs(2)}, {two, xs(2)}}, `[{"_id":"1","texts":"xx"}] more=true full=0 map[_id:people]`},
		{"the budget cuts", 5, byAuthor, []value.Row{{one, xs(40)}, {two, xs(40)}}, `[{"_id":"1","texts":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}] more=false full=2 map[_id:people]`},
		{"both cut", 2, byAuthor, []value.Row{{one, xs(40)}, {two, xs(40)}, {two, xs(40)}}, `[{"_id":"1","texts":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}] more=true full=2 map[_id:people]`},
		{"an object that isn't there is null", 5, joined, []value.Row{{xs(1), one, xs(2)}, {xs(1), null, null}, {xs(1), two, null}},
			`[{"text":"x","who":{"id":"1","name":"xx"}},{"text":"x","who":null},{"text":"x","who":{"id":"2","name":null}}] more=false full=0 map[]`},
		{"nothing", 5, byAuthor, nil, `[] more=false full=0 map[_id:people]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := result.NewPage(made(t, tt.limit, tt.pipeline, tt.rows...), 120)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s more=%t full=%d %v", p.AppendJSON(nil), p.More, p.Full, p.Pointers); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestWholePointers(t *testing.T) {
	p, err := result.NewPage(made(t, 5, byAuthor, value.Row{one, xs(2)}, value.Row{null, xs(3)}, value.Row{two, xs(20)}), 150)
	if err != nil {
		t.Fatal(err)
	}
	p.WholePointers()
	const want = `[{"_id":{"__type":"Pointer","className":"people","objectId":"1"},"texts":"xx"},{"_id":null,"texts":"xxx"}]`
	if got := string(p.AppendJSON(nil)); got != want || p.Count != 2 || p.Full != 3 {
		t.Errorf("got %s, %d of %d; want %s, 2 of 3", got, p.Count, p.Full, want)
	}
}

// TestPipelineTooLarge checks that a single record over the budget is refused. The suggestion names the columns to
// omit.
func TestPipelineTooLarge(t *testing.T) {
	for _, tt := range []struct{ pipeline, want string }{
		{byAuthor, `the result is 222 bytes, over the budget of 100. The largest fields are texts (211 bytes) | end with {"$project": {"_id": 1}}, or gather less`},
		{byAuthor, `the result has lists that are too large to be gathered (4 MiB for all lists of a pipeline), over the budget of 100 bytes. ` +
			`The largest fields are texts (a list) | end with {"$project": {"_id": 1}}, or gather less`},
		{`[{"$group": {"_id": "$text"}}]`, `the result is 9 bytes, over the budget of 5. The largest fields are _id (8 bytes) | gather less: a narrower $match, a $limit, fewer fields in what is pushed`},
	} {
		row, budget := value.Row{one, xs(200)}, 100
		if strings.Contains(tt.want, "gathered") {
			row = value.Row{one, value.OfCut(value.Unmeasured)}
		}
		if !strings.Contains(tt.pipeline, "texts") {
			row, budget = value.Row{one}, 5
		}
		_, err := result.NewPage(made(t, 5, tt.pipeline, row, row), budget)
		p := problem.Of(err)
		if got := p.Detail + " | " + p.Suggestion; p.Code != problem.BudgetExceeded || got != tt.want {
			t.Errorf("%s %s\nwant %s", p.Code, got, tt.want)
		}
	}
}

// TestMarkdownIsInert checks that data stays plain text in Markdown. It must not become a link, an image, an address
// that readers turn into a link, or a code block around the following text.
func TestMarkdownIsInert(t *testing.T) {
	for _, tt := range [][2]string{
		{"![x](https://evil.example/?q=secret)", `!\[x\](https\://evil.example/?q=secret)`},
		{"[a][b] [b]: http://evil.example", `\[a\]\[b\] \[b\]: http\://evil.example`},
		{"<https://evil.example> www.evil.example", `&lt;https\://evil.example> www\.evil.example`},
		{"<img src=x>", `&lt;img src=x>`},
		{"`|` \\[a](b)", "\\`\\|\\` \\\\\\[a\\](b)"},
		{"mailto:a@evil.example", `mailto\:a@evil.example`},
		{"https&#58;//evil.example &#x5B;a] &colon;//", `https&amp;#58;//evil.example &amp;#x5B;a\] &amp;colon;//`},
		{"a & b &c &", "a & b &c &"},
		{"plain text (1) a_b *c* #4!", "plain text (1) a_b *c* #4!"},
	} {
		var out bytes.Buffer
		rows := made(t, 5, `[{"$project": {"text": 1}}]`, value.Row{value.OfString(tt[0])})
		if _, err := result.Export(&out, rows, result.ExportOptions{Format: result.Markdown, Budget: 1000}); err != nil {
			t.Fatal(err)
		}
		if want := "| text |\n| --- |\n| " + tt[1] + " |\n"; out.String() != want {
			t.Errorf("%s\nwant %s", out.String(), want)
		}
	}
}

func TestExport(t *testing.T) {
	const plain = `[{"$project": {"id": 1, "text": 1, "meta": 1}}]`
	meta, err := value.Read([]byte(`{"a": {"b": [1, {"c": 2}]}}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	rows := []value.Row{{one, value.OfString("=SUM(A1)"), meta}, {two, value.OfString("-1, \"q\"\n|<b>"), null}}
	for _, tt := range []struct {
		format  result.Format
		columns []result.Selection
		want    string
	}{
		{result.CSV, nil, "id,text,meta\r\n1,'=SUM(A1),\"{\"\"a\"\":{\"\"b\"\":[1,{\"\"c\"\":2}]}}\"\r\n2,\"'-1, \"\"q\"\"\n|<b>\",\r\n"},
		{result.CSV, []result.Selection{{Path: []string{"meta", "a", "b", "c"}, Header: "@c"}, {Path: []string{"id"}}}, "'@c,id\r\n\"[null,2]\",1\r\n,2\r\n"},
		{result.Markdown, []result.Selection{{Path: []string{"text"}, Header: "a|b"}}, "| a\\|b |\n| --- |\n| =SUM(A1) |\n| -1, \"q\"<br>\\|&lt;b> |\n"},
		{result.Table, []result.Selection{{Path: []string{"text"}}, {Path: []string{"id"}}}, "text          id\n=SUM(A1)      1\n-1, \"q\" |<b>  2\n"},
		{result.Table, []result.Selection{{Path: []string{"id"}, Header: "a\x1b\u009b\u202e\u2028b"}}, "a    b\n1\n2\n"},
		{result.JSONLines, nil, "{\"id\":\"1\",\"text\":\"=SUM(A1)\",\"meta\":{\"a\":{\"b\":[1,{\"c\":2}]}}}\n{\"id\":\"2\",\"text\":\"-1, \\\"q\\\"\\n|<b>\",\"meta\":null}\n"},
		{result.JSONLines, []result.Selection{{Path: []string{"id"}, Header: "Id"}}, "{\"Id\":\"1\"}\n{\"Id\":\"2\"}\n"},
	} {
		var out bytes.Buffer
		done, err := result.Export(&out, made(t, 5, plain, rows...), result.ExportOptions{Format: tt.format, Columns: tt.columns, Budget: 1000})
		if err != nil || done.Count != 2 || done.More {
			t.Fatalf("%s: %+v, %v", tt.format, done, err)
		}
		if d := cmp.Diff(tt.want, out.String()); d != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.format, tt.columns, d)
		}
	}
}

// TestCells checks that cells that a spreadsheet would execute become inert, and that numbers stay unchanged.
func TestCells(t *testing.T) {
	const plain = `[{"$project": {"text": 1}}]`
	for _, tt := range []struct {
		cell value.Value
		want string
	}{
		{value.OfString("=1"), "'=1"}, {value.OfString("+1"), "'+1"}, {value.OfString("-1"), "'-1"}, {value.OfString("@a"), "'@a"},
		{value.OfString("\t=1"), "'\t=1"}, {value.OfString("\r=1"), "\"'\r=1\""}, {value.OfString("a=1"), "a=1"}, {value.OfString(""), ""},
		{value.OfString("\n=1"), "\"'\n=1\""}, {value.OfString("  =1"), "'  =1"}, {value.OfString("\u00a0=1"), "'\u00a0=1"}, {value.OfString("\ufeff\u200b@a"), "'\ufeff\u200b@a"},
		{value.OfString("＝1"), "'＝1"}, {value.OfString("＋1"), "'＋1"}, {value.OfString("－1"), "'－1"}, {value.OfString("＠a"), "'＠a"}, {value.OfString("\u200b"), "\u200b"}, {value.OfString("\x1b=1"), "'\x1b=1"},
		{value.OfInt(-1), "-1"}, {value.OfFloat(-1.5), "-1.5"}, {value.OfDecimal("-1.50"), "-1.50"}, {value.OfFloat(-1e300), "-1e+300"},
		{value.OfFloat(math.Inf(-1)), "'-Infinity"}, {value.OfBool(true), "true"}, {null, ""},
	} {
		var out bytes.Buffer
		_, err := result.Export(&out, made(t, 5, plain, value.Row{tt.cell}), result.ExportOptions{Format: result.CSV})
		if got, want := out.String(), "text\r\n"+tt.want+"\r\n"; err != nil || got != want {
			t.Errorf("%v: %q, want %q (%v)", tt.cell, got, want, err)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	many := slices.Repeat([]value.Row{{one, xs(60), null}}, 3)
	const plain = `[{"$project": {"id": 1, "text": 1, "meta": 1}}]`
	for _, tt := range []struct {
		name string
		o    result.ExportOptions
		want string
	}{
		{"over the budget", result.ExportOptions{Format: result.CSV, Budget: 100},
			`budget_exceeded : the output is over the budget of 100 bytes (records that fit: 1). The largest columns are text (122 bytes) [] ask for columns ["id", "meta"], or for fewer records`},
		{"a table over the budget", result.ExportOptions{Format: result.Table, Budget: 100},
			`budget_exceeded : the output is over the budget of 100 bytes (records that fit: 1). The largest columns are text (122 bytes) [] ask for columns ["id", "meta"], or for fewer records`},
		{"lines over the budget", result.ExportOptions{Format: result.JSONLines, Budget: 100},
			`budget_exceeded : the output is over the budget of 100 bytes (records that fit: 1). The largest columns are text (140 bytes) [] ask for columns ["id", "meta"], or for fewer records`},
		{"no such column", result.ExportOptions{Format: result.CSV, Columns: []result.Selection{{Path: []string{"txt"}, At: "/columns/0"}}},
			`invalid_argument /columns/0: the records have no column "txt" [text] `},
		{"a part of what has none", result.ExportOptions{Format: result.CSV, Columns: []result.Selection{{Path: []string{"text", "x"}, At: "/columns/0"}}},
			`invalid_argument /columns/0: the records have no column "text.x" [text] `},
		{"nothing near", result.ExportOptions{Format: result.CSV, Columns: []result.Selection{{Path: []string{"whatever"}}}},
			`invalid_argument : the records have no column "whatever" [] they have id, text, meta`},
		{"one name twice", result.ExportOptions{Format: result.CSV, Columns: []result.Selection{{Path: []string{"id"}}, {Path: []string{"text"}, Header: "id", At: "/columns/1"}}},
			`invalid_argument /columns/1: two columns are called "id" [] `},
	} {
		_, err := result.Export(&bytes.Buffer{}, made(t, 5, plain, many...), tt.o)
		p := problem.Of(err)
		if got := fmt.Sprintf("%s %s: %s %v %s", p.Code, p.Pointer, p.Detail, p.Near, p.Suggestion); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
	if _, err := result.Export(&bytes.Buffer{}, redact.Rows{}, result.ExportOptions{Format: result.CSV}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Errorf("Export of the zero redact.Rows: %v", err)
	}
	done, err := result.Export(&bytes.Buffer{}, made(t, 2, plain, many...), result.ExportOptions{Format: result.CSV})
	if err != nil || done.Count != 2 || !done.More {
		t.Errorf("an export that the limit cuts: %+v, %v", done, err)
	}
}
