package typecheck

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// led turns a condition on a field behind a pointer into an $inQuery on the pointer. It is for scopes that join no
// records, as in the where of an $inQuery, and for fields behind a list of pointers. A condition behind a list holds if
// it holds for one of the records. led returns nil for other conditions. A condition that null satisfies also holds
// without a record. So led looks for the records that don't satisfy it.
func (b *filters) led(f query.Filter) query.Filter {
	path, rest, at, missing := behindOf(f)
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
	q := query.InQuery{Path: path[:n], Class: class, Where: rest(slices.Clone(path[n:])), At: at}
	if missing {
		q.Where = query.Not{Part: q.Where}
		return query.Not{Part: q}
	}
	return q
}

// lists returns the class that the list of pointers at the start of path leads to, and the number of parts that name the
// list. It returns "" if there is none, or if nothing follows.
func (b *filters) lists(path query.Path, at string) (class string, parts int) {
	f, key, parts, err := b.scope.Field(path, at)
	if err != nil || !f.Type.Structured() || parts == len(path) {
		return "", 0
	}
	class, _ = b.scope.Pointer(key)
	return class, parts
}

// behindOf returns the path of a condition on one field, the same condition on another path, its place, and whether null
// satisfies it.
func behindOf(f query.Filter) (path query.Path, on func(query.Path) query.Filter, at string, missing bool) {
	switch f := f.(type) {
	case query.Compare:
		missing = f.Op == query.Ne
		if f.Value.IsNull() { // null is at least and at most null
			missing = f.Op == query.Eq || f.Op == query.Gte || f.Op == query.Lte
		}
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, missing
	case query.In:
		missing = slices.ContainsFunc(f.Values, value.Value.IsNull) != f.Not
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, missing
	case query.Exists:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, !f.Want
	case query.Regex:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, false
	case query.StartsWith:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, false
	case query.GeoWithin:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, false
	case query.Size:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, false
	case query.ElemMatch:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, false
	case query.InQuery:
		return f.Path, func(p query.Path) query.Filter { f.Path = p; return f }, f.At, f.Not
	}
	return nil, nil, "", false
}
