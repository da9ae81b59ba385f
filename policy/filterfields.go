package policy

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// filterWithout drops the top-level parts of f whose field one of the others already constrains. It returns nil if
// nothing is left.
func filterWithout(f query.Filter, others []query.Filter) query.Filter {
	decided := map[string]bool{}
	for _, o := range others {
		top(o, decided)
	}
	parts, ok := f.(query.And)
	if !ok {
		parts = query.And{f}
	}
	var kept query.And
	for _, part := range parts {
		own := map[string]bool{}
		top(part, own)
		if !slices.ContainsFunc(slices.Collect(maps.Keys(own)), func(n string) bool { return decided[n] }) {
			kept = append(kept, part)
		}
	}
	switch len(kept) {
	case 0:
		return nil
	case 1:
		return kept[0]
	}
	return kept
}

// top adds the fields that a filter compares at its top level.
func top(f query.Filter, into map[string]bool) {
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			top(part, into)
		}
	case query.Or, query.Not:
	default:
		FilterFields(f, func(n string) { into[n] = true })
	}
}

// FilterFields calls visit with every field that a filter compares, once for each comparison.
func FilterFields(f query.Filter, visit func(string)) {
	_ = query.Conditions(f, func(_ query.Filter, path query.Path) error { // an error means an unknown type: see the package documentation
		visit(path[0])
		return nil
	})
}

// anotherValue reports whether a part of f requires another value of own's field. It ignores negated parts.
func anotherValue(f query.Filter, own query.Compare) bool {
	other := func(v value.Value) bool { return !v.IsNull() && !value.Equal(v, own.Value) }
	switch f := f.(type) {
	case query.And:
		return slices.ContainsFunc(f, func(part query.Filter) bool { return anotherValue(part, own) })
	case query.Or:
		return slices.ContainsFunc(f, func(part query.Filter) bool { return anotherValue(part, own) })
	case query.Compare:
		return f.Op == query.Eq && slices.Equal(f.Path, own.Path) && other(f.Value)
	case query.In:
		return !f.Not && slices.Equal(f.Path, own.Path) && slices.ContainsFunc(f.Values, other)
	}
	return false
}
