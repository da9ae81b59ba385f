package plan

import (
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Guard checks a sub-query that is used as a value. Its program has no result if the sub-query yields at most one
// record.
type Guard struct {
	Program *Program // yields at most one record, without returned columns
	Place   string   // the place of the sub-query in the statement
}

// Guard puts a record before the result of p for each of guards that has a result. The record consists of nulls, except
// for the last column, which contains the number of the guard. The Tally of this column contains the places of guards.
// The column is null in the records of p.
//
// An error raised by the database would be wrong, because a database may evaluate a sub-query for records outside of
// the view.
func (p *Program) Guard(guards []Guard) {
	if len(guards) == 0 {
		return
	}
	var places []string
	var first *Program
	for i, g := range guards {
		places = append(places, g.Place)
		number := Const{Value: value.OfInt(int64(i + 1)), T: schema.Integer}
		g.Program.Stages = append(g.Program.Stages, &Map{Columns: []Expr{number}, Shape: Shape{Columns: []Column{{Type: schema.Integer}}}})
		if first == nil {
			first = g.Program
			continue
		}
		u := &Union{Right: g.Program, Left: []Expr{Ref{T: schema.Integer}}, Added: []Expr{Ref{T: schema.Integer}}}
		u.Shape = sides([]Column{{Type: schema.Integer}})
		first.Stages = append(first.Stages, u)
	}
	result := *p
	u := &Union{Right: &result}
	var columns []Column
	for i, c := range result.Out().Columns {
		if c.Path == nil {
			continue
		}
		u.Left, u.Added = append(u.Left, Const{T: c.Type}), append(u.Added, Ref{Column: i, T: c.Type})
		c.Behind, c.NotNull = nil, false
		columns = append(columns, c)
	}
	u.Left, u.Added = append(u.Left, Ref{T: schema.Integer}), append(u.Added, Const{T: schema.Integer})
	columns = append(columns, Column{Path: query.Path{"\x00several"}, Type: schema.Integer, Tally: &Tally{Several: places}})
	u.Shape = sides(columns)
	*p = Program{From: first.From, Rows: first.Rows, Base: first.Base, Stages: append(first.Stages, u)}
}

// sides returns the shape of a Union with the given columns.
func sides(columns []Column) Shape {
	n := len(columns)
	side := Column{Type: schema.Integer, NotNull: true}
	return Shape{Columns: append(columns, side, side), Order: []Place{{Column: n}, {Column: n + 1}}}
}
