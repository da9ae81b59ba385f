package parsed_test

import (
	"context"
	"database/sql/driver"
	"io"
	"testing"

	"modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver/parsed"
)

// With samples of ANALYZE, SQLite would parse a statement again for each argument, and plan for it: a scan for a value that
// nearly all rows have, the index for another. The plan shows which it did.
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
