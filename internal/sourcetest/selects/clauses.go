package selects

import (
	"fmt"
	"strings"
)

// levels returns the keys of a GROUP BY, sometimes as grouping sets.
func (w *Writer) levels(keys []string) string {
	all := strings.Join(keys, ", ")
	if w.chance(75) {
		return all
	}
	return w.oneOf("ROLLUP (", "CUBE (", "GROUPING SETS ((), ("+all+"), ", "GROUPING SETS (", "ROLLUP (("+all+")), CUBE (") + all + ")"
}

// descent returns a recursive WITH over a table whose records point to others of it.
func (w *Writer) descent() string {
	var t Table
	for _, t = range w.Tables {
		if t.Parent != "" {
			break
		}
	}
	in := scope{tables: []named{{"a", t.Columns}}}
	step := scope{tables: []named{{"b", t.Columns}}}
	link := w.oneOf(fmt.Sprintf("b.%s = w.c1", t.Parent), fmt.Sprintf("b.%s = w.c2", t.Key))
	with := fmt.Sprintf("WITH RECURSIVE w AS (SELECT a.%s AS c1, a.%s AS c2, 1 AS c3, %s AS c4 FROM %s AS a%s %s SELECT b.%[1]s, b.%[2]s, w.c3 + 1, w.c4 FROM %[4]s AS b JOIN w ON %[7]s) ",
		t.Key, t.Parent, w.expr(in, Integer, 1), t.Name, w.where(in, 1), w.oneOf("UNION", "UNION ALL"), link+w.oneOf("", " AND w.c3 < 3", " AND "+w.form(step, 0, "{i} > {i}")))
	w.with["w"] = []Column{{"c1", Integer}, {"c2", Integer}, {"c3", Integer}, {"c4", Integer}}
	return with
}
