package sqlbind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlexpr"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/value"
)

// noteEnums notes the enums that are ordered in clauses: they are texts here, and come in the order of their letters, where the database
// has the order in which they are declared. Nothing is noted if both are the same.
func (r *rel) noteEnums(clauses ...any) {
	for _, x := range clauses {
		if outputs, ok := x.([]output); ok {
			for _, o := range outputs {
				r.noteEnums(o.x)
			}
			continue
		}
		if order, ok := x.([]sqlparse.Order); ok {
			r.noteOrder(order)
		}
		sqlparse.Walk(x, func(e sqlparse.Expr) bool {
			switch e := e.(type) {
			case *sqlparse.Binary:
				if e.Op == "<" || e.Op == "<=" || e.Op == ">" || e.Op == ">=" {
					r.noteEnum(e.L, e.R)
				}
			case *sqlparse.Between:
				r.noteEnum(e.X)
			case *sqlparse.Call:
				if slices.Contains([]string{"min", "max", "greatest", "least"}, e.Name) {
					r.noteEnum(e.Args...)
				}
				r.noteOrder(e.Order)
				r.noteOrder(e.Within)
				if e.Over != nil {
					r.noteOrder(e.Over.Order)
				}
			}
			return true
		})
	}
}

func (r *rel) noteOrder(order []sqlparse.Order) {
	for _, o := range order {
		r.noteEnum(o.X)
	}
}

// noteEnum notes the columns among list that hold enums whose declared order isn't that of their letters.
func (r *rel) noteEnum(list ...sqlparse.Expr) {
	for _, e := range list {
		n, ok := e.(*sqlparse.Name)
		if !ok {
			continue
		}
		up, c, err := r.find(n)
		if err != nil || up > 0 || c.at < 0 {
			continue
		}
		f := r.shape.Columns[c.at].Field
		if f == nil || f.Native != "enum" || slices.IsSortedFunc(f.Values, func(a, b value.Value) int { return strings.Compare(a.Text(), b.Text()) }) {
			continue
		}
		r.known.Note(sqlexpr.At(n.Pos()), "enum "+f.Name, "%s is an enum, and its values come in the order of their letters here, not as they are declared; CASE %s WHEN … THEN 1 WHEN … THEN 2 END orders them otherwise", f.Name, f.Name)
	}
}
