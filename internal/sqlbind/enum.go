package sqlbind

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A noter adds notes to a statement. Field returns the field of a column, or nil for another name.
type noter struct {
	Field func(*sqlparse.Name) *schema.Field
	Known *statement
}

// In adds notes about enums that x compares by order. Here enums are ordered alphabetically. Databases use the declared
// order. There is no note if both orders are the same.
func (n noter) In(x any) {
	sqlparse.Walk(x, func(e sqlparse.Expr) bool {
		switch e := e.(type) {
		case *sqlparse.Binary:
			if e.Op == "<" || e.Op == "<=" || e.Op == ">" || e.Op == ">=" {
				n.enums(e.L, e.R)
			}
		case *sqlparse.Between:
			n.enums(e.X)
		case *sqlparse.Call:
			if slices.Contains([]string{"min", "max", "greatest", "least"}, e.Name) {
				n.enums(e.Args...)
			}
			n.terms(e.Order)
			n.terms(e.Within)
			if e.Over != nil {
				n.terms(e.Over.Order)
			}
		}
		return true
	})
}

// Order adds notes about enums in the terms of an ORDER BY.
func (n noter) Order(order []sqlparse.Order) {
	n.terms(order)
	n.In(order)
}

func (n noter) terms(order []sqlparse.Order) {
	for _, o := range order {
		n.enums(o.X)
	}
}

// enums adds notes about the columns in list that are enums with a declared order that isn't alphabetical.
func (n noter) enums(list ...sqlparse.Expr) {
	for _, e := range list {
		name, ok := e.(*sqlparse.Name)
		if !ok {
			continue
		}
		f := n.Field(name)
		if f == nil || f.Native != "enum" || slices.IsSortedFunc(f.Values, func(a, b value.Value) int { return strings.Compare(a.Text(), b.Text()) }) {
			continue
		}
		n.Known.Note(At(name.Pos()), "enum "+f.Name, "%s is an enum, and its values come in the order of their letters here, not as they are declared. CASE %s WHEN … THEN 1 WHEN … THEN 2 END orders them otherwise", f.Name, f.Name)
	}
}
