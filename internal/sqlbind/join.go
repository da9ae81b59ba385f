package sqlbind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// join binds a join.
func (b *binder) join(j *sqlparse.Join, outer *rel, w *with) (*rel, error) {
	if j.Kind == "full" {
		return b.fullJoin(j, outer, w)
	}
	if j.Bare {
		b.known.Note(At(j.At), "JOIN", "JOIN without ON takes every pair of records, unless WHERE says more")
	}
	left, err := b.fromItem(j.Left, outer, w)
	if err == nil {
		err = b.meter.Add(plan.CostlyJoin, 1, At(j.At))
	}
	if err != nil {
		return nil, err
	}
	if list := listFunction(j.Right); list != nil {
		return left, left.joinElements(list, j)
	}
	if d, ok := j.Right.(*sqlparse.Derived); ok && d.Lateral {
		return left, left.joinLateral(d, j)
	}
	right, err := b.fromItem(j.Right, outer, w)
	if err != nil {
		return nil, err
	}
	if j.Kind != "right" {
		return b.pair(left, right, j)
	}
	n := len(right.shape.Columns)
	r, err := b.pair(right, left, j)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(r.cols, func(x, y col) int { // the columns of the left side come first, as written
		switch {
		case x.at >= n && y.at < n:
			return -1
		case x.at < n && y.at >= n:
			return 1
		}
		return 0
	})
	return r, nil
}

// pair joins two FROM items.
func (b *binder) pair(left, right *rel, j *sqlparse.Join) (*rel, error) {
	for _, c := range right.cols {
		if slices.ContainsFunc(left.cols, func(have col) bool { return have.table == c.table }) {
			return nil, invalid(j.At, "%s is in FROM twice. Give each an alias", c.table)
		}
	}
	width := len(left.shape.Columns)
	st := &plan.Join{Right: right.program, Keep: j.Kind == "left" || j.Kind == "right"}
	st.Shape.Columns = slices.Clone(left.shape.Columns)
	for _, c := range right.shape.Columns {
		c.NotNull = c.NotNull && !st.Keep
		st.Shape.Columns = append(st.Shape.Columns, c)
	}
	st.Shape.Order = slices.Clone(left.shape.Order)
	for _, o := range right.shape.Order {
		st.Shape.Order = append(st.Shape.Order, plan.Place{Column: width + o.Column, Desc: o.Desc})
	}
	both := *left
	both.shape = &st.Shape
	both.cols = slices.Clone(left.cols)
	for _, c := range right.cols {
		c.at += width
		both.cols = append(both.cols, c)
	}
	both.rename()
	both.single = left.single && right.single
	if err := both.using(left, right, j, st); err != nil {
		return nil, err
	}
	if err := both.on(left, right, j.On, st); err != nil {
		return nil, err
	}
	r := left
	r.depends = r.depends.Join(right.depends, st)
	r.add(st)
	r.cols, r.single, r.used = both.cols, both.single, left.used || right.used || both.used
	return r, nil
}

// rename gives each named column of a join a unique path, for filters.
func (r *rel) rename() {
	for i := range r.shape.Columns {
		r.shape.Columns[i].Path, r.shape.Columns[i].Behind = nil, nil
	}
	for _, c := range r.cols {
		r.shape.Columns[c.at].Path = query.Path{c.table + "." + c.name}
	}
}

// using adds the equalities of USING and NATURAL. After the join, the two columns have one unqualified name.
func (r *rel) using(left, right *rel, j *sqlparse.Join, st *plan.Join) error {
	names := j.Using
	if j.Natural {
		for _, c := range left.cols {
			if !c.hidden && slices.ContainsFunc(right.cols, func(other col) bool { return !other.hidden && strings.EqualFold(other.name, c.name) }) {
				names = append(names, sqlparse.Ident{Text: c.name, Quoted: true, At: j.At})
			}
		}
	}
	for _, n := range names {
		name := &sqlparse.Name{Parts: []sqlparse.Ident{n}}
		x, err := left.Column(name)
		if err != nil {
			return err
		}
		y, err := right.Column(name)
		if err != nil {
			return err
		}
		ex, ey, err := typecheck.Alike(x.Node, y.Node, "USING")
		if err != nil {
			return err
		}
		st.On = append(st.On, plan.Pair{Left: ex, Right: ey})
		hide := right.matching(name.Parts)[0]
		for i := range r.cols {
			if r.cols[i].table == hide.table && r.cols[i].name == hide.name {
				r.cols[i].hidden = true
			}
		}
	}
	return nil
}

// on binds the condition of a join. Equalities between values of the two sides become pairs. The rest becomes a
// condition over both sides.
func (r *rel) on(left, right *rel, e sqlparse.Expr, st *plan.Join) error {
	var rest []plan.Expr
	for _, part := range sqlparse.Conjuncts(e) {
		done, err := addPair(left, right, part, st)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		stages := len(r.program.Stages)
		c, err := r.cond(part)
		if err != nil {
			return err
		}
		if len(r.program.Stages) > stages {
			return unsupportedError(part.Pos(), "move it to WHERE, or join with the query itself", "a sub-query can't be in ON")
		}
		rest = append(rest, c.Yes)
	}
	st.If = All(rest)
	return nil
}

// addPair adds part to the pairs of a join if it is an equality between values of the two sides.
func addPair(left, right *rel, part sqlparse.Expr, st *plan.Join) (bool, error) {
	eq, ok := part.(*sqlparse.Binary)
	if !ok || eq.Op != "=" {
		return false, nil
	}
	x, y := eq.L, eq.R
	if sideOf(left, right, x) == 2 && sideOf(left, right, y) == 1 {
		x, y = y, x
	}
	if sideOf(left, right, x) != 1 || sideOf(left, right, y) != 2 {
		return false, nil
	}
	nx, err := left.value(x)
	if err != nil {
		return false, err
	}
	ny, err := right.value(y)
	if err != nil {
		return false, err
	}
	ex, ey, err := left.exprs().Alike(&nx, &ny, "=")
	if err != nil {
		return false, err
	}
	if ex.Type() == schema.JSON {
		return false, nil
	}
	st.On = append(st.On, plan.Pair{Left: ex, Right: ey})
	return true, nil
}

// sideOf returns the side to which the columns in e belong: 1 or 2. It returns 0 for no columns or both sides, and for
// other forms than names and constants.
func sideOf(left, right *rel, e sqlparse.Expr) int {
	return sqlparse.Side(e, func(parts []sqlparse.Ident) (inLeft, inRight bool) {
		return left.matching(parts) != nil, right.matching(parts) != nil
	})
}

// fullJoin binds a FULL JOIN as a left join, followed by the records of the right side that match no record of the left
// side.
func (b *binder) fullJoin(j *sqlparse.Join, outer *rel, w *with) (*rel, error) {
	if j.Natural || j.Using != nil {
		return nil, unsupportedError(j.At, "write ON, and coalesce(a.x, b.x) for the columns", "FULL JOIN … USING isn't there")
	}
	half := *j
	half.Kind = "left"
	r, err := b.join(&half, outer, w)
	if err != nil {
		return nil, err
	}
	if err := b.meter.Add(plan.CostlyJoin, 1, At(j.At)); err != nil { // the join for the right side's records without a match
		return nil, err
	}
	right, err := b.fromItem(j.Right, outer, w)
	if err != nil {
		return nil, err
	}
	left, err := b.fromItem(j.Left, right, w)
	if err != nil {
		return nil, err
	}
	if err := left.where(j.On); err != nil {
		return nil, err
	}
	none, err := right.probe(left, true, j.At)
	if err != nil {
		return nil, err
	}
	right.add(&plan.Filter{If: Not(none), Shape: *right.shape})
	u := &plan.Union{Right: right.program} // the left side's columns are null in the added records
	width := len(r.cols) - len(right.cols)
	for i, c := range r.cols {
		column := r.shape.Columns[c.at]
		column.NotNull = false
		u.Left = append(u.Left, plan.Ref{Column: c.at, T: column.Type})
		if i < width {
			u.Added = append(u.Added, plan.Const{T: column.Type})
		} else {
			u.Added = append(u.Added, plan.Ref{Column: right.cols[i-width].at, T: column.Type})
		}
		if column.Mask != nil && i < width {
			return nil, unsupportedError(j.At, "name the columns that you want in a query in FROM", "a FULL JOIN can't have the masked column %s", c.name)
		}
		column.Field = nil
		u.Shape.Columns = append(u.Shape.Columns, column)
		r.cols[i].at = i
	}
	r.sides(u)
	return r, nil
}

// sides adds a union. Its last two columns are the side and the position.
func (r *rel) sides(u *plan.Union) {
	r.depends = nil
	n := len(u.Shape.Columns)
	u.Shape.Columns = append(u.Shape.Columns, plan.Column{Type: schema.Integer, NotNull: true}, plan.Column{Type: schema.Integer, NotNull: true})
	u.Shape.Order = []plan.Place{{Column: n}, {Column: n + 1}}
	r.add(u)
	r.single = false
}
