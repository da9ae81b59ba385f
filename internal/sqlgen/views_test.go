package sqlgen_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
)

// viewed are the databases of TestViews. "apart" is SQLite that computes views separately, as it does after a value
// that was too long.
var viewed = []dialecttest.Viewed{
	{Name: "sqlite", Dialect: sqlite.Dialect(), Natives: inSQLite}, {Name: "apart", Dialect: apart{sqlite.Dialect()}, Natives: inSQLite},
	{Name: "postgresql", Dialect: postgres.Dialect(), Natives: map[schema.Type]string{schema.String: "text", schema.Integer: "int8", schema.Boolean: "bool", schema.JSON: "jsonb",
		schema.Bytes: "bytea", schema.Date: "timestamptz"}},
	{Name: "mariadb", Dialect: mariadb.Dialect(), Natives: map[schema.Type]string{schema.String: "longtext", schema.Integer: "bigint", schema.Boolean: "tinyint",
		schema.JSON: "longtext", schema.Bytes: "longblob", schema.Date: "datetime"}},
}

var inSQLite = map[schema.Type]string{schema.String: "TEXT", schema.Integer: "INTEGER", schema.Boolean: "BOOLEAN", schema.JSON: "JSON", schema.Bytes: "BLOB", schema.Date: "DATETIME"}

// apart is a dialect that limits the size of values that the condition of a view may read.
type apart struct{ sqlgen.Dialect }

func (apart) Bounds() (copied, read int) { return 4 << 20, 40 << 20 }

// TestViews shows the statements for questions whose views have conditions on long values, and for fields that the
// rules declare. A line of testdata/views.txt that begins with > is a question.
func TestViews(t *testing.T) {
	dialecttest.Views(t, "testdata/views.txt", viewed)
}

// TestFaultyViews checks that no error is ignored while the statements of TestViews are written.
func TestFaultyViews(t *testing.T) {
	golden, err := os.ReadFile("testdata/views.txt")
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for line := range strings.Lines(string(golden)) {
		if text, asks := strings.CutPrefix(strings.TrimSpace(line), "> "); asks {
			for _, d := range viewed {
				permit := d.Permit(t, text)
				steps += faulty(t, text, permit, d.Dialect)
			}
		}
	}
	if steps < 100 {
		t.Errorf("only %d steps can fail", steps)
	}
}

// TestLayers shows conditions of views that no rule produces. Each is refused or matches no record.
func TestLayers(t *testing.T) {
	v, err := viewed[1].Archive(t).View(identity.Principal{ID: "test", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, "plain", "", false)
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
		got, err := sqlgen.Layer(apart{sqlite.Dialect()}, v, policy.Layer{Filter: tt.filter})
		if err != nil {
			got = fmt.Sprintf("%s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.filter, got, tt.want)
		}
	}
}

// TestNoPart checks that sqlgen refuses a part in a form that can't be written.
func TestNoPart(t *testing.T) {
	permit := viewed[0].Permit(t, `{"Class": "plain", "Pipeline": [{"$match": {"name": "x"}}]}`)
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
