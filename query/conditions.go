package query

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// PathOf returns the path that a condition compares. It returns false for a filter that has none, such as one that joins others.
func PathOf(f Filter) (path Path, ok bool) {
	c, ok := f.(Condition)
	if ok {
		path, _ = c.Place()
	}
	return path, ok
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
