package sqlparse

import "strings"

// A Descent contains the parts of a recursive query that follows one pointer of a table:
//
//	WITH RECURSIVE t AS (SELECT … FROM … UNION [ALL] SELECT x.…, t.… FROM table x JOIN t ON x.a = t.b)
type Descent struct {
	Union     *SetOp
	Step      *Select
	Table     *Table  // the table that the step reads
	Own, Self string  // the alias of the table, and the name of the query itself
	Link, Of  *Name   // a and b
	Rest      Expr    // the other conditions on the table, or nil
	Below     *Binary // the condition that limits a column of the query, or nil

	own func(*Table, Ident) bool // reports whether the table has a column
}

// DescentOf returns the parts of a recursive query that follows a pointer. For any other query it returns the place and
// the reason. The function own reports whether the step's table has a column. A name without an alias then refers to
// the table.
func DescentOf(c CTE, own func(*Table, Ident) bool) (d *Descent, at Pos, why string) {
	d = &Descent{own: own}
	q := c.Query
	u, ok := q.Body.(*SetOp)
	if !ok || u.Op != "union" || q.Order != nil || q.Limit != nil || q.Offset != nil || q.With != nil {
		return nil, c.Name.At, "this recursive query isn't a UNION of a beginning and a step"
	}
	step, ok := u.Right.(*Select)
	if !ok || (&Query{Body: u.Left}).RefersTo(c.Name) || step.Distinct || step.Group != nil || step.GroupAll || step.Having != nil || step.Qualify != nil || step.Top != nil || step.Windows != nil {
		return nil, c.Name.At, "the step of this recursive query isn't a plain SELECT"
	}
	d.Union, d.Step = u, step
	items, conditions := step.From, Conjuncts(step.Where)
	if len(items) == 1 {
		if j, ok := items[0].(*Join); ok && j.Kind == "inner" && !j.Natural && j.Using == nil {
			items, conditions = []From{j.Left, j.Right}, append(Conjuncts(j.On), conditions...)
		}
	}
	for _, f := range items {
		t, ok := f.(*Table)
		if !ok {
			break
		}
		name := t.Name[len(t.Name)-1].Text
		if t.Alias.Name != nil {
			name = t.Alias.Name.Text
		}
		if len(t.Name) == 1 && strings.EqualFold(t.Name[0].Text, c.Name.Text) {
			d.Self = name
		} else {
			d.Table, d.Own = t, name
		}
	}
	if len(items) != 2 || d.Self == "" || d.Table == nil {
		return nil, step.At, "the step of this recursive query doesn't join it with one table"
	}
	at, why = d.conditions(conditions)
	return d, at, why
}

// conditions finds the pointer to follow and the limit.
func (d *Descent) conditions(all []Expr) (at Pos, why string) {
	for _, e := range all {
		c, _ := e.(*Binary)
		if c != nil && c.Op == "=" && d.Link == nil {
			x, y := d.Column(c.L, d.Own), d.Column(c.R, d.Self)
			if x == nil || y == nil {
				x, y = d.Column(c.R, d.Own), d.Column(c.L, d.Self)
			}
			if x != nil && y != nil {
				d.Link, d.Of = x, y
				continue
			}
		}
		if c != nil && (c.Op == "<" || c.Op == "<=") && d.Column(c.L, d.Self) != nil && d.Below == nil {
			d.Below = c
			continue
		}
		if d.mentions(e) {
			return e.Pos(), "this condition of the step is neither on the table alone nor the pointer that is followed"
		}
		if d.Rest == nil {
			d.Rest = e
		} else {
			d.Rest = &Binary{Op: "and", L: d.Rest, R: e, At: e.Pos()}
		}
	}
	if d.Link == nil {
		return d.Step.At, "the step of this recursive query doesn't follow a pointer: it has no condition that a column of the table equals one of the query"
	}
	return Pos{}, ""
}

// Column returns e if it is a column of the alias, otherwise nil. A name without an alias belongs to the table if the
// table has such a column, otherwise to the query.
func (d *Descent) Column(e Expr, alias string) *Name {
	n, ok := e.(*Name)
	if !ok || len(n.Parts) > 2 {
		return nil
	}
	of := n.Parts[0].Text
	if len(n.Parts) == 1 {
		if of = d.Self; d.own(d.Table, n.Parts[0]) {
			of = d.Own
		}
	}
	if !strings.EqualFold(of, alias) {
		return nil
	}
	return n
}

// mentions reports whether e contains a column of the recursive query, or a sub-query.
func (d *Descent) mentions(e Expr) bool {
	found := hasSubquery(e)
	Walk(e, func(e Expr) bool {
		found = found || d.Column(e, d.Self) != nil
		return !found
	})
	return found
}
