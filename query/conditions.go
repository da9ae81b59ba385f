package query

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// PathOf returns the path that a condition compares. It returns false for a filter without a path, such as one that
// joins others.
func PathOf(f Filter) (path Path, ok bool) {
	c, ok := f.(Condition)
	if ok {
		path, _ = c.Place()
	}
	return path, ok
}

// Conditions calls the function do with each condition in f on the record, and with its path, which is never empty. It
// skips the conditions inside an ElemMatch or InQuery, which are on elements and other records. It stops at the first
// error of do. For a filter of unknown type it returns problem.InvalidQuery.
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
