package sqlbind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// mostSteps is the maximum number of times that a recursive query follows a pointer.
const mostSteps = 1000

// A descent binds a recursive query that follows one pointer. One end of the pointer is the key of the table. So there
// is only one path from each start record to any other record, and the query can be a closure.
type descent struct {
	*binder
	*sqlparse.Descent
}

func (d *descent) refuse(at sqlparse.Pos, why string) error {
	return unsupportedError(at, "a recursive query follows one pointer of a table: WITH RECURSIVE t AS (SELECT id, boss_id, 1 AS level FROM staff WHERE boss_id IS NULL UNION ALL "+
		"SELECT s.id, s.boss_id, t.level + 1 FROM staff s JOIN t ON s.boss_id = t.id); rows of numbers or dates come from generate_series in FROM", "%s", why)
}

// recursive binds a recursive query.
func (b *binder) recursive(c *with) (*rel, error) {
	parts, at, why := sqlparse.DescentOf(c.CTE, b.owns(c))
	d := &descent{b, parts}
	if why != "" {
		return nil, d.refuse(at, why)
	}
	begin := func() (*rel, error) {
		r, err := b.query(&sqlparse.Query{Body: d.Union.Left, At: d.Union.At}, nil, c.scope)
		if err == nil && len(c.Columns) > 0 {
			err = b.applyAlias(r, sqlparse.Alias{Name: &c.Name, Columns: c.Columns}, "")
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
	if len(d.Step.Items) != len(first.cols) {
		return nil, invalid(d.Step.At, "each side of UNION has the same number of columns. Here %d and %d", len(first.cols), len(d.Step.Items))
	}
	if err := d.follow(reached, c); err != nil {
		return nil, err
	}
	b.known.Note(At(c.Name.At), "recursive", "a recursive query follows at most %d steps and about 100,000 records from each one that it begins with", mostSteps)
	return b.unite(first, reached, d.Union)
}

// owns returns a function for a table and a name. It reports whether the table of the step has a column with this name,
// or whether the recursive query has no such column.
func (b *binder) owns(c *with) func(*sqlparse.Table, sqlparse.Ident) bool {
	titles := c.titles()
	var columns []col
	opened := false
	return func(t *sqlparse.Table, name sqlparse.Ident) bool {
		if !slices.Contains(titles, strings.ToLower(name.Text)) {
			return true
		}
		if !opened {
			table, err := b.openTable(t, nil, c.scope)
			if err != nil {
				return true // the error is returned when the table is read
			}
			columns, opened = table.cols, true
		}
		return slices.ContainsFunc(columns, func(x col) bool { return equalFold(name, x.name) })
	}
}

// titles returns the names of the columns of a query in lower case, as far as the text contains them.
func (c *with) titles() (names []string) {
	for _, n := range c.Columns {
		names = append(names, strings.ToLower(n.Text))
	}
	body := c.Query.Body
	for {
		u, ok := body.(*sqlparse.SetOp)
		if !ok {
			break
		}
		body = u.Left
	}
	if s, ok := body.(*sqlparse.Select); ok && names == nil {
		for _, it := range s.Items {
			name, _ := it.Title()
			names = append(names, strings.ToLower(name))
		}
	}
	return names
}

// columnIndex returns the index of the column of r to which n refers.
func (d *descent) columnIndex(r *rel, n *sqlparse.Name) int {
	return slices.IndexFunc(r.cols, func(c col) bool { return equalFold(n.Parts[len(n.Parts)-1], c.name) })
}

// openStepTable opens the table of the step. It refuses a table that isn't a plain view.
func (d *descent) openStepTable(c *with) (*rel, error) {
	r, err := d.openTable(d.Table, nil, c.scope)
	if err != nil {
		return nil, err
	}
	if len(r.program.Stages) > 0 || r.program.From < 0 {
		return nil, d.refuse(d.Step.At, "the step of this recursive query joins it with something else than one table")
	}
	return r, nil
}

// nodes returns the reachable records with their keys as k. They are the right side of a closure from column from to
// column to. id is the column of the key.
func (d *descent) nodes(next *sqlparse.Name, c *with) (r *rel, from, to, id int, err error) {
	if r, err = d.openStepTable(c); err != nil {
		return nil, 0, 0, 0, err
	}
	var at [2]int
	for i, n := range []*sqlparse.Name{next, d.Link} {
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
		return nil, 0, 0, 0, d.refuse(d.Link.Pos(), "the pointer that is followed doesn't lead to the key of the table, or the table has none")
	}
	if d.Rest != nil {
		if err := r.where(d.Rest); err != nil {
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
		return nil, 0, 0, 0, d.refuse(d.Link.Pos(), "the key of the table is masked")
	}
	r.add(&m.Map)
	return r, at[0], at[1], id, nil
}

// follow replaces the records of r, the start records, by the records reachable from them.
func (d *descent) follow(r *rel, c *with) error {
	start := d.columnIndex(r, d.Of)
	if start < 0 {
		return r.unknownColumnError(d.Of, d.Of.Parts[len(d.Of.Parts)-1:])
	}
	next, ok := d.Step.Items[start].X.(*sqlparse.Name)
	if !ok || d.Column(next, d.Own) == nil {
		return d.refuse(d.Of.Pos(), "the step of this recursive query doesn't begin where the one before ended")
	}
	nodes, from, to, id, err := d.nodes(next, c)
	if err != nil {
		return err
	}
	depth, err := d.depth(r)
	if err != nil {
		return err
	}
	begins := r.column(r.cols[start].at, d.Of.Pos())
	if begins.Column.Mask != nil || begins.Column.Type != nodes.shape.Columns[to].Type || begins.Column.Type != nodes.shape.Columns[from].Type {
		return d.refuse(d.Of.Pos(), "the pointer that is followed has another type than what it leads to")
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

// depth returns the maximum number of steps after the first.
func (d *descent) depth(r *rel) (int64, error) {
	if d.Below == nil {
		return mostSteps, nil
	}
	i := d.columnIndex(r, d.Below.L.(*sqlparse.Name))
	most, err := r.constant(d.Below.R)
	if err != nil {
		return 0, err
	}
	n, whole := most.AsInt()
	if i < 0 || !whole {
		return 0, d.refuse(d.Below.Pos(), "the steps of this recursive query are bounded by something else than their number")
	}
	begin, ok := r.program.Constant(r.cols[i].at)
	k, isWhole := begin.Value.AsInt()
	if d.Below.Op == "<=" {
		n++
	}
	if !ok || !isWhole || !d.counts(r, i) || n <= k {
		return 0, d.refuse(d.Below.Pos(), "the steps of this recursive query are bounded by something else than their number")
	}
	return min(n-k-1, mostSteps), nil
}

// counts reports whether column i is the number of the step: one more than in the preceding step.
func (d *descent) counts(r *rel, i int) bool {
	e, ok := d.Step.Items[i].X.(*sqlparse.Binary)
	if !ok || e.Op != "+" {
		return false
	}
	x, y := e.L, e.R
	if _, first := x.(*sqlparse.Number); first {
		x, y = y, x
	}
	one, isNumber := y.(*sqlparse.Number)
	n := d.Column(x, d.Self)
	return isNumber && one.Text == "1" && n != nil && d.columnIndex(r, n) == i
}

// read joins the reached records with the table. The reached records are elements in the column element. The result has
// the columns of the step.
func (d *descent) read(r *rel, c *with, element, id int) error {
	table, err := d.openStepTable(c)
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
		return d.refuse(d.Link.Pos(), "the key of the table is neither a whole number, a text nor a UUID")
	}
	// The join finds the records by their keys, member k of each element. Member d is the depth of a record.
	j := &plan.Join{Right: table.program, On: []plan.Pair{on}}
	j.Shape.Columns = append(slices.Clone(r.shape.Columns), table.shape.Columns...)
	for i := range j.Shape.Columns { // from now on, columns are referred to by number
		j.Shape.Columns[i].Path, j.Shape.Columns[i].Behind = nil, nil
	}
	j.Shape.Order = slices.Clone(r.shape.Order)
	r.add(j)
	m := &mapping{}
	for i := range d.Step.Items {
		x, of, err := d.output(i, r, table, part("d", schema.Integer))
		if err != nil {
			return err
		}
		of.Path = query.Path{r.cols[i].name}
		m.Columns, m.Shape.Columns = append(m.Columns, x), append(m.Shape.Columns, of)
	}
	m.Order(r.shape, nil)
	r.add(&m.Map)
	r.single, r.depends = false, nil
	for i := range r.cols {
		r.cols[i].at = i
	}
	return nil
}

// output binds column i of a reached record. It is a column of the table, a column of the start record, or the number
// of the step. The columns of the table are the last columns of r.
func (d *descent) output(i int, r, table *rel, steps plan.Expr) (plan.Expr, plan.Column, error) {
	e, at := d.Step.Items[i].X, r.cols[i].at
	n, isName := e.(*sqlparse.Name)
	switch {
	case isName && d.Column(n, d.Own) != nil:
		y, err := table.PassColumn(n)
		ref, plain := y.Expr.(plan.Ref)
		if err != nil || !plain {
			return nil, plan.Column{}, cmp.Or(err, d.refuse(n.Pos(), "this column of the step isn't one of the table"))
		}
		number := len(r.shape.Columns) - len(table.shape.Columns) + ref.Column
		return plan.Ref{Column: number, T: ref.T}, r.shape.Columns[number], nil
	case isName && d.Column(n, d.Self) != nil && d.columnIndex(r, n) == i:
		return plan.Ref{Column: at, T: r.shape.Columns[at].Type}, r.shape.Columns[at], nil
	case d.counts(r, i) && r.shape.Columns[at].Type == schema.Integer:
		sum := func(x, y plan.Expr) plan.Expr {
			return plan.Apply{Op: plan.Add, Args: []plan.Expr{x, y}, T: schema.Integer}
		}
		return sum(plan.Ref{Column: at, T: schema.Integer}, sum(steps, Whole(1))), plan.Column{Type: schema.Integer}, nil
	}
	return nil, plan.Column{}, d.refuse(e.Pos(), "a column of the step is a column of the table, a column of the query as it was, or the number of the step")
}
