package sqlgen

import (
	"errors"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
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
