package statements

import (
	"fmt"
	"slices"
	"strings"
)

// A written SELECT: its text, and the columns of its answer. For the laws, a plain list has its parts too: the text
// without WHERE, the condition, WITH and FROM.
type written struct {
	text                   string
	columns                []column
	free, cond, with, from string
}

// subCondition returns a condition on a sub-query.
func (w *writer) subCondition(s scope, depth int) string {
	inner := scope{outer: append(append([]table{}, s.tables...), s.outer...)}
	if w.chance(40) {
		inner.outer = nil
	}
	if w.chance(40) {
		q := w.simple(inner, nil, depth-1)
		return fmt.Sprintf("%sEXISTS (%s)", w.oneOf("", "NOT "), q.text)
	}
	is := w.kind()
	q := w.simple(inner, []kind{is}, depth-1)
	x := w.expr(s, is, depth-1)
	if w.chance(20) {
		two := w.kind()
		q := w.simple(inner, []kind{is, two}, depth-1)
		return fmt.Sprintf("(%s, %s) %sIN (%s)", x, w.expr(s, two, depth-1), w.oneOf("", "NOT "), q.text)
	}
	if w.chance(70) {
		return fmt.Sprintf("%s %sIN (%s)", x, w.oneOf("", "NOT "), q.text)
	}
	return fmt.Sprintf("%s %s %s (%s)", x, w.oneOf("=", "<>", "<", ">="), w.oneOf("ANY", "ALL"), q.text)
}

// scalar returns a sub-query of one record and one value.
func (w *writer) scalar(s scope, is kind, depth int) (string, bool) {
	if depth < 2 {
		return "", false
	}
	inner := scope{outer: append(append([]table{}, s.tables...), s.outer...)}
	from, in := w.from(inner, depth-2)
	where := w.where(in, depth-2)
	return fmt.Sprintf("(SELECT %s FROM %s%s)", w.aggregate(in, is, depth-2), from, where), true
}

func (w *writer) where(s scope, depth int) string {
	if w.chance(35) {
		return ""
	}
	return " WHERE " + w.condition(s, depth)
}

// aggregate returns an aggregate of a kind.
func (w *writer) aggregate(s scope, is kind, depth int) string {
	call := ""
	switch {
	case is == integer && w.chance(60):
		call = w.oneOf("count(*)", fmt.Sprintf("count(%s)", w.expr(s, w.kind(), depth)), fmt.Sprintf("count(DISTINCT %s)", w.expr(s, w.kind(), depth)),
			fmt.Sprintf("sum(%s)", w.expr(s, integer, depth)))
	case w.chance(10) && is != boolean:
		call = fmt.Sprintf("mode() WITHIN GROUP (ORDER BY %s)", w.expr(s, is, depth))
	case w.chance(10) && is != boolean:
		call = fmt.Sprintf("percentile_disc(%s) WITHIN GROUP (ORDER BY %s)", w.oneOf("0", "0.25", "0.5", "0.9", "1"), w.expr(s, is, depth))
	case is == double && w.chance(20):
		call = fmt.Sprintf("percentile_cont(%s) WITHIN GROUP (ORDER BY %s)", w.oneOf("0", "0.1", "0.25", "0.5", "0.9", "1"), w.expr(s, double, depth))
	case is == double && w.chance(60):
		call = fmt.Sprintf("%s(%s)", w.oneOf("sum", "avg"), w.expr(s, double, depth))
	case is == boolean:
		call = fmt.Sprintf("%s(%s)", w.oneOf("bool_and", "bool_or"), w.expr(s, boolean, depth))
	default:
		call = fmt.Sprintf("%s(%s)", w.oneOf("min", "max"), w.expr(s, is, depth))
	}
	if w.chance(20) {
		call += " FILTER (WHERE " + w.condition(s, min(depth, 1)) + ")"
	}
	return whole(call, is)
}

// whole returns a whole number as such: in PostgreSQL a sum of bigint is numeric, which divides otherwise.
func whole(call string, is kind) string {
	if is == integer && strings.HasPrefix(call, "sum") {
		return "(" + call + ")::bigint"
	}
	return call
}

// from returns a FROM clause and what it makes visible.
func (w *writer) from(s scope, depth int) (string, scope) {
	first, t := w.table(depth)
	out := scope{tables: []table{t}, outer: s.outer}
	clause, comma := first, false
	for w.chance(40) && len(out.tables) < 3 && !comma { // a comma binds less than JOIN
		next, t := w.table(depth)
		kind := w.oneOf("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ",")
		both := scope{tables: append(append([]table{}, out.tables...), t)}
		on := ""
		if kind != "CROSS JOIN" && kind != "," {
			on = " ON " + w.on(out, t, both, depth)
		}
		comma = kind == ","
		clause += " " + kind + " " + next + on
		out.tables = both.tables
	}
	for _, t := range out.tables {
		if !comma && slices.Contains(t.columns, column{"credit", double}) && w.chance(20) { // a list of customers
			list := w.alias()
			f := fmt.Sprintf("jsonb_array_elements_text(%s.meta->'tags') WITH ORDINALITY AS %s(tag, place)", t.alias, list)
			clause += w.oneOf(" CROSS JOIN "+f, " LEFT JOIN "+f+" ON true")
			out.tables = append(out.tables[:len(out.tables):len(out.tables)], table{list, []column{{"tag", text}, {"place", integer}}})
		}
	}
	return clause, out
}

// on returns the condition of a join: mostly an equality of columns.
func (w *writer) on(left scope, t table, both scope, depth int) string {
	is := w.oneOf("integer", "integer", "text")
	k := integer
	if is == "text" {
		k = text
	}
	a, b := w.column(scope{tables: left.tables}, k), w.column(scope{tables: []table{t}}, k)
	if a == "" || b == "" || w.chance(20) {
		return w.comparison(both, min(depth, 1))
	}
	on := a + " = " + b
	if w.chance(25) {
		on += " AND " + w.comparison(both, min(depth, 1))
	}
	return on
}

// table returns a table of FROM: a class, one of WITH, or a sub-query.
func (w *writer) table(depth int) (string, table) {
	alias := w.alias()
	if depth > 0 && w.chance(20) {
		q := w.query(depth - 1)
		return "(" + q.text + ") AS " + alias, table{alias, q.columns}
	}
	choice := names
	for name := range w.with {
		choice = append(choice[:len(choice):len(choice)], name, name)
	}
	name := w.oneOf(choice...)
	columns, ok := w.with[name]
	if !ok {
		columns = tables[name]
	}
	return name + " AS " + alias, table{alias, columns}
}

// simple returns one SELECT without set operations, ORDER BY and LIMIT. Its columns have the kinds that are wanted, or
// any.
func (w *writer) simple(s scope, want []kind, depth int) written {
	if want == nil {
		for range w.upTo(2) + 1 {
			want = append(want, w.kind())
		}
	}
	from, in := w.from(s, depth)
	out := written{columns: named(want), from: from}
	if w.chance(35) {
		return w.grouped(from, in, out, depth)
	}
	var list []string
	windows := len(s.outer) == 0 && w.chance(20)
	for i, k := range want {
		x := w.expr(in, k, depth)
		if windows && k == integer {
			x = w.window(in, depth)
		}
		list = append(list, x+" AS "+out.columns[i].name)
	}
	out.text = "SELECT " + strings.Join(list, ", ") + " FROM " + from
	distinct := w.chance(15)
	if distinct {
		out.text = "SELECT DISTINCT " + strings.Join(list, ", ") + " FROM " + from
	}
	out.free = out.text
	if w.chance(65) {
		out.cond = w.condition(in, depth)
		out.text += " WHERE " + out.cond
	}
	if distinct || windows || len(s.outer) > 0 {
		out.free = ""
	}
	return out
}

func named(want []kind) []column {
	out := make([]column, len(want))
	for i, k := range want {
		out[i] = column{fmt.Sprintf("c%d", i+1), k}
	}
	return out
}

// grouped ends a SELECT with GROUP BY; sometimes all records are one group.
func (w *writer) grouped(from string, in scope, out written, depth int) written {
	var list, keys []string
	all := w.chance(30)
	for i, c := range out.columns {
		x := ""
		if !all && w.chance(50) {
			x = w.expr(in, c.kind, min(depth, 1))
			keys = append(keys, fmt.Sprint(i+1))
		} else {
			x = w.aggregate(in, c.kind, min(depth, 1))
		}
		list = append(list, x+" AS "+c.name)
	}
	out.text = "SELECT " + strings.Join(list, ", ") + " FROM " + from + w.where(in, depth)
	if len(keys) > 0 {
		out.text += " GROUP BY " + strings.Join(keys, ", ")
	}
	if w.chance(25) {
		out.text += fmt.Sprintf(" HAVING %s %s %s", w.aggregate(in, integer, 1), w.oneOf(">", "<", "=", "<>"), w.literal(integer))
	}
	return out
}

// window returns a whole number of a window whose order is total.
func (w *writer) window(s scope, depth int) string {
	var order []string
	for _, t := range s.tables {
		for _, c := range t.columns {
			order = append(order, t.alias+"."+c.name+" NULLS LAST")
		}
	}
	part := ""
	if w.chance(50) {
		part = "PARTITION BY " + w.expr(s, w.kind(), min(depth, 1)) + " "
	}
	over := fmt.Sprintf(" OVER (%sORDER BY %s", part, strings.Join(order, ", "))
	switch w.upTo(4) {
	case 0:
		return w.oneOf("row_number", "rank", "dense_rank") + "()" + over + ")"
	case 1:
		return fmt.Sprintf("%s(%s)%s)", w.oneOf("lag", "lead"), w.expr(s, integer, 1), over)
	case 2:
		if w.chance(20) {
			return fmt.Sprintf("nth_value(%s, %d)%s)", w.expr(s, integer, 1), w.upTo(3)+1, over+w.oneOf("", " ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING"))
		}
		return whole(fmt.Sprintf("%s(%s)%s)", w.oneOf("first_value", "last_value", "sum", "count", "min", "max"), w.expr(s, integer, 1), over), integer)
	}
	return whole(fmt.Sprintf("%s(%s)%s ROWS BETWEEN %s AND %s)", w.oneOf("sum", "count", "min", "max"), w.expr(s, integer, 1), over,
		w.oneOf("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING"), w.oneOf("CURRENT ROW", "1 FOLLOWING", "UNBOUNDED FOLLOWING")), integer)
}

// query returns a SELECT, or a set operation of two.
func (w *writer) query(depth int) written {
	a := w.simple(scope{}, nil, depth)
	if !w.chance(15) {
		return a
	}
	want := make([]kind, len(a.columns))
	for i, c := range a.columns {
		want[i] = c.kind
	}
	b := w.simple(scope{}, want, depth)
	op := w.oneOf("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
	return written{text: a.text + " " + op + " " + b.text, columns: a.columns}
}

// statement returns a whole statement: perhaps with WITH, and with an order by all columns before a LIMIT.
func (w *writer) statement(depth int) written {
	with := ""
	switch {
	case w.chance(6):
		in := scope{tables: []table{{"a", tables["staff"]}}}
		link := w.oneOf("b.boss_id = w.c1", "b.id = w.c2")
		with = "WITH RECURSIVE w AS (SELECT a.id AS c1, a.boss_id AS c2, 1 AS c3, " + w.expr(in, integer, 1) + " AS c4 FROM staff AS a" + w.where(in, 1) +
			w.oneOf(" UNION", " UNION ALL") + " SELECT b.id, b.boss_id, w.c3 + 1, w.c4 FROM staff AS b JOIN w ON " + link + w.oneOf("", " AND w.c3 < 3", " AND b.pay > 300") + ") "
		w.with = map[string][]column{"w": {{"c1", integer}, {"c2", integer}, {"c3", integer}, {"c4", integer}}}
	case w.chance(20):
		q := w.query(depth - 1)
		with = "WITH w AS (" + q.text + ") "
		w.with = map[string][]column{"w": q.columns}
	}
	q := w.query(depth)
	q.text = with + q.text
	if q.free != "" {
		q.free, q.with = with+q.free, with
	}
	exact := true
	var order []string
	for i, c := range q.columns {
		exact = exact && c.kind != double
		order = append(order, fmt.Sprint(i+1, w.oneOf(" NULLS LAST", " DESC NULLS FIRST", " NULLS FIRST", " DESC NULLS LAST")))
	}
	if exact && w.chance(30) {
		q.text += " ORDER BY " + strings.Join(order, ", ")
		if w.chance(60) {
			q.text += fmt.Sprintf(" LIMIT %d", w.upTo(5)+1)
		}
		if w.chance(30) {
			q.text += fmt.Sprintf(" OFFSET %d", w.upTo(3))
		}
		q.free = ""
	}
	return q
}
