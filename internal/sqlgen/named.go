package sqlgen

import (
	"errors"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// ReadsByKey reports whether plan reads one class by a value for each field of the key. No condition of the rules or
// the caller may read another class. Then there is only one good way to find the record, whatever the values are.
func ReadsByKey(plan *policy.Plan) bool {
	if plan.Program != nil || plan.Search != nil || len(plan.Joins) > 0 || plan.View == nil || len(plan.View.Class().Key) == 0 {
		return false
	}
	for _, l := range plan.View.Layers() {
		if l.Through != nil || !ofRecord(l.Filter) {
			return false
		}
	}
	if !ofRecord(plan.Where) {
		return false
	}
	given := map[string]bool{}
	equate(plan.Where, given)
	for _, field := range plan.View.Class().Key {
		if !given[field] {
			return false
		}
	}
	return true
}

// readsFew reports whether plan reads only records with given values of a key or of a pointer, which an index finds.
func readsFew(of *policy.Plan) bool {
	if of.View == nil {
		return false
	}
	where := of.Where
	if of.Program != nil {
		where = leading(of.Program)
	}
	given, c := map[string]bool{}, of.View.Class()
	list(where, given)
	all := func(fields []string) bool {
		return len(fields) > 0 && !slices.ContainsFunc(fields, func(name string) bool { return !given[name] })
	}
	return all(c.Key) || slices.ContainsFunc(c.Indexes, func(x schema.Index) bool { return x.Unique && all(x.Fields) }) ||
		slices.ContainsFunc(c.Relations, func(r schema.Relation) bool { return all(r.Fields) })
}

// leading returns the condition with which a program begins, or nil.
func leading(p *plan.Program) query.Filter {
	if len(p.Stages) > 0 {
		if first, is := p.Stages[0].(*plan.Filter); is {
			return first.Where
		}
	}
	return nil
}

// ofRecord reports whether all conditions of f are on fields of the record itself.
func ofRecord(f query.Filter) bool {
	errOther := errors.New("a condition on something else")
	return query.Conditions(f, func(f query.Filter, _ query.Path) error {
		switch f.(type) {
		case query.Compare, query.In, query.Exists, query.Regex, query.StartsWith, query.Size:
			return nil
		}
		return errOther
	}) == nil
}

// list adds the fields for which f requires one of few values.
func list(f query.Filter, given map[string]bool) {
	const few = 1000 // as many ids as a call may name
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			list(part, given)
		}
	case query.In:
		if !f.Not && len(f.Values) <= few && len(f.Path) == 1 {
			given[f.Path[0]] = true
		}
	default:
		equate(f, given)
	}
}

// equate adds the fields for which f requires a single value.
func equate(f query.Filter, given map[string]bool) {
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			equate(part, given)
		}
	case query.Or:
		if len(f) == 1 {
			equate(f[0], given)
		}
	case query.Compare:
		if f.Op == query.Eq && len(f.Path) == 1 {
			given[f.Path[0]] = true
		}
	case query.In:
		if !f.Not && len(f.Values) == 1 && len(f.Path) == 1 {
			given[f.Path[0]] = true
		}
	}
}
