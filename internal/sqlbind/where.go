package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// where keeps the records for which e is true. The conditions that compare a column with constants come first, so that
// indexes serve them.
func (r *rel) where(e sqltext.Expr) error {
	var filters query.And
	var rest []sqltext.Expr
	for _, part := range conjuncts(e) {
		f, err := r.simple(part)
		if err != nil {
			return err
		}
		if f != nil {
			filters = append(filters, f)
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
	for _, part := range rest {
		c, err := r.cond(part)
		if err != nil {
			return err
		}
		holds = append(holds, c.Yes)
	}
	if len(holds) > 0 {
		r.add(&plan.Filter{If: sqlexpr.All(holds), Shape: *r.shape})
	}
	return nil
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
