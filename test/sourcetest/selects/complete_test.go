package selects

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlbind"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
)

// notDrawn contains the functions that random statements omit, with the reasons.
var notDrawn = map[string]string{
	"typeof":                "it is refused everywhere",
	"string_to_table":       "it makes records, as unnest does, which is drawn",
	"regexp_split_to_table": "likewise",
	"make_interval":         "it is how the parser reads INTERVAL 7 DAY, which is drawn",
}

// constructs contains the other forms that statements can have, as parts of a text.
var constructs = []string{
	"DISTINCT ON (", "SELECT DISTINCT ", "WITH w AS (", "WITH RECURSIVE ", " UNION ALL ", " INTERSECT ", " EXCEPT ", " UNION ", "(VALUES (", " LIMIT ", " OFFSET ", " FETCH FIRST ", " NULLS FIRST", " NULLS LAST",
	" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ", " CROSS JOIN ", " , ", " USING (", " WITH ORDINALITY ", " JOIN LATERAL (", " LEFT JOIN LATERAL (", "unnest(ARRAY[", "jsonb_array_elements(", "jsonb_array_elements_text(", "generate_series(timestamptz", "generate_series(1",
	" GROUP BY ", " GROUP BY ROLLUP (", " GROUP BY CUBE (", " GROUP BY GROUPING SETS (", "GROUPING(", " HAVING ", " FILTER (WHERE ", " WITHIN GROUP (ORDER BY ", " OVER (PARTITION BY ", " OVER w", " WINDOW w AS (", "ROWS BETWEEN UNBOUNDED PRECEDING AND ", " AND 1 FOLLOWING", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
	"RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "EXISTS (", " NOT IN (", " = ANY (", "ALL (ARRAY[", " BETWEEN SYMMETRIC ", " IS NOT DISTINCT FROM ", " IS UNKNOWN", " ILIKE ", " SIMILAR TO ", " ~ ", " !~* ", " ESCAPE ", " & ", " | ", " # ", "(~ ", " ^ ",
	"CASE WHEN ", "CAST(", "::integer", "::numeric(", "::date", "::boolean", "::text", " AT TIME ZONE ", " interval ", "extract(epoch FROM ", "FROM age(", "->'", "->>'", "#>>", "#>'", "ARRAY[", "DISTINCT ", "SEPARATOR ", " ORDER BY ",
}

// TestWriterIsComplete checks that random statements use every supported SQL function and every construct, and that
// the parser accepts them. A form that isn't drawn would not be tested.
func TestWriterIsComplete(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tables := []Table{
		{Name: "staff", Key: "id", Parent: "boss_id", Columns: []Column{{"id", Integer}, {"boss_id", Integer}, {"name", Text}, {"born", Instant}, {"vip", Boolean}, {"pay", Double}, {"meta", JSON}}},
		{Name: "sales", Columns: []Column{{"id", Integer}, {"day", Day}, {"name", Text}}},
	}
	var all strings.Builder
	refused := 0
	const n = 9000
	for range n {
		w := &Writer{Tables: tables, Foreign: 30, Draw: func(n int) int { return r.IntN(n + 1) }}
		q := w.Statement(2)
		if _, err := sqlparse.Parse(q.Text); err != nil {
			if refused++; refused < 4 {
				t.Logf("%s\n%v", q.Text, err)
			}
		}
		all.WriteString(q.Text + "\n")
	}
	if refused > n/1000 {
		t.Errorf("the parser refuses %d of %d statements", refused, n)
	}
	drawn := map[string]bool{}
	for _, m := range regexp.MustCompile(`([a-z_0-9]+)\(`).FindAllStringSubmatch(all.String(), -1) {
		drawn[m[1]] = true
	}
	drawn["btrim"] = drawn["trim"]
	for _, name := range slices.Concat(sqlbind.FunctionNames(), sqlbind.WindowNames(), sqlparse.IdiomNames()) {
		if !drawn[name] && notDrawn[name] == "" {
			t.Errorf("no statement calls %s", name)
		}
	}
	for _, part := range constructs {
		if !strings.Contains(all.String(), part) {
			t.Errorf("no statement has %q", part)
		}
	}
}
