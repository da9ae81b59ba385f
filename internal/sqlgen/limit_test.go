package sqlgen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestPlaces shows how the places of values become placeholders. They are numbered by first use, or the value is
// repeated for each place.
func TestPlaces(t *testing.T) {
	many := func(n int) (string, []any) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "\x00%d\x00", i)
		}
		return b.String(), make([]any, n)
	}
	most, mostArgs := many(sqlgen.MaxArguments)
	over, overArgs := many(sqlgen.MaxArguments + 1)
	pipeline := policy.Plan{Program: &plan.Program{}}
	for _, tt := range []struct {
		name       string
		dialect    sqlgen.Dialect
		plan       policy.Plan
		text       string
		args       []any
		want, argv string // a long text is only compared by its length
	}{
		{"none", sqlite.Dialect(), policy.Plan{}, "a", nil, "a", ""},
		{"again", sqlite.Dialect(), policy.Plan{}, "\x001\x00, \x000\x00, \x001\x00", []any{"a", "b"}, "?, ?, ?", "'b' 'a' 'b'"},
		{"named", postgres.Dialect(), policy.Plan{}, "\x001\x00, \x000\x00, \x001\x00", []any{"a", "b"}, "$1, $2, $1", "'b' 'a'"},
		{"never there", postgres.Dialect(), policy.Plan{}, "\x001\x00", []any{"a", "b"}, "$1", "'b'"},
		{"one NUL", sqlite.Dialect(), policy.Plan{}, "a\x000", []any{"a"}, "internal_error: a NUL in the text of a statement", ""},
		{"no number", sqlite.Dialect(), policy.Plan{}, "\x00a\x00", []any{"a"}, "internal_error: a NUL in the text of a statement", ""},
		{"no such value", sqlite.Dialect(), policy.Plan{}, "\x001\x00", []any{"a"}, "internal_error: a NUL in the text of a statement", ""},
		{"as many as can be", sqlite.Dialect(), policy.Plan{}, most, mostArgs, fmt.Sprint(sqlgen.MaxArguments), ""},
		{"one too many", sqlite.Dialect(), policy.Plan{}, over, overArgs, "invalid_query: the query compares with 30001 values. At most 30000 are supported", ""},
		{"as long as can be", mariadb.Dialect(), policy.Plan{}, strings.Repeat("a", sqlgen.MaxText), nil, fmt.Sprint(sqlgen.MaxText), ""},
		{"one byte too long", mariadb.Dialect(), policy.Plan{}, strings.Repeat("a", sqlgen.MaxText+1), nil,
			"unsupported_by_source: the query becomes a statement of 4194305 bytes here. At most 4194304 are supported", ""},
		{"a pipeline as long as can be", mariadb.Dialect(), pipeline, strings.Repeat("a", 1<<20), nil, "1048576", ""},
		{"a pipeline one byte too long", mariadb.Dialect(), pipeline, strings.Repeat("a", 1<<20+1), nil,
			"unsupported_by_source: the query becomes a statement of 1048577 bytes here. At most 1048576 are supported", ""},
		{"others take more", sqlite.Dialect(), pipeline, strings.Repeat("a", 1<<20+1), nil, "1048577", ""},
	} {
		text, args, err := sqlgen.Resolve(tt.dialect, tt.plan, tt.text, tt.args...)
		got, argv := text, arguments(args)
		if len(text) > 100 {
			got, argv = fmt.Sprint(len(text)), ""
		}
		if err != nil {
			got = fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		if got != tt.want || argv != tt.argv {
			t.Errorf("%s: %s %s; want %s %s", tt.name, got, argv, tt.want, tt.argv)
		}
	}
}

// TestTooManyValues checks the limit of a statement's arguments.
func TestTooManyValues(t *testing.T) {
	planned, err := permitted(t, sqlite.Dialect(), nil, &query.Count{Class: "orgs"}, nil).Plan()
	if err != nil {
		t.Fatal(err)
	}
	planned.Where = query.In{Path: query.Path{"id"}, Values: slices.Repeat([]value.Value{value.OfString("a")}, sqlgen.MaxArguments+1)}
	if st, err := sqlgen.Planned(planned, sqlite.Dialect()); problem.CodeOf(err) != problem.InvalidQuery || st.Text != "" {
		t.Errorf("%d bytes, %v; want %s", len(st.Text), err, problem.InvalidQuery)
	}
}

// TestImpossible checks that sqlgen refuses plans that policy never makes. It must not write a statement without the
// invalid part.
func TestImpossible(t *testing.T) {
	permit := permitted(t, postgres.Dialect(), nil, &query.Count{Class: "orgs"}, nil)
	planned, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	path := query.Path{"id"}
	string1 := value.OfString("a")
	select1 := func(view int, key query.Path, where query.Filter) query.Filter {
		return query.InQuery{Path: path, View: view, Key: key, Where: where}
	}
	for _, tt := range []struct {
		name   string
		change func(p *policy.Plan)
		want   string
	}{
		{"no such field", func(p *policy.Plan) { p.Where = query.Compare{Path: query.Path{"nope"}, Value: string1} }, "internal_error: no field nope in what the plan filters"},
		{"no conditions", func(p *policy.Plan) { p.Where = query.And{} }, "invalid_query: an empty AND of conditions"},
		{"no alternatives", func(p *policy.Plan) { p.Where = query.Or{} }, "invalid_query: an empty OR of conditions"},
		{"no condition", func(p *policy.Plan) { p.Where = query.Not{} }, "invalid_query: compile knows no filter <nil>"},
		{"no condition on text", func(p *policy.Plan) { p.Where = query.Size{Path: path} }, "internal_error: compile can't write query.Size on string"},
		{"no view of a list", func(p *policy.Plan) { p.Where = query.InQuery{Path: query.Path{"plan"}} }, `internal_error: the plan has no view 0 with a key ""`},
		{"no view", func(p *policy.Plan) { p.Where = select1(0, path, nil) }, `internal_error: the plan has no view 0 with a key "id"`},
		{"no such view", func(p *policy.Plan) { p.Where = select1(2, path, nil) }, `internal_error: the plan has no view 2 with a key "id"`},
		{"no whole field", func(p *policy.Plan) { p.Where = select1(1, query.Path{"id", "a"}, nil) }, `internal_error: the plan has no view 1 with a key "id.a"`},
		{"no such key", func(p *policy.Plan) { p.Where = select1(1, query.Path{"nope"}, nil) }, "internal_error: no field nope in the plan's view"},
		{"no such field of the view", func(p *policy.Plan) { p.Where = select1(1, path, query.Exists{Path: query.Path{"nope"}}) }, "internal_error: no field nope in what the plan filters"},
		{"nothing to compare with text", func(p *policy.Plan) {
			p.Where = query.Compare{Path: path, Value: value.OfArray(nil)}
		}, "unsupported_by_source: sqlgen.Document can't be compared with a column of type string"},
		{"nothing to compare with JSON", func(p *policy.Plan) {
			p.Where = query.Compare{Path: query.Path{"plan"}, Value: value.OfBytes("a")}
		}, "unsupported_by_source: []uint8 can't be compared with JSON"},
		{"a place of another kind", func(p *policy.Plan) {
			p.Count, p.Limit = false, 1
			p.Order, p.After = []policy.Order{{Join: -1, Field: p.View.Fields()[0]}}, []value.Value{value.OfArray(nil)}
		}, "unsupported_by_source: sqlgen.Document can't be compared with a column of type string"},
		{"a second place of another kind", func(p *policy.Plan) {
			p.Count, p.Limit = false, 1
			f := p.View.Fields()[0]
			p.Order, p.After = []policy.Order{{Join: -1, Field: f}, {Join: -1, Field: f, Desc: true}}, []value.Value{string1, value.OfArray(nil)}
		}, "unsupported_by_source: sqlgen.Document can't be compared with a column of type string"},
		{"a pipeline of no view", func(p *policy.Plan) { p.Program = &plan.Program{From: 1} }, "internal_error: the plan has no view 1"},
		{"a pipeline of less than no view", func(p *policy.Plan) { p.Program = &plan.Program{From: -2} }, "internal_error: the plan has no view -2"},
		{"a pipeline of no facet", func(p *policy.Plan) { p.Program = &plan.Program{From: plan.Input} }, "internal_error: a program reads the records of no facet"},
		{"a pipeline that filters by no column", func(p *policy.Plan) {
			p.Program = &plan.Program{From: 0, Base: plan.Shape{}, Stages: []plan.Stage{&plan.Filter{Where: query.Exists{Path: query.Path{"nope"}}}}}
		}, "internal_error: no field nope in what the plan filters"},
		{"a stage that isn't one", func(p *policy.Plan) { p.Program = &plan.Program{From: 0, Stages: []plan.Stage{nil}} }, "internal_error: sqlgen can't write <nil>"},
		{"a union of what isn't there", func(p *policy.Plan) {
			p.Program = &plan.Program{Stages: []plan.Stage{&plan.Union{Right: &plan.Program{}, Left: []plan.Expr{plan.Outer{Up: 1}}, Added: []plan.Expr{plan.Const{}},
				Shape: plan.Shape{Columns: make([]plan.Column, 3)}}}}
		}, "internal_error: an expression refers to a record outside the query"},
	} {
		p := planned
		p.Views = []*policy.View{planned.View}
		tt.change(&p)
		st, err := sqlgen.Planned(p, postgres.Dialect())
		if err == nil || st.Text != "" {
			t.Errorf("%s: %q", tt.name, st.Text)
			continue
		}
		if got := fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail); got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
}

// TestPartOfAKey checks that the position in an order is the whole value, even if the record shows only a part of it.
func TestPartOfAKey(t *testing.T) {
	planned, err := permitted(t, postgres.Dialect(), nil, &query.Count{Class: "orgs"}, nil).Plan()
	if err != nil {
		t.Fatal(err)
	}
	f := planned.View.Class().Field("plan")
	planned.Count, planned.Unique, planned.Limit = false, true, 1
	planned.Columns, planned.Order = []policy.Column{{Join: -1, Field: f, Part: query.Path{"a"}}}, []policy.Order{{Join: -1, Field: f}}
	st, err := sqlgen.Planned(planned, postgres.Dialect())
	const want = `SELECT v1."plan", v1."plan" FROM (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v1 ORDER BY v1."plan"::text COLLATE "C" NULLS FIRST LIMIT $1`
	if err != nil || plain(t, st) != want || fmt.Sprint(st.Order) != "[1]" {
		t.Errorf("%v, places %v\n got %s\nwant %s", err, st.Order, st.Text, want)
	}
}

// TestPrograms shows valid programs that no pipeline produces.
func TestPrograms(t *testing.T) {
	planned, err := pipelinePermit(t, 1, "users", `[{"$match":{"name":"Ann"}}]`).Plan()
	if err != nil {
		t.Fatal(err)
	}
	base := planned.Program.Base
	named := base
	named.Order = []plan.Place{{Column: 2}, {Column: 0}}
	const users = `(SELECT t."id", t."org", t."name", t."boss" FROM "public"."users" AS t WHERE t."org" = `
	const inner = `SELECT v1."id" AS c1, v1."org" AS c2, v1."name" AS c3, v1."boss" AS c4 FROM ` + users + `$1::text) AS v1`
	const outer = `SELECT t2.c1, t2.c2, t2.c3, t2.c4 FROM (`
	for _, tt := range []struct {
		name       string
		base       plan.Shape
		stages     []plan.Stage
		want, args string
	}{
		{"no columns", plan.Shape{}, nil, `SELECT 1 FROM ` + users + `$1::text) AS v1 LIMIT $2`, `'acme' 101`},
		{"keeps nothing", base, []plan.Stage{&plan.Slice{Limit: 0, Shape: base}},
			`SELECT v1."id", v1."org", v1."name", v1."boss" FROM ` + users + `$1::text) AS v1 ORDER BY v1."id" LIMIT $2`, `'acme' 0`},
		// The records of a stage are in the order of its Shape.
		{"cut, then in another order", base, []plan.Stage{&plan.Slice{Limit: 5, Shape: named}},
			outer + inner + ` ORDER BY v1."id" LIMIT $2) AS t2 ORDER BY t2.c3 COLLATE "C" NULLS FIRST, t2.c1 LIMIT $3`, `'acme' 5 101`},
		{"filtered, then in another order", base, []plan.Stage{&plan.Filter{Where: query.Exists{Path: query.Path{"name"}, Want: true}, Shape: named}},
			`SELECT v1."id", v1."org", v1."name", v1."boss" FROM ` + users + `$1::text) AS v1 WHERE v1."name" IS NOT NULL ORDER BY v1."name" COLLATE "C" NULLS FIRST, v1."id" LIMIT $2`, `'acme' 101`},
		{"sampled, then in another order", base, []plan.Stage{&plan.Sample{N: 5, Seed: "s", Shape: named}},
			outer + inner + ` ORDER BY md5(convert_to($2::text || coalesce(((v1."id"::int8)::text COLLATE "C"), ''), 'UTF8')) COLLATE "C", v1."id" LIMIT $3) AS t2 ORDER BY t2.c3 COLLATE "C" NULLS FIRST, t2.c1 LIMIT $4`,
			`'acme' 's' 5 101`},
	} {
		p := planned
		p.Program = &plan.Program{Base: tt.base, Stages: tt.stages}
		st, err := sqlgen.Planned(p, postgres.Dialect())
		if args := arguments(st.Args); err != nil || plain(t, st) != tt.want || args != tt.args {
			t.Errorf("%s: %v\n got %s\n     %s\nwant %s\n     %s", tt.name, err, st.Text, args, tt.want, tt.args)
		}
	}
}

// TestPipelineColumns shows how to read the values of a pipeline.
func TestPipelineColumns(t *testing.T) {
	const stages = `[{"$project": {"id": 1, "opened": 1, "next": {"$dateAdd": {"startDate": "$opened", "unit": "day", "amount": 1}}, "up": {"$toUpper": "$status"}}}]`
	for i, tt := range []struct {
		dialect sqlgen.Dialect
		want    string
	}{
		{sqlite.Dialect(), "id integer INTEGER; opened date DATETIME;  date milliseconds milliseconds;  string "},
		{postgres.Dialect(), "id integer int4; opened date timestamptz;  date timestamp;  string text"},
		{mariadb.Dialect(), "id integer int; opened date datetime;  date datetime;  string longtext"},
	} {
		st, err := sqlgen.SQL(pipelinePermit(t, i, "issues", stages), tt.dialect)
		if err != nil {
			t.Fatal(err)
		}
		if got := columnsOf(st); got != tt.want {
			t.Errorf("dialect %s: %s\nwant %s", tt.dialect.Name(), got, tt.want)
		}
	}
	// A column with the declared type milliseconds is not always a date: this one contains integers.
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "t", Table: "t", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, Native: "milliseconds", NotNull: true}, {Name: "day", Type: schema.Day, Native: "DATE"}, {Name: "at", Type: schema.Date, Native: "DATETIME"}}}})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reader, &query.Pipeline{Class: "t", Stages: pipeline(t, `[{"$group": {"_id": "$id", "day": {"$max": "$day"}, "at": {"$max": "$at"}}}, {"$unset": "_id"},
		{"$unionWith": {"coll": "t", "pipeline": [{"$project": {"id": 1}}]}}]`), Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	st, err := sqlgen.SQL(permit, sqlite.Dialect())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := columnsOf(st), " day milliseconds milliseconds day;  date milliseconds milliseconds;  integer "; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if permit, err = p.Read(reader, &query.Pipeline{Class: "t", Stages: pipeline(t, `[{"$limit": 1}]`), Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if st, err = sqlgen.SQL(permit, sqlite.Dialect()); err != nil {
		t.Fatal(err)
	}
	if got, want := columnsOf(st), "id integer milliseconds; day day DATE; at date DATETIME"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// columnsOf describes the columns of a statement: the field, its type, the database's type, and how to read it.
func columnsOf(st sqlgen.Statement) string {
	out := make([]string, len(st.Columns))
	for i, c := range st.Columns {
		out[i] = c.Field.Name + " " + c.Field.Type.String() + " " + c.Field.Native
		if c.Millis {
			out[i] += " milliseconds"
		}
		if c.Day {
			out[i] += " day"
		}
	}
	return strings.Join(out, "; ")
}
