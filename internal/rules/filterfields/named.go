// Package filterfields takes filters apart by the fields that they name.
//
// It stands below policy, inside of it: which fields a rule's filter tells of, and which filter decides where two speak of
// one field. A filter of a kind that it doesn't know names none, so whoever asks must bind it as well, which refuses it.
package filterfields

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
)

// Without drops the parts of f whose field one of the others decides already, at their top levels. It is nil where
// nothing is left.
func Without(f query.Filter, others []query.Filter) query.Filter {
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

// top adds the fields that a filter's top level compares.
func top(f query.Filter, into map[string]bool) {
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			top(part, into)
		}
	case query.Or, query.Not:
	default:
		Fields(f, func(n string) { into[n] = true })
	}
}

// Fields gives every field that a filter compares to visit, as often as it does.
func Fields(f query.Filter, visit func(string)) {
	switch f := f.(type) {
	case query.And:
		for _, part := range f {
			Fields(part, visit)
		}
	case query.Or:
		for _, part := range f {
			Fields(part, visit)
		}
	case query.Not:
		Fields(f.Part, visit)
	case query.Compare:
		visit(f.Path[0])
	case query.In:
		visit(f.Path[0])
	case query.Deferred:
		visit(f.Path[0])
	case query.Exists:
		visit(f.Path[0])
	case query.Regex:
		visit(f.Path[0])
	case query.StartsWith:
		visit(f.Path[0])
	case query.Size:
		visit(f.Path[0])
	case query.ElemMatch:
		visit(f.Path[0])
	}
}
