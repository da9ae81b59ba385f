package interpret

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// ConcatLists returns the concatenation of lists.
func ConcatLists(lists []value.Value) value.Value {
	all := []value.Value{}
	for _, l := range lists {
		if l.Kind() != value.Array {
			return value.Value{}
		}
		all = append(all, l.List()...)
	}
	return value.OfArray(all)
}

// Part returns at most length elements of list, starting at index from. A negative from counts from the end.
func Part(list []value.Value, from, length int64) value.Value {
	n := int64(len(list))
	if from < 0 {
		from = max(0, from+n)
	}
	list = list[min(from, n):]
	return value.OfArray(list[:min(length, int64(len(list)))])
}

// Pairs returns the members of an object as objects {k, v}, ordered by name.
func Pairs(object value.Value) value.Value {
	if object.Kind() != value.Object {
		return value.Value{}
	}
	out := make([]value.Value, 0, len(object.Members()))
	for _, m := range object.Members() {
		out = append(out, value.OfObject([]value.Member{{Name: "k", Value: value.OfString(m.Name)}, {Name: "v", Value: m.Value}}))
	}
	slices.SortFunc(out, func(a, b value.Value) int {
		return strings.Compare(a.Members()[0].Value.Text(), b.Members()[0].Value.Text())
	})
	return value.OfArray(out)
}

// objectFromPairs returns the object with the given pairs as members. It returns null if an element isn't a pair.
func objectFromPairs(list []value.Value) value.Value {
	members, last := []value.Member{}, map[string]int{}
	for _, e := range list {
		k, _ := e.Get("k")
		v, _ := e.Get("v")
		if pair := e.List(); len(pair) == 2 {
			k, v = pair[0], pair[1]
		}
		if k.Kind() != value.String {
			return value.Value{}
		}
		if i, ok := last[k.Text()]; ok {
			members[i].Value = v
			continue
		}
		last[k.Text()] = len(members)
		members = append(members, value.Member{Name: k.Text(), Value: v})
	}
	return value.OfObject(members)
}
