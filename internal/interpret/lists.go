package interpret

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ofLists returns the value of an operator on lists. Its operands are not null. The bool is false for another operator.
func ofLists(e plan.Apply, args []value.Value) (value.Value, bool) {
	list, is := args[0].List(), args[0].Kind() == value.Array
	var v value.Value // null if the operand isn't a list
	switch e.Op {
	case plan.JoinLists:
		v = ConcatLists(args)
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
			v = Part(list, args[1].Int(), args[2].Int())
		}
	case plan.Common, plan.Without:
		if is && args[1].Kind() == value.Array {
			v = value.OfArray(within(list, args[1].List(), e.Op == plan.Common))
		}
	case plan.Pairs:
		v = Pairs(args[0])
	case plan.Gather:
		if is {
			v = objectFromPairs(list)
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

// ofNumbers computes an operator over the numbers in a list, each as a Double.
func ofNumbers(op plan.Op, list []value.Value) value.Value {
	var numbers []value.Value
	for _, e := range list {
		if f := Cast(e, schema.Double); !f.IsNull() {
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

// within returns the distinct elements of list that other contains. If the argument has is false, it returns the
// elements that other doesn't contain.
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
