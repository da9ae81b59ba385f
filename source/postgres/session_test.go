package postgres

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// others contains a value for each setting that differs from its pin.
var others = map[string]string{
	"search_path": "public", "client_encoding": "LATIN1", "TimeZone": "Asia/Kathmandu", "DateStyle": "German", "IntervalStyle": "sql_standard", "extra_float_digits": "-3",
	"bytea_output": "escape", "standard_conforming_strings": "off", "array_nulls": "off", "transform_null_equals": "on", "quote_all_identifiers": "on",
	"gin_fuzzy_search_limit": "3", "row_security": "off", "xmloption": "document", "default_text_search_config": "pg_catalog.german", "lock_timeout": "9000",
	"idle_in_transaction_session_timeout": "9000", "default_transaction_read_only": "on", "default_transaction_isolation": "serializable", "default_transaction_deferrable": "on",
	"statement_timeout": "9000", "synchronous_commit": "off",
}

// ways are the ways to connect to a database: directly, and through a pooler.
var ways = map[string]func(testing.TB, string) string{"direct": func(_ testing.TB, at string) string { return at }, "pooled": services.PooledURL}

// TestPins gives a role other settings. It checks the settings of sessions that read and of sessions that write.
func TestPins(t *testing.T) {
	for name, through := range ways {
		t.Run(name, func(t *testing.T) {
			at := services.Postgres(t)
			u, _ := url.Parse(at)
			conn := connect(t, at)
			for _, list := range [][]pin{pins, readPins, writePins} {
				for _, p := range list {
					if others[p.name] == "" {
						t.Fatalf("the test has no other value for %s", p.name)
					}
					run(t, conn, fmt.Sprintf("ALTER ROLE CURRENT_USER IN DATABASE %s SET %s = '%s'", filepath.Base(u.Path), p.name, others[p.name]))
				}
			}
			src, err := Open(t.Context(), "app", through(t, at))
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			asked := func(ask func(text string) (string, error), lists ...[]pin) {
				for _, list := range lists {
					for _, p := range list {
						got, err := ask("SELECT current_setting('" + p.name + "')")
						if same := got == p.value || p.value == "60000" && got == "1min" || p.value == "300000" && got == "5min"; err != nil || !same {
							t.Errorf("%s is %q, %v; want %q", p.name, got, err, p.value)
						}
					}
				}
			}
			asked(func(text string) (string, error) { return one[string](t.Context(), src, text) }, pins)
			if name == "direct" {
				asked(func(text string) (string, error) { return one[string](t.Context(), src, text) }, readPins)
			}
			if got, err := one[string](t.Context(), src, "SHOW transaction_read_only"); got != "on" {
				t.Errorf("a reading may write: %q, %v", got, err)
			}
			w, err := src.Writable(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			tx, err := writer{engine{src}, w.pool}.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			text := sqlgen.ColumnOf(&schema.Field{Type: schema.String, Native: "text"})
			asked(func(ask string) (string, error) {
				rows, err := tx.Query(t.Context(), sqlgen.Statement{Text: ask, Columns: []sqlgen.Column{text}})
				if err != nil {
					return "", err
				}
				return rows[0][0].Text(), nil
			}, pins, writePins)
			// Code of the application finds its names as in its own sessions.
			rows, err := tx.Query(t.Context(), sqlgen.Statement{Text: "SELECT current_setting('search_path')", Columns: []sqlgen.Column{text}, Foreign: true})
			if err != nil || rows[0][0].Text() != "pg_catalog, public, pg_temp" {
				t.Errorf("code of the application has the path %v, %v", rows, err)
			}
		})
	}
}

// TestShadowedTables creates tables of the same name in each place where a session could find them first. These are a
// schema of the search path, the schema of the role, and temporary tables of another client of the pooler.
func TestShadowedTables(t *testing.T) {
	for name, through := range ways {
		t.Run(name, func(t *testing.T) {
			at := services.Postgres(t)
			u, _ := url.Parse(at)
			const made = "(id int PRIMARY KEY, name text); INSERT INTO "
			run(t, connect(t, at), `CREATE SCHEMA app; CREATE SCHEMA bailiwick; CREATE TABLE public.t `+made+`public.t VALUES (1, 'right');
				CREATE TABLE app.t `+made+`app.t VALUES (1, 'wrong'); CREATE TABLE bailiwick.t `+made+`bailiwick.t VALUES (1, 'wrong');
				ALTER ROLE CURRENT_USER IN DATABASE `+filepath.Base(u.Path)+` SET search_path = app, "$user", public`)
			if name == "pooled" {
				leave(t, through(t, at))
			}
			src, err := Open(t.Context(), "app", through(t, at))
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			classes, _, err := src.Describe(t.Context())
			if err != nil || len(classes) != 3 {
				t.Fatal(classes, err)
			}
			p, err := policy.New(policy.Rules{Unlisted: true}, classes)
			if err != nil {
				t.Fatal(err)
			}
			var wait sync.WaitGroup
			for range 16 {
				wait.Go(func() {
					permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "t", Keys: []query.Path{{"name"}}, Limit: 1})
					if err != nil {
						t.Error(err)
						return
					}
					rows, err := src.Read(t.Context(), permit)
					if err != nil {
						t.Error(err)
						return
					}
					for row, err := range rows {
						if got := fmt.Sprint(row); err != nil || !strings.Contains(got, "right") {
							t.Errorf("read %s, %v", got, err)
						}
					}
				})
			}
			wait.Wait()
		})
	}
}

// leave has several clients of a pooler create temporary tables at the same time. The tables remain in the pooler's
// sessions with the server.
func leave(t *testing.T, at string) {
	t.Helper()
	var conns []*pgx.Conn
	for range 6 {
		conn := connect(t, at)
		run(t, conn, "BEGIN; CREATE TEMP TABLE t (id int, name text); INSERT INTO t VALUES (1, 'wrong')")
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		run(t, conn, "COMMIT")
		conn.Close(t.Context())
	}
}

// TestDocs checks that the tables of docs/databases.md contain each setting.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/databases.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]pin{pins, readPins, writePins} {
		for _, p := range list {
			if row := fmt.Sprintf("| `%s` | `%s` | %s |\n", p.name, p.value, p.why); !strings.Contains(string(page), row) {
				t.Errorf("docs/databases.md lacks the row %s", row)
			}
		}
	}
}
