package memory

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/algebra"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// lists returns the values of the operators on lists, none of which is null.
func lists(e algebra.Apply, args []value.Value) (value.Value, bool) {
	if e.Op == algebra.JoinLists {
		return joined(args), true
	}
	list := args[0].List()
	is := args[0].Kind() == value.Array
	var v value.Value // null for what is no list
	switch e.Op {
	case algebra.Size:
		if is {
			v = value.OfInt(int64(len(list)))
		}
	case algebra.ElemAt:
		i, n := args[1].Int(), int64(len(list))
		if i < 0 {
			i += n
		}
		if 0 <= i && i < n {
			v = list[i]
		}
	case algebra.SliceList:
		if is && args[2].Int() > 0 {
			v = sublist(list, args[1].Int(), args[2].Int())
		}
	case algebra.SumList, algebra.AvgList, algebra.MinList, algebra.MaxList:
		if is {
			v = ofNumbers(e.Op, list)
		}
	default:
		return v, false
	}
	return v, true
}

// joined is the lists one after the other.
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

// sublist is the elements from one on, at most so many.
func sublist(list []value.Value, from, length int64) value.Value {
	n := int64(len(list))
	if from < 0 {
		from = max(0, from+n)
	}
	list = list[min(from, n):]
	return value.OfArray(list[:min(length, int64(len(list)))])
}

// ofNumbers computes over the numbers in a list, each as a Double.
func ofNumbers(op algebra.Op, list []value.Value) value.Value {
	var numbers []value.Value
	for _, e := range list {
		if f := held(e, schema.Double); !f.IsNull() {
			numbers = append(numbers, f)
		}
	}
	switch {
	case op == algebra.SumList:
		return sum(numbers, schema.Double)
	case len(numbers) == 0:
		return value.Value{}
	case op == algebra.AvgList:
		return average(numbers)
	case op == algebra.MinList:
		return slices.MinFunc(numbers, value.Order)
	}
	return slices.MaxFunc(numbers, value.Order)
}
