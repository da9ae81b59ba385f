package sqlparse_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// TestMeanings checks that a statement with an idiom becomes the statement with its meaning.
func TestMeanings(t *testing.T) {
	for _, tt := range []struct{ idiom, means string }{
		{"nvl2(a, 1, 2)", "CASE WHEN a IS NOT NULL THEN 1 ELSE 2 END"},
		{"isnull(a, 1)", "coalesce(a, 1)"},
		{"isnull(a)", "a IS NULL"},
		{"countif(a > 1)", "count(*) FILTER (WHERE a > 1)"},
		{"countif(a > 1) FILTER (WHERE b)", "count(*) FILTER (WHERE b AND a > 1)"},
		{"countif(a) OVER (PARTITION BY b)", "count(*) FILTER (WHERE a) OVER (PARTITION BY b)"},
		{"decode(a, 1, 'x', 2, 'y', 'z')", "CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END"},
		{"decode(a, b, 'x')", "decode(a, b, 'x')"},
		{"regexp_like(a, '^x', 'i')", "a ~* '^x'"},
		{"regexp_like(a, '^x', 'm')", "regexp_like(a, '^x', 'm')"},
		{"date_trunc(a, MONTH)", "date_trunc('month', a)"},
		{"date_trunc(a, ISOWEEK)", "date_trunc('week', a)"},
		{"date_trunc('month', a)", "date_trunc('month', a)"},
		{"date_trunc(a, b)", "date_trunc(a, b)"},
		{"date_diff(a, b, DAY)", "datediff(DAY, b, a)"},
		{"convert(date, a)", "CAST(a AS date)"},
		{"convert(a, varchar(2))", "convert(a, varchar(2))"},
		{"nvl2(nvl2(a, 1, 2), 3, 4)", "CASE WHEN CASE WHEN a IS NOT NULL THEN 1 ELSE 2 END IS NOT NULL THEN 3 ELSE 4 END"},
		{"nvl2(a, 1, 2) OVER ()", "nvl2(a, 1, 2) OVER ()"},
		{"l && ARRAY['x']", "CASE WHEN l IS NULL THEN NULL ELSE ('x' = ANY (l)) IS TRUE END"},
		{"f(l) @> ARRAY['x']", "f(l) @> ARRAY['x']"},
		{"l @> ARRAY[f(1)]", "l @> ARRAY[f(1)]"},
		{"a = ANY('{x, y z ,\"q,\\\"}\",NULL,\"null\"}')", "a = ANY(ARRAY['x', 'y z', 'q,\"}', NULL, 'null'])"},
		{"a <> ALL('{1,2}')", "a <> ALL(ARRAY['1', '2'])"},
		{"a = ANY('{{1},{2}}')", "a = ANY('{{1},{2}}')"},
		{"a = ANY('{x')", "a = ANY('{x')"},
		{"a = ANY('{x,}')", "a = ANY('{x,}')"},
		{"a = ANY('{x}y')", "a = ANY('{x}y')"},
		{"a = ANY('{}')", "a = ANY('{}')"},
		{"a = ANY('x')", "a = ANY('x')"},
		{"format('%s-%s%% of %1$s: %s', a, b)", "concat(a, '-', b, '%', ' of ', a, ': ', b)"},
		{"l && '{x}'", "l && ARRAY['x']"},
		{"'{x}' && l", "l && ARRAY['x']"},
		{"l @> '{x,y}'", "l @> ARRAY['x', 'y']"},
		{"l @> '{}'", "l @> '{}'"},
		{"l @> '{x,2}'", "l @> '{x,2}'"},
		{"l @> '{x,NULL}'", "l @> '{x,NULL}'"},
		{"a LIKE ANY ('x', 'y%')", "a LIKE 'x' OR a LIKE 'y%'"},
		{"a NOT ILIKE ALL (ARRAY['x', b])", "a NOT ILIKE 'x' AND a NOT ILIKE b"},
		{"format('')", "''"},
		{"format(a, 2)", "format(a, 2)"},
		{"(SELECT isnull(a, 1) FROM t)", "(SELECT coalesce(a, 1) AS isnull FROM t)"},
	} {
		if got, want := taken(t, tt.idiom), taken(t, tt.means); got != want {
			t.Errorf("%s is\n%s, want\n%s", tt.idiom, got, want)
		}
	}
}

// TestRefused checks the errors of idioms that are supported only in part.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ idiom, want string }{
		{"format('%d', a)", "line 1, column 15: format takes %s, %1$s and %% here"},
		{"format('%-5s', a)", "line 1, column 15: format takes %s, %1$s and %% here"},
		{"format('%', a)", "line 1, column 15: format takes %s, %1$s and %% here"},
		{"format('%s %s', a)", "line 1, column 15: format has no value for the %s with number 2"},
		{"format('%0$s', a)", "line 1, column 15: format has no value for the %s with number 0"},
		{"format('%s %1$s', f(a))", "line 1, column 26: format takes a value twice only if it is a column"},
	} {
		q, err := sqlparse.Parse("SELECT " + tt.idiom)
		if err != nil {
			t.Fatal(err)
		}
		if err := sqlparse.RewriteIdioms(q); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.idiom, err, tt.want)
		}
	}
}

// taken returns a text that is the same for expressions with the same meaning.
func taken(t *testing.T, expr string) string {
	t.Helper()
	q, err := sqlparse.Parse("SELECT " + expr + " AS x FROM t")
	if err != nil {
		t.Fatal(expr, err)
	}
	if err := sqlparse.RewriteIdioms(q); err != nil {
		t.Fatal(expr, err)
	}
	s := q.Body.(*sqlparse.Select)
	s.Items[0].Text = ""
	text := sqlparse.Key(s.Items[0].X, (*sqlparse.Name).Written)
	if sub, ok := s.Items[0].X.(*sqlparse.Sub); ok {
		inner := sub.Query.Body.(*sqlparse.Select).Items[0]
		text = inner.Alias.Text + sqlparse.Key(inner.X, (*sqlparse.Name).Written)
	}
	return text
}

// TestGrowth checks that the meaning of nested idioms is only a few times longer than their text.
func TestGrowth(t *testing.T) {
	for _, idiom := range []string{"nvl2(@, 1, 2)", "isnull(@, 1)", "decode(@, 1, 2, 3, 4, 5)", "safe_divide(@, 2)", "last_day(@)", "date_trunc(@, MONTH)", "regexp_like(@, 'a')", "isnull(@)", "format('%s, %s', @, b)"} {
		text := "a"
		for range 40 {
			text = strings.ReplaceAll(idiom, "@", text)
		}
		if n := len(taken(t, text)); n > 100_000 {
			t.Errorf("%s, nested 40 times, has a key of %d bytes", idiom, n)
		}
	}
}
