package interpret

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// windows adds the columns of s to each record.
func (r *reading) windows(s *plan.Windows, in records) []value.Row {
	keys := make([]plan.Expr, len(s.By))
	for i, c := range s.By {
		keys[i] = plan.Ref{Column: c, T: in.shape.Columns[c].Type}
	}
	type part struct {
		keys []value.Value
		rows []value.Row
	}
	var parts []*part
	var byKeys directory
	for _, row := range in.rows {
		own := in.at(row).all(keys)
		d := digests(own)
		i := slices.IndexFunc(byKeys[d], func(n int) bool { return slices.EqualFunc(parts[n].keys, own, alike) })
		if i < 0 {
			byKeys.add(d, len(parts))
			parts = append(parts, &part{own, []value.Row{row}})
			continue
		}
		p := parts[byKeys[d][i]]
		p.rows = append(p.rows, row)
	}
	var out []value.Row
	for _, p := range parts {
		out = append(out, r.window(s, in, p.rows)...)
	}
	return out
}

// window computes the functions of s for one partition.
func (r *reading) window(s *plan.Windows, in records, rows []value.Row) []value.Row {
	rows = sortRows(&plan.Shape{Columns: in.shape.Columns, Order: s.Order}, rows)
	peers := make([]int, len(rows)) // the index of the first record that is equal in the order
	dense := make([]int, len(rows))
	for i := range rows {
		peers[i], dense[i] = i, 1
		if i == 0 {
			continue
		}
		if peers[i], dense[i] = i, dense[i-1]+1; level(in.shape, s.Order, rows[i-1], rows[i]) {
			peers[i], dense[i] = peers[i-1], dense[i-1]
		}
	}
	columns := make([][]value.Value, len(s.Functions))
	for i, f := range s.Functions {
		switch f.Kind {
		case plan.Accumulated:
			columns[i] = r.frameValues(f, in, rows, peers)
		case plan.Shifted:
			columns[i] = offsetValues(f, in, rows)
		}
	}
	out := make([]value.Row, len(rows))
	for i, row := range rows {
		if r.shouldStop() {
			return nil
		}
		out[i] = slices.Clone(row)
		for j, f := range s.Functions {
			v := value.OfInt(int64(i + 1))
			switch f.Kind {
			case plan.Ranked:
				v = value.OfInt(int64(peers[i] + 1))
			case plan.DenseRanked:
				v = value.OfInt(int64(dense[i]))
			case plan.Accumulated, plan.Shifted:
				v = columns[j][i]
			}
			out[i] = append(out[i], v)
		}
	}
	return out
}

// level reports whether two records are equal in an order.
func level(shape *plan.Shape, order []plan.Place, a, b value.Row) bool {
	return !slices.ContainsFunc(order, func(p plan.Place) bool {
		if shape.Columns[p.Column].Type == schema.JSON {
			return orderJSON(a[p.Column], b[p.Column]) != 0
		}
		return value.Order(a[p.Column], b[p.Column]) != 0
	})
}

// offsetValues returns, for each of rows, the value of the record f.Offset further. Beyond the ends it is f.Default, or
// null without a default.
func offsetValues(f plan.Window, in records, rows []value.Row) []value.Value {
	out := make([]value.Value, len(rows))
	for i, row := range rows {
		at := int64(i) + f.Offset
		switch {
		case at >= 0 && at < int64(len(rows)):
			out[i] = in.at(rows[at]).eval(f.X)
		case f.Default != nil:
			out[i] = in.at(row).eval(f.Default)
		}
	}
	return out
}

// frameValues computes an accumulator over the frame of each record.
func (r *reading) frameValues(f plan.Window, in records, rows []value.Row, peers []int) []value.Value {
	out := make([]value.Value, len(rows))
	n := int64(len(rows))
	for i := range rows {
		if r.shouldStop() {
			break
		}
		from, to := int64(i)+f.Frame.From, int64(i)+f.Frame.To+1
		if f.Frame.First {
			from = 0
		}
		if f.Frame.Last {
			to = n
		}
		for f.Frame.Peers && to < n && peers[to] == peers[i] {
			to++
		}
		from, to = min(max(from, 0), n), min(max(to, 0), n)
		from = min(from+min(f.Offset, n), n)
		out[i] = in.accumulateGroup([]plan.Accumulator{f.Accumulator}, rows[from:max(from, to)])[0]
	}
	return out
}
