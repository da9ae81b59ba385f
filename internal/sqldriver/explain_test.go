package sqldriver_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/jackc/pgx/v5"
)

// explainTables are many users of few teams.
var explainTables = []string{`CREATE TABLE users (id int PRIMARY KEY, team int NOT NULL, name varchar(20))`, `CREATE INDEX by_team ON users (team)`,
	`INSERT INTO users WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) SELECT i, i % 300, 'u' FROM n`, `ANALYZE`}

// explained checks that the database's explanation of queries contains parts, in order.
func explained(t *testing.T, src interface {
	source.Source
	source.Explainer
}, tests []explainTest) {
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	var permit policy.Permit
	for _, tt := range tests {
		doc, err := value.Read([]byte(tt.pipeline), 0)
		if err != nil {
			t.Fatal(err)
		}
		stages, err := query.ParsePipeline(doc, "/pipeline")
		if err != nil {
			t.Fatal(err)
		}
		permit, err = p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Pipeline{Class: "users", Stages: stages, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		got, err := src.Explain(t.Context(), permit)
		if err != nil {
			t.Fatalf("%s: %v, %v", tt.pipeline, err, problem.Of(err).Err)
		}
		rest := got
		for _, part := range tt.parts {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: want %q in\n%s", tt.pipeline, tt.parts, got)
				break
			}
			rest = after
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := src.Explain(ctx, permit); problem.CodeOf(err) != problem.Cancelled {
		t.Errorf("when its context has ended: %v, want %s", err, problem.Cancelled)
	}
	if _, err := src.Explain(t.Context(), policy.Permit{}); err == nil {
		t.Error("the zero permit was explained")
	}
}

type explainTest struct {
	pipeline string
	parts    []string
}

const (
	byIndex = `[{"$match": {"team": 7}}, {"$count": "n"}]`
	byScan  = `[{"$match": {"name": "u"}}, {"$sortByCount": "$team"}]`
	joined  = `[{"$match": {"id": 7}}, {"$lookup": {"from": "users", "localField": "team", "foreignField": "team", "as": "mates"}}, {"$limit": 5}]`
)

func TestSQLiteExplain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range explainTables {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	src, err := sqldriver.OpenSQLite(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	explained(t, src, []explainTest{{byIndex, []string{"USING COVERING INDEX by_team (team=?)"}}, {byScan, []string{"SCAN t"}},
		{joined, []string{"SEARCH t USING INDEX sqlite_autoindex_users_1 (id=?)", "\n  CORRELATED", "\n    SEARCH t USING INDEX by_team (team=?)"}}})
}

func TestPostgresExplain(t *testing.T) {
	url := testservices.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range explainTables {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	conn.Close(t.Context())
	src, err := sqldriver.OpenPostgres(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	explained(t, src, []explainTest{{byIndex, []string{"by_team", "rows=3", "team = '7'"}}, {byScan, []string{"Seq Scan on users", "rows=900"}},
		{joined, []string{"users_pkey", "id = '7'", "SubPlan", "by_team"}}})
}

func TestMySQLExplain(t *testing.T) {
	src, _, _ := openMySQL(t, []string{explainTables[0], explainTables[1],
		`INSERT INTO users SELECT seq, seq % 300, 'u' FROM seq_1_to_900`, `ANALYZE TABLE users`}...)
	explained(t, src, []explainTest{{byIndex, []string{"select_type", "key", "| by_team | "}}, {byScan, []string{"ALL", "900"}},
		{joined, []string{"PRIMARY", "const", "SUBQUERY"}}})
}
