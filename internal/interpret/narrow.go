package interpret

import (
	"context"
	"iter"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Narrowed evaluates the remaining part of a plan's Program, after the part that a source has run. It receives
// records one by one. It immediately runs the stages that process one record at a time: leading filters, computed
// columns, and the values for groups. For other stages it keeps only the columns that later stages read. It isn't safe
// for concurrent use.
type Narrowed struct {
	r      *reading
	budget *Budget
	name   string // the name of the Program's first view
	steps  []step
	rest   plan.Program
	live   []bool // the columns that rest reads
	rows   []value.Row
}

// A step is a stage that makes at most one record from each record. It returns false if it makes none.
type step func(value.Row) (value.Row, bool)

// Narrow begins the evaluation after the first done stages. The function from reads the records of other views.
func Narrow(ctx context.Context, of *policy.Plan, done int, from Records, b *Budget) (*Narrowed, error) {
	n := &Narrowed{r: &reading{ctx: ctx, records: from, plan: of}, budget: b, rest: *of.Program}
	if n.rest.From >= 0 && n.rest.From < len(of.Views) {
		n.name = of.Views[n.rest.From].Name()
	}
	if done > 0 {
		n.rest.Base = *n.rest.Stages[done-1].Out()
	}
	n.rest.From, n.rest.Stages = plan.Input, n.rest.Stages[done:]
	for len(n.rest.Stages) > 0 {
		s := n.rest.Stages[0]
		values, grouped := ingredients(s, &n.rest.Base)
		if values != nil {
			s = values
		}
		next, ok := n.r.step(s, n.rest.Base)
		if n.r.err != nil {
			return nil, n.r.err
		}
		if !ok {
			break
		}
		n.steps, n.rest.Base, n.rest.Stages = append(n.steps, next), *s.Out(), n.rest.Stages[1:]
		if grouped != nil {
			n.rest.Stages = append([]plan.Stage{grouped}, n.rest.Stages...)
			break
		}
	}
	n.live = n.rest.Live()
	return n, nil
}

// Take accepts a record with the columns after the stages that have run. It returns an error if the budget is used up.
func (n *Narrowed) Take(row value.Row) error {
	if err := n.budget.met(n.name); err != nil {
		return err
	}
	for _, next := range n.steps {
		made, ok := next(row)
		if n.r.shouldStop() {
			return n.r.err
		}
		if !ok {
			return nil
		}
		row = made
	}
	row = slices.Clone(row)
	for i, live := range n.live {
		if !live {
			row[i] = value.Value{}
		}
	}
	n.rows = append(n.rows, row)
	return n.budget.keep(n.name, row)
}

// Rows evaluates the remaining stages over the accepted records.
func (n *Narrowed) Rows() (iter.Seq2[value.Row, error], error) {
	return n.r.rest(&n.rest, given{input: n.rows})
}

// step returns the function of a stage for each record of a shape. It returns false for a stage that doesn't process
// each record separately.
func (r *reading) step(s plan.Stage, in plan.Shape) (step, bool) {
	from := records{reading: r, shape: &in}
	switch s := s.(type) {
	case *plan.Filter:
		holds, ok := r.condition(s)
		return func(row value.Row) (value.Row, bool) { return row, holds(from.at(row)) }, ok
	case *plan.Map:
		return func(row value.Row) (value.Row, bool) { return from.at(row).columns(s.Columns, &s.Shape), true }, true
	}
	return nil, false
}

// ingredients splits a stage that groups into two stages: one that computes the grouped values, and one that groups
// them. It returns nil for other stages. The records are in order only if a group depends on the order.
func ingredients(s plan.Stage, in *plan.Shape) (*plan.Map, plan.Stage) {
	m := &making{in: in}
	switch s := s.(type) {
	case *plan.Group:
		g := *s
		g.Keys = nil
		for _, k := range s.Keys {
			g.Keys = append(g.Keys, m.add(k))
		}
		g.Accumulators = m.accumulators(s.Accumulators)
		return m.stage(), &g
	case *plan.Buckets:
		b := *s
		b.By = m.add(s.By)
		b.Accumulators = m.accumulators(s.Accumulators)
		return m.stage(), &b
	}
	return nil, nil
}

// A making collects the columns of a Map over a shape.
type making struct {
	in      *plan.Shape
	out     plan.Map
	ordered bool // the result depends on the order of the records
}

// add makes a column from an expression and returns a reference to the column. Equal references share one column.
func (m *making) add(e plan.Expr) plan.Expr {
	if e == nil {
		return nil
	}
	t := e.Type()
	m.ordered = m.ordered || t.IsStructured()
	if _, is := e.(plan.Ref); is {
		for i, other := range m.out.Columns {
			if other == e {
				return plan.Ref{Column: i, T: t}
			}
		}
	}
	m.out.Columns = append(m.out.Columns, e)
	m.out.Shape.Columns = append(m.out.Shape.Columns, plan.Column{Type: t})
	return plan.Ref{Column: len(m.out.Columns) - 1, T: t}
}

func (m *making) accumulators(list []plan.Accumulator) []plan.Accumulator {
	out := slices.Clone(list)
	for i := range out {
		out[i].X = m.add(out[i].X)
		switch out[i].Op {
		case plan.First, plan.Last, plan.Push:
			m.ordered = true
		}
	}
	return out
}

// stage returns the Map. It includes the columns of the order if the result depends on the order.
func (m *making) stage() *plan.Map {
	if m.ordered {
		for _, o := range m.in.Order {
			c := m.in.Columns[o.Column]
			m.out.Shape.Order = append(m.out.Shape.Order, plan.Place{Column: len(m.out.Columns), Desc: o.Desc})
			m.out.Columns = append(m.out.Columns, plan.Ref{Column: o.Column, T: c.Type})
			m.out.Shape.Columns = append(m.out.Shape.Columns, c)
		}
	}
	return &m.out
}
