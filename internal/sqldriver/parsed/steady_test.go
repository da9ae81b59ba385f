package parsed_test

import (
	"context"
	"database/sql/driver"
	"io"
	"testing"

	"modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
)

// TestPlansAreSteady checks that the plan doesn't depend on the arguments. With samples of ANALYZE, SQLite would
// otherwise parse and plan a statement again for each argument. It would scan for a value that nearly all rows have,
// and use the index for a rare value.
func TestPlansAreSteady(t *testing.T) {
	opened, err := new(sqlite.Driver).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	conn := parsed.Steady(opened)
	t.Cleanup(func() { conn.Close() })
	const fill = `CREATE TABLE t (n INTEGER, x TEXT); CREATE INDEX i ON t (n); INSERT INTO t
		WITH RECURSIVE r (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 2000) SELECT CASE WHEN k > 10 THEN 0 ELSE k END, 'x' FROM r; ANALYZE`
	if _, err := conn.ExecContext(context.Background(), fill, nil); err != nil {
		t.Fatal(err)
	}
	plan := func(n int64) string {
		rows, err := conn.QueryContext(context.Background(), `EXPLAIN QUERY PLAN SELECT x FROM t WHERE n = ?`, []driver.NamedValue{{Ordinal: 1, Value: n}})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		row := make([]driver.Value, 4)
		if err := rows.Next(row); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		return row[3].(string)
	}
	if common, rare := plan(0), plan(3); common != rare {
		t.Errorf("the plan for a common value is %q, for a rare one %q", common, rare)
	}
}

// TestLookup checks that SQLite plans a lookup without regard to its arguments, even after a change of the schema.
// Other statements of the connection are still planned for their arguments. The order of the rows shows the plan: a
// scan returns the order of the table, and the index the opposite order.
func TestLookup(t *testing.T) {
	opened, err := new(sqlite.Driver).Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	conn := parsed.New(opened)
	t.Cleanup(func() { conn.Close() })
	do := func(text string) {
		t.Helper()
		if _, err := conn.ExecContext(context.Background(), text, nil); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE TABLE t (n INTEGER, x INTEGER, y TEXT); CREATE INDEX i ON t (n, x); INSERT INTO t
		WITH RECURSIVE r (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM r WHERE k < 2000) SELECT CASE WHEN k > 10 THEN 0 ELSE 1 END, -k, 'x' FROM r; ANALYZE`)
	scans := func(text string, n int64) bool {
		t.Helper()
		rows, err := conn.QueryContext(context.Background(), text, []driver.NamedValue{{Ordinal: 1, Value: n}})
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var x [2]int64
		for i := range x {
			row := make([]driver.Value, 2)
			if err := rows.Next(row); err != nil {
				t.Fatal(err)
			}
			x[i] = row[0].(int64)
		}
		return x[0] > x[1]
	}
	const asked, lookup = `SELECT x, y FROM t WHERE n = ?`, `SELECT x, y FROM t AS looked WHERE n = ?`
	for _, schema := range []string{"", `CREATE TABLE another (n INTEGER)`, `CREATE INDEX j ON another (n)`} {
		if schema != "" {
			do(schema)
		} else if err := conn.Lookup(context.Background(), lookup); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if !scans(asked, 0) || scans(asked, 1) {
				t.Errorf("after %q: a query isn't planned for its argument any more, or this version of SQLite has another plan", schema)
			}
			if scans(lookup, 0) != scans(lookup, 1) {
				t.Errorf("after %q: a lookup is planned for its argument", schema)
			}
		}
	}
	if err := conn.Lookup(context.Background(), `SELECT nothing`); err == nil {
		t.Error("a lookup that can't be parsed is no error")
	}
}
