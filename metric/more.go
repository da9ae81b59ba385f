package metric

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A derived is a column that is computed from the column of one metric.
type derived struct {
	name string
	of   int    // the column of the metric
	kind string // one of the kinds below
}

// The kinds of derived columns, which end their names.
const (
	ofPrevious = "_previous"
	ofChange   = "_change"
	ofShare    = "_share"
	ofRunning  = "_cumulative"
)

// more returns the derived columns of the answer.
func (p *Plan) more() []derived {
	var out []derived
	for i, m := range p.metrics {
		add := func(when bool, kind string) {
			if when {
				out = append(out, derived{m.Name + kind, len(p.by) + i, kind})
			}
		}
		add(p.request.Compare != "", ofPrevious)
		add(p.request.Compare != "", ofChange)
		add(p.request.Share, ofShare)
		add(p.request.Running, ofRunning)
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
		switch d.kind {
		case ofRunning:
			p.addRunning(rows, d.of, at)
			continue
		case ofPrevious:
			for i, row := range rows {
				rows[i] = append(row, p.earlier.previous(p, p.metrics[d.of-len(p.by)], row))
			}
			continue
		case ofChange:
			for i, row := range rows {
				rows[i] = append(row, change(row[d.of], row[len(row)-1]))
			}
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

// A total adds numbers exactly, as they are written. The sum is rounded to a double at the end, if one of them is a
// double. So it doesn't depend on their order, and equals a sum of the query language.
type total struct {
	exact big.Rat
	scale int // digits after the point
	float bool
}

// add adds a number. Null and other values add nothing.
func (t *total) add(v value.Value) {
	f, ok := v.AsFloat()
	if !ok || math.IsInf(f, 0) || math.IsNaN(f) {
		return
	}
	t.float = t.float || v.Kind() == value.Float
	text := v.String()
	if x, ok := new(big.Rat).SetString(text); ok {
		t.exact.Add(&t.exact, x)
		if i := strings.IndexByte(text, '.'); i >= 0 {
			t.scale = max(t.scale, len(text)-i-1)
		}
	}
}

func (t *total) value() value.Value {
	switch {
	case t.float:
		f, _ := t.exact.Float64()
		return value.OfFloat(f)
	case t.scale == 0 && t.exact.IsInt() && t.exact.Num().IsInt64():
		return value.OfInt(t.exact.Num().Int64())
	}
	return value.OfDecimal(t.exact.FloatString(t.scale))
}
