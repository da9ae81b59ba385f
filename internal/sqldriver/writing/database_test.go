package writing_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/internal/sourcetest/writing"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/testservices"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// tried previews the create of a record of the class a, and returns the result.
func tried(t *testing.T, w writing.Writable, data string) string {
	t.Helper()
	classes, _, err := w.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true, Gates: policy.Gates{RawWrites: policy.On}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := value.Read([]byte(data), 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := writes.Propose(p, identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read, identity.Write}},
		write.Request{Writes: []write.Write{&write.Create{Class: "a", Data: fields}}})
	if err != nil {
		return err.Error()
	}
	seen, err := w.Preview(t.Context(), d)
	if err != nil {
		return err.Error()
	}
	return seen.Effects[0].After.String() + " " + seen.Refusal
}

// TestDatabases tests what only one database has: engines and tables whose writes can't be rolled back, and keys that
// are checked at the end.
func TestDatabases(t *testing.T) {
	for _, test := range []struct {
		name       string
		target     writing.Target
		statements string
		data, want string
	}{
		{"engine", writingTarget(sqlgen.MySQL, testservices.MariaDB), `CREATE TABLE a (id int PRIMARY KEY) ENGINE=MyISAM`, `{"id":"1"}`,
			`unsupported_by_source: a can't be written to: its storage engine has no transactions`},
		{"late key, SQLite", writingTarget(sqlgen.SQLite, sqliteFile), `CREATE TABLE b (id INT PRIMARY KEY); CREATE TABLE a (id INT PRIMARY KEY, b INT REFERENCES b DEFERRABLE INITIALLY DEFERRED)`,
			`{"id":"1","b":"2"}`, `{"id":1,"b":2} a field leads to no record`},
		{"late key, PostgreSQL", writingTarget(sqlgen.PostgreSQL, testservices.Postgres), `CREATE TABLE b (id int PRIMARY KEY); CREATE TABLE a (id int PRIMARY KEY, b int REFERENCES b DEFERRABLE INITIALLY DEFERRED)`,
			`{"id":"1","b":"2"}`, `{"id":1,"b":2} b leads to no record`},
		{"exclusion", writingTarget(sqlgen.PostgreSQL, testservices.Postgres), `CREATE TABLE a (id int PRIMARY KEY, b int, EXCLUDE USING btree (b WITH =)); INSERT INTO a VALUES (1, 2)`,
			`{"id":"3","b":2}`, `{"id":3,"b":2} it is in conflict with another record in b`},
		{"domain", writingTarget(sqlgen.PostgreSQL, testservices.Postgres), `CREATE DOMAIN positive AS int CHECK (VALUE > 0); CREATE TABLE a (id int PRIMARY KEY, b positive)`,
			`{"id":"3","b":-2}`, `{"id":3,"b":-2} a constraint on the record doesn't hold`},
		{"hidden field that is needed", writingTarget(sqlgen.PostgreSQL, testservices.Postgres), `CREATE TABLE a (id int PRIMARY KEY, password_hash text NOT NULL)`,
			`{"id":"3"}`, `{"id":3} password_hash can't be null`},
		{"strict types", writingTarget(sqlgen.SQLite, sqliteFile), `CREATE TABLE a (id INT PRIMARY KEY, b ANY, c TEXT) STRICT`, `{"id":"1","b":"x","c":"y"}`, `{"id":1,"b":"x","c":"y"} `},
		{"dates as they are", writingTarget(sqlgen.SQLite, sqliteFile), `CREATE TABLE a (id INT PRIMARY KEY, at DATETIME, CHECK (typeof(at) = 'integer')); INSERT INTO a VALUES (1, 1700000000)`,
			`{"id":"2","at":"2026-01-01T00:00:00Z"}`, `{"id":2,"at":"2026-01-01T00:00:00Z"} `},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, _ := test.target.Open(t, strings.Split(test.statements, "; "))
			if got := tried(t, w, test.data); got != test.want {
				t.Errorf("got %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestAccounts checks that the reading account can't write; another one can, and if it may not create the marker table,
// the error tells the operator which statement to run.
func TestAccounts(t *testing.T) {
	at := testservices.Postgres(t)
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	name := "reader_" + filepath.Base(u.Path)
	outside := outsiderAt(t, sqlgen.PostgreSQL, at, []string{`CREATE TABLE a (id int PRIMARY KEY)`, `CREATE ROLE ` + name + ` LOGIN PASSWORD 'reader'`,
		`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ` + name})
	t.Cleanup(func() {
		outside.Exec(`DROP OWNED BY ` + name)
		outside.Exec(`DROP ROLE ` + name)
	})
	u.User = url.UserPassword(name, "reader")
	s, err := sqldriver.OpenPostgres(t.Context(), "app", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Writable(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "make it by hand: CREATE TABLE IF NOT EXISTS bailiwick_applied (") || strings.Contains(err.Error(), "reader:reader") {
		t.Errorf("who may not make the table: %v", err)
	}
	w, err := s.Writable(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if got := tried(t, w, `{"id":"1"}`); got != `{"id":1} ` {
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
	if got := tried(t, reader, `{"id":"1"}`); got != `{"id":1} the source's account may not write it` {
		t.Error(got)
	}
}
