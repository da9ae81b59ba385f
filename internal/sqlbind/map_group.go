package sqlbind

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// level returns the expressions and the shape that give the groups of one grouping set the columns of all sets. The
// argument keys contains the keys of all sets. The argument own contains the indexes of this set's keys. A key that
// isn't in the set is null. The accumulators follow. The last column is for the number of the set. The argument before
// contains the columns of the preceding sets.
func level(g *plan.Group, own []int, keys []plan.Expr, before []plan.Column) ([]plan.Expr, plan.Shape) {
	var all []plan.Expr
	var shape plan.Shape
	for i, e := range keys {
		c := plan.Column{Type: e.Type()}
		var x plan.Expr = plan.Const{T: c.Type}
		if at := slices.Index(own, i); at >= 0 {
			c = g.Shape.Columns[at]
			x = plan.Ref{Column: at, T: c.Type}
		} else if before != nil {
			c = before[i]
		}
		c.NotNull, c.Field, c.Path = false, nil, query.Path{fmt.Sprintf("key %d", i)}
		all, shape.Columns, shape.Order = append(all, x), append(shape.Columns, c), append(shape.Order, plan.Place{Column: i})
	}
	for i, c := range g.Shape.Columns[len(own):] {
		all, shape.Columns = append(all, plan.Ref{Column: len(own) + i, T: c.Type}), append(shape.Columns, c)
	}
	shape.Columns = append(shape.Columns, plan.Column{Type: schema.Integer, NotNull: true, Path: query.Path{"set"}})
	return all, shape
}

// group sets the shape of g, a group of records with the columns in before.
func group(g *plan.Group, before []plan.Column) {
	for i, e := range g.Keys {
		c := plan.Column{Type: e.Type()}
		if ref, ok := e.(plan.Ref); ok {
			c = groupColumn(before[ref.Column], e)
		}
		c.Path = query.Path{fmt.Sprintf("key %d", i)}
		g.Shape.Columns = append(g.Shape.Columns, c)
		g.Shape.Order = append(g.Shape.Order, plan.Place{Column: i})
	}
	for i, a := range g.Accumulators {
		c := plan.Column{Type: a.T, Path: query.Path{fmt.Sprintf("value %d", i)}}
		if ref, ok := a.X.(plan.Ref); ok && (a.Op == plan.Min || a.Op == plan.Max || a.Op == plan.First) {
			of := before[ref.Column]
			c.ID, c.Class, c.ClassKey, c.List = of.ID, of.Class, of.ClassKey, of.List
			if a.Op == plan.First {
				c.Mask = of.Mask
			}
		}
		c.NotNull = a.Op == plan.Count || a.Op == plan.CountDistinct
		g.Shape.Columns = append(g.Shape.Columns, c)
	}
}

// distinct returns a group by the columns that have names.
func distinct(columns []plan.Column) *plan.Group {
	g := &plan.Group{}
	for i := range columns {
		c := &columns[i]
		if c.Path == nil {
			continue
		}
		n := node{Node: typecheck.Node{Expr: plan.Ref{Column: i, T: c.Type}, Column: c, List: c.List}}
		e := n.JSONOr()
		g.Keys, g.Shape.Columns = append(g.Keys, e), append(g.Shape.Columns, groupColumn(*c, e))
		g.Shape.Order = append(g.Shape.Order, plan.Place{Column: len(g.Keys) - 1})
	}
	return g
}
