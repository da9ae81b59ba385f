package sqlexpr

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/sqltime"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck/typed"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// MaxSeries is the most records of a generate_series.
const MaxSeries = 10_000

// Series returns the values of a generate_series and their type, and whether they are days.
func (b *Binder) Series(c *sqlparse.Call) (rows []value.Row, t schema.Type, days bool, err error) {
	if len(c.Args) < 2 || len(c.Args) > 3 {
		return nil, 0, false, Invalid(c.At, "generate_series takes 2 or 3 arguments")
	}
	args := make([]Node, len(c.Args))
	for i, e := range c.Args {
		if args[i], err = b.Alone().Value(e); err != nil {
			return nil, 0, false, err
		}
		if _, ok := args[i].Expr.(plan.Const); !ok {
			return nil, 0, false, Unsupported(e.Pos(), "", "generate_series takes constants")
		}
	}
	f := &called{b.Alone(), c}
	if typed.Numeric(args[0].Kind()) {
		rows, err = integers(f, args)
		return rows, schema.Integer, false, err
	}
	rows, err = moments(f, args)
	return rows, schema.Date, args[0].Day && args[1].Day, err
}

// integers returns the values of generate_series over whole numbers, both ends included, one per row: none if the step leads away from
// the end. More than MaxSeries values, and a step of 0, are errors.
func integers(f *called, a []Node) ([]value.Row, error) {
	step := int64(1)
	if len(a) == 3 {
		step = a[2].Expr.(plan.Const).Value.Int()
	}
	from, okFrom := a[0].Expr.(plan.Const).Value.AsInt()
	to, okTo := a[1].Expr.(plan.Const).Value.AsInt()
	if !okFrom || !okTo || step == 0 {
		return nil, Invalid(f.place(), "generate_series takes whole numbers, and a step that isn't 0")
	}
	var rows []value.Row
	for n := from; step > 0 && n <= to || step < 0 && n >= to; {
		if len(rows) == MaxSeries {
			return nil, Invalid(f.place(), "generate_series gives at most %d records", MaxSeries)
		}
		rows = append(rows, value.Row{value.OfInt(n)})
		next := n + step
		if (next > n) != (step > 0) {
			break // past the whole numbers of 64 bits
		}
		n = next
	}
	return rows, nil
}

// moments returns the values of generate_series over times, both ends included. Each is counted from the beginning, n steps at once: a
// series of months from January 31 has the last day of each month, where PostgreSQL, which adds the step to the value before, goes on
// from the 28th or 29th. A step that doesn't lead forward is an error.
func moments(f *called, a []Node) ([]value.Row, error) {
	by := span(0, sqltime.Millis("day"))
	if len(a) == 3 {
		var ok bool
		if by, ok = intervalOf(&a[2]); !ok {
			return nil, Invalid(f.place(), "generate_series over dates takes an interval as its step")
		}
	}
	x, end := asTime(f, a[0]), asTime(f, a[1])
	if !isTime(&x) || !isTime(&end) {
		return nil, Invalid(f.place(), "generate_series takes whole numbers, or dates and an interval")
	}
	last := end.Expr.(plan.Const).Value.Micros()
	begin := x
	var rows []value.Row
	for n := int64(0); ; n++ {
		step := span(by.Months*n, by.Expr.(plan.Const).Value.Int()*n)
		next, err := f.shifted(begin, step, false, f.place())
		if err != nil {
			return nil, err
		}
		m := next.Expr.(plan.Const).Value.Micros()
		if m > last {
			return rows, nil
		}
		if len(rows) == MaxSeries || n > 0 && m <= x.Expr.(plan.Const).Value.Micros() {
			return nil, Invalid(f.place(), "generate_series gives at most %d records, each later than the one before", MaxSeries)
		}
		x = next
		rows = append(rows, value.Row{value.OfDate(m)})
	}
}
