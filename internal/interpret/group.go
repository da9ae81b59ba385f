package interpret

import (
	"math"
	"math/big"
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// alike reports whether two values are the same group key. Null is the same as null.
func alike(a, b value.Value) bool { return value.Equal(a, b) }

// group evaluates a Group. Groups are in the order of their first records. The records of a group are in order, on
// which First, Last and Push depend. The order of the stage is applied later. Groups are found by a digest of their
// keys and then compared, so a collision of digests does no harm.
func (r *reading) group(s *plan.Group, in records) []value.Row {
	type group struct {
		keys    []value.Value
		members []value.Row
	}
	var groups []*group
	var byKeys directory
	for _, row := range in.rows {
		if r.shouldStop() {
			return nil
		}
		keys := in.at(row).all(s.Keys)
		d := digests(keys)
		at := slices.IndexFunc(byKeys[d], func(n int) bool { return slices.EqualFunc(groups[n].keys, keys, alike) })
		i := len(groups)
		if at >= 0 {
			i = byKeys[d][at]
		} else {
			byKeys.add(d, i)
			groups = append(groups, &group{keys: keys})
		}
		groups[i].members = append(groups[i].members, row)
	}
	if len(groups) == 0 && s.Always {
		groups = []*group{{}}
	}
	var out []value.Row
	for _, g := range groups {
		out = append(out, append(g.keys, in.accumulateGroup(s.Accumulators, g.members)...))
	}
	return out
}

// buckets evaluates $bucketAuto. A record is in bucket r·N/n if r of n records have lesser values, so equal values are
// in the same bucket. The upper bound of a bucket is the least value of the next bucket. For the last bucket, it is the
// greatest value. The product is computed as a big.Int.
func (r *reading) buckets(s *plan.Buckets, in records) []value.Row {
	type member struct {
		by  value.Value
		row value.Row
	}
	members := make([]member, len(in.rows))
	for i, row := range in.rows {
		members[i] = member{in.at(row).eval(s.By), row}
	}
	least := func(a, b member) int { return orderJSON(a.by, b.by) }
	byOrder := slices.SortedStableFunc(slices.Values(members), least)
	ranges := map[int64][]value.Row{}
	bounds := map[int64]value.Value{}
	var numbers []int64
	for i, m := range members {
		if r.shouldStop() {
			return nil
		}
		lesser, _ := slices.BinarySearchFunc(byOrder, m, least)
		n := new(big.Int).Mul(big.NewInt(int64(lesser)), big.NewInt(s.N))
		number := n.Div(n, big.NewInt(int64(len(members)))).Int64()
		if bound, ok := bounds[number]; !ok || orderJSON(m.by, bound) < 0 {
			bounds[number] = m.by
		}
		if ranges[number] == nil {
			numbers = append(numbers, number)
		}
		ranges[number] = append(ranges[number], in.rows[i])
	}
	slices.Sort(numbers)
	var out []value.Row
	for i, number := range numbers {
		next := byOrder[len(byOrder)-1].by
		if i+1 < len(numbers) {
			next = bounds[numbers[i+1]]
		}
		out = append(out, append(value.Row{bounds[number], next}, in.accumulateGroup(s.Accumulators, ranges[number])...))
	}
	return out
}

// accumulateGroup computes accumulators over the rows of a group. The rows are in order.
func (in records) accumulateGroup(as []plan.Accumulator, rows []value.Row) value.Row {
	out := make(value.Row, len(as))
	for i, a := range as {
		switch {
		case a.X == nil:
			out[i] = value.OfInt(int64(len(rows)))
			continue
		case a.Op == plan.Unread:
			out[i] = in.unread(a.X, rows)
			continue
		}
		values := make([]value.Value, len(rows))
		for j, row := range rows {
			values[j] = in.at(row).eval(a.X)
		}
		out[i] = in.accumulate(a, values)
	}
	return out
}

// unread counts the rows in which the column x contains a value that expressions read as null. For doubles, it counts
// those that aren't finite.
func (in records) unread(x plan.Expr, rows []value.Row) value.Value {
	ref, ok := x.(plan.Ref)
	if !ok {
		in.fail("interpret: unread values of %T", x)
		return value.Value{}
	}
	n := int64(0)
	for _, row := range rows {
		v := in.at(row).eval(x)
		infinite := v.Kind() == value.Float && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0))
		if infinite || v.IsNull() && !row[ref.Column].IsNull() {
			n++
		}
	}
	return value.OfInt(n)
}

// accumulate applies accumulator a to the values of a group, in order. Push, AddToSet, First and Last include nulls.
// The other accumulators ignore nulls. Without values, counts are 0 and a percentile is null.
func (in records) accumulate(a plan.Accumulator, values []value.Value) value.Value {
	switch a.Op {
	case plan.Push:
		return in.listOrNull(values)
	case plan.AddToSet:
		return in.listOrNull(set(values).List())
	case plan.First:
		return append(values, value.Value{})[0]
	case plan.Last:
		return append([]value.Value{{}}, values...)[len(values)]
	}
	values = slices.DeleteFunc(values, value.Value.IsNull)
	switch a.Op {
	case plan.Count:
		return value.OfInt(int64(len(values)))
	case plan.CountDistinct:
		return value.OfInt(int64(len(set(values).List())))
	case plan.Sum:
		return sum(values, a.T)
	case plan.Avg:
		return average(values)
	case plan.Min:
		return extreme(values, 1)
	case plan.Max:
		return extreme(values, -1)
	case plan.Percentile:
		slices.SortFunc(values, value.Order)
		if n := int64(len(values)); n > 0 {
			return values[a.Number(n)-1]
		}
		return value.Value{}
	case plan.StdDevPop:
		return deviation(values, 0)
	case plan.StdDevSamp:
		return deviation(values, 1)
	}
	in.fail("interpret: there is no accumulator %d", a.Op)
	return value.Value{}
}

// listOrNull returns the list of values, or null if it is too large.
func (r *reading) listOrNull(values []value.Value) value.Value {
	return plan.BoundedList(values, plan.ListBytes(r.plan.Program))
}

// set returns the distinct values, in order.
func set(values []value.Value) value.Value {
	all := distinct(values)
	if slices.ContainsFunc(values, value.Value.IsNull) {
		all = append(all, value.Value{})
	}
	slices.SortStableFunc(all, value.Order)
	return value.OfArray(all)
}

// extreme returns the least value for sign 1, and the greatest for sign -1.
func extreme(values []value.Value, sign int) value.Value {
	if len(values) == 0 {
		return value.Value{}
	}
	return slices.MinFunc(values, func(a, b value.Value) int { return sign * orderJSON(a, b) })
}

// total returns the exact sum of numbers. It returns false if a number is NaN or infinite.
func total(numbers []value.Value) (Number, bool) {
	all, _ := NumberOf(value.OfInt(0))
	for _, v := range numbers {
		d, ok := NumberOf(v)
		if !ok {
			return Number{}, false
		}
		all = all.Plus(d)
	}
	return all, true
}

// sum returns the exact sum of numbers as a value of type t.
func sum(numbers []value.Value, t schema.Type) value.Value {
	all, ok := total(numbers)
	switch {
	case !ok:
		return value.Value{}
	case t == schema.Double:
		return all.Double()
	}
	return all.To(t)
}

// average returns the exact sum, rounded to a double, divided by the number of values.
func average(numbers []value.Value) value.Value {
	all := sum(numbers, schema.Double)
	if len(numbers) == 0 || all.IsNull() {
		return value.Value{}
	}
	return Double(all.Float() / float64(len(numbers)))
}

// deviation returns the standard deviation. The divisor is the number of values minus free.
func deviation(values []value.Value, free int) value.Value {
	n := len(values)
	if n <= free {
		return value.Value{}
	}
	const bits = 4000 // enough for the square of each operand of arithmetic
	mean, squares := new(big.Float).SetPrec(bits), new(big.Float).SetPrec(bits)
	of := func(v value.Value) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v.Float()) }
	for _, v := range values {
		if !plan.IsInRange(v.Float()) {
			return value.Value{}
		}
		mean.Add(mean, of(v))
	}
	mean.Quo(mean, of(value.OfFloat(float64(n))))
	for _, v := range values {
		d := of(v)
		d.Sub(d, mean)
		squares.Add(squares, d.Mul(d, d))
	}
	squares.Quo(squares, of(value.OfFloat(float64(n-free))))
	f, _ := squares.Sqrt(squares).Float64()
	if math.IsInf(f, 0) {
		return value.Value{}
	}
	return Double(f)
}
