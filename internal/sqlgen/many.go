package sqlgen

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
)

// union appends the records of Right. Additional columns contain the number of a record's side and its position in the
// order of that side.
func (b *builder) union(r *relation, st *plan.Union, at place) (*relation, error) {
	right, err := b.program(st.Right, at.input, at.outer)
	if err != nil {
		return nil, err
	}
	text := ""
	for side, part := range []struct {
		r       *relation
		columns []plan.Expr
	}{{r, st.Left}, {right, st.Added}} {
		own := &scope{b: b, r: b.open(part.r), outer: at.outer, lets: true}
		columns, err := b.columns(own, part.columns, st.Shape.Columns)
		if err != nil {
			return nil, err
		}
		number := "row_number() OVER (" + orderClause(b.terms(own, own.r.shape.Order)) + ")"
		own.r.columns = append(columns, strconv.Itoa(side), number)
		if side > 0 {
			text += " UNION ALL "
		}
		text += b.subquery(own.r)
	}
	alias := b.s.Alias("t")
	return &relation{shape: st.Shape, alias: alias, from: "(" + text + ") AS " + alias, columns: positions(alias, len(st.Shape.Columns))}, nil
}

// facet runs the records through each branch, a subquery over the input. The input runs only once, unless it is a view
// that each branch reads faster by itself.
func (b *builder) facet(r *relation, st *plan.Facet, outer *scope) (*relation, error) {
	name := b.s.Alias("f")
	input := &relation{shape: r.shape, alias: name, columns: r.columns}
	keep := !r.plain || r.cut || len(r.levels) > 0
	text := "WITH " + name + " AS" + b.d.MaterializedKeyword(keep) + " (" + b.subquery(r) + ") SELECT "
	for i, branch := range st.Branches {
		right, err := b.program(branch, input, outer)
		if err != nil {
			return nil, err
		}
		list := b.list(&scope{b: b, r: b.open(right), outer: outer, lets: true})
		if i > 0 {
			text += ", "
		}
		text += "(" + list + ") AS c" + strconv.Itoa(i+1)
	}
	alias := b.s.Alias("t")
	return &relation{shape: st.Shape, alias: alias, from: "(" + text + ") AS " + alias, columns: positions(alias, len(st.Branches))}, nil
}
