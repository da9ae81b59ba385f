package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// where keeps the records for which e is true. Conditions that compare a column with constants come first, so that
// indexes can be used.
func (r *rel) where(e sqlparse.Expr) error {
	var filters query.And
	var equalities, rest []sqlparse.Expr
	for _, part := range sqlparse.Conjuncts(e) {
		f, err := filterOf(r, part)
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
	for _, part := range append(equalities, rest...) { // equalities come first, while the joins are still the last stages
		r.affirmed = sqlparse.Affirms(part)
		c, err := r.cond(part)
		r.affirmed = false
		if err != nil {
			return err
		}
		if !r.program.Pair(c.Yes) {
			holds = append(holds, c.Yes)
		}
	}
	if len(holds) > 0 {
		r.add(&plan.Filter{If: All(holds), Shape: *r.shape})
	}
	return nil
}

// equal adds the dependencies that follow from an equality of two columns. It reports whether e is such a condition.
func (r *rel) equal(e sqlparse.Expr) bool {
	eq, ok := e.(*sqlparse.Binary)
	if !ok || eq.Op != "=" {
		return false
	}
	x, isX := eq.L.(*sqlparse.Name)
	y, isY := eq.R.(*sqlparse.Name)
	if !isX || !isY {
		return false
	}
	outX, a, errX := r.find(x)
	outY, b, errY := r.find(y)
	if errX != nil || errY != nil || outX > 0 || outY > 0 || a.at < 0 || b.at < 0 {
		return false
	}
	r.depends = append(r.depends, plan.Dependency{Of: a.at, On: b.at}, plan.Dependency{Of: b.at, On: a.at})
	return true
}

// exprs returns the Binder for expressions over r.
func (r *rel) exprs() *Binder {
	return &Binder{Names: r, Now: r.o.Now, Params: r.o.Params, Known: &r.known}
}

func (r *rel) value(e sqlparse.Expr) (node, error)           { return r.exprs().Value(e) }
func (r *rel) cond(e sqlparse.Expr) (cond, error)            { return r.exprs().Cond(e) }
func (r *rel) constant(e sqlparse.Expr) (value.Value, error) { return r.exprs().Constant(e) }

// ComputedValue implements Names.
func (r *rel) ComputedValue(e sqlparse.Expr) (node, bool) {
	if r.computed == nil {
		return node{}, false
	}
	x, ok := r.computed[r.key(e)]
	if ok && x.Column != nil && x.Column.Mask != nil { // PassColumn and Column handle masked columns
		return node{}, false
	}
	return x, ok
}

// has reports whether a group or a window has computed e.
func (r *rel) has(e sqlparse.Expr) bool {
	_, ok := r.ComputedValue(e)
	return ok
}

// StoredColumn implements Columns.
func (r *rel) StoredColumn(e sqlparse.Expr) *plan.Column {
	n, ok := e.(*sqlparse.Name)
	if !ok || r.computed != nil {
		return nil
	}
	up, c, err := r.find(n)
	if err != nil || up > 0 || c.at < 0 {
		return nil
	}
	column := &r.shape.Columns[c.at]
	if !comparable(column) {
		return nil
	}
	r.tables.RecordUse(column.Field)
	return column
}

// AllowedValues implements Columns.
func (r *rel) AllowedValues(f *schema.Field) []typecheck.Allowed { return r.tables.AllowedValues(f) }

// Note implements Columns.
func (r *rel) Note(at, text string) { r.known.Note(at, text, "%s", text) }

// Alone implements Columns.
func (r *rel) Alone(e sqlparse.Expr) (node, error) { return r.exprs().Alone().Value(e) }
