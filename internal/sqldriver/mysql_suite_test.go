package sqldriver_test

import (
	"database/sql"
	"net/url"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sourcetest"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/large"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/masks"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/pipelines"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
)

// mysqlLimits are what MariaDB can't do.
var mysqlLimits = sourcetest.Limits{
	sourcetest.Untyped:     "its columns have types",
	sourcetest.NaN:         "it stores none",
	sourcetest.Infinities:  "it stores none",
	sourcetest.Lists:       "it has none",
	sourcetest.OpenRepeats: "its regular expressions go back and try again, up to a limit",
}

// mysqlPipelineLimits are the parts of pipelines that MariaDB can't do.
var mysqlPipelineLimits = pipelines.Limits{
	pipelines.Reduce:     "it has no recursion inside of an expression",
	pipelines.Digits:     "its decimals have 65 digits; others are null",
	pipelines.Spread:     "its decimals have 65 digits",
	pipelines.Correlated: "its derived tables see nothing of the statement around them",
}

// mariaDB returns the URL of a new database and one connection to it.
func mariaDB(t *testing.T) (string, *sql.DB) {
	t.Helper()
	u := testservices.MariaDB(t)
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := parsed.User.Password()
	db, err := sql.Open("mysql", parsed.User.Username()+":"+password+"@tcp("+parsed.Host+")"+parsed.Path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return u, db
}

func openMySQLSuite(t *testing.T, d sourcetest.Dataset) source.Source {
	t.Helper()
	u, db := mariaDB(t)
	for _, statement := range d.Script(t, sqlgen.MySQL) {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
	s, err := sqldriver.OpenMySQL(t.Context(), "suite", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestMySQLSuite(t *testing.T) {
	sourcetest.Run(t, openMySQLSuite, mysqlLimits)
}

func TestMySQLLarge(t *testing.T) { large.Run(t, openMySQLSuite) }

func TestMySQLMasks(t *testing.T) { masks.Run(t, openMySQLSuite, mysqlLimits) }

func TestMySQLDifferential(t *testing.T) {
	sourcetest.Differential(t, openMySQLSuite, mysqlLimits, oracle, func(p policy.Permit) string { return statement(p, sqlgen.MySQL) })
}

func mysqlTarget() pipelines.Target {
	return pipelines.Target{Open: openMySQLSuite, Tables: mysqlLimits, Limits: mysqlPipelineLimits, Oracle: oracle,
		Show: func(p policy.Permit) string { return statement(p, sqlgen.MySQL) }}
}

func TestMySQLPipelines(t *testing.T) {
	pipelines.Run(t, mysqlTarget())
}

func TestMySQLPipelinesDifferential(t *testing.T) {
	pipelines.Differential(t, mysqlTarget())
}
