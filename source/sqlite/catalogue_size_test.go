package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// wide creates a file of 2,000 tables with 25 columns each.
func wide(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var ddl strings.Builder
	ddl.WriteString("BEGIN;")
	for i := range 2000 {
		fmt.Fprintf(&ddl, "CREATE TABLE tab_%04d (id integer primary key, parent int references tab_%04d", i, i/2)
		for j := range 23 {
			fmt.Fprintf(&ddl, ", col_%02d text", j)
		}
		ddl.WriteString(");")
	}
	ddl.WriteString("COMMIT;")
	if _, err := db.Exec(ddl.String()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWideCatalogue checks that information_schema over 50,000 columns is answered from memory, after the database
// was closed.
func TestWideCatalogue(t *testing.T) {
	at := time.Now()
	s, err := sqlite.Open(t.Context(), "app", wide(t))
	if err != nil {
		t.Fatal(err)
	}
	made := time.Since(at)
	rules := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"tab_0001": {Hidden: true}, "tab_0002": {Denied: []string{"col_00"}}}}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": s}, Rules: rules, Audit: &audit.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("described and compiled in", time.Since(at)-made)
	s.Close()
	who := identity.Principal{ID: "x", Owner: "o", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
	for _, row := range []struct{ text, want string }{
		{"column_name from information_schema.columns where table_name = 'tab_0007' and ordinal_position < 3", `id|parent`},
		{"column_name from information_schema.columns where 'tab_0007' = table_name and column_name in ('col_22', 'id')", `id|col_22`},
		{"count(*) from information_schema.columns", `49974`},
		{"count(*) from information_schema.columns as c where c.table_name = $1", `24`},
		{"count(*) from information_schema.columns where table_name = 'TAB_0007'", `0`},
		{"count(*) from information_schema.columns where table_name = 'tab_0001'", `0`},
		{"count(*) from information_schema.columns where column_name like '%l!_00' escape '!'", `1998`},
		{"count(*) from information_schema.columns where column_name like 'col_0_'", `19989`},
		{"count(*) from information_schema.columns where column_name not like 'col_0_' and column_name not in ('id', 'parent')", `25987`},
		{"count(*) from information_schema.tables where table_name ilike 'TAB_00%'", `99`},
		{"tablename from pg_catalog.pg_tables where tablename >= 'tab_1999'", `tab_1999`},
		{"count(*) from information_schema.columns c left join information_schema.key_column_usage k on k.table_name = c.table_name and k.column_name = c.column_name where k.constraint_name is null", `45978`},
		{"count(*) from information_schema.tables where table_name = 'none' or table_name = 'tab_0000'", `1`},
		{"table_name from information_schema.tables where table_name in (select table_name from information_schema.columns where column_name = 'col_00' and table_name in ('tab_0001', 'tab_0002', 'tab_0003'))", `tab_0003`},
	} {
		q, err := query.ParseSQL("select " + row.text)
		if err != nil {
			t.Fatal(err)
		}
		q.Limit, q.Params = 10, map[string]value.Value{"1": value.OfString("tab_0002")}
		at := time.Now()
		page, err := g.SQL(t.Context(), who, q)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		t.Log(time.Since(at), row.text)
		var got []string
		for i := range page.Count {
			got = append(got, page.Values(i)[0].String())
		}
		if got := strings.Join(got, "|"); got != row.want {
			t.Errorf("%s: %s; want %s", row.text, got, row.want)
		}
	}
}
