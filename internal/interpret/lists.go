package interpret

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/coerce"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// lists returns the values of the operators on lists, none of whose operands is null.
func lists(e plan.Apply, args []value.Value) (value.Value, bool) {
	if e.Op == plan.JoinLists {
		return joined(args), true
	}
	list := args[0].List()
	is := args[0].Kind() == value.Array
	var v value.Value // null if it isn't a list
	switch e.Op {
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
