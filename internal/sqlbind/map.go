package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A term is one term of an order. Nulls is "first", "last" or "".
type term struct {
	X     node
	Desc  bool
	Nulls string
}

// A mapping is a Map under construction.
type mapping struct{ plan.Map }

// Same returns a mapping that keeps all columns of a shape.
func Same(shape *plan.Shape) *mapping {
	m := &mapping{}
	m.Shape.Order = slices.Clone(shape.Order)
	for i, c := range shape.Columns {
		m.Columns = append(m.Columns, plan.Ref{Column: i, T: c.Type})
		m.Shape.Columns = append(m.Shape.Columns, c)
	}
	return m
}

// Column returns the number of the column that contains x. If there is no such column, it adds a hidden one.
func (m *mapping) Column(x plan.Expr, c plan.Column) int {
	if ref, ok := x.(plan.Ref); ok {
		for i, have := range m.Columns {
			if have, is := have.(plan.Ref); is && have.Column == ref.Column {
				return i
			}
		}
	}
	c.Path, c.Behind = nil, nil
	m.Columns = append(m.Columns, x)
	m.Shape.Columns = append(m.Shape.Columns, c)
	return len(m.Columns) - 1
}

// Order sets the order of m, a mapping of records of a shape. The records are sorted by terms and then by the previous
// order. Null is the least value, as in pipelines, unless NULLS LAST or NULLS FIRST changes that.
func (m *mapping) Order(shape *plan.Shape, terms []term) {
	has := map[int]bool{}
	put := func(i int, desc bool) {
		if !has[i] {
			has[i] = true
			m.Shape.Order = append(m.Shape.Order, plan.Place{Column: i, Desc: desc})
		}
	}
	m.Shape.Order = nil
	for _, t := range terms {
		x := t.X.JSONOr()
		if _, constant := x.(plan.Const); constant {
			continue
		}
		if t.Nulls == "last" && !t.Desc || t.Nulls == "first" && t.Desc {
			null := plan.Apply{Op: plan.IsNull, Args: []plan.Expr{x}, T: schema.Boolean}
			put(m.Column(null, plan.Column{Type: schema.Boolean, NotNull: true}), t.Desc)
		}
		put(m.Column(x, definedColumn(&t.X, x)), t.Desc)
	}
	for _, o := range shape.Order {
		c := shape.Columns[o.Column]
		put(m.Column(plan.Ref{Column: o.Column, T: c.Type}, c), o.Desc)
	}
}

// definedColumn returns the description of a column for x, the expression of n.
func definedColumn(n *node, x plan.Expr) plan.Column {
	if _, plain := x.(plan.Ref); plain && n.Column != nil {
		return *n.Column
	}
	c := plan.Column{Type: x.Type(), List: n.List}
	if n.Column != nil {
		c.ID, c.Class, c.ClassKey = n.Column.ID, n.Column.Class, n.Column.ClassKey
	}
	return c
}

// groupColumn returns the description of a column for e, a key of a group. c is the column that e reads.
func groupColumn(c plan.Column, e plan.Expr) plan.Column {
	out := plan.Column{Path: c.Path, Type: e.Type(), List: c.List, NotNull: c.NotNull, ID: c.ID, Class: c.Class, ClassKey: c.ClassKey}
	if _, plain := e.(plan.Ref); plain && c.Mask.Names() {
		out.Mask = c.Mask
	}
	return out
}

// A Flagged is a column of days, or of lengths of time.
type Flagged struct {
	Name   string
	Column int
	Day    bool
}

// selectMap returns a map that turns days into texts and lengths of time into seconds. It returns nil if there are
// none. The order still uses the original values.
func selectMap(shape *plan.Shape, flagged []Flagged) *mapping {
	if flagged == nil {
		return nil
	}
	m := Same(shape)
	for _, f := range flagged {
		was := plan.Ref{Column: f.Column, T: shape.Columns[f.Column].Type}
		var x plan.Expr = plan.DateText{X: was, Format: "%Y-%m-%d"}
		if !f.Day {
			thousand := plan.Const{Value: value.OfFloat(1000), T: schema.Double}
			x = plan.Apply{Op: plan.Div, Args: []plan.Expr{plan.Widen{X: was, T: schema.Double}, thousand}, T: schema.Double}
		}
		m.Columns[f.Column] = x
		m.Shape.Columns[f.Column] = plan.Column{Path: query.Path{f.Name}, Type: x.Type()}
		keep := -1
		for i := range m.Shape.Order {
			if m.Shape.Order[i].Column != f.Column {
				continue
			}
			if keep < 0 {
				keep = m.Column(was, shape.Columns[f.Column])
			}
			m.Shape.Order[i].Column = keep
		}
	}
	return m
}
