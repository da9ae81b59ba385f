package duckdb

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// reads is a principal that may read all records of the tenant acme.
var reads = identity.Principal{ID: "t", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}

// folder returns a folder that these statements have filled, run by DuckDB itself. %s in a statement is replaced by
// the folder.
func folder(t *testing.T, statements ...string) string {
	t.Helper()
	dir := t.TempDir()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(strings.ReplaceAll(s, "%s", dir)); err != nil {
			t.Fatalf("%v in %s", err, s)
		}
	}
	return dir
}

func opened(t *testing.T, path string) (*Source, *policy.Policy) {
	t.Helper()
	s, err := Open(t.Context(), Options{Name: "lake", Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	classes, warnings, err := s.Describe(t.Context())
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	rules := policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{}}
	for _, c := range classes {
		if c.Field("org") != nil {
			rules.Classes[c.Name] = policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}
		}
	}
	p, err := policy.New(rules, classes)
	if err != nil {
		t.Fatal(err)
	}
	return s, p
}

// asked returns the answer to an SQL statement, one line per record.
func asked(ctx context.Context, s *Source, p *policy.Policy, text string) (string, policy.Permit, error) {
	if !strings.Contains(text, "LIMIT") {
		text += " LIMIT 1000" // without a LIMIT, the test would get no record
	}
	q, err := query.ParseSQL(text)
	if err != nil {
		return "", policy.Permit{}, err
	}
	permit, err := p.Read(reads, q)
	if err != nil {
		return "", permit, err
	}
	rows, err := sourcetest.Collect(ctx, s, permit)
	var b strings.Builder
	for _, row := range rows {
		b.Write(value.OfArray(row).AppendJSON(nil))
		b.WriteByte('\n')
	}
	return b.String(), permit, err
}

// lake fills a folder with files of each kind: a folder with parts, and single files.
var lake = []string{
	`COPY (SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'evil' ELSE 'acme' END AS org, 'item ' || i % 7 AS item, (i % 100)::DECIMAL(10,2) / 4 AS price, i % 5 + 0.1 AS weight,
		TIMESTAMP '2026-01-01' + to_hours(i) AS sold, {'city': 'c' || i % 3, 'tags': ['a', 'b']} AS at, 2026 + i % 2 AS year FROM range(3000) r(i)) TO '%s/sales' (FORMAT PARQUET, PARTITION_BY (year))`,
	`COPY (SELECT i AS id, 'item ' || i AS name, i % 2 = 0 AS active FROM range(7) r(i)) TO '%s/items.csv' (HEADER)`,
	`COPY (SELECT i AS id, DATE '2026-01-01' + i::INTEGER AS day, [i, i + 1] AS list FROM range(4) r(i)) TO '%s/days.json'`,
}

func TestFiles(t *testing.T) {
	s, p := opened(t, folder(t, lake...))
	for _, tt := range []struct{ ask, want string }{
		{`SELECT count(*) FROM sales`, "[2000]\n"}, // without the records of the tenant evil
		{`SELECT year, count(*) AS n, sum(price) AS p, sum(weight) AS w FROM sales GROUP BY year ORDER BY year`, "[2026,1000,12250,2100]\n[2027,1000,12500,2100]\n"},
		{`SELECT item, max(sold) AS last FROM sales WHERE sold >= '2026-02-01' GROUP BY item ORDER BY item LIMIT 2`, "[\"item 0\",\"2026-05-05T20:00:00Z\"]\n[\"item 1\",\"2026-05-05T14:00:00Z\"]\n"},
		{`SELECT i.name, count(*) AS n FROM sales s JOIN items i ON s.item = i.name WHERE i.active GROUP BY i.name ORDER BY n DESC, i.name LIMIT 2`, "[\"item 0\",286]\n[\"item 2\",286]\n"},
		{`SELECT date_trunc('month', sold) AS m, avg(price) AS a FROM sales GROUP BY 1 ORDER BY 1 LIMIT 1`, ""},
		{`SELECT id, day FROM days ORDER BY id LIMIT 2`, "[0,\"2026-01-01\"]\n[1,\"2026-01-02\"]\n"},
	} {
		got, permit, err := asked(t.Context(), s, p, tt.ask)
		if err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%s\n got %q, %v\nwant %q", tt.ask, got, err, tt.want)
		}
		if st, err := sqlgen.SQL(permit, dialect{}); err != nil {
			t.Errorf("%s isn't run whole by DuckDB: %v %s", tt.ask, err, st.Text)
		}
	}
	explained, err := s.Explain(t.Context(), must(t, p, `SELECT year, count(*) FROM sales WHERE id < 10 GROUP BY year`))
	if err != nil || !strings.Contains(explained, "PARQUET") || strings.ContainsRune(explained, '│') {
		t.Errorf("explained as %s, %v", explained, err)
	}
}

func must(t *testing.T, p *policy.Policy, text string) policy.Permit {
	t.Helper()
	q, err := query.ParseSQL(text)
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reads, q)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

// TestClosedOff checks that the connections for statements can't access files, settings or extensions.
func TestClosedOff(t *testing.T) {
	s, _ := opened(t, folder(t, lake...))
	for _, statement := range []string{`SELECT * FROM read_text('/etc/hostname')`, `COPY (SELECT 1) TO '/tmp/out.csv'`, `SET enable_external_access = true`,
		`INSTALL httpfs`, `ATTACH '/tmp/other.duckdb'`, `SET memory_limit = '100GB'`} {
		if _, err := s.db.Exec(statement); err == nil {
			t.Errorf("%s is run", statement)
		}
	}
	file := filepath.Join(t.TempDir(), "a.duckdb")
	db, err := sql.Open("duckdb", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE a (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	f, _ := opened(t, file)
	if _, err := f.db.Exec("INSERT INTO a VALUES (1)"); err == nil {
		t.Error("a file opened for reading is written to")
	}
}

func TestFolders(t *testing.T) {
	for _, tt := range []struct {
		statements []string
		want       string
	}{
		{nil, "holds no .parquet, .csv"},
	} {
		_, err := Open(t.Context(), Options{Name: "lake", Path: folder(t, tt.statements...)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("opened with %v; want %q", err, tt.want)
		}
	}
	if _, err := Open(t.Context(), Options{Name: "lake", Path: filepath.Join(t.TempDir(), "gone")}); err == nil || !strings.Contains(err.Error(), "there is no file or folder") {
		t.Error(err)
	}
	some, err := Open(t.Context(), Options{Name: "lake", Path: folder(t, `COPY (SELECT 1 AS a) TO '%s/x.csv'`, `COPY (SELECT 1 AS a) TO '%s/X.json'`, `COPY (SELECT 'no JSON' AS a) TO '%s/y.parquet'`,
		`COPY (SELECT 'no parquet' AS a) TO '%s/z.parquet' (FORMAT csv)`)})
	if err != nil {
		t.Fatal(err)
	}
	defer some.Close()
	if classes, warnings, err := some.Describe(t.Context()); err != nil || len(classes) != 2 || len(warnings) != 2 || !strings.Contains(warnings[0], "x.csv in lake is not a class: X.json is the class") ||
		!strings.Contains(warnings[1], "z.parquet in lake is not a class: DuckDB can't read it") {
		t.Error(classes, warnings, err)
	}
	dir := folder(t, `COPY (SELECT 1 AS a) TO '%s/x[1]*.csv'`)
	if s, _ := opened(t, dir); s == nil {
		t.Error("a name with the characters of patterns can't be read")
	}
}

// TestInterference checks that an answer doesn't depend on records outside of the view. The same queries over files
// that differ only in such records must return the same bytes.
func TestInterference(t *testing.T) {
	questions := []string{
		`SELECT count(*), sum(n), avg(x), min(s), max(d) FROM a`, `SELECT s, sum(x) AS t, stddev_samp(x) AS v FROM a GROUP BY s ORDER BY s`, `SELECT id, n + n AS m, n * 3 AS k, round(x, 2) AS r FROM a ORDER BY id`,
		`SELECT id FROM a WHERE n / (n - 5) > 1 ORDER BY id`, `SELECT id, rank() OVER (ORDER BY n) AS r FROM a ORDER BY id`, `SELECT s, count(DISTINCT n) AS c FROM a GROUP BY s ORDER BY c, s`,
		`SELECT id, CAST(s AS INTEGER) AS i, length(s) AS l FROM a ORDER BY id`, `SELECT date_trunc('month', at) AS m, count(*) AS c FROM a GROUP BY 1 ORDER BY 1`,
		`SELECT a.id, b.s FROM a JOIN a AS b ON a.n = b.id ORDER BY a.id, b.s`, `SELECT id, sqrt(x) AS q, ln(x) AS l FROM a ORDER BY id`,
	}
	const world = `COPY (SELECT * FROM (SELECT i AS id, 'acme' AS org, i % 10 AS n, i / 8 AS x, 's' || i % 4 AS s, (i * 1.25)::DECIMAL(18,4) AS d, TIMESTAMP '2026-01-01' + to_days(i::INTEGER) AS at FROM range(50) r(i)
		UNION ALL SELECT HIDDEN) ORDER BY hash(id)) TO '%s/a.parquet'`
	var first string
	for i, hidden := range []string{
		`0, 'acme', 0, 0, '', 0, NULL WHERE FALSE`,
		`i, 'evil', 9223372036854775807, 'NaN'::DOUBLE, chr(1), 99999999999999.9999, TIMESTAMP 'infinity' FROM range(60) r(i)`,
		`-i, 'evil', -9223372036854775808 + i, 1.7e308, 'x', -99999999999999.9999, TIMESTAMP '-infinity' FROM range(200) r(i)`,
		`i, 'evil', 5, '-inf'::DOUBLE, '99999999999999999999', 1, TIMESTAMP '0001-01-01 (BC)' FROM range(3) r(i)`,
		`i, NULL, NULL, -0.0, NULL, NULL, NULL FROM range(9) r(i)`,
	} {
		s, p := opened(t, folder(t, strings.Replace(world, "HIDDEN", hidden, 1)))
		var all strings.Builder
		for _, q := range questions {
			got, permit, err := asked(t.Context(), s, p, q)
			if err != nil {
				st, _ := sqlgen.SQL(permit, dialect{})
				t.Fatalf("world %d: %s: %v %v\n%s", i, q, err, problem.Of(err).Err, st.Text)
			}
			all.WriteString(q + "\n" + got)
		}
		if i == 0 {
			first = all.String()
		}
		if all.String() != first {
			t.Errorf("world %d answers\n%s\nand without hidden records\n%s", i, all.String(), first)
		}
	}
}

// TestLocalRows checks that the gateway computes the parts that DuckDB doesn't, over a limited number of records.
func TestLocalRows(t *testing.T) {
	dir := folder(t, lake...)
	s, p := opened(t, dir)
	few, err := Open(t.Context(), Options{Name: "lake", Path: dir, LocalRows: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer few.Close()
	stages, err := value.Read([]byte(`[{"$group": {"_id": "$at"}}, {"$count": "n"}]`), 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := query.ParsePipeline(stages, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reads, &query.Pipeline{Class: "sales", Stages: list, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := sourcetest.Collect(t.Context(), s, permit)
	if err != nil || len(rows) != 1 || rows[0][0].Int() != 2 { // the cities of acme
		t.Errorf("a group of JSON: %v, %v", rows, err)
	}
	if _, err := sourcetest.Collect(t.Context(), few, permit); problem.CodeOf(err) != problem.Unsupported || !strings.Contains(err.Error(), "more than 10 records") {
		t.Errorf("beyond the bound: %v", err)
	}
	if text, err := s.Compile(permit); err != nil || !strings.Contains(text, "the database runs 0 of") {
		t.Errorf("compiled as %s, %v", text, err)
	}
}

// TestTypes checks how DuckDB's types are described and how their values are read.
func TestTypes(t *testing.T) {
	s, p := opened(t, folder(t, `COPY (SELECT 1 AS id, 7::UTINYINT AS small, 18446744073709551615::UBIGINT AS u, 170141183460469231731687303715884105727::HUGEINT::VARCHAR AS h, 1.50::DECIMAL(9,4) AS d, 0.5::FLOAT AS f,
		TIMESTAMP_NS '2026-01-02 03:04:05.123456789' AS ns, TIMESTAMPTZ '2026-01-02 03:04:05+02' AS tz, TIME '10:00' AS clock, MAP {'a': 1} AS m, {'x': {'y': [1, 2]}} AS nested, 'AQ=='::BLOB AS raw) TO '%s/a.parquet'`))
	rows, err := s.Read(t.Context(), must(t, p, `SELECT * FROM a LIMIT 5`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[1,7,18446744073709551615,"170141183460469231731687303715884105727",1.5,0.5,"2026-01-02T03:04:05.123456Z","2026-01-02T01:04:05Z","10:00:00",{"a":1},{"x":{"y":[1,2]}},"QVE9PQ=="]`
	for row, err := range rows {
		if got := string(value.OfArray(row).AppendJSON(nil)); got != want || err != nil {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
	classes, _, err := s.Describe(t.Context())
	if err != nil || classes[0].Field("clock").Type != schema.Opaque || classes[0].Field("nested").Type != schema.JSON {
		t.Errorf("%+v, %v", classes, err)
	}
}

// TestCancelled checks that a statement ends with its context.
func TestCancelled(t *testing.T) {
	s, p := opened(t, folder(t, `COPY (SELECT i AS id, i % 1000 AS n FROM range(20000) r(i)) TO '%s/a.parquet'`))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _, err := asked(ctx, s, p, `SELECT count(*) FROM a JOIN a AS b ON a.id <> b.id JOIN a AS c ON b.id <> c.id`)
	if problem.CodeOf(err) != problem.Timeout {
		t.Errorf("stopped with %v; want %s", err, problem.Timeout)
	}
}
