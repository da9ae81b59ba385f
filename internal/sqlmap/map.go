// Package sqlmap makes the maps of SELECT statements: columns by what they hold, and orders.
package sqlmap

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Term is a term of an order. Nulls is "first", "last" or "".
type Term struct {
	X     sqlexpr.Node
	Desc  bool
	Nulls string
}

// A Mapping is a Map under construction.
type Mapping struct{ plan.Map }

// Same returns a mapping that keeps all columns of a shape.
func Same(shape *plan.Shape) *Mapping {
	m := &Mapping{}
	m.Shape.Order = slices.Clone(shape.Order)
	for i, c := range shape.Columns {
		m.Columns = append(m.Columns, plan.Ref{Column: i, T: c.Type})
		m.Shape.Columns = append(m.Shape.Columns, c)
	}
	return m
}

// Column returns the number of the column that holds x: a hidden one, if there is none.
func (m *Mapping) Column(x plan.Expr, c plan.Column) int {
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

// Order sets the order of m, a mapping of records of a shape: by terms, then as they were. Null is the least value, as in pipelines;
// NULLS LAST and NULLS FIRST change that.
func (m *Mapping) Order(shape *plan.Shape, terms []Term) {
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
		put(m.Column(x, Defined(&t.X, x)), t.Desc)
	}
	for _, o := range shape.Order {
		c := shape.Columns[o.Column]
		put(m.Column(plan.Ref{Column: o.Column, T: c.Type}, c), o.Desc)
	}
}

// Defined returns the column that x, the expression of n, defines.
func Defined(n *sqlexpr.Node, x plan.Expr) plan.Column {
	if _, plain := x.(plan.Ref); plain && n.Column != nil {
		return *n.Column
	}
	c := plan.Column{Type: x.Type(), List: n.List}
	if n.Column != nil {
		c.ID, c.Class, c.ClassKey = n.Column.ID, n.Column.Class, n.Column.ClassKey
	}
	return c
}

// Grouped returns the column of a group's key e over column c.
func Grouped(c plan.Column, e plan.Expr) plan.Column {
	return plan.Column{Path: c.Path, Type: e.Type(), List: c.List, NotNull: c.NotNull, ID: c.ID, Class: c.Class, ClassKey: c.ClassKey}
}
