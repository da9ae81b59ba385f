package query

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// PathOf returns the path that a condition compares. ok is false for a filter without one, such as one that joins
// others. It is also false for a kind that is not known here, so that a new kind can't pass unread.
func PathOf(f Filter) (path Path, ok bool) {
	switch f := f.(type) {
	case Compare:
		return f.Path, true
	case In:
		return f.Path, true
	case Exists:
		return f.Path, true
	case Regex:
		return f.Path, true
	case StartsWith:
		return f.Path, true
	case GeoWithin:
		return f.Path, true
	case Size:
		return f.Path, true
	case ElemMatch:
		return f.Path, true
	case InQuery:
		return f.Path, true
	case Deferred:
		return f.Path, true
	}
	return nil, false
}

// Conditions calls do with each condition on a record that f consists of, and with its path, which has a part at least. It doesn't enter
// the conditions of an ElemMatch or InQuery, which are on elements and other records. It ends with the first error: one of do, or
// problem.InvalidQuery for a filter of a kind that is not known here.
func Conditions(f Filter, do func(Filter, Path) error) error {
	var parts []Filter
	switch f := f.(type) {
	case nil, Never:
	case And:
		parts = f
	case Or:
		parts = f
	case Not:
		parts = []Filter{f.Part}
	default:
		path, ok := PathOf(f)
		if !ok || len(path) == 0 {
			return problem.New(problem.InvalidQuery, fmt.Sprintf("no field of a filter %T is known", f))
		}
		return do(f, path)
	}
	for _, part := range parts {
		if err := Conditions(part, do); err != nil {
			return err
		}
	}
	return nil
}
