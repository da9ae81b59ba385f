package sqlbind

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// timeWhole returns a constant Integer.
func timeWhole(n int64) plan.Expr { return plan.Const{Value: value.OfInt(n), T: schema.Integer} }

// Integers applies an operator to two Integers.
func Integers(op plan.Op, x, y plan.Expr) plan.Expr {
	return plan.Apply{Op: op, Args: []plan.Expr{x, y}, T: schema.Integer}
}

// timeSeconds converts an Integer in milliseconds to a Double in seconds.
func timeSeconds(ms plan.Expr) plan.Expr {
	thousand := plan.Const{Value: value.OfFloat(1000), T: schema.Double}
	return plan.Apply{Op: plan.Div, Args: []plan.Expr{plan.Widen{X: ms, T: schema.Double}, thousand}, T: schema.Double}
}

// fromSeconds returns the Date that is x seconds after the beginning of 1970, rounded to milliseconds. x is a Double.
func fromSeconds(x plan.Expr) plan.Expr {
	ms := plan.Apply{Op: plan.Mul, Args: []plan.Expr{x, plan.Const{Value: value.OfFloat(1000), T: schema.Double}}, T: schema.Double}
	return plan.DateShift{X: plan.Const{Value: value.OfDate(0), T: schema.Date}, Amount: wholeMillis(ms), Unit: "millisecond"}
}

// timePart returns a part of a Date by its SQL name, or nil for an unknown name. The part is an Integer. The epoch and
// the second are Doubles.
func timePart(name string, d plan.Expr) plan.Expr {
	get := func(part string) plan.Expr { return plan.DatePart{X: d, Part: part} }
	since := Integers(plan.Millis, d, plan.Const{Value: value.OfDate(0), T: schema.Date})
	switch name {
	case "dow", "weekday": // Sunday is 0
		return Integers(plan.Sub, get("dayOfWeek"), timeWhole(1))
	case "quarter":
		return Integers(plan.Quo, Integers(plan.Add, get("month"), timeWhole(2)), timeWhole(3))
	case "epoch":
		return timeSeconds(since)
	case "second":
		minute := timeWhole(Millis("minute"))
		return timeSeconds(Integers(plan.Mod, Integers(plan.Add, Integers(plan.Mod, since, minute), minute), minute)) // the remainder is negative before 1970
	}
	part := map[string]string{"year": "year", "month": "month", "hour": "hour", "minute": "minute", "day": "dayOfMonth", "dayofmonth": "dayOfMonth", "doy": "dayOfYear",
		"dayofyear": "dayOfYear", "dayofweek": "dayOfWeek", "isodow": "isoDayOfWeek", "week": "isoWeek", "isoweek": "isoWeek", "isoyear": "isoWeekYear"}[name]
	if part == "" {
		return nil
	}
	return get(part)
}

// wholeMillis returns a length of time in milliseconds as an Integer. An average of lengths is a Double.
func wholeMillis(ms plan.Expr) plan.Expr {
	if ms.Type() != schema.Double {
		return ms
	}
	return plan.Convert{X: plan.Apply{Op: plan.Round, Args: []plan.Expr{ms, timeWhole(0)}, T: schema.Double}, T: schema.Integer}
}

// partOfLength returns a part of a length of time in milliseconds, or nil for an unknown name. As in PostgreSQL, the
// difference of two times counts in days and not in months.
func partOfLength(name string, ms plan.Expr) plan.Expr {
	if name == "epoch" {
		return timeSeconds(ms)
	}
	ms = wholeMillis(ms)
	rest := func(unit string) plan.Expr { return Integers(plan.Mod, ms, timeWhole(Millis(unit))) }
	switch name {
	case "day":
		return Integers(plan.Quo, ms, timeWhole(Millis("day")))
	case "hour":
		return Integers(plan.Quo, rest("day"), timeWhole(Millis("hour")))
	case "minute":
		return Integers(plan.Quo, rest("hour"), timeWhole(Millis("minute")))
	case "second":
		return timeSeconds(rest("minute"))
	}
	return nil
}

// julianDay returns the days since noon of November 24 in the year -4713, with a fraction, as in SQLite.
func julianDay(d plan.Expr) plan.Expr {
	number := func(x float64) plan.Expr { return plan.Const{Value: value.OfFloat(x), T: schema.Double} }
	since := Integers(plan.Millis, d, plan.Const{Value: value.OfDate(0), T: schema.Date})
	days := plan.Apply{Op: plan.Div, Args: []plan.Expr{plan.Widen{X: since, T: schema.Double}, number(86_400_000)}, T: schema.Double}
	return plan.Apply{Op: plan.Add, Args: []plan.Expr{days, number(2440587.5)}, T: schema.Double}
}

// Clock returns the local time in a zone at the instant d, as if it were UTC.
func Clock(d plan.Expr, zone string) plan.Expr {
	shown := func(zone string) plan.Expr {
		return plan.Convert{X: plan.DateText{X: d, Format: "%Y-%m-%dT%H:%M:%S.%LZ", Zone: zone}, T: schema.Date}
	}
	return plan.DateShift{X: d, Amount: Integers(plan.Millis, shown(zone), shown("")), Unit: "millisecond"}
}

// writeTime formats a Date.
func writeTime(d plan.Expr, pieces []piece) plan.Expr {
	all := make([]plan.Expr, len(pieces))
	for i, p := range pieces {
		if all[i] = plan.Expr(plan.DateText{X: d, Format: p.Format}); p.Table != nil {
			all[i] = p.Table.Of(d)
		}
	}
	switch len(all) {
	case 0:
		return plan.DateText{X: d}
	case 1:
		return all[0]
	}
	return plan.Apply{Op: plan.Concat, Args: all, T: schema.String}
}

// Of returns the text in t for a Date.
func (t *timeNames) Of(d plan.Expr) plan.Expr {
	text := func(op plan.Op, args ...plan.Expr) plan.Expr {
		return plan.Apply{Op: op, Args: args, T: schema.String}
	}
	constant := func(s string) plan.Expr { return plan.Const{Value: value.OfString(s), T: schema.String} }
	number := Integers(plan.Sub, plan.DatePart{X: d, Part: t.Part}, timeWhole(t.From))
	if t.Cycle > 0 {
		number = Integers(plan.Mod, number, timeWhole(t.Cycle))
	}
	place := Integers(plan.Mul, number, timeWhole(t.Width))
	name := text(plan.Substr, constant(t.Texts), place, timeWhole(t.Width))
	if t.Trim {
		name = text(plan.Trim, name, constant(" "))
	}
	return name
}

// wholeMonths returns the number of whole months between two Dates. It is negative if the second Date is earlier.
func wholeMonths(from, to plan.Expr) plan.Expr {
	under := func(x, y plan.Expr) plan.Expr {
		return plan.Apply{Op: plan.Under, Args: []plan.Expr{x, y}, T: schema.Boolean}
	}
	forward := func(from, to plan.Expr) plan.Expr {
		between := func(part string) plan.Expr {
			return Integers(plan.Sub, plan.DatePart{X: to, Part: part}, plan.DatePart{X: from, Part: part})
		}
		since := func(d plan.Expr) plan.Expr { // the time since the beginning of the month
			return Integers(plan.Millis, d, plan.DateTrunc{X: d, Unit: "month", WeekStart: 1})
		}
		begun := Integers(plan.Add, Integers(plan.Mul, between("year"), timeWhole(12)), between("month"))
		return plan.Case{If: []plan.Expr{under(since(to), since(from))}, Then: []plan.Expr{Integers(plan.Sub, begun, timeWhole(1))}, Else: begun, T: schema.Integer}
	}
	return plan.Case{If: []plan.Expr{under(to, from)}, Then: []plan.Expr{Integers(plan.Sub, timeWhole(0), forward(to, from))}, Else: forward(from, to), T: schema.Integer}
}
