package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
)

// toInQuery turns a condition on a field behind a pointer into an $inQuery on the pointer. This is for scopes that join
// no records, such as the where of an $inQuery, and for fields behind a list of pointers. A condition behind a list
// holds if it holds for at least one of the records. toInQuery returns nil for other conditions. A condition that null
// satisfies also holds without a record. So toInQuery excludes the records that don't satisfy it.
func (b *filters) toInQuery(f query.Filter) query.Filter {
	c, ok := f.(query.Condition)
	if !ok {
		return nil
	}
	path, at := c.Place()
	if len(path) < 2 {
		return nil
	}
	n, class := 1, ""
	if b.within {
		class, _ = b.scope.Pointer(path[0])
	}
	if class == "" && b.relations != nil {
		class, n = b.lists(path, at)
	}
	if class == "" {
		return nil
	}
	q := query.InQuery{Path: path[:n], Class: class, Where: c.On(slices.Clone(path[n:])), At: at}
	if c.OfNull() {
		q.Where = query.Not{Part: q.Where}
		return query.Not{Part: q}
	}
	return q
}

// lists returns the class of the list of pointers at the beginning of path, and the number of parts that name the list.
// It returns "" if there is no such list, or if path ends with the list.
func (b *filters) lists(path query.Path, at string) (class string, parts int) {
	f, key, parts, err := b.scope.Field(path, at)
	if err != nil || !f.Type.IsStructured() || parts == len(path) {
		return "", 0
	}
	class, _ = b.scope.Pointer(key)
	return class, parts
}
