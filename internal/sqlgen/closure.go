package sqlgen

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// closure finds the records reachable from all starts at once. Its steps follow values, not paths. So a record on
// many paths is visited once for each start and number of steps, and a cycle ends with the last step. The queries:
//
//	n  the records of Right, then To and From, then the position in its order
//	r  the records for which a list is made, and the start of each
//	w  a start, a value reached from it, and the number of steps
//	q  a start, the position of a record that it reaches, and the fewest steps
//	m  a start, and the list for it
func (b *builder) closure(r *relation, st *plan.Closure, at place) (*relation, error) {
	n, to, from, number, err := b.nodes(st, at)
	if err != nil {
		return nil, err
	}
	records := &scope{b: b, r: b.open(r), outer: at.outer, lets: true}
	start, err := WriteExpr(b.d, records, st.Start)
	if err != nil {
		return nil, err
	}
	if mentionsOuter(at.outer, b.subquery(records.r)) && !b.d.Correlates() {
		return nil, UnsupportedForm("this source can't use $graphLookup inside of a $lookup that has variables", "put the $graphLookup first")
	}
	// The start becomes an additional column of r, by which lists are joined to their records.
	width := len(records.r.columns)
	records.r.columns = append(records.r.columns[:width:width], start)
	rs, w, q, m := b.s.Alias("r"), b.s.Alias("w"), b.s.Alias("q"), b.s.Alias("m")
	k := rs + ".c" + strconv.Itoa(width+1)
	t := st.Start.Type()
	step, err := b.d.Compare(records, plan.Eq, to, w+".v", t)
	if err != nil {
		return nil, err
	}
	back, err := b.d.Compare(records, plan.Eq, m+".s", k, t)
	if err != nil {
		return nil, err
	}
	// UNION, not UNION ALL: each start follows a value at a depth only once.
	meet := " FROM " + w + " JOIN " + n.alias + " ON " + step
	walk := "SELECT DISTINCT " + k + ", " + b.d.Start(k, st.Start.Type()) + ", 0 FROM " + rs + " WHERE " + k + " IS NOT NULL UNION SELECT " + w + ".s, " + from + ", " + w + ".d + 1" +
		meet + " WHERE " + w + ".d < " + b.s.Arg(st.Depth, "int4") + " AND " + from + " IS NOT NULL"
	lists := b.reachableLists(n, number, q, st.DepthName)
	text := "WITH RECURSIVE " + n.alias + " AS (" + n.from + "), " + rs + " AS (" + b.subquery(records.r) + "), " +
		w + " (s, v, d) AS (" + walk + "), " +
		q + " AS (SELECT " + w + ".s AS s, " + number + " AS i, min(" + w + ".d) AS d" + meet + " GROUP BY 1, 2), " +
		m + " (s, l) AS (" + lists + ")"
	next := &relation{shape: st.Shape, from: rs + " LEFT JOIN " + m + " ON " + back, columns: positions(rs, width)}
	list := b.d.Case(records, []string{m + ".s IS NULL"}, []string{b.d.List(records, nil)}, m+".l", schema.JSON) // the list is null if it was too large
	next.columns = append(next.columns, list)
	alias := b.s.Alias("t")
	next.from, next.columns = "("+text+" "+b.subquery(next)+") AS "+alias, positions(alias, width+1)
	next.alias = alias
	return next, nil
}

// nodes returns Right as a WITH query and the columns To, From and place. The query's text is n.from.
func (b *builder) nodes(st *plan.Closure, at place) (n *relation, to, from, number string, err error) {
	right, err := b.program(st.Right, at.input, nil)
	if err != nil {
		return nil, "", "", "", err
	}
	s := &scope{b: b, r: b.open(right), lets: true}
	width := len(s.r.columns)
	place := "row_number() OVER (" + orderClause(b.terms(s, s.r.shape.Order)) + ")"
	s.r.columns = append(s.r.columns[:width:width], s.Column(st.To), s.Column(st.From), place)
	n = &relation{shape: s.r.shape, alias: b.s.Alias("n"), from: b.subquery(s.r)}
	all := positions(n.alias, width+3)
	n.columns = all[:width]
	return n, all[width], all[width+1], all[width+2], nil
}

// reachableLists returns the query that lists the records reachable from each start in q, ordered by number of steps
// and then by position.
func (b *builder) reachableLists(n *relation, number, q, depthName string) string {
	both := &relation{shape: n.shape, from: q + " JOIN " + n.alias + " ON " + number + " = " + q + ".i"}
	width := len(n.columns)
	both.columns = append(n.columns[:width:width], q+".s", q+".d", q+".i")
	both = b.wrap(both)
	start, depth, place := both.columns[width], both.columns[width+1], both.columns[width+2]
	s := &scope{b: b, r: both, lets: true}
	var more []string
	if depthName != "" {
		more = []string{depthName, b.d.ToJSON(s, depth, schema.Integer)}
	}
	list := b.collectList(s, []string{start}, Gathered{X: b.object(s, more...), Terms: []string{depth, place}})
	return "SELECT " + start + ", " + list + " FROM " + both.item() + " GROUP BY " + start
}
