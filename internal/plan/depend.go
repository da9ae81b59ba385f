package plan

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/schema"
)

// A Dependency means that records with the same value in column On have the same value in column Of.
type Dependency struct{ Of, On int }

// Dependencies are the dependencies among the columns of a list of records.
type Dependencies []Dependency

// Join returns the dependencies of a join's result: the dependencies of both sides and those from its equalities. With
// Keep, the left side doesn't depend on the right side. The right side then depends on all compared columns together,
// which is a Dependency only if there is a single pair.
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

// A Keyed is a column of a table. Key reports whether it is part of the table's key.
type Keyed struct {
	Column int
	Key    bool
}

// FixedColumns returns the columns with a single value in each group. These are the keys of the groups and the columns
// that depend on them. If all key columns of a table are fixed, all its columns are.
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

// Pair moves x, an equality between a column of each side of an inner join, into the join. It reports whether it did.
// Only other joins and filters follow the join. With the pair in the join, no filter has to test all combinations.
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

// Constant returns the constant in column i of the result, if the last stage is a Map with a constant there.
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

// columnOf returns the number of the column to which x refers, directly or in a wider type.
func columnOf(x Expr) (int, bool) {
	if w, ok := x.(Widen); ok {
		x = w.X
	}
	ref, ok := x.(Ref)
	return ref.Column, ok
}

// shiftColumn returns x with the number of its column changed by this amount. x must be an expression that columnOf
// accepts.
func shiftColumn(x Expr, by int) Expr {
	if w, ok := x.(Widen); ok {
		w.X = shiftColumn(w.X, by)
		return w
	}
	ref := x.(Ref)
	ref.Column += by
	return ref
}
