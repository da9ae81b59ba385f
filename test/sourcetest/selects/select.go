package selects

import (
	"fmt"
	"slices"
	"strings"
)

// A Written is a SELECT with its text and the columns of its answer. A plain list also has its parts: the text
// without WHERE, the condition, WITH and FROM. Own means that PostgreSQL rejects the text or gives it another
// meaning.
type Written struct {
	Text                   string
	Own                    bool
	Free, Cond, With, From string

	columns []Column
}

// subCondition returns a condition on a subquery.
func (w *Writer) subCondition(s scope, depth int) string {
	inner := scope{outer: append(append([]named{}, s.tables...), s.outer...)}
	if w.chance(40) {
		inner.outer = nil
	}
	if w.chance(40) {
		q := w.simple(inner, nil, depth-1)
		return fmt.Sprintf("%sEXISTS (%s)", w.oneOf("", "NOT "), q.Text)
	}
	is := w.kind()
	q := w.simple(inner, []Kind{is}, depth-1)
	x := w.expr(s, is, depth-1)
	if w.chance(20) {
		two := w.kind()
		q := w.simple(inner, []Kind{is, two}, depth-1)
		return fmt.Sprintf("(%s, %s) %sIN (%s)", x, w.expr(s, two, depth-1), w.oneOf("", "NOT "), q.Text)
	}
	if w.chance(70) {
		return fmt.Sprintf("%s %sIN (%s)", x, w.oneOf("", "NOT "), q.Text)
	}
	return fmt.Sprintf("%s %s %s (%s)", x, w.oneOf("=", "<>", "<", ">="), w.oneOf("ANY", "ALL"), q.Text)
}

// scalar returns a subquery that returns one value, usually from one record.
func (w *Writer) scalar(s scope, is Kind, depth int) (string, bool) {
	if depth < 2 {
		return "", false
	}
	inner := scope{outer: append(append([]named{}, s.tables...), s.outer...)}
	from, in := w.from(inner, depth-2)
	where := w.where(in, depth-2)
	if w.chance(25) { // may return several records, which is an error
		return fmt.Sprintf("(SELECT %s FROM %s%s)", w.expr(in, is, depth-2), from, where), true
	}
	return fmt.Sprintf("(SELECT %s FROM %s%s)", w.aggregate(in, is, depth-2), from, where), true
}

func (w *Writer) where(s scope, depth int) string {
	if w.chance(35) {
		return ""
	}
	return " WHERE " + w.condition(s, depth)
}

// aggregate returns an aggregate of a kind.
func (w *Writer) aggregate(s scope, is Kind, depth int) string {
	if some := gathered[is]; is >= JSON || some != nil && w.chance(35) {
		if w.chance(w.Foreign) && foreignAggregates[is] != nil {
			w.own, some = true, foreignAggregates[is]
		}
		return w.form(s, depth, some...)
	}
	if some := foreignAggregates[is]; some != nil && w.chance(w.Foreign) {
		w.own = true
		return w.form(s, depth, some...)
	}
	call := w.form(s, depth, aggregates[is]...)
	if bare, ok := strings.CutSuffix(call, ")::bigint"); ok && call[0] != '(' && w.chance(20) {
		return "(" + bare + ") FILTER (WHERE " + w.condition(s, min(depth, 1)) + "))::bigint"
	}
	if !strings.HasSuffix(call, "bigint") && !strings.HasSuffix(call, "precision") && w.chance(20) {
		call += " FILTER (WHERE " + w.condition(s, min(depth, 1)) + ")"
	}
	return call
}

// from returns a FROM clause and the columns that it makes visible.
func (w *Writer) from(s scope, depth int) (string, scope) {
	clause, t := w.table(depth)
	out, comma := scope{tables: []named{t}, outer: s.outer}, false
	for w.chance(40) && len(out.tables) < 3 && !comma { // a comma binds less tightly than JOIN
		next, t := w.table(depth)
		kind := w.oneOf("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ",")
		both := scope{tables: append(append([]named{}, out.tables...), t)}
		switch {
		case kind == "CROSS JOIN", kind == ",":
			clause += " " + kind + " " + next
		case len(out.tables) == 1 && alike(out.tables[0], t) && w.chance(30):
			clause += " " + kind + " " + next + " USING (id)"
		default:
			clause += " " + kind + " " + next + " ON " + w.on(out, t, both, depth)
		}
		comma = kind == ","
		out.tables = both.tables
	}
	if depth > 0 && !comma && w.chance(8) {
		more, of := w.lateral(out, depth)
		clause += more
		out.tables = append(out.tables[:len(out.tables):len(out.tables)], of)
	}
	for _, t := range out.tables {
		for _, c := range t.columns {
			if c.Kind >= JSON && !comma && w.chance(25) {
				more, of := w.elements(t.alias+"."+c.Name, c.Kind)
				clause += more
				out.tables = append(out.tables[:len(out.tables):len(out.tables)], of)
			}
		}
	}
	return clause, out
}

// alike reports whether two tables both have an integer column id.
func alike(a, b named) bool {
	id := Column{"id", Integer}
	return slices.Contains(a.columns, id) && slices.Contains(b.columns, id)
}

// elements returns a join with the elements of a list and the columns that it makes visible.
func (w *Writer) elements(x string, is Kind) (string, named) {
	t := named{w.alias(), []Column{{"tag", Text}, {"place", Integer}}}
	call := "jsonb_array_elements_text(" + x + "->'tags')"
	if is == list {
		call, t.columns[0].Kind = "unnest("+x+")", Integer
	} else if w.chance(30) {
		call, t.columns[0].Kind = w.oneOf("jsonb_array_elements(", "jsonb_array_elements(")+x+"->'tags')", JSON
	}
	call += " WITH ORDINALITY AS " + t.alias + "(tag, place)"
	return w.oneOf(" CROSS JOIN "+call, " LEFT JOIN "+call+" ON true"), t
}

// on returns the condition of a join. Usually it is an equality of columns.
func (w *Writer) on(left scope, t named, both scope, depth int) string {
	k := []Kind{Integer, Integer, Text}[w.Draw(2)]
	a, b := w.column(scope{tables: left.tables}, k), w.column(scope{tables: []named{t}}, k)
	if a == "" || b == "" || w.chance(20) {
		return w.comparison(both, min(depth, 1))
	}
	on := a + " = " + b
	if w.chance(25) {
		on += " AND " + w.comparison(both, min(depth, 1))
	}
	return on
}

// table returns a table for FROM: a class, a table of WITH, constants, or a subquery.
func (w *Writer) table(depth int) (string, named) {
	alias := w.alias()
	if depth > 0 && w.chance(20) {
		q := w.query(depth - 1)
		if w.chance(20) {
			q = w.firsts(depth - 1)
		}
		return "(" + q.Text + ") AS " + alias, named{alias, q.columns}
	}
	if w.chance(10) {
		return w.constantTable(alias)
	}
	choice := slices.Clone(w.Tables)
	for name, columns := range w.with {
		choice = append(choice, Table{Name: name, Columns: columns}, Table{Name: name, Columns: columns})
	}
	t := choice[w.Draw(len(choice)-1)]
	return t.Name + " AS " + alias, named{alias, t.Columns}
}

// constantTable returns a table of constants.
func (w *Writer) constantTable(alias string) (string, named) {
	one := func(is Kind) named { return named{alias, []Column{{"c1", is}}} }
	switch w.Draw(4) {
	case 0:
		return fmt.Sprintf("generate_series(%s) AS %s(c1)", w.oneOf("1, 4", "0, 10, 5", "3, 1, -1"), alias), one(Integer)
	case 1:
		ends := w.oneOf("2026-01-01 00:00:00Z', timestamptz '2026-06-01", "2026-01-31 00:00:00Z', timestamptz '2026-06-01", "2026-01-31 00:00:00Z', timestamptz '2025-08-01")
		return fmt.Sprintf("generate_series(timestamptz '%s 00:00:00Z', interval '%s') AS %s(c1)", ends, w.oneOf("1 month", "7 weeks", "-1 month"), alias), one(Instant)
	case 2:
		return "unnest(ARRAY['Oslo', 'paid', NULL]) AS " + alias + "(c1)", one(Text)
	case 3:
		return "unnest(ARRAY[1, 2, 10]) AS " + alias + "(c1)", one(Integer)
	}
	return "(VALUES (1, 'Oslo', true), (2, NULL, false), (10, 'paid', NULL)) AS " + alias + "(c1, c2, c3)", named{alias, []Column{{"c1", Integer}, {"c2", Text}, {"c3", Boolean}}}
}

// simple returns one SELECT without set operations, ORDER BY and LIMIT. Its columns have the kinds in want, or any
// kinds if want is nil.
func (w *Writer) simple(s scope, want []Kind, depth int) Written {
	kept := want != nil
	for !kept && (len(want) == 0 || w.chance(66) && len(want) < 3) {
		want = append(want, w.kind())
	}
	from, in := w.from(s, depth)
	out := Written{columns: numberedColumns(want), From: from}
	if w.chance(35) {
		return w.endWithGroupBy(in, out, !kept, depth)
	}
	distinct := w.chance(15)
	if !kept && !distinct && w.chance(8) {
		out.columns[0].Kind = []Kind{JSON, list}[w.Draw(1)]
	}
	var items []string
	windows := len(s.outer) == 0 && w.chance(20)
	w.window = ""
	for _, c := range out.columns {
		x := ""
		if windows && c.Kind <= Day && w.chance(70) {
			x = w.over(in, c.Kind, depth)
		} else {
			x = w.expr(in, c.Kind, depth)
		}
		items = append(items, x+" AS "+c.Name)
	}
	window := w.window
	out.Text = "SELECT " + strings.Join(items, ", ") + " FROM " + from
	if distinct {
		out.Text = "SELECT DISTINCT " + strings.Join(items, ", ") + " FROM " + from
	}
	out.Free = out.Text
	if w.chance(65) {
		out.Cond = w.condition(in, depth)
		out.Text += " WHERE " + out.Cond
	}
	out.Text += window
	if distinct || windows || len(s.outer) > 0 {
		out.Free = ""
	}
	return out
}

// firsts returns a SELECT with DISTINCT ON, whose order has no ties.
func (w *Writer) firsts(depth int) Written {
	from, in := w.from(scope{}, 0)
	out := Written{columns: numberedColumns([]Kind{w.kind(), w.kind()})}
	key := w.expr(in, w.kind(), min(depth, 1))
	var items []string
	for _, c := range out.columns {
		items = append(items, w.expr(in, c.Kind, depth)+" AS "+c.Name)
	}
	out.Text = fmt.Sprintf("SELECT DISTINCT ON (%s) %s FROM %s%s ORDER BY %[1]s NULLS FIRST, %[5]s", key, strings.Join(items, ", "), from, w.where(in, depth), total(in))
	return out
}

func numberedColumns(want []Kind) []Column {
	out := make([]Column, len(want))
	for i, k := range want {
		out[i] = Column{fmt.Sprintf("c%d", i+1), k}
	}
	return out
}

// endWithGroupBy adds GROUP BY to a SELECT. Sometimes all records form one group. If any columns are allowed, one may
// be a list.
func (w *Writer) endWithGroupBy(in scope, out Written, anything bool, depth int) Written {
	var items, keys, grouped []string
	all := w.chance(30)
	for i := range out.columns {
		c := &out.columns[i]
		x := ""
		switch {
		case !all && w.chance(50):
			x = w.expr(in, c.Kind, min(depth, 1))
			keys, grouped = append(keys, w.oneOf(fmt.Sprint(i+1), fmt.Sprint(i+1), x)), append(grouped, x)
		case c.Kind == Integer && len(grouped) > 0 && w.chance(12):
			x = "GROUPING(" + w.oneOf(strings.Join(grouped, ", "), grouped[0]) + ")"
		case c.Kind == Integer && w.chance(8):
			x = w.oneOf("(sum(count(*)) OVER ())::bigint", "count(*) OVER ()", "rank() OVER (ORDER BY count(*) DESC)")
		default:
			if anything && w.chance(10) {
				c.Kind = []Kind{JSON, list}[w.Draw(1)]
			}
			x = w.aggregate(in, c.Kind, min(depth, 1))
		}
		items = append(items, x+" AS "+c.Name)
	}
	out.Text = "SELECT " + strings.Join(items, ", ") + " FROM " + out.From + w.where(in, depth)
	if keys = slices.DeleteFunc(keys, func(k string) bool { return slices.Contains(constants[Integer], k) && len(k) > 1 }); len(keys) > 0 {
		out.Text += " GROUP BY " + w.levels(keys, grouped)
	}
	if w.chance(25) {
		out.Text += fmt.Sprintf(" HAVING %s %s %s", w.aggregate(in, Integer, 1), w.oneOf(">", "<", "=", "<>"), w.literal(Integer))
	}
	return out
}

// total returns an order of records without ties, except between identical records.
func total(s scope) string {
	var order []string
	for _, t := range s.tables {
		for _, c := range t.columns {
			if c.Kind < JSON {
				order = append(order, t.alias+"."+c.Name+" NULLS LAST")
			}
		}
	}
	if len(order) == 0 {
		return "1"
	}
	return strings.Join(order, ", ")
}

// over returns a window computation of a kind.
func (w *Writer) over(s scope, is Kind, depth int) string {
	part := ""
	if w.chance(50) {
		part = "PARTITION BY " + w.expr(s, w.kind(), min(depth, 1)) + " "
	}
	ties := part + w.oneOf("", "", "ORDER BY "+w.expr(s, w.kind(), 0)+w.oneOf(" NULLS FIRST", " DESC NULLS LAST"))
	choices := slices.Concat(shifted, ranked[is], ranked[is])
	switch is {
	case Integer:
		choices = slices.Concat(choices, summed)
	case Boolean:
		choices = append(shifted[:1:1], ranked[is]...)
		choices[0] = "{first_value|last_value}(@) OVER ({total})"
	}
	form := w.oneOf(choices...)
	call := w.form(s, min(depth, 1), strings.NewReplacer("{total}", part+"ORDER BY "+total(s), "{ties}", ties, "@", "{"+letters[is:is+1]+"}", "#", w.literal(is)).Replace(form))
	if spec := " OVER (" + ties + ")"; w.window == "" && ties != "" && strings.HasSuffix(call, spec) && w.chance(30) {
		w.window = " WINDOW w AS (" + ties + ")"
		call = strings.TrimSuffix(call, spec) + " OVER w"
	}
	if is == Integer && strings.HasPrefix(call, "sum") {
		return "(" + call + ")::bigint" // in PostgreSQL a sum of bigint is numeric, which divides differently
	}
	return call
}

// query returns a SELECT or a set operation of two.
func (w *Writer) query(depth int) Written {
	a := w.simple(scope{}, nil, depth)
	if !w.chance(15) {
		return a
	}
	want := make([]Kind, len(a.columns))
	for i, c := range a.columns {
		want[i] = c.Kind
	}
	b := w.simple(scope{}, want, depth)
	op := w.oneOf("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
	w.own = w.own || op != "UNION ALL" && slices.Contains(want, JSON) // in PostgreSQL a null within JSON differs from an SQL null
	return Written{Text: a.Text + " " + op + " " + b.Text, columns: a.columns}
}

// Statement returns a complete statement. It may have WITH, and an order by all columns before a LIMIT.
func (w *Writer) Statement(depth int) Written {
	w.with = map[string][]Column{}
	with := ""
	switch {
	case w.chance(6):
		with = w.descent()
	case w.chance(20):
		q := w.query(depth - 1)
		with = "WITH w AS (" + q.Text + ") "
		w.with["w"] = q.columns
	}
	q := w.query(depth)
	q.Text = with + q.Text
	if q.Free != "" {
		q.Free, q.With = with+q.Free, with
	}
	exact := true
	var order []string
	for i, c := range q.columns {
		exact = exact && c.Kind != Double && c.Kind < JSON
		order = append(order, w.oneOf(fmt.Sprint(i+1), fmt.Sprint(i+1), c.Name)+w.oneOf(" NULLS LAST", " DESC NULLS FIRST", " NULLS FIRST", " DESC NULLS LAST"))
	}
	if exact && w.chance(30) {
		q.Text += " ORDER BY " + strings.Join(order, ", ")
		if n := w.Draw(5) + 1; w.chance(60) {
			q.Text += w.oneOf(fmt.Sprintf(" LIMIT %d", n), fmt.Sprintf(" LIMIT %d OFFSET %d", n, w.Draw(3)), fmt.Sprintf(" OFFSET %d", w.Draw(3)), fmt.Sprintf(" FETCH FIRST %d ROWS ONLY", n))
		}
		q.Free = ""
	}
	q.Own = w.own
	return q
}
