package selects

import (
	"fmt"
	"strings"
)

// levels returns the keys of a GROUP BY, sometimes as grouping sets. PostgreSQL folds a constant expression before it
// groups. Sets without the expression then contain its value instead of null. In this case, PostgreSQL's own answer
// is not compared.
func (w *Writer) levels(keys, exprs []string) string {
	all := strings.Join(keys, ", ")
	if w.chance(75) {
		return all
	}
	for _, x := range exprs {
		column := strings.HasPrefix(x, "t") && strings.Contains(x, ".") && !strings.ContainsAny(x, "( '")
		w.own = w.own || !column // a single number is also constant
	}
	return w.oneOf("ROLLUP (", "CUBE (", "GROUPING SETS ((), ("+all+"), ", "GROUPING SETS (", "ROLLUP (("+all+")), CUBE (") + all + ")"
}

// lateral returns a join with a query that refers to the tables of s, and the columns that the join makes visible.
func (w *Writer) lateral(s scope, depth int) (string, named) {
	inner, t := w.table(0)
	in := scope{tables: []named{t}, outer: append(append([]named{}, s.tables...), s.outer...)}
	of := named{w.alias(), numberedColumns([]Kind{w.kind(), w.kind()})}
	kind := w.oneOf("JOIN", "LEFT JOIN")
	where := " WHERE " + w.form(in, 0, "{i} {=|=|<} {i}", "{t} = {t}")
	if kind == "JOIN" {
		where = w.where(in, depth-1)
	}
	var items []string
	single := w.chance(25)
	for _, c := range of.columns {
		x := ""
		if single {
			x = w.aggregate(in, c.Kind, 0)
		} else {
			x = w.expr(in, c.Kind, depth-1)
		}
		items = append(items, x+" AS "+c.Name)
	}
	text := "SELECT " + strings.Join(items, ", ") + " FROM " + inner + where
	if !single && w.chance(75) {
		text += " ORDER BY " + total(in) + w.oneOf(" LIMIT 1", " LIMIT 2", " LIMIT 3")
	}
	return fmt.Sprintf(" %s LATERAL (%s) AS %s ON true", kind, text, of.alias), of
}

// descent returns a recursive WITH on a table whose records point to other records of the table.
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
