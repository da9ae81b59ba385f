package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
)

// distinctOn keeps the first record, in order, for each value of the expressions of DISTINCT ON.
func (r *rel) distinctOn(s *sqlparse.Select, outputs []output, order []sqlparse.Order) error {
	var on []node
	for i, e := range s.On {
		e = resolveOutput(e, outputs, r, false)
		if i < len(order) && r.key(order[i].X) != r.key(e) {
			return invalid(order[i].X.Pos(), "the ORDER BY of DISTINCT ON begins with its expressions")
		}
		x, err := r.value(e)
		if err != nil {
			return err
		}
		on = append(on, x)
	}
	terms, err := r.terms(order)
	if err != nil {
		return err
	}
	var all []node
	for _, o := range outputs {
		x, err := r.value(o.x)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	if err := r.sort(terms); err != nil { // it only adds columns at the end, so that the columns in on and all stay valid
		return err
	}
	r.firsts(on, all, outputs)
	var after []term
	for i := range min(len(terms), len(on)) {
		after = append(after, term{X: node{Node: r.column(i, s.At)}, Desc: terms[i].Desc, Nulls: terms[i].Nulls})
	}
	return r.sort(after)
}

// firsts groups the records by the values in on. The outputs are the values of the first record in each group.
func (r *rel) firsts(on, all []node, outputs []output) {
	g := &plan.Group{}
	for i := range on {
		e := on[i].JSONOr()
		c := groupColumn(definedColumn(&on[i], e), e)
		c.Path = nil
		g.Keys, g.Shape.Columns = append(g.Keys, e), append(g.Shape.Columns, c)
		g.Shape.Order = append(g.Shape.Order, plan.Place{Column: i})
	}
	marks := make([]Marks, len(all))
	for i := range all {
		e := all[i].JSONOr()
		c := groupColumn(definedColumn(&all[i], e), e)
		c.Path, c.NotNull = query.Path{outputs[i].name}, false
		g.Accumulators = append(g.Accumulators, plan.Accumulator{Op: plan.First, X: e, T: e.Type()})
		g.Shape.Columns = append(g.Shape.Columns, c)
		marks[i] = all[i].Marks
	}
	r.add(g)
	r.setColumns(outputs, marks)
	for i := range r.cols {
		r.cols[i].at = len(on) + i
	}
}

// distinct adds the select list of a SELECT DISTINCT. Its order may only use columns of the list.
func (r *rel) distinct(outputs []output, order []sqlparse.Order) error {
	keys := make([]string, len(outputs))
	for i, o := range outputs {
		keys[i] = r.key(o.x)
	}
	var at []int
	for _, o := range order {
		i := slices.Index(keys, r.key(o.X))
		if i < 0 {
			return unsupportedError(o.X.Pos(), "add it to the select list", "SELECT DISTINCT can only be ordered by what it selects")
		}
		at = append(at, i)
	}
	m, err := r.selection(outputs)
	if err != nil {
		return err
	}
	m.Order(r.shape, nil)
	r.finish(m, outputs)
	marks := m.marks
	if err := r.distinctRecords(); err != nil {
		return err
	}
	r.setColumns(outputs, marks)
	var terms []term
	for i, o := range order {
		terms = append(terms, term{X: node{Node: r.column(at[i], o.X.Pos())}, Desc: o.Desc, Nulls: o.Nulls})
	}
	return r.sort(terms)
}

// distinctRecords keeps one record of each set with equal visible columns. The visible columns come first.
func (r *rel) distinctRecords() error {
	for _, c := range r.shape.Columns {
		if c.Path != nil && c.Mask.Hides() {
			return plan.MaskedFieldError(c.Key(), "/sql")
		}
	}
	g := distinct(r.shape.Columns)
	r.add(g)
	return nil
}
