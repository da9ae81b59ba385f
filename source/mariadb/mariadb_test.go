package mariadb_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/value"
)

// opened returns a source over a database created by statements.
func opened(t *testing.T, statements ...string) (*mariadb.Source, []schema.Class, *sql.DB) {
	t.Helper()
	u := suite.Fresh(t)
	db := suite.Outside(t, u)
	db.SetMaxOpenConns(1)
	for _, s := range append([]string{"SET foreign_key_checks = 0, sql_mode = 'ALLOW_INVALID_DATES'"}, statements...) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	src, err := mariadb.Open(t.Context(), "app", u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	classes, warnings, err := src.Describe(t.Context())
	if warnings = slices.DeleteFunc(warnings, func(w string) bool { return strings.Contains(w, "no path can name it") }); err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return src, classes, db
}

// find returns the rows of a query as texts, in order.
func find(t *testing.T, src *mariadb.Source, classes []schema.Class, q *query.Find, where string) string {
	t.Helper()
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.Read([]byte(where), 0)
	if err != nil {
		t.Fatal(err)
	}
	if q.Where, err = query.ParseWhere(v, "/where"); err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, q)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := src.Read(t.Context(), permit)
	if err != nil {
		return err.Error()
	}
	var out []string
	for row, err := range rows {
		if err != nil {
			return problem.Of(err).Err.Error()
		}
		var line []string
		for _, v := range row[:len(plan.Columns)] {
			line = append(line, v.String())
		}
		out = append(out, strings.Join(line, ","))
	}
	return strings.Join(out, " ")
}

// TestTypes tests the types that only MariaDB has, and the values of other types that only MariaDB can store.
func TestTypes(t *testing.T) {
	src, classes, _ := opened(t,
		`CREATE TABLE t (id int PRIMARY KEY, big bigint unsigned, flag boolean, b1 bit(1), b8 bit(8), b64 bit(64), f float, y year, bin binary(3),
			vb varbinary(9), s set('a','b'), d date NOT NULL, at datetime NOT NULL, ts timestamp NULL, dur time, pad char(5), g point, ip inet6,
			m decimal(65,38), gen int AS (id + 1) STORED)`,
		`INSERT INTO t (id, big, flag, b1, b8, b64, f, y, bin, vb, s, d, at, ts, dur, pad, g, ip, m) VALUES
			(1, 18446744073709551615, 1, 1, 200, 0xFFFFFFFFFFFFFFFF, 0.1, 2026, 'a', 'a', 'a,b', '2026-01-31', '2026-01-31 10:00:00', '2026-01-31 10:00:00', '25:00:00', 'x ', POINT(1, 2), '::1', 1.5),
			(2, 1, 7, 0, 0, 0, 2.5, 1999, 'A', 'a ', '', '0000-00-00', '0000-00-00', NULL, NULL, '', NULL, NULL, 123456789012345678901234567.12345678901234567890123456789012345678),
			(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2026-02-31', '2026-00-10', NULL, NULL, NULL, NULL, NULL, NULL)`)
	for _, tt := range []struct{ keys, where, want string }{
		{"big", `{}`, "1,18446744073709551615 2,1 3,"},
		{"big", `{"big":18446744073709551615}`, "1,18446744073709551615"},
		{"big", `{"big":{"$gt":9223372036854775807}}`, "1,18446744073709551615"},
		{"big", `{"big":{"$gt":-1}}`, "1,18446744073709551615 2,1"},
		{"flag", `{"flag":true}`, "1,true"},
		{"flag", `{"flag":{"$ne":true}}`, "2,7 3,"},
		{"flag", `{"flag":{"$gt":false}}`, "1,true"},
		{"b1,b8,b64", `{"b1":true}`, "1,true,200,18446744073709551615"},
		{"b8", `{"b8":{"$gte":200}}`, "1,200"},
		{"b64", `{"b64":{"$gte":18446744073709551615}}`, "1,18446744073709551615"},
		{"f", `{"f":{"$gt":0.1}}`, "1,0.10000000149011612 2,2.5"},
		{"f", `{"f":0.10000000149011612}`, "1,0.10000000149011612"},
		{"y", `{"y":{"$lt":2000}}`, "2,1999"},
		{"bin", `{"bin":"YQAA"}`, "1,YQAA"},
		{"vb", `{"vb":"YQ=="}`, "1,YQ=="},
		{"s", `{"s":"a,b"}`, "1,a,b"},
		{"s", `{"s":""}`, "2,"},
		{"d", `{}`, "1,2026-01-31 2,0000-00-00 3,2026-02-31"},
		{"d", `{"d":null}`, ""},
		{"d", `{"d":{"$ne":null}}`, "1,2026-01-31 2,0000-00-00 3,2026-02-31"},
		{"d", `{"d":{"$lt":"2027-01-01"}}`, "1,2026-01-31"},
		{"d", `{"d":{"$exists":false}}`, ""},
		{"at", `{"at":{"$lt":"2027-01-01"}}`, "1,2026-01-31T10:00:00Z"},
		{"at", `{"$not":{"at":{"$lt":"2027-01-01"}}}`, "2,0000-00-00 00:00:00 3,2026-00-10 00:00:00"},
		{"ts", `{"ts":"2026-01-31T11:00:00+01:00"}`, "1,2026-01-31T10:00:00Z"},
		{"dur,g,ip", `{"id":1}`, "1,25:00:00,POINT(1 2),::1"},
		{"pad", `{"pad":"x"}`, "1,x"},
		{"pad", `{"pad":"x "}`, ""},
		{"m", `{"m":123456789012345678901234567.12345678901234567890123456789012345678}`, "2,123456789012345678901234567.12345678901234567890123456789012345678"},
		{"m", `{"m":{"$lt":123456789012345678901234567.123456789012345678901234567890123456785}}`, "1,1.5 2,123456789012345678901234567.12345678901234567890123456789012345678"},
		{"m", `{"m":{"$lt":1e80,"$gt":-1e80}}`, "1,1.5 2,123456789012345678901234567.12345678901234567890123456789012345678"},
		{"m", `{"m":1e80}`, ""},
		{"gen", `{"gen":3}`, "2,3"},
	} {
		var keys []query.Path
		for k := range strings.SplitSeq(tt.keys, ",") {
			keys = append(keys, query.Path{k})
		}
		if got := find(t, src, classes, &query.Find{Class: "t", Keys: keys, Limit: 10}, tt.where); got != tt.want {
			t.Errorf("%s where %s:\n got %s\nwant %s", tt.keys, tt.where, got, tt.want)
		}
	}
	if from := classes[0].Field("gen").From; !slices.Equal(from, []string{"id"}) {
		t.Errorf("gen is made from %q, want id", from)
	}
	// Invalid dates also have a position in the order.
	for _, order := range []string{"d", "at"} {
		q := &query.Find{Class: "t", Keys: []query.Path{{order}}, Limit: 10, Order: []query.Sort{{Path: query.Path{order}}}}
		if got := find(t, src, classes, q, `{}`); !strings.HasPrefix(got, "2,0000-00-00") {
			t.Errorf("by %s: %s", order, got)
		}
	}
}

// TestPointersByBytes follows a foreign key that the database compares without regard to case.
func TestPointersByBytes(t *testing.T) {
	src, classes, _ := opened(t, `CREATE TABLE orgs (id varchar(20) COLLATE utf8mb4_general_ci PRIMARY KEY, name text)`,
		`CREATE TABLE users (id int PRIMARY KEY, org varchar(20) COLLATE utf8mb4_general_ci, FOREIGN KEY (org) REFERENCES orgs (id))`,
		`INSERT INTO orgs VALUES ('acme', 'Acme')`, `INSERT INTO users VALUES (1, 'acme'), (2, 'ACME'), (3, 'acme '), (4, NULL)`)
	q := &query.Find{Class: "users", Keys: []query.Path{{"org", "name"}}, Limit: 10}
	if got, want := find(t, src, classes, q, `{}`), "1,acme,acme,Acme 2,ACME,, 3,acme ,, 4,,,"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestSession checks the settings of a statement's session, and the description of an index over prefixes.
func TestSession(t *testing.T) {
	src, classes, _ := opened(t, `CREATE TABLE t (id int PRIMARY KEY, doc json, KEY doc_first (id, doc(10)))`,
		`CREATE FUNCTION setting(id int) RETURNS text RETURN concat_ws(' ', @@session.tx_read_only, @@session.time_zone,
			@@session.max_statement_time, @@session.default_regex_flags)`,
		`CREATE VIEW v AS SELECT setting(1) AS s`)
	if got, want := find(t, src, classes, &query.Find{Class: "v", Limit: 1}, `{}`), "ON +00:00 300.000000 "; got != want {
		t.Errorf("settings %q; want %q", got, want)
	}
	i := slices.IndexFunc(classes, func(c schema.Class) bool { return c.Name == "t" })
	if c := classes[i]; c.Fields[1].Type != schema.JSON || len(c.Indexes) != 2 || !slices.Equal(c.Indexes[1].Fields, []string{"id"}) {
		t.Errorf("described as %+v", c)
	}
}

// TestKills cancels a reading. The server must stop the statement, and the source must still answer.
func TestKills(t *testing.T) {
	src, classes, db := opened(t, `CREATE TABLE t (id int PRIMARY KEY)`, `INSERT INTO t VALUES (1)`,
		`CREATE FUNCTION nap(n int) RETURNS int RETURN SLEEP(30)`, `CREATE VIEW slow AS SELECT nap(id) AS n FROM t`)
	running := func() (n int) {
		if err := db.QueryRow("SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND COMMAND <> 'Sleep' AND ID <> CONNECTION_ID()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	until := func(want int) {
		t.Helper()
		for start := time.Now(); running() != want; time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > 5*time.Second {
				t.Fatalf("%d statements run on the server, want %d", running(), want)
			}
		}
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "slow", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			rows, err := src.Read(ctx, permit)
			if err == nil {
				for _, e := range rows {
					err = e
				}
			}
			done <- err
		}()
		until(1)
		stop()
		if err := <-done; problem.CodeOf(err) != problem.Cancelled {
			t.Errorf("%v; want %s", err, problem.Cancelled)
		}
		until(0)
		if got := find(t, src, classes, &query.Find{Class: "t", Limit: 5}, `{}`); got != "1" {
			t.Errorf("after that: %s", got)
		}
	}
}

// TestKillsEarly cancels readings at many moments of their start, because the KILL may arrive before its statement.
func TestKillsEarly(t *testing.T) {
	src, _, db := opened(t, `CREATE TABLE t (id int PRIMARY KEY)`, `INSERT INTO t VALUES (1)`,
		`CREATE FUNCTION nap(n int) RETURNS int RETURN SLEEP(30)`, `CREATE VIEW slow AS SELECT nap(id) AS n FROM t`)
	database.StopEarly(t, src, 200)
	// A stopped statement may still be listed for a moment. A running one sleeps for half a minute.
	n, err := 1, error(nil)
	for range 100 {
		err = db.QueryRow("SELECT count(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE '%slow%' AND ID <> CONNECTION_ID()").Scan(&n)
		if err != nil || n == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err != nil || n != 0 {
		t.Errorf("%d statements still run, %v", n, err)
	}
}

// TestURLs checks which URLs are rejected, and that the message contains no password.
func TestURLs(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"mariadb://u:hunter2@h", "source s: the database url is not a URL such as mariadb://user:password@host/database. Write reserved characters in a password as %XX"},
		{"mariadb://u:hun%zzter2@h/x", "source s: the database url is not a URL such as mariadb://user:password@host/database. Write reserved characters in a password as %XX"},
		{"http://u:hunter2@h/x", "source s: the database url is not such as mariadb://user:password@host/database"},
		{"mysql://u:hunter2@h/x?colour=red", "source s: the database url has an option that is not known here: leave it out. These are known: password, socket, ssl, sslmode, tls, user"},
		{"mysql://u:hunter2@h/x?tls=odd", "source s: the database url can't be read"},
		{"mysql://u:hunter2@127.0.0.1:1/x", "source s: can't connect to 127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		src, err := mariadb.Open(t.Context(), "s", tt.url)
		if err == nil {
			src.Close()
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v\nwant %s", tt.url, err, tt.want)
		}
	}
}

// TestBrokenJSON queries JSON columns that contain invalid JSON, or more levels than the database reads. No query may
// fail, whether or not the record is visible.
func TestBrokenJSON(t *testing.T) {
	src, classes, _ := opened(t, `SET check_constraint_checks = 0`, `CREATE TABLE t (id int PRIMARY KEY, doc json)`,
		`INSERT INTO t VALUES (1, '{"a":'), (2, ''), (3, concat(repeat('{"a":', 40), '1', repeat('}', 40))), (4, '{"a":1}'), (5, '{"a":1,"a":2}'), (6, NULL), (7, '"\\ud800"')`)
	for where, want := range map[string]string{
		`{"doc.a":1}`:                            "4 5",
		`{"doc.a":{"$exists":true}}`:             "4 5",
		`{"doc":{"$startsWith":"{"}}`:            "1 3",
		`{"doc":""}`:                             "2",
		`{"doc":{"a":1}}`:                        "4",
		`{"doc.a.a.a":{"$gt":0}}`:                "",
		`{"doc":{"$regex":"a"}}`:                 "1 3",
		`{"doc":{"$size":1}}`:                    "",
		`{"doc":{"$elemMatch":{"$eq":1}}}`:       "",
		`{"$not":{"doc":{"$startsWith":"{"}}}`:   "2 4 5 6 7",
		`{"doc":null}`:                           "6",
		`{"doc.b":{"$in":[1,null,{"a":[1,2]}]}}`: "1 2 3 4 5 6 7",
	} {
		if got := find(t, src, classes, &query.Find{Class: "t", Keys: []query.Path{{"id"}}, Limit: 10}, where); got != want {
			t.Errorf("%s: got %s; want %s", where, got, want)
		}
	}
}
