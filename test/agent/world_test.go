package agent

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

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

func reader() identity.Principal {
	return identity.Principal{ID: "token:1", Owner: "ann", Tenant: demo.Acme, Scopes: []identity.Scope{identity.Read}}
}

// tracker returns the demo's tools for an agent of acme, and the database itself.
func tracker(t *testing.T) (*tool.Set, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracker.db")
	if err := demo.Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse(filepath.Join(filepath.Dir(path), "bailiwick.yaml"), []byte(demo.Config), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return declaredOver(t, "tracker", path, c.Rules, bailiwick.Declarations{Metrics: c.Metrics, Queries: c.Queries})
}

// served returns the tools over a SQLite database.
func served(t *testing.T, name, path string, rules policy.Rules) (*tool.Set, *sql.DB) {
	t.Helper()
	return declaredOver(t, name, path, rules, bailiwick.Declarations{})
}

// declaredOver is served with declared queries and metrics.
func declaredOver(t *testing.T, name, path string, rules policy.Rules, d bailiwick.Declarations) (*tool.Set, *sql.DB) {
	t.Helper()
	src, err := sqlite.Open(t.Context(), name, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{name: src}, Rules: rules, Metrics: d.Metrics, Queries: d.Queries, Audit: forgetful{},
		Secret: make([]byte, 32), Now: demo.Clock, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, append(tool.Data(tool.Options{}), tool.QueryTools(g.AllQueries())...)...)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return set, db
}

// forgetful is an audit log that discards its records.
type forgetful struct{}

func (forgetful) Append(context.Context, *audit.Record) error { return nil }

// request parses "tool {arguments}".
func request(t *testing.T, line string) tool.Request {
	t.Helper()
	name, arguments, _ := strings.Cut(line, " ")
	args, err := value.Read([]byte(arguments), 0)
	if err != nil {
		t.Fatal(line, err)
	}
	return tool.Request{Name: name, Arguments: args}
}
