package sqlbind

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// bindSetOp binds UNION, INTERSECT and EXCEPT. The columns have the names of the left side.
func (b *binder) bindSetOp(s *sqlparse.SetOp, outer *rel, w *with) (*rel, error) {
	if s.All && s.Op != "union" {
		return nil, unsupportedError(s.At, "leave ALL out", "%s ALL isn't there", strings.ToUpper(s.Op))
	}
	if err := b.meter.Add(plan.CostlySet, 1, At(s.At)); err != nil {
		return nil, err
	}
	left, err := b.body(&sqlparse.Query{Body: s.Left, At: s.At}, outer, w)
	if err != nil {
		return nil, err
	}
	right, err := b.body(&sqlparse.Query{Body: s.Right, At: s.At}, outer, w)
	if err != nil {
		return nil, err
	}
	return b.unite(left, right, s)
}

// unite combines the records of two sides.
func (b *binder) unite(left, right *rel, s *sqlparse.SetOp) (*rel, error) {
	if len(left.cols) != len(right.cols) {
		return nil, invalid(s.At, "each side of %s has the same number of columns. Here %d and %d", strings.ToUpper(s.Op), len(left.cols), len(right.cols))
	}
	u := &plan.Union{Right: right.program}
	for i := range left.cols {
		c, err := uniteColumn(left, right, i, u, s)
		if err != nil {
			return nil, err
		}
		u.Shape.Columns = append(u.Shape.Columns, c)
	}
	cols := left.cols
	used := left.used || right.used
	left.sides(u)
	left.used = used
	if !s.All {
		if err := left.distinctSides(s); err != nil {
			return nil, err
		}
	}
	left.cols = cols
	for i := range left.cols {
		left.cols[i].at = i
		left.cols[i].table = ""
	}
	return left, nil
}

// uniteColumn adds column i of both sides to u.
func uniteColumn(left, right *rel, i int, u *plan.Union, s *sqlparse.SetOp) (plan.Column, error) {
	var sides [2]typecheck.Node
	var columns [2]*plan.Column
	for n, r := range []*rel{left, right} {
		sides[n] = r.column(r.cols[i].at, s.At)
		if columns[n] = sides[n].Column; columns[n].Mask.Hides() {
			return plan.Column{}, unsupportedError(s.At, "read each side by itself", "%s can't combine the masked column %s", strings.ToUpper(s.Op), r.cols[i].name)
		}
		if k, ok := r.program.Constant(r.cols[i].at); ok && k.T == schema.JSON && k.Value.IsNull() { // the column gets the type of the other side
			sides[n].Become(k.Value, k.T)
		}
	}
	named := columns[0].Mask.Names() || columns[1].Mask.Names()
	if named && columns[0].Mask != columns[1].Mask {
		return plan.Column{}, unsupportedError(s.At, "select the same pseudonym on both sides, or the key of the record on each", "%s can't combine the pseudonym %s with another column", strings.ToUpper(s.Op), left.cols[i].name)
	}
	es, t, err := typecheck.Together(sides[:], strings.ToUpper(s.Op))
	if err != nil {
		return plan.Column{}, err
	}
	if a, b := sides[0].Kind(), sides[1].Kind(); a != b && t == schema.JSON && !(typecheck.Dynamic(a) || typecheck.Dynamic(b)) {
		return plan.Column{}, invalid(s.At, "column %d of %s is %s on one side and %s on the other. CAST one of them", i+1, strings.ToUpper(s.Op), a, b)
	}
	l, r := &left.cols[i], &right.cols[i]
	if l.Span != r.Span && !sides[0].IsNull() && !sides[1].IsNull() {
		return plan.Column{}, invalid(s.At, "column %d of %s is a length of time on one side only. extract(epoch FROM …) gives seconds", i+1, strings.ToUpper(s.Op))
	}
	l.Day = l.Day && (r.Day || sides[1].IsNull()) || r.Day && sides[0].IsNull()
	l.Span, l.Number = l.Span || r.Span, max(l.Number.Of(sides[0].Kind()), r.Number.Of(sides[1].Kind()))
	u.Left, u.Added = append(u.Left, es[0]), append(u.Added, es[1])
	c := plan.Column{Path: query.Path{left.cols[i].name}, Type: t, List: typecheck.Lists(sides[:]), ID: columns[0].ID && columns[1].ID}
	if named { // both sides contain keys of the same class
		c.Mask, c.Field = columns[0].Mask, columns[0].Field
	}
	if columns[0].Class == columns[1].Class {
		c.Class, c.ClassKey = columns[0].Class, columns[0].ClassKey
	}
	return c, nil
}

// distinctSides groups the records of both sides. It keeps the groups that the set operation selects.
func (r *rel) distinctSides(s *sqlparse.SetOp) error {
	side := len(r.shape.Columns) - 2
	g := distinct(r.shape.Columns[:side])
	ref := plan.Ref{Column: side, T: schema.Integer}
	g.Accumulators = []plan.Accumulator{{Op: plan.Min, X: ref, T: schema.Integer}, {Op: plan.Max, X: ref, T: schema.Integer}}
	g.Shape.Columns = append(g.Shape.Columns, plan.Column{Type: schema.Integer}, plan.Column{Type: schema.Integer})
	r.add(g)
	least, most := plan.Ref{Column: side, T: schema.Integer}, plan.Ref{Column: side + 1, T: schema.Integer}
	is := func(x plan.Expr, n int64) plan.Expr {
		return plan.Apply{Op: plan.Same, Args: []plan.Expr{x, Whole(n)}, T: schema.Boolean}
	}
	switch s.Op {
	case "intersect":
		r.add(&plan.Filter{If: All([]plan.Expr{is(least, 0), is(most, 1)}), Shape: *r.shape})
	case "except":
		r.add(&plan.Filter{If: is(most, 0), Shape: *r.shape})
	}
	return nil
}
