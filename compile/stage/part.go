package stage

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/compile/expr"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A lead is an equality with the record around it that a program begins with: own is over its records, around over
// that record. The other conditions of the same Filter are in rest.
type lead struct {
	op          algebra.Op // Same, or Eq: null equals null
	own, around algebra.Expr
	rest        []algebra.Expr
}

// leads returns what p begins with, and whether that is a lead.
func leads(p *algebra.Program) (lead, bool) {
	if len(p.Stages) == 0 {
		return lead{}, false
	}
	f, ok := p.Stages[0].(*algebra.Filter)
	if !ok || f.Where != nil {
		return lead{}, false
	}
	parts := []algebra.Expr{f.If}
	if and, ok := f.If.(algebra.Apply); ok && and.Op == algebra.And {
		parts = and.Args
	}
	for i, e := range parts {
		a, ok := e.(algebra.Apply)
		if !ok || a.Op != algebra.Same && a.Op != algebra.Eq {
			continue
		}
		l := lead{op: a.Op, own: a.Args[0], around: a.Args[1], rest: append(slices.Clone(parts[:i]), parts[i+1:]...)}
		if _, is := root(l.own).(algebra.Outer); is {
			l.own, l.around = l.around, l.own
		}
		_, mine := root(l.own).(algebra.Ref)
		if _, is := root(l.around).(algebra.Outer); is && mine {
			return l, true
		}
	}
	return lead{}, false
}

// root is what e converts.
func root(e algebra.Expr) algebra.Expr {
	switch e := e.(type) {
	case algebra.Widen:
		return root(e.X)
	case algebra.As:
		return root(e.X)
	case algebra.ToJSON:
		return root(e.X)
	case algebra.Part:
		return root(e.X)
	}
	return e
}

// apart reports whether a stage can treat the records of each part by themselves.
func apart(st algebra.Stage) bool {
	switch st.(type) {
	case *algebra.Filter, *algebra.Map, *algebra.Group, *algebra.Slice, *algebra.Unwind, *algebra.Join, *algebra.Nest:
		return true
	}
	return false
}

func notApart() error {
	return expr.Unsupported("this source can do only $match, $project, $addFields, $sort, $skip, $limit, $group, $unwind and $lookup in the pipeline of a $lookup, "+
		"and use its variables only in $match stages that come first", "$unwind the looked up records and go on with them; move a $match with a variable to the front")
}

// nestParts adds a list as nest does, where the stages of Right need no more of the record than their lead: they run
// once for all records, apart by what is to be equal, and a test picks the part.
func (b *builder) nestParts(r *relation, st *algebra.Nest, l lead, at place) (*relation, error) {
	right, err := b.start(st.Right, at.input)
	if err != nil {
		return nil, err
	}
	x, err := expr.Write(b.d, &scope{b: b, r: right, lets: true}, l.own)
	if err != nil {
		return nil, err
	}
	right.part = &part{x, l.own.Type()}
	if len(l.rest) > 0 {
		rest := &algebra.Filter{If: algebra.Apply{Op: algebra.And, Args: l.rest, T: schema.Boolean}, Shape: right.shape}
		if right, err = b.stage(right, rest, at); err != nil {
			return nil, err
		}
	}
	if right, err = b.stages(right, st.Right.Stages[1:], at); err != nil {
		return nil, err
	}
	right = b.open(right)
	s := &scope{b: b, r: right, outer: at.outer, lets: true}
	collected := b.collected(s)
	y, err := expr.Write(b.d, s, l.around)
	if err != nil {
		return nil, err
	}
	test, err := b.d.Compare(s, algebra.Eq, right.part.x, y, right.part.t)
	if err != nil {
		return nil, err
	}
	if l.op == algebra.Eq {
		test = "coalesce(" + test + ", " + right.part.x + " IS NULL AND " + y + " IS NULL)"
	}
	right.where = append(right.where, test)
	list := b.selected(right, []string{collected})
	if mentionsOuter(at.outer, right.item()) {
		return nil, notApart()
	}
	next := *r
	next.columns = append(r.columns[:len(r.columns):len(r.columns)], "("+list+")")
	next.shape, next.plain = st.Shape, false
	return &next, nil
}

// sliceParts keeps, of each part in order, limit records after the first skip.
func (b *builder) sliceParts(r *relation, skip, limit int64) *relation {
	r = b.open(r)
	s := &scope{b: b, r: r, lets: true}
	by, _ := b.d.Key(s, r.part.x, r.part.t, false)
	number := b.window(r, "row_number() OVER ("+partition([]string{by})+ordered(b.terms(s, r.shape.Order))+")")
	r.where = append(r.where, number+" > "+b.s.Arg(skip, "int8"))
	if limit != all {
		r.where = append(r.where, number+" <= "+b.s.Arg(skip+limit, "int8"))
	}
	return r
}
