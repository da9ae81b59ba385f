package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/value"
)

var suite = database.Database{
	Kind:    sourcetest.SQLite,
	Dialect: sqlite.Dialect(),
	Tables: sourcetest.Limits{
		sourcetest.NaN:           "it stores a NaN as null",
		sourcetest.ExactDecimals: "its numbers are 64-bit integers and doubles",
		sourcetest.AnyKey:        "its JSON paths have no escapes",
		sourcetest.Microseconds:  "its date functions count milliseconds",
		sourcetest.Lists:         "it keeps them as JSON",
	},
	Pipelines: pipelines.Limits{
		pipelines.Decimals: "its numbers are 64-bit integers and doubles",
		pipelines.Digits:   "its numbers are 64-bit integers and doubles",
	},
	Fresh: func(t testing.TB) string { return filepath.Join(t.TempDir(), "app.db") },
	Driver: func(at string) (string, string) {
		return "sqlite", "file:" + at + "?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)"
	},
	Unchecked: "PRAGMA foreign_keys = OFF",
	Open:      func(ctx context.Context, name, at string) (database.Source, error) { return sqlite.Open(ctx, name, at) },
	Writable: func(ctx context.Context, at string) (writing.Writable, error) {
		s, err := sqlite.Open(ctx, "app", at)
		if err != nil {
			return nil, err
		}
		return s.Writable(ctx)
	},
}

func TestMain(m *testing.M) { suite.Main(m) }

func TestQueries(t *testing.T)                { suite.TestQueries(t) }
func TestPoints(t *testing.T)                 { suite.TestPoints(t, "JSON") }
func TestLarge(t *testing.T)                  { suite.TestLarge(t) }
func TestEnding(t *testing.T)                 { suite.TestEnding(t) }
func TestMasks(t *testing.T)                  { suite.TestMasks(t) }
func TestDifferential(t *testing.T)           { suite.TestDifferential(t) }
func TestStatements(t *testing.T)             { suite.TestStatements(t) }
func TestStatementsDifferential(t *testing.T) { suite.TestStatementsDifferential(t, nil) }
func TestPipelines(t *testing.T)              { suite.TestPipelines(t) }
func TestPipelinesDifferential(t *testing.T)  { suite.TestPipelinesDifferential(t) }
func TestGoldenPipelines(t *testing.T)        { suite.TestGoldenPipelines(t) }
func TestKeywords(t *testing.T)               { suite.TestKeywords(t) }
func TestWriting(t *testing.T)                { suite.TestWriting(t) }
func TestKilled(t *testing.T)                 { suite.TestKilled(t) }

func TestExplain(t *testing.T) {
	suite.TestExplain(t, []database.Explanation{
		{Pipeline: database.ByIndex, Parts: []string{"USING COVERING INDEX by_team (team=?)"}},
		{Pipeline: database.ByTime, Parts: []string{"USING COVERING INDEX by_made (made>? AND made<?)"}},
		{Pipeline: database.ByScan, Parts: []string{"SCAN t"}},
		{Pipeline: database.Joined, Parts: []string{"SEARCH t USING INDEX sqlite_autoindex_users_1 (id=?)", "\n  CORRELATED", "\n    SEARCH t USING INDEX by_team (team=?)"}},
	})
}

// TestIndexes uses no index for times. SQLite stores them as texts and numbers in many forms, which statements
// compare as times.
func TestIndexes(t *testing.T) {
	suite.TestIndexes(t, "sqlite_autoindex_orders_1", "", `INSERT INTO orders WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) SELECT i, 'org' || i % 900, i % 900, 'c' || i % 900, strftime('%Y-%m-%dT%H:%M:%SZ', 1767225600 + i % 900 * 60, 'unixepoch'), i % 900 FROM n`, `ANALYZE`)
}

func TestPreviews(t *testing.T) {
	suite.TestPreviews(t, []database.Preview{
		{Name: "a check of several fields", Statements: []string{`CREATE TABLE a (id INT PRIMARY KEY, b INT, [c "d"] INT, abs INT, CONSTRAINT apart CHECK (abs("C ""D""") + 0 < b /* abs */))`},
			Data: `{"id":"3","b":1,"c \"d\"":2}`, Want: `{"id":3,"b":1,"c \"d\"":2,"abs":null} a constraint on c "d", b doesn't hold: apart`},
		{Name: "a check without a name", Statements: []string{`CREATE TABLE a (id INT PRIMARY KEY, b INT CHECK (b > 0 OR  B + id > 5), CHECK (id > 0))`},
			Data: `{"id":"3","b":0}`, Want: `{"id":3,"b":0} a constraint on b, id doesn't hold: b > 0 OR  B + id > 5`},
		{Name: "late key", Statements: []string{`CREATE TABLE b (id INT PRIMARY KEY)`, `CREATE TABLE a (id INT PRIMARY KEY, b INT REFERENCES b DEFERRABLE INITIALLY DEFERRED)`},
			Data: `{"id":"1","b":"2"}`, Want: `{"id":1,"b":2} a field leads to no record`},
		{Name: "strict types", Statements: []string{`CREATE TABLE a (id INT PRIMARY KEY, b ANY, c TEXT) STRICT`},
			Data: `{"id":"1","b":"x","c":"y"}`, Want: `{"id":1,"b":"x","c":"y"} `},
		{Name: "dates as they are", Statements: []string{`CREATE TABLE a (id INT PRIMARY KEY, at DATETIME, CHECK (typeof(at) = 'integer'))`, `INSERT INTO a VALUES (1, 1700000000)`},
			Data: `{"id":"2","at":"2026-01-01T00:00:00Z"}`, Want: `{"id":2,"at":"2026-01-01T00:00:00Z"} `},
	})
}

// TestWordsOfTypes checks that a declared type is not mistaken for the name that sqlgen uses for computed dates.
func TestWordsOfTypes(t *testing.T) {
	d := sourcetest.Dataset{Tables: []sourcetest.Table{{Name: "t", Key: []string{"id"}, Columns: []sourcetest.Column{{Name: "id", Is: schema.Integer}, {Name: "took", Is: schema.Any, SQLite: "milliseconds"}},
		Rows: `[1,250]`}}}
	src := suite.Load(t, d)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]query.Query{"find": &query.Find{Class: "t", Limit: 1}, "pipeline": &query.Pipeline{Class: "t", Stages: []query.Stage{query.Limit{N: 1}}, Limit: 1}} {
		permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, q)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := sourcetest.Collect(t.Context(), src, permit)
		if err != nil {
			t.Fatal(err)
		}
		if got := rows[0][1]; got.Kind() != value.Int || got.Int() != 250 {
			t.Errorf("%s: %s %s, want 250", name, got.Kind(), got)
		}
	}
}

// TestNative runs statements of an owner. An SQLite file is opened read-only.
func TestNative(t *testing.T) {
	suite.TestNative(t, [2]string{"column1", "column2"}, "SELECT load_extension('x') AS n", "SELECT writefile('x', 'y') AS n")
}
