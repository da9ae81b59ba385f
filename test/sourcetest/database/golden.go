package database

import (
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/canonical"
	"github.com/bailiwick-dev/bailiwick/value"
)

// golden contains the classes of sqlgen's pipelines with a few records. The records of another tenant must stay
// hidden.
var golden = sourcetest.Dataset{Tables: []sourcetest.Table{
	{Name: "issues", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer, Required: true}, {Name: "org", Is: schema.String}, {Name: "status", Is: schema.String},
		{Name: "estimate", Is: schema.Integer}, {Name: "author", Is: schema.Integer}, {Name: "opened", Is: schema.Date}, {Name: "meta", Is: schema.JSON}},
		Foreign: []schema.Relation{{Fields: []string{"author"}, Target: "users", TargetFields: []string{"id"}}},
		Rows: `[1,"acme","open",3,1,"2026-01-31T10:00:00Z",{"tags":["b","a"],"who":1,"kind":"x","k":2,"a":{"b":"x"}}]
			[2,"acme","open",5,1,"2026-02-01T00:30:00Z",{"tags":"c","who":2,"kind":"x","k":"z"}]
			[3,"acme","closed",3,2,"2026-02-28T23:59:59Z",{"tags":[],"who":1,"kind":"y","k":10,"a":[{"b":"y"},{"b":"x"}]}]
			[4,"acme",null,null,null,null,[1,2,2]]
			[5,"acme","aaa",8,2,"2026-01-01T00:00:00Z","text"]
			[6,"evil","open",3,1,"2026-01-31T10:00:00Z",{"tags":["evil"],"who":1,"kind":"evil","k":99}]
			[7,"acme","OPEN",-4,3,"2026-03-29T00:30:00Z",{"who":3}]`},
	{Name: "users", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer, Required: true}, {Name: "org", Is: schema.String}, {Name: "name", Is: schema.String}, {Name: "boss", Is: schema.Integer}},
		Rows: `[1,"acme","Ann",2]
			[2,"acme","Bob",3]
			[3,"acme","ann",1]
			[4,"evil","Ann",1]
			[5,"acme",null,4]
			[6,"acme","Zoe",null]`},
	{Name: "parts", Key: []string{"code"}, Columns: []sourcetest.Column{{Name: "code", Is: schema.String, Required: true, MySQL: "varchar(200)"}, {Name: "org", Is: schema.String},
		{Name: "note", Is: schema.String}, {Name: "L2", Is: schema.Integer}, {Name: "price", Is: schema.Integer}},
		Rows: `["a","acme","x",0,1]
			["E","acme","X",1,2]
			["b","acme",null,0,3]
			["c","evil","evil",7,4]
			["d","acme","x",null,5]`},
}}

// TestGoldenPipelines runs the pipelines whose statements package sqlgen shows. The result must equal that of the
// oracle for the same records. If the golden statements say that the database doesn't support a pipeline, the
// pipeline must be refused.
func (d *Database) TestGoldenPipelines(t *testing.T) {
	text, err := os.ReadFile("../../internal/sqlgen/testdata/pipelines.txt")
	if err != nil {
		t.Fatal(err)
	}
	src := d.Load(t, golden)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exact := golden.Classes("suite")
	all := oracle(exact, golden.Rows(t, exact))
	asked, question := 0, ""
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(strings.TrimSpace(line), "> "); is {
			question = rest
		}
		statement, is := strings.CutPrefix(line, d.name()+" ")
		if !is {
			continue
		}
		asked++
		want := answerText(t, all, exact, question)
		if strings.HasPrefix(strings.TrimSpace(statement), "unsupported_by_source") {
			want = string(problem.Unsupported)
		}
		if got := answerText(t, src, classes, question); got != want {
			t.Errorf("%s\n got %s\nwant %s", question, got, want)
		}
	}
	if asked < 50 {
		t.Errorf("only %d pipelines", asked)
	}
}

// name returns the name of the database in the golden table, or "" if the table has no lines for it.
func (d *Database) name() string {
	if d.Kind == sourcetest.DuckDB {
		return ""
	}
	return d.Dialect.Name()
}

// answerText returns the answer to a question "class stages" for a principal of acme, or the code of the refusal.
func answerText(t *testing.T, src source.Source, classes []schema.Class, question string) string {
	t.Helper()
	tenant := policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"issues": tenant, "users": tenant, "parts": tenant}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	class, stages, _ := strings.Cut(question, " ")
	v, err := value.Read([]byte(stages), 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := query.ParsePipeline(v, "")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, &query.Pipeline{Class: class, Stages: list, Limit: 100})
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	rows, err := sourcetest.Collect(t.Context(), src, permit)
	if err != nil {
		return string(problem.CodeOf(err))
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(canonical.Of(value.OfArray(row[:len(plan.ReturnedColumns())])).String() + "\n")
	}
	return b.String()
}
