package endtoend_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// A changing is a database whose tables a test changes.
type changing struct {
	source source.Source
	run    func(statement string) error
}

func changingSQLite(t *testing.T, ddl []string) changing {
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := changing{run: func(s string) error { _, err := db.Exec(s); return err }}
	c.begin(t, ddl)
	if c.source, err = sqlite.Open(t.Context(), "app", path); err != nil {
		t.Fatal(err)
	}
	return c
}

func changingPostgres(t *testing.T, ddl []string) changing {
	url := services.Postgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	c := changing{run: func(s string) error { _, err := conn.Exec(t.Context(), s); return err }}
	c.begin(t, ddl)
	opened, err := postgres.Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	c.source = opened
	return c
}

func changingMariaDB(t *testing.T, ddl []string) changing {
	url := services.MariaDB(t)
	dsn, at, _ := strings.Cut(strings.TrimPrefix(url, "mariadb://"), "@")
	host, name, _ := strings.Cut(at, "/")
	db, err := sql.Open("mysql", dsn+"@tcp("+host+")/"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c := changing{run: func(s string) error { _, err := db.Exec(s); return err }}
	c.begin(t, ddl)
	opened, err := mariadb.Open(t.Context(), "app", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close() })
	c.source = opened
	return c
}

func (c changing) begin(t *testing.T, ddl []string) {
	t.Helper()
	for _, s := range ddl {
		if err := c.run(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// TestDrift changes tables while a gateway serves them. Reads must use the current class. A field that a rule names
// must stay hidden. A class that no longer fits its rule must be closed. The same applies to a new table that
// replaces a removed one.
func TestDrift(t *testing.T) {
	ddl := []string{
		"CREATE TABLE plain (id integer primary key, a varchar(20), b integer)", "INSERT INTO plain VALUES (1, 'x', 2)",
		"CREATE TABLE ruled (id integer primary key, secret varchar(20), org varchar(20), b integer)", "INSERT INTO ruled VALUES (1, 'hidden-1', 'acme', 2)",
		"CREATE TABLE other (id integer primary key, note varchar(20))", "INSERT INTO other VALUES (1, 'hidden-2')",
	}
	for name, open := range map[string]func(*testing.T, []string) changing{"sqlite": changingSQLite, "postgres": changingPostgres, "mariadb": changingMariaDB} {
		t.Run(name, func(t *testing.T) {
			db := open(t, ddl)
			rules := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{
				"ruled": {Denied: []string{"secret"}, Tenant: &policy.TenantRule{Field: "org"}}, "other": {Hidden: true}}}
			g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": db.source}, Rules: rules, Audit: &audit.Memory{}})
			if err != nil {
				t.Fatal(err)
			}
			who := identity.Principal{ID: "x", Owner: "o", Tenant: "acme", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
			read := func(class string) string {
				t.Helper()
				page, err := g.Read(t.Context(), who, &query.Find{Class: class, Limit: 5})
				if err != nil {
					p := problem.Of(err)
					if strings.Contains(p.Suggestion, "later") {
						t.Errorf("%s: told to wait: %s", class, p.Suggestion)
					}
					return string(p.Code)
				}
				return string(page.AppendJSON(nil))
			}
			ask := func(when, class, want string) {
				t.Helper()
				got := read(class)
				for end := time.Now().Add(10 * time.Second); got == string(problem.Upstream) && time.Now().Before(end); got = read(class) {
					time.Sleep(50 * time.Millisecond) // a source is not described again for every call
				}
				if got != want {
					t.Errorf("%s: %s: %s, want %s", when, class, got, want)
				}
			}
			ask("at first", "plain", `[{"id":"1","a":"x","b":2}]`)
			ask("at first", "ruled", `[{"id":"1","org":"acme","b":2}]`)
			db.begin(t, []string{"ALTER TABLE plain DROP COLUMN a"})
			ask("a column is dropped", "plain", `[{"id":"1","b":2}]`)
			ask("a column is dropped", "ruled", `[{"id":"1","org":"acme","b":2}]`)

			// The hidden column and the tenant column are renamed. They must not become visible under the new names.
			db.begin(t, []string{"ALTER TABLE ruled RENAME COLUMN secret TO plainly", "ALTER TABLE ruled ADD COLUMN c integer"})
			drift(t, g)
			ask("a denied column is renamed", "ruled", "not_found")
			ask("a denied column is renamed", "plain", `[{"id":"1","b":2}]`)
			if closed := strings.Join(g.ClosureReasons(), "\n"); !strings.Contains(closed, "ruled") || !strings.Contains(closed, "secret") {
				t.Errorf("closed: %s", closed)
			}
			db.begin(t, []string{"ALTER TABLE ruled RENAME COLUMN plainly TO secret"})
			drift(t, g)
			ask("it has its name again", "ruled", `[{"id":"1","org":"acme","b":2,"c":null}]`)
			if closed := g.ClosureReasons(); len(closed) > 0 {
				t.Error("still closed:", closed)
			}
			db.begin(t, []string{"ALTER TABLE ruled RENAME COLUMN org TO tenant"})
			ask("the tenant's column is renamed", "ruled", "not_found")
			db.begin(t, []string{"ALTER TABLE ruled RENAME COLUMN tenant TO org"})
			drift(t, g)

			// A hidden table is renamed. No rule hides the new name.
			db.begin(t, []string{"ALTER TABLE other RENAME TO another", "CREATE TABLE fresh (id integer primary key)"})
			drift(t, g)
			ask("a hidden table is renamed", "another", "not_found")
			ask("a hidden table is renamed", "other", "not_found")
			ask("a hidden table is renamed", "ruled", `[{"id":"1","org":"acme","b":2,"c":null}]`)
			db.begin(t, []string{"ALTER TABLE another RENAME TO other"})
			drift(t, g)
			ask("it has its name again", "fresh", `[]`)
			db.begin(t, []string{"DROP TABLE plain"})
			ask("a table is dropped", "plain", "not_found")

			// New rules that fit take effect as usual.
			if err := g.SetRules(t.Context(), policy.Rules{Version: "2", Unlisted: true}, nil); err != nil {
				t.Fatal(err)
			}
			ask("the rules are others", "other", `[{"id":"1","note":"hidden-2"}]`)
		})
	}
}

// drift describes the sources again, as the gateway does regularly.
func drift(t *testing.T, g *bailiwick.Gateway) {
	t.Helper()
	if _, err := g.RefreshDrifting(t.Context(), nil, false); err != nil {
		t.Fatal(err)
	}
}
