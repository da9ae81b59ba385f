package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Dependency says that records with one value of column On have one value of column Of.
type Dependency struct{ Of, On int }

// Dependencies are those of a list of records.
type Dependencies []Dependency

// Join returns the dependencies of the records of a join: those of both sides, and those that its equalities make. The
// side that Keep keeps doesn't depend on the other. The columns beside it depend on all that the join compares.
func (d Dependencies) Join(right Dependencies, s *Join) Dependencies {
	width := len(s.Shape.Columns) - len(s.Right.Out().Columns)
	out := slices.Clone(d)
	for _, r := range right {
		out = append(out, Dependency{r.Of + width, r.On + width})
	}
	if s.Keep && (len(s.On) != 1 || s.If != nil) {
		return out
	}
	for _, pair := range s.On {
		x, isX := pair.Left.(Ref)
		y, isY := pair.Right.(Ref)
		if !isX || !isY {
			continue
		}
		out = append(out, Dependency{Of: width + y.Column, On: x.Column})
		if !s.Keep {
			out = append(out, Dependency{Of: x.Column, On: width + y.Column})
		}
	}
	return out
}

// A Keyed is a column of a table, and whether it is part of the table's key.
type Keyed struct {
	Column int
	Key    bool
}

// FixedColumns returns the columns that have one value in each group. These are the keys of the groups, the columns that
// depend on them, and all columns of a table whose whole key is fixed.
func (d Dependencies) FixedColumns(keys []Expr, tables map[string][]Keyed) map[int]bool {
	fixed := map[int]bool{}
	for _, k := range keys {
		if ref, ok := k.(Ref); ok {
			fixed[ref.Column] = true
		}
	}
	for before := -1; before != len(fixed); {
		before = len(fixed)
		for _, one := range d {
			if fixed[one.On] {
				fixed[one.Of] = true
			}
		}
		for _, columns := range tables {
			if !slices.ContainsFunc(columns, func(c Keyed) bool { return c.Key }) ||
				slices.ContainsFunc(columns, func(c Keyed) bool { return c.Key && !fixed[c.Column] }) {
				continue
			}
			for _, c := range columns {
				fixed[c.Column] = true
			}
		}
	}
	return fixed
}

// Pair makes x, an equality of a column of each side of an inner join, a pair of the join, and reports whether it did.
// The stages after the join are other joins and filters: with the pair there, no filter needs to test all combinations.
func (p *Program) Pair(x Expr) bool {
	same, ok := x.(Apply)
	if !ok || same.Op != Same || same.Args[0].Type() == schema.JSON {
		return false
	}
	left, right := same.Args[0], same.Args[1]
	a, okA := columnOf(left)
	b, okB := columnOf(right)
	if !okA || !okB {
		return false
	}
	if a > b {
		a, b, left, right = b, a, right, left
	}
	for _, stage := range slices.Backward(p.Stages) {
		switch s := stage.(type) {
		case *Filter:
		case *Join:
			width := len(s.Shape.Columns) - len(s.Right.Out().Columns)
			if b < width {
				continue // both are columns of the left side
			}
			if a >= width || s.Keep {
				return false
			}
			s.On = append(s.On, Pair{Left: left, Right: shiftColumn(right, -width)})
			return true
		default:
			return false
		}
	}
	return false
}

// Constant returns the constant that column i of the result is, if the last stage makes it one.
func (p *Program) Constant(i int) (Const, bool) {
	if len(p.Stages) == 0 {
		return Const{}, false
	}
	m, ok := p.Stages[len(p.Stages)-1].(*Map)
	if !ok {
		return Const{}, false
	}
	k, ok := m.Columns[i].(Const)
	return k, ok
}

// columnOf returns the number of the column that x is, perhaps in a wider type.
func columnOf(x Expr) (int, bool) {
	if w, ok := x.(Widen); ok {
		x = w.X
	}
	ref, ok := x.(Ref)
	return ref.Column, ok
}

// shiftColumn returns x, which columnOf takes, with the number of its column changed.
func shiftColumn(x Expr, by int) Expr {
	if w, ok := x.(Widen); ok {
		w.X = shiftColumn(w.X, by)
		return w
	}
	ref := x.(Ref)
	ref.Column += by
	return ref
}
