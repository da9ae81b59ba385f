package sqlgen_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/duckdb"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/mariadb"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/postgres"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/sqlite"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// viewed are the databases of TestViews: "apart" is SQLite where a value was too long for the statement that came first.
var viewed = []database{{"sqlite", sqlite.Dialect()}, {"apart", sqlite.Apart(false)}, {"postgresql", postgres.Dialect()}, {"mariadb", mariadb.Dialect()}, {"duckdb", duckdb.Dialect()}}

// viewedNatives are the types of the classes of TestViews in the databases, in the order of viewed.
var viewedNatives = map[schema.Type][5]string{
	schema.String: {"TEXT", "TEXT", "text", "longtext", "VARCHAR"}, schema.Integer: {"INTEGER", "INTEGER", "int8", "bigint", "BIGINT"},
	schema.Boolean: {"BOOLEAN", "BOOLEAN", "bool", "tinyint", "BOOLEAN"}, schema.JSON: {"JSON", "JSON", "jsonb", "longtext", "JSON"},
	schema.Bytes: {"BLOB", "BLOB", "bytea", "longblob", "BLOB"}, schema.Date: {"DATETIME", "DATETIME", "timestamptz", "datetime", "TIMESTAMP"},
}

// The class odd has names that are as long as a column that holds what is stored may be, one longer, and one that is taken.
var fits, longer = strings.Repeat("f", 53), strings.Repeat("l", 54)

// archive returns the policy of TestViews in one of viewed: events belong to the tenant of the person who made them, if they are live by
// conditions on texts, documents and dates that are held as integers; odd and plain have no owner.
func archive(t *testing.T, database int) *policy.Policy {
	t.Helper()
	class := func(name, space, fields string) schema.Class {
		c := schema.Class{Source: "app", Name: name, Space: space, Table: name, Key: []string{"id"}, Converts: true}
		for text := range strings.FieldsSeq("id:integer! " + fields) {
			name, typ, _ := strings.Cut(text, ":")
			f := schema.Field{Name: strings.ReplaceAll(name, "_", " "), NotNull: strings.HasSuffix(typ, "!")}
			for of := range viewedNatives {
				if of.String() == strings.TrimSuffix(typ, "!") {
					f.Type, f.Native = of, viewedNatives[of][database]
				}
			}
			c.Fields = append(c.Fields, f)
		}
		return c
	}
	events := class("events", "", "author:integer! at:integer ms:integer! true:boolean title:string doc:json! raw:bytes team:json born_as_stored:string")
	events.Relations = []schema.Relation{{Fields: []string{"author"}, Target: "people", TargetFields: []string{"id"}}}
	people := class("people", "crm", "org:string name:string! born:integer! notes:json")
	parts := class("parts", "", "share:integer")
	parts.Relations = []schema.Relation{{Fields: []string{"share"}, Target: "shares", TargetFields: []string{"id"}}}
	odd := class("odd", "", "at:integer false:boolean at_as_stored:string "+fits+":integer "+longer+":integer")
	seconds := map[string]schema.Form{"at": schema.EpochSeconds, fits: schema.EpochSeconds, longer: schema.EpochSeconds}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
		"events": {Tenant: &policy.TenantRule{Through: "author"}, Types: map[string]schema.Form{"at": schema.EpochSeconds, "ms": schema.EpochMillis},
			Pointers:  map[string]policy.Pointer{"team": {Class: "people"}},
			Canonical: where(t, `{"title": {"$regex": "^a", "$ne": "ab"}, "doc.gone": null, "at": {"$gte": "2026-01-01T00:00:00Z"}, "true": {"$ne": true}}`)},
		"people": {Tenant: &policy.TenantRule{Field: "org"}, Types: map[string]schema.Form{"born": schema.EpochSeconds}},
		"odd":    {Types: seconds},
		"shares": {Tenant: &policy.TenantRule{Field: "orgs", Contains: true}}, "parts": {Tenant: &policy.TenantRule{Through: "share"}},
	}}, []schema.Class{events, people, odd, class("shares", "", "title:string orgs:json"), parts, class("plain", "", "name:string at:date doc:json!")})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A question is one of TestViews.
type question struct {
	Class                string
	Keys, Include, Order []string
	Where, Pipeline      json.RawMessage
	Part                 string // a piece of this field
	Raw                  bool   // without what makes a record live
	Count                bool
	Prefix               bool   // the longest beginning of the pipeline
	Records              string // the records that have one of two values of this field; "all" for all
}

func (q question) paths(names []string) (out []query.Path) {
	for _, name := range names {
		out = append(out, query.ParsePath(name))
	}
	return out
}

// query returns the question as a query.
func (q question) query(t *testing.T) query.Query {
	switch {
	case q.Pipeline != nil:
		return &query.Pipeline{Class: q.Class, Stages: pipeline(t, string(q.Pipeline)), Limit: 100, Raw: q.Raw}
	case q.Count:
		return &query.Count{Class: q.Class, Where: where(t, string(q.Where)), Raw: q.Raw}
	}
	find := &query.Find{Class: q.Class, Where: where(t, string(q.Where)), Keys: q.paths(q.Keys), Include: q.paths(q.Include), Limit: 10, Raw: q.Raw}
	for _, name := range q.Order {
		down, desc := strings.CutPrefix(name, "-")
		find.Order = append(find.Order, query.Sort{Path: query.ParsePath(down), Desc: desc})
	}
	if q.Part != "" {
		find.Part = &query.Part{Field: q.Part, Offset: 5, Length: 20}
	}
	return find
}

// asked returns the question on a line, and its permit.
func asked(t *testing.T, database int, line string) (question, policy.Permit) {
	t.Helper()
	var q question
	if err := json.Unmarshal([]byte(line), &q); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	permit, err := archive(t, database).Read(reader, q.query(t))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return q, permit
}

// viewSQL returns the statement of a question: its text, its arguments, and what its rows hold.
func viewSQL(t *testing.T, database int, line string) string {
	t.Helper()
	q, permit := asked(t, database, line)
	planned, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	d, done := viewed[database].dialect, ""
	var st sqlgen.Statement
	switch {
	case q.Prefix:
		var n int
		st, n, err = sqlgen.Prefix(&planned, d, 30, 2000)
		done = fmt.Sprintf("; %d of %d stages", n, len(planned.Program.Stages))
	case q.Records == "all":
		st, err = sqlgen.Records(planned.View, d, sqlgen.Part{Limit: 30, Most: 2000})
	case q.Records != "":
		st, err = sqlgen.Records(planned.View, d, sqlgen.Part{Key: q.Records, In: []value.Value{value.OfString("a"), value.OfString("b")}, Limit: 30})
	default:
		st, err = sqlgen.SQL(permit, d)
	}
	if err != nil {
		return fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
	}
	columns := make([]string, len(st.Columns))
	for i, c := range st.Columns {
		columns[i] = strings.Join(append([]string{c.Field.Name + " " + c.Field.Type.String()}, c.Part...), ".")
	}
	return fmt.Sprintf("%s\n            %s\n            %s; order %v; bounded %v by %d%s", st.Text, arguments(st.Args), strings.Join(columns, ", "), st.Order, st.Bounded, st.Most, done)
}

// TestViews shows what questions become whose views have conditions on long values, and fields that the rules declare. A line of
// testdata/views.txt that begins with > is a question.
func TestViews(t *testing.T) {
	shown(t, "testdata/views.txt", viewed, func(database int, question string) string { return viewSQL(t, database, question) })
}

// TestFaultyViews checks that no error is ignored on the way to those statements.
func TestFaultyViews(t *testing.T) {
	golden, err := os.ReadFile("testdata/views.txt")
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for line := range strings.Lines(string(golden)) {
		if text, asks := strings.CutPrefix(strings.TrimSpace(line), "> "); asks {
			for i, d := range viewed[:4] {
				_, permit := asked(t, i, text)
				steps += faulty(t, text, permit, d.dialect)
			}
		}
	}
	if steps < 100 {
		t.Errorf("only %d steps can fail", steps)
	}
}

// TestLayers shows the conditions of views that no rules become: each is refused, or holds for no record.
func TestLayers(t *testing.T) {
	v, err := archive(t, 1).View(identity.Principal{ID: "test", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, "plain", "", false)
	if err != nil {
		t.Fatal(err)
	}
	path := query.Path{"nope"}
	for _, tt := range []struct {
		filter query.Filter
		want   string
	}{
		{query.Never{}, "1=0"},
		{query.Exists{Path: path, Want: true}, "internal_error: no field nope in what the plan filters"},
		{query.And{query.Never{}, query.Not{}}, "invalid_query: compile knows no filter <nil>"},
		{query.Not{Part: query.Compare{}}, "invalid_query: no field of a filter query.Compare is known"},
		{query.Not{Part: query.And{}}, "invalid_query: an empty AND of conditions"},
	} {
		got, err := sqlgen.Layer(sqlite.Apart(false), v, policy.Layer{Filter: tt.filter})
		if err != nil {
			got = fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.filter, got, tt.want)
		}
	}
}

// TestNoPart checks that a part of what can't be written is refused.
func TestNoPart(t *testing.T) {
	_, permit := asked(t, 0, `{"Class": "plain", "Pipeline": [{"$match": {"name": "x"}}]}`)
	planned, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, unknown, beyond := planned, planned, planned
	away, odd := *planned.Program, *planned.Program
	away.From, odd.Stages = 7, append(slices.Clone(odd.Stages), nil)
	elsewhere.Program, unknown.Program = &away, &odd
	quoted, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"plain": {Canonical: query.Exists{Path: query.Path{"doc", `"`}, Want: true}}}},
		[]schema.Class{*planned.View.Class()})
	if err != nil {
		t.Fatal(err)
	}
	if permit, err = quoted.Read(reader, &query.Pipeline{Class: "plain", Stages: pipeline(t, `[{"$limit": 1}]`), Limit: 1}); err == nil {
		beyond, err = permit.Plan()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		make func() (sqlgen.Statement, int, error)
		want problem.Code
	}{
		{"no dialect", func() (sqlgen.Statement, int, error) { return sqlgen.Prefix(&planned, nil, 1, 1) }, problem.Internal},
		{"no view", func() (sqlgen.Statement, int, error) { return sqlgen.Prefix(&elsewhere, sqlite.Dialect(), 1, 1) }, problem.Internal},
		{"a stage that isn't one", func() (sqlgen.Statement, int, error) { return sqlgen.Prefix(&unknown, sqlite.Dialect(), 1, 1) }, problem.Internal},
		{"a view that can't be written", func() (sqlgen.Statement, int, error) { return sqlgen.Prefix(&beyond, sqlite.Dialect(), 1, 1) }, problem.Unsupported},
		{"records in no dialect", func() (sqlgen.Statement, int, error) {
			st, err := sqlgen.Records(planned.View, nil, sqlgen.Part{})
			return st, 0, err
		}, problem.Internal},
	} {
		if st, n, err := tt.make(); problem.CodeOf(err) != tt.want || st.Text != "" || n != 0 {
			t.Errorf("%s: %q, %d, %v; want %s", tt.name, st.Text, n, err, tt.want)
		}
	}
}
