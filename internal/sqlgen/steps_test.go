package sqlgen_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// faulty checks that an error in any step ends the compilation of a permit and is returned. It returns the number of
// steps that can fail.
func faulty(t *testing.T, what string, permit policy.Permit, d sqlgen.Dialect) int {
	t.Helper()
	fault := errors.New("this step fails")
	for n := 1; ; n++ {
		st, reached, err := sqlgen.Faulty(permit, d, n, fault)
		if !reached {
			return n - 1
		}
		if !errors.Is(err, fault) || st.Text != "" {
			t.Errorf("%s, dialect %s: step %d fails, and it becomes %q, %v", what, d.Name(), n, st.Text, err)
		}
	}
}

// TestFaults checks that no error is ignored. A condition that couldn't be written must not be missing from a
// statement. The test uses the queries of the other tests.
func TestFaults(t *testing.T) {
	golden, err := os.ReadFile("testdata/pipelines.txt")
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for line := range strings.Lines(string(golden)) {
		if question, asks := strings.CutPrefix(strings.TrimSpace(line), "> "); asks {
			class, stages, _ := strings.Cut(question, " ")
			for i, d := range databases {
				steps += faulty(t, question, pipelinePermit(t, i, class, stages), d.dialect)
			}
		}
	}
	selects, err := os.ReadFile("testdata/selects.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(selects)) {
		if question, asks := strings.CutPrefix(strings.TrimSpace(line), "> "); asks {
			for i, d := range databases {
				steps += faulty(t, question, selectPermit(t, i, question), d.dialect)
			}
		}
	}
	tenants := map[string]policy.ClassRule{"users": {Tenant: &policy.TenantRule{Field: "org"}},
		"posts": {Tenant: &policy.TenantRule{Through: "author"}, Canonical: where(t, `{"deleted":{"$ne":true}}`)}}
	for _, d := range dialects {
		for _, tt := range whereRows {
			steps += faulty(t, tt.where, permitted(t, d, nil, &query.Count{Class: "things", Where: where(t, tt.where)}, nil), d)
		}
		for _, tt := range statementRows {
			steps += faulty(t, tt.name, permitted(t, d, tenants, tt.query, tt.at), d)
		}
		down := &query.Find{Class: "orgs", Limit: 1, Order: []query.Sort{{Path: query.Path{"name"}, Desc: true}}}
		steps += faulty(t, "after", permitted(t, d, nil, down, &policy.Position{After: []value.Value{value.OfString("a"), value.OfString("b")}}), d)
	}
	if steps < 500 {
		t.Errorf("only %d steps can fail", steps)
	}
}

// TestFaultySearch does the same as TestFaults for a search and for a condition before the search.
func TestFaultySearch(t *testing.T) {
	class := schema.Class{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"}, Text: []schema.TextIndex{{Name: "words", Key: "id", Fields: []string{"title"}}},
		Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true}, {Name: "title", Type: schema.String, Native: "TEXT"}}}
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{class})
	if err != nil {
		t.Fatal(err)
	}
	words, err := literals.ParseSearch("crash", "")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reader, &query.Find{Class: "notes", Search: words, Where: where(t, `{"title":"x"}`), Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if n := faulty(t, "search", permit, sqlite.Dialect()); n != 2 {
		t.Errorf("%d steps can fail, want 2", n)
	}
}
