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
	if and, _ := f.If.(algebra.Apply); and.Op == algebra.And {
		parts = and.Args
	}
	for i, e := range parts {
		a, _ := e.(algebra.Apply)
		if a.Op != algebra.Same && a.Op != algebra.Eq {
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
	outer := b.around(r, at)
	right, err := b.start(st.Right, at.input)
	if err != nil {
		return nil, err
	}
	x, err := expr.Write(b.d, &scope{b: b, r: right, lets: true}, l.own)
	if err != nil {
		return nil, err
	}
	right.part = &part{x, l.own.Type()}
	stages := st.Right.Stages[1:]
	if len(l.rest) > 0 {
		rest := &algebra.Filter{If: algebra.Apply{Op: algebra.And, Args: l.rest, T: schema.Boolean}, Shape: right.shape}
		stages = append([]algebra.Stage{rest}, stages...)
	}
	if right, err = b.stages(right, stages, place{at.input, outer}); err != nil {
		return nil, err
	}
	return b.nested(st, outer, right, func(s *scope) ([]string, error) { return b.picked(s, l) })
}

// picked writes that a record is of the part that l leads to.
func (b *builder) picked(s *scope, l lead) ([]string, error) {
	y, err := expr.Write(b.d, s, l.around)
	if err != nil {
		return nil, err
	}
	x := s.r.part.x
	test, err := b.d.Compare(s, algebra.Eq, x, y, s.r.part.t)
	if l.op == algebra.Eq {
		test = "coalesce(" + test + ", " + x + " IS NULL AND " + y + " IS NULL)"
	}
	return []string{test}, err
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
