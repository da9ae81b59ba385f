package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// mostSteps is how far a recursive query follows a pointer.
const mostSteps = 1000

// A descent is a recursive query that follows one pointer of a table:
//
//	WITH RECURSIVE t AS (SELECT … FROM … UNION ALL SELECT x.…, t.… FROM table x JOIN t ON x.a = t.b)
//
// One of a and b's field is the key of the table, so that from each record of the beginning every other one is reached
// on one path, and the query is a closure.
type descent struct {
	*binder
	cte   sqltext.CTE
	union *sqltext.SetOp
	step  *sqltext.Select
	table *sqltext.Table // that the step reads
	own   string         // its alias
	self  string         // that of the query itself

	link  *sqltext.Name   // a
	of    *sqltext.Name   // b
	rest  sqltext.Expr    // the other conditions on the table; nil for none
	below *sqltext.Binary // the bound of the number of the step; nil for none
}

func (d *descent) refuse(at sqltext.Pos, why string) error {
	return sqlexpr.Unsupported(at, "a recursive query follows one pointer of a table: WITH RECURSIVE t AS (SELECT id, boss_id, 1 AS level FROM staff WHERE boss_id IS NULL UNION ALL "+
		"SELECT s.id, s.boss_id, t.level + 1 FROM staff s JOIN t ON s.boss_id = t.id); rows of numbers or dates come from generate_series in FROM", "%s", why)
}

// recursive binds a recursive query.
func (b *binder) recursive(c *with) (*rel, error) {
	d := &descent{binder: b, cte: c.CTE}
	if err := d.shape(); err != nil {
		return nil, err
	}
	begin := func() (*rel, error) {
		r, err := b.query(&sqltext.Query{Body: d.union.Left, At: d.union.At}, nil, c.scope)
		if err == nil && len(c.Columns) > 0 {
			err = b.aliased(r, sqltext.Alias{Name: &c.Name, Columns: c.Columns}, "")
		}
		return r, err
	}
	first, err := begin()
	if err != nil {
		return nil, err
	}
	reached, err := begin()
	if err != nil {
		return nil, err
	}
	if len(d.step.Items) != len(first.cols) {
		return nil, sqlexpr.Invalid(d.step.At, "each side of UNION has the same number of columns; here %d and %d", len(first.cols), len(d.step.Items))
	}
	if err := d.follow(reached, c); err != nil {
		return nil, err
	}
	b.known.Note(sqlexpr.At(c.Name.At), "recursive", "a recursive query follows at most %d steps and about 100,000 records from each one that it begins with", mostSteps)
	return b.unite(first, reached, d.union)
}

// shape finds the parts of the query.
func (d *descent) shape() error {
	q := d.cte.Query
	u, ok := q.Body.(*sqltext.SetOp)
	if !ok || u.Op != "union" || q.Order != nil || q.Limit != nil || q.Offset != nil || q.With != nil {
		return d.refuse(d.cte.Name.At, "this recursive query isn't a UNION of a beginning and a step")
	}
	step, ok := u.Right.(*sqltext.Select)
	if !ok || (&sqltext.Query{Body: u.Left}).RefersTo(d.cte.Name) || step.Distinct || step.Group != nil || step.Having != nil || step.Top != nil || step.Windows != nil {
		return d.refuse(d.cte.Name.At, "the step of this recursive query isn't a plain SELECT")
	}
	d.union, d.step = u, step
	items, conditions := step.From, conjuncts(step.Where)
	if len(items) == 1 {
		j, ok := items[0].(*sqltext.Join)
		if !ok || j.Kind != "inner" || j.Natural || j.Using != nil {
			return d.refuse(step.At, "the step of this recursive query doesn't join it with a table")
		}
		items, conditions = []sqltext.From{j.Left, j.Right}, append(conjuncts(j.On), conditions...)
	}
	for _, f := range items {
		t, ok := f.(*sqltext.Table)
		if !ok || len(items) != 2 {
			return d.refuse(step.At, "the step of this recursive query joins it with something else than one table")
		}
		name := t.Name[len(t.Name)-1].Text
		if t.Alias.Name != nil {
			name = t.Alias.Name.Text
		}
		if len(t.Name) == 1 && folded(t.Name[0], d.cte.Name.Text) {
			d.self = name
		} else {
			d.table, d.own = t, name
		}
	}
	if d.self == "" || d.table == nil {
		return d.refuse(step.At, "the step of this recursive query doesn't join it with a table")
	}
	return d.conditions(conditions)
}

// conditions finds the pointer that is followed, and the bound of the steps.
func (d *descent) conditions(all []sqltext.Expr) error {
	for _, e := range all {
		c, _ := e.(*sqltext.Binary)
		if c != nil && c.Op == "=" && d.link == nil {
			x, y := d.column(c.L, d.own), d.column(c.R, d.self)
			if x == nil || y == nil {
				x, y = d.column(c.R, d.own), d.column(c.L, d.self)
			}
			if x != nil && y != nil {
				d.link, d.of = x, y
				continue
			}
		}
		if c != nil && (c.Op == "<" || c.Op == "<=") && d.column(c.L, d.self) != nil && d.below == nil {
			d.below = c
			continue
		}
		if d.mentions(e) {
			return d.refuse(e.Pos(), "this condition of the step is neither on the table alone nor the pointer that is followed")
		}
		if d.rest == nil {
			d.rest = e
		} else {
			d.rest = &sqltext.Binary{Op: "and", L: d.rest, R: e, At: e.Pos()}
		}
	}
	if d.link == nil {
		return d.refuse(d.step.At, "the step of this recursive query doesn't follow a pointer: it has no condition that a column of the table equals one of the query")
	}
	return nil
}

// column returns e if it is a column of the alias; names without an alias are the table's.
func (d *descent) column(e sqltext.Expr, alias string) *sqltext.Name {
	n, ok := e.(*sqltext.Name)
	if !ok || len(n.Parts) > 2 || len(n.Parts) == 1 && alias != d.own || len(n.Parts) == 2 && !folded(n.Parts[0], alias) {
		return nil
	}
	return n
}

// mentions reports whether e has a column of the query itself, or a query of its own.
func (d *descent) mentions(e sqltext.Expr) bool {
	found := queried(e)
	sqltext.Walk(e, func(e sqltext.Expr) bool {
		found = found || d.column(e, d.self) != nil
		return !found
	})
	return found
}

// named returns the number of the column of r that n means.
func (d *descent) named(r *rel, n *sqltext.Name) int {
	return slices.IndexFunc(r.cols, func(c col) bool { return folded(n.Parts[len(n.Parts)-1], c.name) })
}

// opened opens the table, with its conditions.
func (d *descent) opened(c *with) (*rel, error) {
	r, err := d.tableNamed(d.table, nil, c.scope)
	if err != nil {
		return nil, err
	}
	if len(r.program.Stages) > 0 || r.program.From < 0 {
		return nil, d.refuse(d.step.At, "the step of this recursive query joins it with something else than one table")
	}
	return r, nil
}

// nodes returns the records that can be reached, each with its key as k, as the right side of a closure from column from
// to column to. The last result is the column of the key.
func (d *descent) nodes(next *sqltext.Name, c *with) (r *rel, from, to, id int, err error) {
	if r, err = d.opened(c); err != nil {
		return nil, 0, 0, 0, err
	}
	var at [2]int
	for i, n := range []*sqltext.Name{next, d.link} {
		x, err := r.Column(n)
		if err != nil {
			return nil, 0, 0, 0, err
		}
		ref, ok := x.Expr.(plan.Ref)
		if !ok {
			return nil, 0, 0, 0, d.refuse(n.Pos(), "the pointer that is followed is no column")
		}
		at[i] = ref.Column
	}
	key := slices.IndexFunc(r.cols, func(c col) bool { return c.key })
	if key < 0 || slices.ContainsFunc(r.cols[key+1:], func(c col) bool { return c.key }) || at[0] != r.cols[key].at && at[1] != r.cols[key].at {
		return nil, 0, 0, 0, d.refuse(d.link.Pos(), "the pointer that is followed doesn't lead to the key of the table, or the table has none")
	}
	if d.rest != nil {
		if err := r.where(d.rest); err != nil {
			return nil, 0, 0, 0, err
		}
	}
	id = r.cols[key].at
	m := r.same()
	for i := range m.Shape.Columns {
		m.Shape.Columns[i].Path, m.Shape.Columns[i].Behind, m.Shape.Columns[i].ID = nil, nil, false
	}
	m.Shape.Columns[id].Path = query.Path{"k"}
	if m.Shape.Columns[id].Mask != nil {
		return nil, 0, 0, 0, d.refuse(d.link.Pos(), "the key of the table is masked")
	}
	r.add(&m.Map)
	return r, at[0], at[1], id, nil
}

// follow makes r, the beginning, the records that are reached from it.
func (d *descent) follow(r *rel, c *with) error {
	start := d.named(r, d.of)
	if start < 0 {
		return r.unknown(d.of, d.of.Parts[len(d.of.Parts)-1:])
	}
	next, ok := d.step.Items[start].X.(*sqltext.Name)
	if !ok || d.column(next, d.own) == nil {
		return d.refuse(d.of.Pos(), "the step of this recursive query doesn't begin where the one before ended")
	}
	nodes, from, to, id, err := d.nodes(next, c)
	if err != nil {
		return err
	}
	depth, err := d.depth(r)
	if err != nil {
		return err
	}
	begins := r.column(r.cols[start].at, d.of.Pos())
	if begins.Column.Mask != nil || begins.Column.Type != nodes.shape.Columns[to].Type || begins.Column.Type != nodes.shape.Columns[from].Type {
		return d.refuse(d.of.Pos(), "the pointer that is followed has another type than what it leads to")
	}
	n := len(r.shape.Columns)
	closure := &plan.Closure{Right: nodes.program, Start: begins.Expr, From: from, To: to, Depth: depth, DepthName: "d", Shape: *r.shape}
	closure.Shape.Columns = append(r.shape.Columns[:n:n], plan.Column{Type: schema.JSON, List: true, NotNull: true})
	r.add(closure)
	each := &plan.Unwind{List: plan.Ref{Column: n, T: schema.JSON}, Shape: *r.shape}
	each.Shape.Columns = append(r.shape.Columns[:n+1:n+1], plan.Column{Type: schema.JSON}, plan.Column{Type: schema.Integer})
	each.Shape.Order = append(slices.Clone(r.shape.Order), plan.Place{Column: n + 2})
	r.add(each)
	return d.read(r, c, n+1, id)
}

// depth returns how many steps follow the first one.
func (d *descent) depth(r *rel) (int64, error) {
	if d.below == nil {
		return mostSteps, nil
	}
	i := d.named(r, d.below.L.(*sqltext.Name))
	most, err := r.constant(d.below.R)
	if err != nil {
		return 0, err
	}
	n, whole := most.AsInt()
	if i < 0 || !whole {
		return 0, d.refuse(d.below.Pos(), "the steps of this recursive query are bounded by something else than their number")
	}
	begin, ok := r.program.Constant(r.cols[i].at)
	k, isWhole := begin.Value.AsInt()
	if d.below.Op == "<=" {
		n++
	}
	if !ok || !isWhole || !d.counts(r, i) || n <= k {
		return 0, d.refuse(d.below.Pos(), "the steps of this recursive query are bounded by something else than their number")
	}
	return min(n-k-1, mostSteps), nil
}

// counts reports whether column i is the number of the step: one more than before.
func (d *descent) counts(r *rel, i int) bool {
	e, ok := d.step.Items[i].X.(*sqltext.Binary)
	if !ok || e.Op != "+" {
		return false
	}
	x, y := e.L, e.R
	if _, first := x.(*sqltext.Number); first {
		x, y = y, x
	}
	one, isNumber := y.(*sqltext.Number)
	n := d.column(x, d.self)
	return isNumber && one.Text == "1" && n != nil && d.named(r, n) == i
}

// read joins the records that were reached, elements of column element, with the table, and gives them the columns of
// the step.
func (d *descent) read(r *rel, c *with, element, id int) error {
	table, err := d.opened(c)
	if err != nil {
		return err
	}
	part := func(name string, t schema.Type) plan.Expr {
		return plan.As{X: plan.Part{X: plan.Ref{Column: element, T: schema.JSON}, Path: query.Path{name}}, T: t}
	}
	on := plan.Pair{Right: plan.Ref{Column: id, T: table.shape.Columns[id].Type}}
	switch t := on.Right.Type(); t {
	case schema.Integer, schema.String:
		on.Left = part("k", t)
	case schema.UUID:
		on.Left, on.Right = part("k", schema.String), plan.Widen{X: on.Right, T: schema.String}
	default:
		return d.refuse(d.link.Pos(), "the key of the table is neither a whole number, a text nor a UUID")
	}
	width := len(r.shape.Columns)
	j := &plan.Join{Right: table.program, On: []plan.Pair{on}}
	j.Shape.Columns = append(slices.Clone(r.shape.Columns), table.shape.Columns...)
	for i := range j.Shape.Columns { // they are named by their numbers from now on
		j.Shape.Columns[i].Path, j.Shape.Columns[i].Behind = nil, nil
	}
	j.Shape.Order = slices.Clone(r.shape.Order)
	begin := r.cols
	r.add(j)
	m := &mapping{}
	for i, it := range d.step.Items {
		var x plan.Expr
		of := plan.Column{}
		n, isName := it.X.(*sqltext.Name)
		switch {
		case isName && d.column(n, d.own) != nil:
			y, err := table.Passed(n)
			if err != nil {
				return err
			}
			ref, plain := y.Expr.(plan.Ref)
			if !plain {
				return d.refuse(n.Pos(), "this column of the step isn't one of the table")
			}
			x, of = plan.Ref{Column: width + ref.Column, T: ref.T}, j.Shape.Columns[width+ref.Column]
		case isName && d.column(n, d.self) != nil && d.named(r, n) == i:
			at := begin[i].at
			x, of = plan.Ref{Column: at, T: r.shape.Columns[at].Type}, r.shape.Columns[at]
		case d.counts(r, i):
			at := begin[i].at
			steps := plan.Apply{Op: plan.Add, Args: []plan.Expr{part("d", schema.Integer), sqlexpr.Whole(1)}, T: schema.Integer}
			x = plan.Apply{Op: plan.Add, Args: []plan.Expr{plan.Ref{Column: at, T: schema.Integer}, steps}, T: schema.Integer}
			of = plan.Column{Type: schema.Integer}
			if r.shape.Columns[at].Type != schema.Integer {
				return d.refuse(it.X.Pos(), "the steps are counted in something else than whole numbers")
			}
		default:
			return d.refuse(it.X.Pos(), "a column of the step is a column of the table, a column of the query as it was, or the number of the step")
		}
		of.Path = query.Path{begin[i].name}
		m.Columns, m.Shape.Columns = append(m.Columns, x), append(m.Shape.Columns, of)
	}
	m.order(r, nil)
	r.add(&m.Map)
	r.single, r.depends = false, nil
	for i := range r.cols {
		r.cols[i].at = i
	}
	return nil
}
