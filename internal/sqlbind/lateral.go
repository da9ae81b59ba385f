package sqlbind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A lateral is a query in FROM that refers to the records of preceding FROM items.
type lateral struct {
	*rel  // the records of the preceding items, later joined with the records of the query
	query *sqlparse.Query
	s     *sqlparse.Select
	keep  bool // a record without a match in the query stays
	width int  // the number of named columns of the preceding items
}

// joinLateral joins r with the records of a query that refers to the records of r. A query that aggregates all records,
// or has no FROM, becomes a value for each column. Any other query becomes a join with the records that it reads. The
// WHERE of the query is the condition of the join. With a LIMIT, the records for each record of r are numbered.
func (r *rel) joinLateral(d *sqlparse.Derived, j *sqlparse.Join) error {
	keep, on, err := listJoin(j)
	if err != nil {
		return err
	}
	l := &lateral{rel: r, query: d.Query, keep: keep, width: len(r.cols)}
	var plain bool
	if l.s, plain = d.Query.Body.(*sqlparse.Select); !plain || l.s.Distinct || l.s.Group != nil || l.s.Sets != nil || l.s.GroupAll || l.s.Having != nil || l.s.Qualify != nil || sqlparse.HasWindow(l.s.Items) {
		return unsupportedError(d.At, "group, number or unite the records in a query in FROM, and join with it", "a LATERAL query selects records with WHERE, ORDER BY and LIMIT, or aggregates of all of them")
	}
	for _, c := range l.query.With {
		l.with = &with{CTE: c, around: l.with, scope: l.with}
	}
	around := r.with
	defer func() { r.with = around }()
	beside := slices.Clone(r.cols)
	var made []col
	if l.s.From == nil && l.s.Where == nil || sqlparse.AggregateIn(l.s.Items) != nil {
		made, err = l.values()
	} else {
		made, err = l.records(beside)
	}
	if err != nil {
		return err
	}
	last := &rel{binder: r.binder, cols: made, shape: r.shape}
	if err := r.applyAlias(last, d.Alias, ""); err != nil {
		return err
	}
	if slices.ContainsFunc(beside, func(c col) bool { return c.table == made[0].table }) {
		return invalid(d.At, "%s is in FROM twice. Give each an alias", made[0].table)
	}
	r.cols = append(beside, made...)
	r.add(&r.same().Map)
	r.rename()
	r.single, r.computed = false, nil
	if on == nil {
		return nil
	}
	return r.where(on)
}

// values adds a value for each column of a query with exactly one record.
func (l *lateral) values() ([]col, error) {
	if n, ok := l.query.Limit.(*sqlparse.Number); l.query.Offset != nil || l.query.Limit != nil && (!ok || n.Text == "0") {
		return nil, unsupportedError(l.s.At, "leave LIMIT and OFFSET out", "this LATERAL query has one record")
	}
	var made []col
	for _, it := range l.s.Items {
		if _, star := it.X.(*sqlparse.Star); star {
			return nil, invalid(it.X.Pos(), "* can't be beside an aggregate, or without FROM")
		}
		name, _ := it.Title()
		var x node
		var err error
		if l.s.From == nil && sqlparse.AggregateIn(it.X) == nil {
			x, err = l.value(it.X)
		} else {
			one := *l.s
			one.Items = []sqlparse.Item{it}
			x, err = l.Scalar(&sqlparse.Sub{Query: &sqlparse.Query{Body: &one, At: l.query.At}, At: it.X.Pos()})
		}
		if err != nil {
			return nil, err
		}
		made = append(made, l.addColumn(name, x))
	}
	return made, nil
}

// addColumn adds a column that contains x. It returns the column with this name.
func (l *lateral) addColumn(name string, x node) col {
	return col{name: name, at: l.ensureColumns([]node{x})[0], Marks: x.Marks}
}

// records joins with the records that the query reads. In the query, a name refers first to the query's own columns.
func (l *lateral) records(beside []col) ([]col, error) {
	by, err := l.identity()
	if err != nil {
		return nil, err
	}
	inner, err := l.binder.from(l.s, l.outer, l.with)
	if err != nil {
		return nil, err
	}
	there := inner.ensureColumns([]node{literal(value.OfInt(1), l.s.At)})[0] + len(l.shape.Columns) // null if there is no match
	for i := range l.cols {
		c := &l.cols[i]
		c.hidden = c.hidden || inner.matching([]sqlparse.Ident{{Text: c.name}}) != nil
		if slices.ContainsFunc(inner.cols, func(own col) bool { return strings.EqualFold(own.table, c.table) }) {
			c.table = "" // the alias refers to the query's table
		}
	}
	j := &sqlparse.Join{Kind: "inner", At: l.s.At}
	if l.keep {
		j.Kind, j.On = "left", l.s.Where
	}
	if _, err := l.pair(l.rel, inner, j); err != nil {
		return nil, err
	}
	if !l.keep && l.s.Where != nil {
		if err := l.where(l.s.Where); err != nil {
			return nil, err
		}
	}
	for i := range beside { // a star refers only to the query's columns
		l.cols[i].hidden = true
	}
	outputs, err := l.outputs(l.s.Items)
	for i := range beside {
		l.cols[i].hidden = beside[i].hidden || inner.matching([]sqlparse.Ident{{Text: beside[i].name}}) != nil
	}
	if err != nil {
		return nil, err
	}
	if err := l.limitRecords(by, outputs); err != nil {
		return nil, err
	}
	var made []col
	for _, o := range outputs {
		x, err := l.output(o.x, there)
		if err != nil {
			return nil, err
		}
		made = append(made, l.addColumn(o.name, x))
	}
	return made, nil
}

// output binds an item of the select list. It is null if there is no match.
func (l *lateral) output(e sqlparse.Expr, there int) (node, error) {
	n, plain := e.(*sqlparse.Name)
	if plain {
		x, err := l.PassColumn(n)
		up, c, unknown := l.find(n)
		if err != nil || !l.keep || unknown == nil && up == 0 && slices.IndexFunc(l.cols, func(k col) bool { return k.table == c.table && k.name == c.name }) >= l.width {
			return x, err
		}
	}
	x, err := l.value(e)
	if err == nil && l.keep {
		of := x.JSONOr()
		none := isNull(plan.Ref{Column: there, T: schema.Integer})
		x.Compute(plan.Case{If: []plan.Expr{none}, Then: []plan.Expr{plan.Const{T: of.Type()}}, Else: of, T: of.Type()})
	}
	return x, err
}

// identity returns columns that distinguish the records of l: the columns of the order, or a number if records may be
// equal in the order.
func (l *lateral) identity() ([]int, error) {
	var by []int
	if !l.keyless && !slices.ContainsFunc(l.shape.Order, func(p plan.Place) bool { return l.shape.Columns[p.Column].Type == schema.JSON }) {
		for _, p := range l.shape.Order {
			by = append(by, p.Column)
		}
		return by, nil
	}
	n, err := l.numberRecords(nil, nil)
	return []int{n}, err
}

// numberRecords numbers the records of each partition. It returns the column with the number.
func (l *lateral) numberRecords(by []int, order []plan.Place) (int, error) {
	if err := l.meter.Add(plan.CostlyWindow, 1, At(l.s.At)); err != nil {
		return 0, err
	}
	w := &windowing{rel: l.rel, stage: &plan.Windows{By: by, Order: order}}
	w.stage.Functions = []plan.Window{{Kind: plan.RowNumber, Accumulator: plan.Accumulator{T: schema.Integer}}}
	w.finish()
	return len(l.shape.Columns) - 1, nil
}

// limitRecords applies the query's LIMIT and OFFSET separately for each record of the preceding items.
func (l *lateral) limitRecords(by []int, outputs []output) error {
	bounds, err := l.bounds(l.query)
	if err != nil || bounds.Limit < 0 && bounds.Skip == 0 {
		return err
	}
	if l.keep && (bounds.Limit == 0 || bounds.Skip > 0) {
		return unsupportedError(l.s.At, "", "a LATERAL query with LEFT JOIN takes no OFFSET, and a LIMIT of 1 or more")
	}
	order := slices.Clone(l.query.Order)
	for i := range order {
		order[i].X = resolveOutput(order[i].X, outputs, l.rel, true)
	}
	terms, desc, err := l.windowTerms(order)
	if err != nil {
		return err
	}
	var places []plan.Place
	for i, c := range l.ensureColumns(terms) {
		if !slices.ContainsFunc(places, func(p plan.Place) bool { return p.Column == c }) && !slices.Contains(by, c) {
			places = append(places, plan.Place{Column: c, Desc: desc[i]})
		}
	}
	at, err := l.numberRecords(by, places)
	if err != nil {
		return err
	}
	number := plan.Ref{Column: at, T: schema.Integer}
	var holds []plan.Expr
	if bounds.Skip > 0 {
		holds = append(holds, Test(plan.Under, Whole(bounds.Skip), number))
	}
	if bounds.Limit >= 0 {
		holds = append(holds, Test(plan.UpTo, number, Whole(bounds.Skip+bounds.Limit)))
	}
	l.add(&plan.Filter{If: All(holds), Shape: *l.shape})
	return nil
}
