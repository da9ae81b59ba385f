package sqlparse_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// FuzzParse checks that the parser either accepts a text or returns an error with a place.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"SELECT 1", "SELECT a.b, count(*) FILTER (WHERE x > 1) OVER (PARTITION BY y ORDER BY z ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t AS a LEFT JOIN u USING (id) WHERE NOT x IN (SELECT 1) GROUP BY 1 HAVING true ORDER BY 1 NULLS LAST LIMIT 3 OFFSET 2",
		"WITH a AS (SELECT 1) VALUES (1, 'x''y'), ($1, E'\\n') UNION ALL (SELECT ARRAY[1][2], x::numeric(10,2)[], CASE x WHEN 1 THEN 2 END)", "SELECT $$a$$ || $t$b$t$ /* c /* d */ */ -- e",
		"SELECT EXTRACT(year FROM date '2024-01-01') + INTERVAL 7 DAY, [a b], `c`", "((((", "SELECT '", "\x00", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := sqlparse.Parse(text)
		if err == nil {
			q.First()
			return
		}
		if p := problem.Of(err); p.Code == problem.Internal || !strings.HasPrefix(p.Detail, "line ") {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestBounds checks the limits on the size, the depth and the expressions of a statement.
func TestBounds(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"bytes":       {"SELECT '" + strings.Repeat("x", sqlparse.MaxText) + "'", "line 1, column 1: the statement has 65545 bytes, at most 65536"},
		"parentheses": {"SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), "nest more than 60 deep"},
		"queries":     {strings.Repeat("SELECT * FROM (", 500) + "SELECT 1" + strings.Repeat(") AS x", 500), "nest more than 60 deep"},
		"operands":    {"SELECT 1" + strings.Repeat(" + 1", 9000), "more than 5000 expressions"},
		"unions":      {"SELECT 1" + strings.Repeat(" UNION SELECT 1", 3000), "more than"},
		"minus":       {"SELECT " + strings.Repeat("- ", 9000) + "1", "nest more than 60 deep"},
		"not":         {"SELECT " + strings.Repeat("NOT ", 9000) + "true", "nest more than 60 deep"},
		"values":      {"SELECT 1 IN (1" + strings.Repeat(",1", 10_000) + ")", "the lists of the statement have more than 10000 values"},
		"a megabyte":  {"SELECT '" + strings.Repeat("x", 1<<20) + "'", "line 1, column 1: the statement has 1048585 bytes, at most 65536"},
		"columns":     {"SELECT 1" + strings.Repeat(",1", 10_000), "more than 5000 expressions"},
		"joins":       {"SELECT 1 FROM a" + strings.Repeat(" JOIN a", 9000), "more than 5000 expressions"},
		"tables":      {"SELECT 1 FROM a" + strings.Repeat(",a", 10_000), "more than 5000 expressions"},
		"NUL":         {"SELECT 'a\x00b'", "line 1, column 10: the statement contains a NUL byte"},
		"NUL outside": {"SELECT \x00 1", "line 1, column 8: the statement contains a NUL byte"},
		"no UTF-8":    {"SELECT '\xff'", "line 1, column 1: the statement isn't valid UTF-8"},
		"name":        {"SELECT \xc3( FROM t", "line 1, column 1: the statement isn't valid UTF-8"},
		"casts":       {"SELECT 1" + strings.Repeat("::text", 9000), "more than 5000 expressions"},
	} {
		_, err := sqlparse.Parse(tt.text)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.200v, want %q", name, err, tt.want)
		}
	}
}
