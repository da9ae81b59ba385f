package metric

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A derived is a column that is computed from the column of one metric.
type derived struct {
	name    string
	of      int // the column of the metric
	running bool
}

// more returns the derived columns of the answer.
func (p *Plan) more() []derived {
	var out []derived
	for i, m := range p.metrics {
		if p.request.Share {
			out = append(out, derived{m.Name + "_share", len(p.by) + i, false})
		}
		if p.request.Running {
			out = append(out, derived{m.Name + "_cumulative", len(p.by) + i, true})
		}
	}
	return out
}

// checkMore refuses shares and running totals of metrics whose values can't be added, and those without groups.
func (p *Plan) checkMore() error {
	at := "/share"
	switch {
	case p.request.Running:
		at = "/cumulative"
		if p.period() < 0 {
			return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: "a running total goes over periods", Suggestion: "name one period in by, such as placed_at:month"}
		}
	case !p.request.Share:
		return nil
	}
	if p.request.Share && len(p.by) == 0 {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/share", Detail: "a share is of groups", Suggestion: "name a dimension in by"}
	}
	for _, m := range p.metrics {
		if m.Ratio != nil || !m.measure.additive() {
			return &problem.Error{Code: problem.InvalidArgument, Kind: "not_additive", Pointer: at, Detail: fmt.Sprintf("%s is not a sum or a number of records: its values can't be added", m.Name),
				Suggestion: "ask for it without share and cumulative"}
		}
	}
	return nil
}

// period returns the only dimension that is a period, or -1.
func (p *Plan) period() int {
	at := -1
	for i, d := range p.by {
		if d.period == "" {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// addMore adds the derived columns to all rows of the answer. A share is of all groups of the same period, or of all
// groups if there is no other dimension. A running total is of one combination of the other dimensions.
func (p *Plan) addMore(rows []value.Row) {
	at := p.period()
	for _, d := range p.more() {
		if d.running {
			p.addRunning(rows, d.of, at)
			continue
		}
		totals := map[string]*total{}
		key := func(row value.Row) string {
			if at < 0 || len(p.by) == 1 {
				return ""
			}
			return keyOf(row[at : at+1])
		}
		for _, row := range rows {
			if totals[key(row)] == nil {
				totals[key(row)] = &total{}
			}
			totals[key(row)].add(row[d.of])
		}
		for i, row := range rows {
			rows[i] = append(row, divide(row[d.of], totals[key(row)].value()))
		}
	}
}

// addRunning adds the running total of a column, in the order of the periods.
func (p *Plan) addRunning(rows []value.Row, of, at int) {
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return value.Order(rows[i][at], rows[j][at]) })
	totals := map[string]*total{}
	for _, i := range order {
		other := slices.Clone(rows[i][:len(p.by)])
		other[at] = value.Value{}
		key := keyOf(other)
		if totals[key] == nil {
			totals[key] = &total{}
		}
		if rows[i][at].IsNull() { // records without a time are in no period
			rows[i] = append(rows[i], value.Value{})
			continue
		}
		totals[key].add(rows[i][of])
		rows[i] = append(rows[i], totals[key].value())
	}
}

// A total adds numbers: exactly, and as a double once one of them is one.
type total struct {
	exact  big.Rat
	scale  int // digits after the point
	double float64
	float  bool
}

// add adds a number. Null and other values add nothing. Numbers without a fraction of a double are added exactly.
func (t *total) add(v value.Value) {
	n, ok := v.AsFloat()
	if !ok {
		return
	}
	t.double += n
	text := v.String()
	if v.Kind() == value.Float {
		t.float = true
		return
	}
	if x, ok := new(big.Rat).SetString(text); ok {
		t.exact.Add(&t.exact, x)
		if i := slices.Index([]byte(text), '.'); i >= 0 {
			t.scale = max(t.scale, len(text)-i-1)
		}
	}
}

func (t *total) value() value.Value {
	switch {
	case t.float:
		return value.OfFloat(t.double)
	case t.scale == 0 && t.exact.IsInt() && t.exact.Num().IsInt64():
		return value.OfInt(t.exact.Num().Int64())
	}
	return value.OfDecimal(t.exact.FloatString(t.scale))
}
