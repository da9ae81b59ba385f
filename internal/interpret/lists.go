package interpret

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/coerce"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// lists returns the values of the operators on lists, none of whose operands is null.
func lists(e plan.Apply, args []value.Value) (value.Value, bool) {
	list, is := args[0].List(), args[0].Kind() == value.Array
	var v value.Value // null if it isn't a list
	switch e.Op {
	case plan.JoinLists:
		v = joined(args)
	case plan.Size:
		if is {
			v = value.OfInt(int64(len(list)))
		}
	case plan.ElemAt:
		i, n := args[1].Int(), int64(len(list))
		if i < 0 {
			i += n
		}
		if 0 <= i && i < n {
			v = list[i]
		}
	case plan.SliceList:
		if is && args[2].Int() > 0 {
			v = sublist(list, args[1].Int(), args[2].Int())
		}
	case plan.Common, plan.Without:
		if is && args[1].Kind() == value.Array {
			v = value.OfArray(within(list, args[1].List(), e.Op == plan.Common))
		}
	case plan.Pairs:
		v = pairs(args[0])
	case plan.Gather:
		if is {
			v = gather(list)
		}
	case plan.JoinTexts:
		v = plan.JoinedTexts(list, args[1].Text())
	case plan.SumList, plan.AvgList, plan.MinList, plan.MaxList:
		if is {
			v = ofNumbers(e.Op, list)
		}
	default:
		return v, false
	}
	return v, true
}

// joined returns the concatenation of lists.
func joined(lists []value.Value) value.Value {
	all := []value.Value{}
	for _, l := range lists {
		if l.Kind() != value.Array {
			return value.Value{}
		}
		all = append(all, l.List()...)
	}
	return value.OfArray(all)
}

// sublist returns at most length elements starting with from.
func sublist(list []value.Value, from, length int64) value.Value {
	n := int64(len(list))
	if from < 0 {
		from = max(0, from+n)
	}
	list = list[min(from, n):]
	return value.OfArray(list[:min(length, int64(len(list)))])
}

// ofNumbers computes over the numbers in a list, each as a Double.
func ofNumbers(op plan.Op, list []value.Value) value.Value {
	var numbers []value.Value
	for _, e := range list {
		if f := coerce.As(e, schema.Double); !f.IsNull() {
			numbers = append(numbers, f)
		}
	}
	switch {
	case op == plan.SumList:
		return sum(numbers, schema.Double)
	case len(numbers) == 0:
		return value.Value{}
	case op == plan.AvgList:
		return average(numbers)
	case op == plan.MinList:
		return slices.MinFunc(numbers, value.Order)
	}
	return slices.MaxFunc(numbers, value.Order)
}

// within returns the distinct elements of list that other has, or hasn't.
func within(list, other []value.Value, has bool) []value.Value {
	var kept, there directory
	for i, e := range other {
		there.add(value.Digest(e), i)
	}
	out := []value.Value{}
	for _, e := range list {
		d := value.Digest(e)
		in := slices.ContainsFunc(there[d], func(i int) bool { return value.Equal(other[i], e) })
		if in != has || slices.ContainsFunc(kept[d], func(i int) bool { return value.Equal(out[i], e) }) {
			continue
		}
		kept.add(d, len(out))
		out = append(out, e)
	}
	return out
}

// pairs returns the members of an object as {k, v}, in the order of their names.
func pairs(object value.Value) value.Value {
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

// gather returns the object of pairs; null if one isn't a pair.
func gather(list []value.Value) value.Value {
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
