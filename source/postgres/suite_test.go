package postgres_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // for database/sql

	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/statements"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/writing"
)

var suite = database.Database{
	Kind:    sourcetest.PostgreSQL,
	Dialect: postgres.Dialect(),
	Tables:  limits(),
	Fresh:   services.Postgres,
	Driver:  func(at string) (string, string) { return "pgx", at },
	Open: func(ctx context.Context, name, at string) (database.Source, error) {
		return postgres.Open(ctx, name, at)
	},
	Writable: func(ctx context.Context, at string) (writing.Writable, error) {
		s, err := postgres.Open(ctx, "app", at)
		if err != nil {
			return nil, err
		}
		return s.Writable(ctx, "")
	},
}

// limits returns the features that the tested version, or every version, lacks.
func limits() sourcetest.Limits {
	out := sourcetest.Limits{
		sourcetest.Untyped:    "its columns have types",
		sourcetest.LongRepeat: "its regular expressions repeat at most 255 times",
	}
	if services.PostgresMajor() < 14 {
		out[sourcetest.FarDecimals] = "its decimals are never infinite"
	}
	return out
}

func TestMain(m *testing.M) { suite.Main(m) }

func TestQueries(t *testing.T)               { suite.TestQueries(t) }
func TestHostilePoints(t *testing.T)         { suite.TestPoints(t, "jsonb") }
func TestLarge(t *testing.T)                 { suite.TestLarge(t) }
func TestEnding(t *testing.T)                { suite.TestEnding(t) }
func TestMasks(t *testing.T)                 { suite.TestMasks(t) }
func TestDifferential(t *testing.T)          { suite.TestDifferential(t) }
func TestStatements(t *testing.T)            { suite.TestStatements(t) }
func TestPipelines(t *testing.T)             { suite.TestPipelines(t) }
func TestPipelinesDifferential(t *testing.T) { suite.TestPipelinesDifferential(t) }
func TestGoldenPipelines(t *testing.T)       { suite.TestGoldenPipelines(t) }
func TestKeywords(t *testing.T)              { suite.TestKeywords(t) }
func TestWriting(t *testing.T)               { suite.TestWriting(t) }
func TestKilled(t *testing.T)                { suite.TestKilled(t) }

func TestExplain(t *testing.T) {
	suite.TestExplain(t, []database.Explanation{
		{Pipeline: database.ByIndex, Parts: []string{"by_team", "rows=3", "team = '7'"}},
		{Pipeline: database.ByTime, Parts: []string{"by_made", "made >= '1767398400'"}},
		{Pipeline: database.ByScan, Parts: []string{"Seq Scan on users", "rows=900"}},
		{Pipeline: database.Joined, Parts: []string{"users_pkey", "id = '7'", "SubPlan", "by_team"}},
	})
}

func TestIndexes(t *testing.T) {
	suite.TestIndexes(t, "orders_pkey", "by_placed", `INSERT INTO orders WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000) SELECT i, 'org' || i % 900, i % 900, 'c' || i % 900, timestamp '2026-01-01' + i % 900 * interval '1 minute', i % 900 FROM n`, `ANALYZE`)
}

func TestPreviews(t *testing.T) {
	outside := `invalid_argument: b does not take this value: it is not of the type of the field, or out of its range`
	if services.PostgresMajor() < 14 { // these versions find the error only when they write the record
		outside = `{"id":3,"b":-2} a constraint on the record doesn't hold: positive_check`
	}
	suite.TestPreviews(t, []database.Preview{
		{Name: "late key", Statements: []string{`CREATE TABLE b (id int PRIMARY KEY)`, `CREATE TABLE a (id int PRIMARY KEY, b int REFERENCES b DEFERRABLE INITIALLY DEFERRED)`},
			Data: `{"id":"1","b":"2"}`, Want: `{"id":1,"b":2} b leads to no record`},
		{Name: "exclusion", Statements: []string{`CREATE TABLE a (id int PRIMARY KEY, b int, EXCLUDE USING btree (b WITH =))`, `INSERT INTO a VALUES (1, 2)`},
			Data: `{"id":"3","b":2}`, Want: `{"id":3,"b":2} it is in conflict with another record in b`},
		{Name: "domain", Statements: []string{`CREATE DOMAIN positive AS int CHECK (VALUE + 0 > 0)`, `CREATE TABLE a (id int PRIMARY KEY, b positive)`},
			Data: `{"id":"3","b":-2}`, Want: outside},
		{Name: "hidden field that is needed", Statements: []string{`CREATE TABLE a (id int PRIMARY KEY, password_hash text NOT NULL)`},
			Data: `{"id":"3"}`, Want: `{"id":3} password_hash can't be null`},
	})
}

// TestAccounts checks that the reading account can't write. Another account can. If that account has no right to
// create the marker table, the error contains the statement for the operator.
func TestAccounts(t *testing.T) {
	at := services.Postgres(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	name := "reader_" + filepath.Base(u.Path)
	outside := suite.Outside(t, at, `REVOKE CREATE ON SCHEMA public FROM PUBLIC`, `CREATE TABLE a (id int PRIMARY KEY)`, `CREATE ROLE `+name+` LOGIN PASSWORD 'reader'`,
		`GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+name)
	t.Cleanup(func() {
		outside.Exec(`DROP OWNED BY ` + name)
		outside.Exec(`DROP ROLE ` + name)
	})
	u.User = url.UserPassword(name, "reader")
	s, err := postgres.Open(t.Context(), "app", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Writable(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "Make it by hand: CREATE TABLE IF NOT EXISTS \"public\".\"bailiwick_applied\" (") || strings.Contains(err.Error(), "reader:reader") {
		t.Errorf("an account that may not make the table: %v", err)
	}
	w, err := s.Writable(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := database.PreviewCreate(t, w, `{"id":"1"}`); got != `{"id":1} ` {
		t.Error(got)
	}
	if _, err := outside.Exec(`GRANT SELECT ON bailiwick_applied TO ` + name); err != nil {
		t.Fatal(err)
	}
	reader, err := s.Writable(t.Context(), "") // the table exists now
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := database.PreviewCreate(t, reader, `{"id":"1"}`); got != `{"id":1} the source's account may not write it` {
		t.Error(got)
	}
}

// TestTimeouts checks that the server stops a statement by itself soon after the deadline of its context.
func TestTimeouts(t *testing.T) {
	suite.TestTimeouts(t, map[time.Duration]string{0: "5min", 9500 * time.Millisecond: "11s", 29500 * time.Millisecond: "31s", 24*time.Hour - time.Second/2: "86401s"},
		"CREATE VIEW setting AS SELECT current_setting('statement_timeout') AS s", "CREATE VIEW slow AS SELECT pg_sleep(20)::text AS nap")
}

// TestStopsEarly cancels readings at many moments of their start.
func TestStopsEarly(t *testing.T) {
	at := services.Postgres(t)
	outside := suite.Outside(t, at, "CREATE VIEW slow AS SELECT pg_sleep(30)::text AS nap")
	src, err := postgres.Open(t.Context(), "app", at)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	database.StopEarly(t, src, 40) // each takes 100 ms, because the driver waits for the server
	var n int
	err = outside.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'").Scan(&n)
	if err != nil || n != 0 {
		t.Errorf("%d statements still run, %v", n, err)
	}
}

// TestStatementsRaw compares the answers of the SQL corpus with PostgreSQL's own answers.
func TestStatementsRaw(t *testing.T) {
	if major := services.PostgresMajor(); major < 15 {
		t.Skipf("LEFT OUT: PostgreSQL %d itself answers some statements in another way, as the newer ones are answered by the source", major)
	}
	var raw rawStatements
	opened := suite
	opened.Fresh = raw.fresh
	statements.Raw(t, opened.Load, raw.ask)
}

// TestStatementsDifferential compares the answers of random statements with the oracle and with PostgreSQL's own
// answers.
func TestStatementsDifferential(t *testing.T) {
	var raw rawStatements
	opened := suite
	opened.Fresh = raw.fresh
	opened.TestStatementsDifferential(t, raw.ask)
}

// rawStatements queries the database of a source on another connection.
type rawStatements struct{ db *sql.DB }

func (r *rawStatements) fresh(t testing.TB) string {
	at := services.Postgres(t)
	r.db = suite.Outside(t, at)
	r.db.SetMaxOpenConns(1)
	if _, err := r.db.Exec("SET timezone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	return at
}

func (r *rawStatements) ask(text string) ([]string, error) {
	rows, err := r.db.Query("SELECT row_to_json(whole_row)::text FROM (" + text + ") AS whole_row")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, rows.Err()
}

// TestNative runs statements of an owner. Nothing that they call can write, or change settings of the session.
func TestNative(t *testing.T) {
	suite.TestNative(t, [2]string{"column1", "column2"},
		"SELECT nextval('none') AS n",
		"SELECT 1 AS n FROM set_config('transaction_read_only', 'off', true)",
		"SELECT 1 AS n FROM sales FOR SHARE",
		"TABLE sales")
	src := suite.OpenWith(t, "CREATE TABLE log (n int)", "CREATE FUNCTION note() RETURNS int LANGUAGE sql AS 'INSERT INTO log VALUES (1) RETURNING n'",
		"CREATE FUNCTION place() RETURNS text LANGUAGE sql AS $$SELECT current_setting('search_path')$$")
	if got := database.AnswerNative(t, src, "SELECT note() AS n", "n integer"); !strings.HasPrefix(got, "!upstream_error: SQLSTATE 25006") {
		t.Errorf("a function that writes: %s", got)
	}
	before := database.AnswerNative(t, src, "SELECT place() AS n", "n string")
	if got := database.AnswerNative(t, src, "SELECT set_config('search_path', 'elsewhere', false) AS n", "n string"); got != `"elsewhere"` {
		t.Error(got)
	}
	for range 5 {
		if got := database.AnswerNative(t, src, "SELECT place() AS n", "n string"); got != before {
			t.Errorf("the search_path is %s, want %s", got, before)
		}
	}
}
