package mariadb

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/test/services"
)

// others contains a value for each setting that differs from its pin.
var others = map[string]string{
	"sql_mode": "'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'", "old_mode": "'ZERO_DATE_TIME_CAST'", "time_zone": "'+05:45'", "timestamp": "1000000000",
	"lc_time_names": "'de_DE'", "default_week_format": "3", "div_precision_increment": "1", "default_regex_flags": "'EXTENDED'", "system_versioning_asof": "'2001-01-01'",
	"sql_select_limit": "1", "sql_big_selects": "0", "max_join_size": "1", "sql_safe_updates": "1", "sql_auto_is_null": "1", "sql_quote_show_create": "0", "sql_if_exists": "1",
	"autocommit": "0", "completion_type": "1", "max_statement_time": "7", "group_concat_max_len": "4", "max_sort_length": "64", "sort_buffer_size": "32768",
	"collation_connection": "'latin1_german1_ci'", "foreign_key_checks": "0", "unique_checks": "0", "check_constraint_checks": "0", "innodb_lock_wait_timeout": "1",
	"idle_transaction_timeout": "9",
}

// TestPins connects as a user whose sessions begin with other settings, set by the server's init_connect. The default
// database of this user is another database, with a table of the same name.
func TestPins(t *testing.T) {
	at := services.MariaDB(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := parseURL(at)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	name := strings.TrimPrefix(u.Path, "/")
	init := "USE " + name + "_other"
	for name, value := range others {
		if name != "sql_mode" {
			init += "; SET SESSION " + name + " = " + value
		}
	}
	for _, p := range append(slices.Clone(pins), writePins...) {
		if others[p.name] == "" {
			t.Fatalf("the test has no other value for %s", p.name)
		}
	}
	init += "; SET SESSION sql_mode = " + others["sql_mode"]
	run := func(text string, args ...any) {
		t.Helper()
		if _, err := outside.Exec(text, args...); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	run("CREATE DATABASE " + name + "_other")
	t.Cleanup(func() {
		outside.Exec("SET GLOBAL init_connect = ''")
		outside.Exec("DROP DATABASE " + name + "_other")
		outside.Exec("DROP USER '" + name + "'@'%'")
	})
	run("CREATE TABLE t (id int PRIMARY KEY, name varchar(20))")
	run("INSERT INTO t VALUES (1, 'right'), (2, 'right')")
	run("CREATE TABLE " + name + "_other.t (id int PRIMARY KEY, name varchar(20))")
	run("INSERT INTO " + name + "_other.t VALUES (1, 'wrong')")
	run("CREATE USER '" + name + "'@'%' IDENTIFIED BY 'secret'")
	run("GRANT ALL ON `" + name + "%`.* TO '" + name + "'@'%'")
	run("SET GLOBAL init_connect = ?", init)
	u.User = url.UserPassword(name, "secret")
	src, err := Open(t.Context(), "app", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	readPinned(t, src)
	w, err := src.Writable(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	run("SET GLOBAL init_connect = ''")
	for kind, db := range map[string]*sql.DB{"reads": src.db, "writes": w.db} {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list := pins
		if kind == "writes" {
			list = append(slices.Clone(pins), writePins...)
		}
		for _, p := range list {
			var got, want, other string
			ask := fmt.Sprintf("SELECT concat(@@%s), concat(%s), concat(%s)", p.name, p.value, others[p.name])
			if p.value == "DEFAULT" {
				ask = fmt.Sprintf("SELECT concat(@@%s), '', concat(%s)", p.name, others[p.name])
			}
			if err := conn.QueryRowContext(t.Context(), ask).Scan(&got, &want, &other); err != nil {
				t.Fatalf("%v in %s", err, ask)
			}
			got = strings.NewReplacer("NO_CHAIN", "0", "CHAIN", "1", "ON", "1", "OFF", "0").Replace(got)
			if got == other || want != "" && strings.TrimSuffix(got, ".000000") != want {
				t.Errorf("%s: %s is %q, want %q", kind, p.name, got, want)
			}
		}
		conn.Close()
	}
}

// readPinned reads the records of t.
func readPinned(t *testing.T, src *Source) {
	t.Helper()
	classes, _, err := src.Describe(t.Context())
	if err != nil || len(classes) != 1 {
		t.Fatal(classes, err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "t", Keys: []query.Path{{"name"}}, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := src.Read(t.Context(), permit)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row, err := range rows {
		if n++; err != nil || !strings.Contains(fmt.Sprint(row), "right") {
			t.Errorf("read %v, %v", row, err)
		}
	}
	if n != 2 {
		t.Errorf("read %d records", n)
	}
}

// TestFull reads with more callers than the user may have connections. They must wait for each other.
func TestFull(t *testing.T) {
	at := services.MariaDB(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := parseURL(at)
	if err != nil {
		t.Fatal(err)
	}
	outside, err := sql.Open("mysql", cfg.FormatDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	name := strings.TrimPrefix(u.Path, "/")
	t.Cleanup(func() { outside.Exec("DROP USER '" + name + "'@'%'") })
	for _, text := range []string{"CREATE TABLE t (id int PRIMARY KEY, name varchar(20))", "INSERT INTO t VALUES (1, 'right'), (2, 'right')",
		"CREATE USER '" + name + "'@'%' IDENTIFIED BY 'secret' WITH MAX_USER_CONNECTIONS 2", "GRANT ALL ON `" + name + "`.* TO '" + name + "'@'%'"} {
		if _, err := outside.Exec(text); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	u.User = url.UserPassword(name, "secret")
	src, err := Open(t.Context(), "app", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	classes, _, err := src.Describe(t.Context())
	if err != nil || len(classes) != 1 {
		t.Fatal(classes, err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 5 {
				if err := src.query(t.Context(), "SELECT sleep(0.01)", nil, func(rows *sql.Rows) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

// TestDocs checks that the tables of docs/databases.md contain each setting.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/databases.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]pin{pins, writePins} {
		for _, p := range list {
			if row := fmt.Sprintf("| `%s` | `%s` | %s |\n", p.name, p.value, p.why); !strings.Contains(string(page), row) {
				t.Errorf("docs/databases.md lacks the row %s", row)
			}
		}
	}
}
