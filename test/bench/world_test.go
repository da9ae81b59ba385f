package bench_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// sealed is an audit log that chains records but doesn't store them. Records of a benchmark therefore don't slow down
// later calls.
type sealed struct {
	mu   sync.Mutex
	head audit.Head
}

func (s *sealed) Append(_ context.Context, r *audit.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.head = audit.Seal(s.head, r)
	return nil
}

// unlimited returns limits that a benchmark never reaches.
func unlimited() limit.Options {
	return limit.Options{PerMinute: 1e9, Burst: 1e9, TokenPerMinute: 1e9, TokenBurst: 1e9, Concurrency: 1e6}
}

func agent() identity.Principal {
	return identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ann", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}}
}

// tracker writes the demo's database, including statistics, and returns the path of the file.
func tracker(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracker.db")
	if err := demo.Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// rules returns the demo's rules for the named classes, or for all classes if there are no names.
func rules(t testing.TB, names ...string) policy.Rules {
	t.Helper()
	c, err := config.Parse("bailiwick.yaml", []byte(demo.Config), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		kept := map[string]policy.ClassRule{}
		for _, n := range names {
			kept["tracker."+n] = c.Rules.Classes["tracker."+n]
		}
		c.Rules.Classes = kept
	}
	return c.Rules
}

// gateway returns a gateway for a source with the data tools, policy, limits and audit.
func gateway(t testing.TB, s source.Source, r policy.Rules, log audit.Log) *bailiwick.Gateway {
	t.Helper()
	args, err := audit.NewArgHasher(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"tracker": s}, Rules: r,
		Audit: log, Args: args, Limits: unlimited()})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func benchTools(t testing.TB, g *bailiwick.Gateway, more ...tool.Tool) *tool.Set {
	t.Helper()
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// request returns a call in the form that a transport builds from text.
func request(t testing.TB, name, arguments string) tool.Request {
	t.Helper()
	v, err := value.Read([]byte(arguments), 20)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Request{Name: name, Arguments: v, Correlation: "bench"}
}

// sqliteSource opens the file like the gateway does.
func sqliteSource(t testing.TB, path string) *sqlite.Source {
	t.Helper()
	s, err := sqlite.Open(t.Context(), "tracker", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// classes lists the tables of the PostgreSQL database: the issues and the tables that they reference.
var classes = []string{"organisations", "users", "projects", "issues"}

const postgresTables = `
CREATE TABLE organisations (id text PRIMARY KEY, name text NOT NULL UNIQUE, plan text NOT NULL, created_at timestamptz NOT NULL);
CREATE TABLE users (id uuid PRIMARY KEY, org_id text NOT NULL REFERENCES organisations, email text NOT NULL UNIQUE, name text NOT NULL,
	role text NOT NULL, job_title text, time_zone text NOT NULL, active boolean NOT NULL, password_hash text NOT NULL, session_token text,
	mfa_secret text, created_at timestamptz NOT NULL, last_login_at timestamptz);
CREATE TABLE projects (id uuid PRIMARY KEY, org_id text NOT NULL REFERENCES organisations, key text NOT NULL, name text NOT NULL,
	description text NOT NULL, lead_id uuid NOT NULL REFERENCES users, archived boolean NOT NULL, created_at timestamptz NOT NULL);
CREATE TABLE issues (id uuid PRIMARY KEY, org_id text NOT NULL REFERENCES organisations, project_id uuid NOT NULL REFERENCES projects,
	number bigint NOT NULL, type text NOT NULL, status text NOT NULL, priority text NOT NULL, title text NOT NULL, body text NOT NULL,
	assignee_id uuid REFERENCES users, reporter_id uuid NOT NULL REFERENCES users, parent_id uuid REFERENCES issues,
	estimate double precision, due_date date, custom json NOT NULL, legacy_id bigint UNIQUE, internal_note text,
	created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL, deleted_at timestamptz, agent text);
CREATE INDEX ON issues (org_id, created_at);
CREATE INDEX ON issues (project_id, status);`

// fill copies the demo's rows from the SQLite file to the PostgreSQL database at url.
func fill(t testing.TB, path, url string) {
	t.Helper()
	from, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close(t.Context())
	if _, err := to.Exec(t.Context(), postgresTables); err != nil {
		t.Fatal(err)
	}
	for _, table := range classes {
		if err := copyTable(t.Context(), from, to, table); err != nil {
			t.Fatalf("copy %s: %v", table, err)
		}
	}
	if _, err := to.Exec(t.Context(), "VACUUM ANALYZE"); err != nil {
		t.Fatal(err)
	}
}

func copyTable(ctx context.Context, from *sql.DB, to *pgx.Conn, table string) error {
	// Issues reference other issues. Parents are Epics and Stories, which come first.
	rows, err := from.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY rowid")
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name()
	}
	var records [][]any
	for rows.Next() {
		record := make([]any, len(names))
		into := make([]any, len(names))
		for i := range record {
			into[i] = &record[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range columns {
			if c.DatabaseTypeName() == "BOOLEAN" {
				record[i] = record[i] != int64(0)
			}
		}
		records = append(records, record)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = to.CopyFrom(ctx, pgx.Identifier{table}, names, pgx.CopyFromRows(records))
	return err
}

// pool opens the PostgreSQL database like an application does.
func pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	p, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
