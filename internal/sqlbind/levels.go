package sqlbind

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// levels groups by several sets of keys. The records are read once for each set, and the groups are united. A key that
// is not in a set is null in the groups of the set. GROUPING distinguishes it from a key whose value is null.
type levels struct {
	s      *sqlparse.Select
	by     []sqlparse.Expr
	over   []any     // the expressions that may contain an aggregate
	merged *grouping // the grouping of the first set, to whose records the others are appended
	keys   []string  // the keys of all sets
	flags  []node
	sets   [][]int // the sets, each as the numbers of its keys
}

// levels adds the groups of GROUPING SETS.
func (r *rel) levels(s *sqlparse.Select, by []sqlparse.Expr, over []any) error {
	l := &levels{s: s, by: by, over: over}
	sets := s.Sets
	if sets == nil {
		sets = [][]int{{}}
		for i := range by {
			sets[0] = append(sets[0], i)
		}
	}
	for i, set := range sets {
		part := r
		if i > 0 {
			err := r.meter.Add(plan.CostlySet, 1, At(by[0].Pos()))
			if err != nil {
				return err
			}
			if part, err = r.binder.bindFromWhere(s, r.outer, r.with); err != nil {
				return err
			}
		}
		if err := l.add(part, set, len(sets) == 1); err != nil {
			return err
		}
	}
	l.merged.keys, l.merged.flags = l.keys, l.flags
	l.merged.columns(len(l.keys))
	l.merged.values(len(l.keys))
	return l.grouping(r)
}

// add groups part by one set and appends the groups to the groups of the preceding sets. Each group has the keys of all
// sets and the number of its set.
func (l *levels) add(part *rel, set []int, alone bool) error {
	g := &grouping{rel: part, set: true}
	for _, e := range l.by {
		if err := g.key(e); err != nil {
			return err
		}
	}
	keys, flags, exprs := g.keys, g.flags, g.stage.Keys
	g.keys, g.flags, g.stage.Keys = nil, nil, nil
	var own []int
	for _, n := range set {
		at := slices.Index(keys, part.key(l.by[n]))
		if !slices.Contains(own, at) {
			own = append(own, at)
			g.keys, g.flags, g.stage.Keys = append(g.keys, keys[at]), append(g.flags, flags[at]), append(g.stage.Keys, exprs[at])
		}
	}
	for _, x := range l.over {
		if err := g.aggregatesIn(x); err != nil {
			return err
		}
	}
	g.finish(len(set) == 0)
	var before []plan.Column
	if l.merged != nil {
		before = l.merged.shape.Columns
	}
	all, shape := level(&g.stage, own, exprs, before)
	all = append(all, Whole(int64(len(l.sets))))
	l.sets = append(l.sets, own)
	if l.merged == nil {
		l.merged, l.keys, l.flags = g, keys, flags
		part.add(&plan.Map{Columns: all, Shape: shape})
		part.single = part.single && alone
		return nil
	}
	r := l.merged.rel
	u := &plan.Union{Right: part.program, Added: all, Shape: plan.Shape{Columns: shape.Columns}}
	for i, c := range shape.Columns {
		u.Left = append(u.Left, plan.Ref{Column: i, T: c.Type})
	}
	r.used = r.used || part.used
	r.sides(u)
	return nil
}

// grouping computes the calls of GROUPING. Each argument gives a bit, which is 1 if the argument is not in the set.
func (l *levels) grouping(r *rel) error {
	set := plan.Ref{Column: len(l.keys) + len(l.merged.stage.Accumulators), T: schema.Integer}
	for _, c := range sqlparse.Groupings(l.over) {
		value := plan.Case{Else: Whole(0), T: schema.Integer}
		for n, own := range l.sets {
			bits := int64(0)
			for _, e := range c.Args {
				at := slices.Index(l.keys, r.key(e))
				if at < 0 {
					return invalid(e.Pos(), "GROUPING takes what GROUP BY groups by")
				}
				if bits *= 2; !slices.Contains(own, at) {
					bits++
				}
			}
			value.If, value.Then = append(value.If, Test(plan.Same, set, Whole(int64(n)))), append(value.Then, Whole(bits))
		}
		if len(c.Args) == 0 || len(c.Args) > 31 {
			return invalid(c.At, "GROUPING takes 1 to 31 arguments")
		}
		r.computed[r.key(c)] = node{Node: typecheck.Node{Expr: value, At: At(c.At)}}
	}
	return nil
}
