package mariadb_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

var suite = database.Database{
	Kind:    sourcetest.MySQL,
	Dialect: mariadb.Dialect(),
	Tables: sourcetest.Limits{
		sourcetest.Untyped:     "its columns have types",
		sourcetest.NaN:         "it stores none",
		sourcetest.Infinities:  "it stores none",
		sourcetest.Lists:       "it has none",
		sourcetest.OpenRepeats: "its regular expressions go back and try again, up to a limit",
	},
	Pipelines: pipelines.Limits{
		pipelines.Reduce:     "it has no recursion inside of an expression",
		pipelines.FindAll:    "it finds the first part that an expression matches, and no others",
		pipelines.Digits:     "its decimals have 65 digits; others are null",
		pipelines.Spread:     "its decimals have 65 digits",
		pipelines.Correlated: "its derived tables see nothing of the statement around them",
	},
	Statements: statements.Limits{"Around": "it has no lateral derived tables: a query inside of another can't group by a value of that one"},
	Fresh:      services.MariaDB,
	Driver: func(at string) (string, string) {
		u, err := url.Parse(at)
		if err != nil {
			return "mysql", at
		}
		password, _ := u.User.Password()
		return "mysql", u.User.Username() + ":" + password + "@tcp(" + u.Host + ")" + u.Path + "?clientFoundRows=true&charset=utf8mb4"
	},
	Open: func(ctx context.Context, name, at string) (database.Source, error) {
		return mariadb.Open(ctx, name, at)
	},
	Writable: func(ctx context.Context, at string) (writing.Writable, error) {
		s, err := mariadb.Open(ctx, "app", at)
		if err != nil {
			return nil, err
		}
		return s.Writable(ctx, "")
	},
}

func TestMain(m *testing.M) { suite.Main(m) }

func TestQueries(t *testing.T)                { suite.TestQueries(t) }
func TestPoints(t *testing.T)                 { suite.TestPoints(t, "json") }
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
		{Pipeline: database.ByIndex, Parts: []string{"select_type", "key", "| by_team | "}},
		{Pipeline: database.ByTime, Parts: []string{"range", "| by_made | "}},
		{Pipeline: database.ByScan, Parts: []string{"ALL", "900"}},
		{Pipeline: database.Joined, Parts: []string{"PRIMARY", "const", "SUBQUERY"}},
	}, `CREATE TABLE users (id int PRIMARY KEY, team int NOT NULL, name varchar(20), made int)`, `CREATE INDEX by_team ON users (team)`, `CREATE INDEX by_made ON users (made)`,
		`INSERT INTO users SELECT seq, seq % 300, 'u', 1767225600 + seq * 86400 FROM seq_1_to_900`, `ANALYZE TABLE users`)
}

func TestIndexes(t *testing.T) {
	suite.TestIndexes(t, "PRIMARY", "by_placed", `INSERT INTO orders SELECT seq, concat('org', seq % 900), seq % 900, concat('c', seq % 900), '2026-01-01' + INTERVAL seq % 900 MINUTE, seq % 900 FROM seq_1_to_9000`,
		`ANALYZE TABLE orders`)
}

func TestPreviews(t *testing.T) {
	suite.TestPreviews(t, []database.Preview{
		{Name: "a check of several fields", Statements: []string{"CREATE TABLE a (id int PRIMARY KEY, b int, `c d` int, abs int, CONSTRAINT apart CHECK (abs(`c d`) + 0 < B))"},
			Data: `{"id":"3","b":1,"c d":2}`, Want: `{"id":3,"b":1,"c d":2,"abs":null} a constraint on c d, b doesn't hold: apart`},
		{Name: "a check without a name", Statements: []string{`CREATE TABLE a (id int PRIMARY KEY, b int, CHECK (id + b > 5))`},
			Data: `{"id":"3","b":0}`, Want: `{"id":3,"b":0} a constraint on id, b doesn't hold: CONSTRAINT_1`},
		{Name: "a check of a column", Statements: []string{`CREATE TABLE a (id int PRIMARY KEY, b int CHECK (b > 0 OR b + id > 5))`},
			Data: `{"id":"3","b":0}`, Want: `{"id":3,"b":0} a constraint on b, id doesn't hold`},
		{Name: "engine", Statements: []string{`CREATE TABLE a (id int PRIMARY KEY) ENGINE=MyISAM`},
			Data: `{"id":"1"}`, Want: `unsupported_by_source: a can't be written to: its storage engine has no transactions`},
	})
}

// TestTimeouts checks that the server stops a statement by itself soon after the deadline of its context.
func TestTimeouts(t *testing.T) {
	suite.TestTimeouts(t, map[time.Duration]string{0: "300", 9500 * time.Millisecond: "11", 29500 * time.Millisecond: "31", 24*time.Hour - time.Second/2: "86401"},
		`CREATE FUNCTION setting() RETURNS text RETURN @@session.max_statement_time`, `CREATE VIEW setting AS SELECT setting() AS s`,
		`CREATE FUNCTION nap() RETURNS int RETURN SLEEP(20)`, `CREATE VIEW slow AS SELECT nap() AS nap`)
}

// TestNative runs statements of an owner. Nothing that they call can write.
func TestNative(t *testing.T) {
	suite.TestNative(t, [2]string{"1", "x;y"}, "SELECT nextval(none) AS n")
	src := suite.OpenWith(t, "CREATE TABLE log (n int)", "CREATE FUNCTION note() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO log VALUES (1); RETURN 1; END")
	if got := database.AnswerNative(t, src, "SELECT note() AS n", "n integer"); !strings.HasPrefix(got, "!upstream_error: ") || !strings.Contains(got, "1792") {
		t.Errorf("a function that writes: %s", got)
	}
	if got := database.AnswerNative(t, src, "SELECT count(*) AS n FROM log", "n integer"); got != "0" {
		t.Errorf("%s records were written", got)
	}
}
