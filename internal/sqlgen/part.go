package sqlgen

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A lead is an equality with the surrounding record at the beginning of a program. The field own is an expression over
// the records of the program. The field around is an expression over the surrounding record. The field rest contains
// the other conditions of the same Filter.
type lead struct {
	op          plan.Op // Same, or Eq: null equals null
	own, around plan.Expr
	rest        []plan.Expr
}

// leads returns the lead at the beginning of p, and whether there is one.
func leads(p *plan.Program) (lead, bool) {
	if len(p.Stages) == 0 {
		return lead{}, false
	}
	f, ok := p.Stages[0].(*plan.Filter)
	if !ok || f.Where != nil {
		return lead{}, false
	}
	parts := []plan.Expr{f.If}
	if and, _ := f.If.(plan.Apply); and.Op == plan.And {
		parts = and.Args
	}
	for i, e := range parts {
		a, _ := e.(plan.Apply)
		if a.Op != plan.Same && a.Op != plan.Eq {
			continue
		}
		l := lead{op: a.Op, own: a.Args[0], around: a.Args[1], rest: append(slices.Clone(parts[:i]), parts[i+1:]...)}
		if _, is := root(l.own).(plan.Outer); is {
			l.own, l.around = l.around, l.own
		}
		_, mine := root(l.own).(plan.Ref)
		if _, is := root(l.around).(plan.Outer); is && mine {
			return l, true
		}
	}
	return lead{}, false
}

// root returns e without the conversions around it.
func root(e plan.Expr) plan.Expr {
	switch e := e.(type) {
	case plan.Widen:
		return root(e.X)
	case plan.As:
		return root(e.X)
	case plan.ToJSON:
		return root(e.X)
	case plan.Part:
		return root(e.X)
	}
	return e
}

// apart reports whether a stage can process the records of each part separately.
func apart(st plan.Stage) bool {
	switch st.(type) {
	case *plan.Filter, *plan.Map, *plan.Group, *plan.Windows, *plan.Slice, *plan.Unwind, *plan.Join, *plan.Nest:
		return true
	}
	return false
}

func notApart() error {
	return UnsupportedForm("this source can do only $match, $project, $addFields, $sort, $skip, $limit, $group, $unwind and $lookup in the pipeline of a $lookup, "+
		"and use its variables only in $match stages that come first", "$unwind the looked up records and go on with them. Move a $match with a variable to the front")
}

// nestParts adds a list as nest does, if the stages of Right use the surrounding record only in their lead. The stages
// run once for all records, divided by the value of the lead. A test then picks the part for each record.
func (b *builder) nestParts(r *relation, st *plan.Nest, l lead, at place) (*relation, error) {
	outer := b.around(r, at)
	right, err := b.start(st.Right, at.input)
	if err != nil {
		return nil, err
	}
	x, err := WriteExpr(b.d, &scope{b: b, r: right, lets: true}, l.own)
	if err != nil {
		return nil, err
	}
	right.part = &part{x, l.own.Type()}
	stages := st.Right.Stages[1:]
	if len(l.rest) > 0 {
		rest := &plan.Filter{If: plan.Apply{Op: plan.And, Args: l.rest, T: schema.Boolean}, Shape: right.shape}
		stages = append([]plan.Stage{rest}, stages...)
	}
	if right, err = b.stages(right, stages, place{at.input, outer}); err != nil {
		return nil, err
	}
	return b.nestRecords(st, outer, right, func(s *scope) ([]string, error) { return b.partTests(s, l) })
}

// partTests returns the condition that a record is in the part that l selects.
func (b *builder) partTests(s *scope, l lead) ([]string, error) {
	y, err := WriteExpr(b.d, s, l.around)
	if err != nil {
		return nil, err
	}
	x := s.r.part.x
	test, err := b.d.Compare(s, plan.Eq, x, y, s.r.part.t)
	if l.op == plan.Eq {
		test = "coalesce(" + test + ", " + x + " IS NULL AND " + y + " IS NULL)"
	}
	return []string{test}, err
}

// sliceParts keeps limit records of each part in order, after the first skip records.
func (b *builder) sliceParts(r *relation, skip, limit int64) *relation {
	r = b.open(r)
	s := &scope{b: b, r: r, lets: true}
	by, _ := b.d.Key(s, r.part.x, r.part.t, false)
	number := b.window(r, "row_number() OVER ("+partition([]string{by})+orderClause(b.terms(s, r.shape.Order))+")")
	r.where = append(r.where, number+" > "+b.s.Arg(skip, "int8"))
	if limit != all {
		r.where = append(r.where, number+" <= "+b.s.Arg(skip+limit, "int8"))
	}
	return r
}
