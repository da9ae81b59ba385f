package sqldriver_test

import (
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
	"github.com/jackc/pgx/v5"
)

// postgresLimits are what PostgreSQL can't do.
var postgresLimits = sourcetest.Limits{
	sourcetest.Untyped:    "its columns have types",
	sourcetest.LongRepeat: "its regular expressions repeat at most 255 times",
}

func openPostgresSuite(t *testing.T, d sourcetest.Dataset) source.Source {
	t.Helper()
	url := testservices.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range d.Script(t, sqlgen.PostgreSQL) {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%v in %s", err, statement)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := sqldriver.OpenPostgres(t.Context(), "suite", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPostgresSuite(t *testing.T) {
	sourcetest.Run(t, openPostgresSuite, postgresLimits)
}

func TestPostgresLarge(t *testing.T) { large.Run(t, openPostgresSuite) }

func TestPostgresMasks(t *testing.T) { masks.Run(t, openPostgresSuite, postgresLimits) }

func TestPostgresDifferential(t *testing.T) {
	sourcetest.Differential(t, openPostgresSuite, postgresLimits, oracle, func(p policy.Permit) string { return statement(p, sqlgen.PostgreSQL) })
}

func postgresTarget() pipelines.Target {
	return pipelines.Target{Open: openPostgresSuite, Tables: postgresLimits, Limits: nil, Oracle: oracle,
		Show: func(p policy.Permit) string { return statement(p, sqlgen.PostgreSQL) }}
}

func TestPostgresPipelines(t *testing.T) {
	pipelines.Run(t, postgresTarget())
}

func TestPostgresPipelinesDifferential(t *testing.T) {
	pipelines.Differential(t, postgresTarget())
}
