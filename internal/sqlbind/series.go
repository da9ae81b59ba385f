package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Series returns the values of a generate_series, their type, and whether they are days.
func (b *Binder) Series(c *sqlparse.Call) (rows []value.Row, t schema.Type, days bool, err error) {
	if len(c.Args) < 2 || len(c.Args) > 3 {
		return nil, 0, false, invalid(c.At, "generate_series takes 2 or 3 arguments")
	}
	args := make([]node, len(c.Args))
	for i, e := range c.Args {
		if args[i], err = b.Alone().Value(e); err != nil {
			return nil, 0, false, err
		}
		if _, ok := args[i].Expr.(plan.Const); !ok {
			return nil, 0, false, unsupportedError(e.Pos(), "", "generate_series takes constants")
		}
	}
	f := &called{b.Alone(), c}
	if typecheck.Numeric(args[0].Kind()) {
		rows, err = integers(f, args)
		return rows, schema.Integer, false, err
	}
	rows, err = moments(f, args)
	return rows, schema.Date, args[0].Day && args[1].Day, err
}

// integers returns the values of generate_series over whole numbers. It fails for a step of 0 and for more than
// query.MaxSeries values.
func integers(f *called, a []node) ([]value.Row, error) {
	step := int64(1)
	if len(a) == 3 {
		step = a[2].Expr.(plan.Const).Value.Int()
	}
	from, okFrom := a[0].Expr.(plan.Const).Value.AsInt()
	to, okTo := a[1].Expr.(plan.Const).Value.AsInt()
	if !okFrom || !okTo || step == 0 {
		return nil, invalid(f.place(), "generate_series takes whole numbers, and a step that isn't 0")
	}
	rows, ok := series(from, to, step, query.MaxSeries)
	if !ok {
		return nil, invalid(f.place(), "generate_series gives at most %d records", query.MaxSeries)
	}
	return rows, nil
}

// moments returns the values of generate_series over times, including both ends. As in PostgreSQL, each value is the
// preceding value plus a step. So after January 31, steps of a month continue from February 28 or 29. A step may be
// negative but not 0.
func moments(f *called, a []node) ([]value.Row, error) {
	by := span(0, Millis("day"))
	if len(a) == 3 {
		var ok bool
		if by, ok = intervalOf(&a[2]); !ok {
			return nil, invalid(f.place(), "generate_series over dates takes an interval as its step")
		}
	}
	x, end := asTime(f, a[0]), asTime(f, a[1])
	if !isTime(&x) || !isTime(&end) {
		return nil, invalid(f.place(), "generate_series takes whole numbers, or dates and an interval")
	}
	at := func(n *node) int64 { return n.Expr.(plan.Const).Value.Micros() }
	back := by.Months*30*Millis("day")+by.Expr.(plan.Const).Value.Int() < 0
	var rows []value.Row
	for back && at(&x) >= at(&end) || !back && at(&x) <= at(&end) {
		next, err := f.addSpan(x, by, false, f.place())
		if err != nil {
			return nil, err
		}
		if len(rows) == query.MaxSeries || at(&next) == at(&x) || (at(&next) < at(&x)) != back {
			return nil, invalid(f.place(), "generate_series gives at most %d records, and its step must lead to the end", query.MaxSeries)
		}
		rows = append(rows, value.Row{value.OfDate(at(&x))})
		x = next
	}
	return rows, nil
}
