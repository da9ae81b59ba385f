package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// where keeps the records for which e is true. The conditions that compare a column with constants come first, so that
// indexes serve them.
func (r *rel) where(e sqltext.Expr) error {
	var filters query.And
	var equalities, rest []sqltext.Expr
	for _, part := range conjuncts(e) {
		f, err := r.simple(part)
		if err != nil {
			return err
		}
		if f != nil {
			filters = append(filters, f)
			continue
		}
		if r.equal(part) {
			equalities = append(equalities, part)
		} else {
			rest = append(rest, part)
		}
	}
	switch len(filters) {
	case 0:
	case 1:
		r.add(&plan.Filter{Where: filters[0], Shape: *r.shape})
	default:
		r.add(&plan.Filter{Where: filters, Shape: *r.shape})
	}
	var holds []plan.Expr
	for _, part := range append(equalities, rest...) { // the equalities while the joins are the last stages
		c, err := r.cond(part)
		if err != nil {
			return err
		}
		if !r.joins(c.Yes) {
			holds = append(holds, c.Yes)
		}
	}
	if len(holds) > 0 {
		r.add(&plan.Filter{If: sqlexpr.All(holds), Shape: *r.shape})
	}
	return nil
}

// joins makes x, an equality of a column of each side of an inner join, a pair of the join, and reports whether it did:
// FROM a, b WHERE a.id = b.a_id is a join of pairs, and not a filter over all of them.
func (r *rel) joins(x plan.Expr) bool {
	same, ok := x.(plan.Apply)
	if !ok || same.Op != plan.Same || same.Args[0].Type() == schema.JSON {
		return false
	}
	a, okA := columnOf(same.Args[0])
	b, okB := columnOf(same.Args[1])
	if !okA || !okB {
		return false
	}
	left, right := same.Args[0], same.Args[1]
	if a > b {
		a, b, left, right = b, a, right, left
	}
	for i := len(r.program.Stages) - 1; i >= 0; i-- {
		switch s := r.program.Stages[i].(type) {
		case *plan.Filter:
		case *plan.Join:
			width := len(s.Out().Columns) - len(s.Right.Out().Columns)
			if b < width {
				continue // both are columns of the left side
			}
			if a >= width || s.Keep {
				return false
			}
			s.On = append(s.On, plan.Pair{Left: left, Right: moved(right, -width)})
			return true
		default:
			return false
		}
	}
	return false
}

// columnOf returns the number of the column that x is, perhaps in a wider type.
func columnOf(x plan.Expr) (int, bool) {
	if w, ok := x.(plan.Widen); ok {
		x = w.X
	}
	ref, ok := x.(plan.Ref)
	return ref.Column, ok
}

// moved returns x, for which columnOf is true, with the number of its column changed.
func moved(x plan.Expr, by int) plan.Expr {
	switch x := x.(type) {
	case plan.Widen:
		x.X = moved(x.X, by)
		return x
	case plan.Ref:
		x.Column += by
		return x
	}
	return x
}

// equal adds the dependencies of a condition that two columns are equal, and reports whether e is one.
func (r *rel) equal(e sqltext.Expr) bool {
	eq, ok := e.(*sqltext.Binary)
	if !ok || eq.Op != "=" {
		return false
	}
	x, isX := eq.L.(*sqltext.Name)
	y, isY := eq.R.(*sqltext.Name)
	if !isX || !isY {
		return false
	}
	outX, a, errX := r.find(x)
	outY, b, errY := r.find(y)
	if errX != nil || errY != nil || outX > 0 || outY > 0 || a.at < 0 || b.at < 0 {
		return false
	}
	r.depends = append(r.depends, dependency{a.at, b.at}, dependency{b.at, a.at})
	return true
}

// exprs returns the binder of expressions over r.
func (r *rel) exprs() *sqlexpr.Binder {
	return &sqlexpr.Binder{Names: r, Now: r.o.Now, Params: r.o.Params, Known: &r.known}
}

func (r *rel) value(e sqltext.Expr) (sqlexpr.Node, error)   { return r.exprs().Value(e) }
func (r *rel) cond(e sqltext.Expr) (sqlexpr.Cond, error)    { return r.exprs().Cond(e) }
func (r *rel) constant(e sqltext.Expr) (value.Value, error) { return r.exprs().Constant(e) }

// Computed implements sqlexpr.Names.
func (r *rel) Computed(e sqltext.Expr) (sqlexpr.Node, bool) {
	if r.computed == nil {
		return sqlexpr.Node{}, false
	}
	x, ok := r.computed[r.key(e)]
	return x, ok
}

// has reports whether a group or a window has computed e.
func (r *rel) has(e sqltext.Expr) bool {
	_, ok := r.Computed(e)
	return ok
}
