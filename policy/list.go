package policy

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// A List is a column with a list of pointers whose records the query requests. A separate query of the same principal
// reads them: the records of Class whose Key is in the list, with the fields of Keys and Include.
type List struct {
	Path    query.Path // of the column, in the returned record
	Column  int        // its number
	Class   string     // the target, as "source.Class"
	Key     string     // the field of the target whose values are in the list
	Keys    []query.Path
	Include []query.Path
	Raw     bool // the canonical filter doesn't narrow the target
}

// wanted is a List under construction.
type wanted struct {
	List
	join  int
	field *schema.Field
	to    *View
	whole bool // all included fields, unless Keys names some
}

// through reports whether path leads through a list of pointers. If so, it adds the requested columns. A path of
// include may end with the list. A path of keys names a field behind it.
func (p *projection) through(path query.Path, at place) (bool, error) {
	v, join := p.plan.View, -1
	for i, name := range path {
		if i == len(path)-1 && !at.includes() {
			return false, nil
		}
		if l := v.list(name); l != nil {
			if len(path) > MaxHops+1 {
				return true, &problem.Error{Code: problem.InvalidQuery, Pointer: at.pointer(), Detail: fmt.Sprintf("a path follows at most %d pointers", MaxHops)}
			}
			if i > 0 {
				var err error
				if join, err = p.join(path[:i], at); err != nil {
					return true, err
				}
			}
			return true, p.list(path[:i+1], join, l, path[i+1:], at)
		}
		to := v.pointer(name)
		if to == nil {
			return false, nil
		}
		v = to.target
	}
	return false, nil
}

// includes reports whether the element is a path of include.
func (at place) includes() bool { return at.list == "/include" }

// list adds the columns that rest requests from the records behind l, the list of pointers at path.
func (p *projection) list(path query.Path, join int, l *pointer, rest query.Path, at place) error {
	v := p.view(join)
	f := v.Field(l.Field)
	if m := v.Mask(f.Name); m != nil {
		return m.Refuse(f.Name, at.pointer())
	}
	v.policy.uses.reads(f)
	v.policy.uses.names(l.target.class)
	p.add(Column{Path: path, Join: join, Field: f})
	i := slices.IndexFunc(p.lists, func(w *wanted) bool { return slices.Equal(w.Path, path) })
	if i < 0 {
		i = len(p.lists)
		p.lists = append(p.lists, &wanted{List: List{Path: path, Class: l.target.class.FullName(), Key: l.TargetKey, Raw: v.raw}, join: join, field: f, to: l.target})
	}
	w := p.lists[i]
	switch {
	case !at.includes():
		w.Keys = append(w.Keys, rest)
	case len(rest) > 0:
		w.Include = append(w.Include, rest)
	default:
		w.whole = true
	}
	return nil
}

// setLists sets the plan's lists, once its columns are known.
func (p *projection) setLists() {
	for _, w := range p.lists {
		w.Column = slices.IndexFunc(p.plan.Columns, func(c Column) bool { return c.Join == w.join && c.Field == w.field })
		if w.whole && w.Keys == nil {
			for _, f := range w.to.class.Included {
				w.Keys = append(w.Keys, query.Path{f.Name})
			}
			p.truncate(w.Path, w.to.class.Dropped)
		}
		w.Keys = append([]query.Path{{w.Key}}, w.Keys...)
		p.plan.Lists = append(p.plan.Lists, w.List)
	}
}

// truncate records in the plan that fields of an included record are left out.
func (p *projection) truncate(path query.Path, dropped []string) {
	if dropped == nil {
		return
	}
	if p.plan.Truncated == nil {
		p.plan.Truncated = map[string][]string{}
	}
	p.plan.Truncated[path.String()] = dropped
}
