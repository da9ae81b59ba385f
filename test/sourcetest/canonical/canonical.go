// Package canonical converts JSON values to one form, so that tests can compare them.
package canonical

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Of returns v with the members of its objects sorted by name, because not every source preserves their order.
func Of(v value.Value) value.Value {
	switch v.Kind() {
	case value.Array:
		list := make([]value.Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = Of(e)
		}
		return value.OfArray(list)
	case value.Object:
		members := make([]value.Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = value.Member{Name: m.Name, Value: Of(m.Value)}
		}
		slices.SortFunc(members, func(a, b value.Member) int { return strings.Compare(a.Name, b.Name) })
		return value.OfObject(members)
	}
	return v
}
