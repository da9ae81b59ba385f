package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// inner binds a sub-query in an expression over r and counts it. p is the place of the sub-query.
func (r *rel) inner(q *sqlparse.Query, p sqlparse.Pos) (*rel, error) {
	if err := r.meter.Add(plan.CostlyQuery, 1, At(p)); err != nil {
		return nil, err
	}
	return r.binder.query(q, r, r.with)
}

// Exists implements Names.
func (r *rel) Exists(e *sqlparse.Exists) (plan.Expr, error) {
	sub, err := r.inner(e.Query, e.At)
	if err != nil {
		return nil, err
	}
	for i := range sub.shape.Columns { // they are never read, so masked columns are allowed
		sub.shape.Columns[i].Path = nil
	}
	return r.probe(sub, true, e.At)
}

// In implements Names with two sub-queries. One tests whether the comparison is true for some value. The other tests
// whether it may be true for some value.
func (r *rel) In(sign string, x sqlparse.Expr, q *sqlparse.Query, p sqlparse.Pos) (cond, error) {
	xs := []sqlparse.Expr{x}
	if t, ok := x.(*sqlparse.Tuple); ok {
		if xs = t.Items; sign != "=" {
			return cond{}, unsupportedError(p, "use IN, or NOT EXISTS with a condition for each value", "lists of values can only be compared with = with those of a query")
		}
	}
	ask := func(no bool) (plan.Expr, error) {
		sub, err := r.inner(q, p)
		if err != nil {
			return nil, err
		}
		if len(sub.cols) != len(xs) {
			return nil, invalid(q.At, "this query has %d columns, and the value beside it has %d", len(sub.cols), len(xs))
		}
		c := Always
		for i, x := range xs {
			each, err := r.compareColumn(sign, x, sub, i, p)
			if err != nil {
				return nil, err
			}
			c = c.And(each)
		}
		keep := c.Yes
		if no {
			keep = Not(c.No)
		}
		sub.add(&plan.Filter{If: keep, Shape: *sub.shape})
		return r.probe(sub, true, p)
	}
	yes, err := ask(false)
	if err != nil || r.affirmed {
		return cond{Yes: yes, No: constantly(false)}, err
	}
	perhaps, err := ask(true)
	return cond{Yes: yes, No: Not(perhaps)}, err
}

// compareColumn compares x, an expression over r, with column i of sub, a sub-query of r.
func (r *rel) compareColumn(sign string, x sqlparse.Expr, sub *rel, i int, p sqlparse.Pos) (cond, error) {
	c := sub.cols[i]
	y := node{Node: sub.column(c.at, p), Marks: c.Marks}
	if y.Column.Mask != nil {
		return cond{}, unsupportedError(p, "", "a masked column can't be compared")
	}
	// The value is bound in the outer query. The sub-query refers to it.
	out, err := r.value(x)
	if err != nil {
		return cond{}, err
	}
	if !out.Constant {
		at := r.ensureColumns([]node{out})[0]
		out.Elsewhere(plan.Outer{Up: 1, Column: at, T: r.shape.Columns[at].Type})
	}
	return r.exprs().Compare(sign, out, y, p)
}

// probe adds the column with the result of a sub-query for each record. It returns the column.
func (r *rel) probe(sub *rel, exists bool, p sqlparse.Pos) (plan.Expr, error) {
	s := &plan.Probe{Right: sub.program, Exists: exists, Shape: *r.shape}
	c := plan.Column{Type: schema.Boolean, NotNull: true}
	if !exists {
		of := sub.shape.Columns[sub.cols[0].at]
		c = plan.Column{Type: of.Type, List: of.List, ID: of.ID, Class: of.Class, ClassKey: of.ClassKey}
	}
	n := len(r.shape.Columns)
	s.Shape.Columns = append(r.shape.Columns[:n:n], c)
	if sub.used && r.outer != nil {
		r.used = true
	}
	r.add(s)
	return plan.Ref{Column: n, T: c.Type}, nil
}

// Scalar implements Names.
func (r *rel) Scalar(e *sqlparse.Sub) (node, error) {
	sub, err := r.inner(e.Query, e.At)
	if err != nil {
		return node{}, err
	}
	if len(sub.cols) != 1 {
		return node{}, invalid(e.At, "this sub-query has %d columns. As a value it has one", len(sub.cols))
	}
	if !sub.single && !selectsOne(sub.program) {
		if err := r.guard(e, sub); err != nil {
			return node{}, err
		}
		sub.add(&plan.Slice{Limit: 1, Shape: *sub.shape})
	}
	c := sub.cols[0]
	if sub.shape.Columns[c.at].Mask != nil {
		return node{}, unsupportedError(e.At, "join with the table", "a sub-query can't yield a masked column")
	}
	for i := range sub.shape.Columns {
		sub.shape.Columns[i].Path = nil
	}
	sub.shape.Columns[c.at].Path = query.Path{"value"}
	x, err := r.probe(sub, false, e.At)
	if err != nil {
		return node{}, err
	}
	n := node{Node: r.column(x.(plan.Ref).Column, e.At), Marks: c.Marks}
	return n, nil
}

// guard adds a check that reports an error at run time if a sub-query that is used as a value has a second record. The
// outer records of a correlated sub-query are the records of r at this point. If these depend on a further outer
// record, the sub-query is refused.
func (r *rel) guard(e *sqlparse.Sub, sub *rel) error {
	if sub.used && r.used {
		return unsupportedError(e.At, "write IN (SELECT …) to compare with each, add LIMIT 1, or take an aggregate such as max(…)",
			"this sub-query may have more than one record, and whether it has can't be tested inside of another sub-query that names a record around it")
	}
	again, err := r.inner(e.Query, e.At)
	if err != nil {
		return err
	}
	for i := range again.shape.Columns { // they are never read
		again.shape.Columns[i].Path = nil
	}
	p := again.program
	if sub.used {
		p = r.around(again)
	} else {
		again.add(&plan.Slice{Skip: 1, Limit: 1, Shape: *again.shape})
	}
	r.guards = append(r.guards, plan.Guard{Program: p, Place: At(e.At)})
	return nil
}

// around returns a program that finds the first record of r with more than one record in sub. The program sub refers to
// that record. It counts the records, because MariaDB can't skip records inside a correlated sub-query.
func (r *rel) around(sub *rel) *plan.Program {
	g := &plan.Group{Accumulators: []plan.Accumulator{{Op: plan.Count, T: schema.Integer}}, Always: true}
	group(g, sub.shape.Columns)
	sub.add(g)
	p := *r.program
	n := len(r.shape.Columns)
	shape := *r.shape
	shape.Columns = append(r.shape.Columns[:n:n], plan.Column{Type: schema.Integer})
	p.Stages = append(p.Stages[:len(p.Stages):len(p.Stages)],
		&plan.Probe{Right: sub.program, Shape: shape},
		&plan.Filter{If: Test(plan.Under, Whole(1), plan.Ref{Column: n, T: schema.Integer}), Shape: shape},
		&plan.Slice{Limit: 1, Shape: shape})
	return &p
}
