package sqlbind

import (
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/internal/typecheck"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A length of time is a node with Span. It contains milliseconds. A constant may also have months, which have no fixed
// length.

// span returns a constant length of time.
func span(month, ms int64) node {
	return node{Node: typecheck.Node{Expr: Whole(ms), Constant: true}, Marks: Marks{Span: true}, Months: month}
}

// interval parses a length of time.
func interval(text string) (node, bool) {
	month, ms, ok := Interval(text)
	return span(month, ms), ok
}

// intervalOf returns x as a length of time, if it is one or a constant text that represents one.
func intervalOf(x *node) (node, bool) {
	if x.Span {
		return *x, true
	}
	k, ok := x.Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String {
		return node{}, false
	}
	return interval(k.Value.Text())
}

// isTime reports whether x is a Date or a Day.
func isTime(x *node) bool { return x.Kind() == schema.Date || x.Kind() == schema.Day }

// date returns x as a Date. It also converts texts.
func (b *Binder) date(x *node, what string) (plan.Expr, error) {
	if x.IsNull() {
		return plan.Const{T: schema.Date}, nil
	}
	if k, ok := x.Expr.(plan.Const); ok && k.Value.Kind() == value.String {
		if strings.EqualFold(k.Value.Text(), "now") { // SQLite
			return moment(b.Now.UnixMicro()).Expr, nil
		}
		v, ok := value.OfDateText(k.Value.Text())
		if !ok {
			return nil, problem.Invalid(x.At, "%q is not a date in ISO 8601", problem.Cut(k.Value.Text()))
		}
		return plan.Const{Value: value.OfDate(v.Micros()), T: schema.Date}, nil
	}
	if x.Kind() == schema.String || typecheck.Dynamic(x.Kind()) {
		return plan.Convert{X: x.JSONOr(), T: schema.Date}, nil
	}
	return x.Want(schema.Date, what)
}

// asDay returns x as a day.
func (b *Binder) asDay(x node, p sqlparse.Pos) (node, error) {
	d, err := b.date(&x, "date")
	if err != nil {
		return node{}, err
	}
	if k, ok := d.(plan.Const); ok && !k.Value.IsNull() {
		m := k.Value.Micros()
		n := moment(m - ((m%day)+day)%day)
		n.Day = true
		return n, nil
	}
	n := computedOf(plan.DateTrunc{X: d, Unit: "day", WeekStart: 1}, p)
	n.Day = true
	return n, nil
}

// withTimes binds arithmetic with dates and lengths of time. It reports whether the operands are of these types.
func (b *Binder) withTimes(sign string, x, y *node, p sqlparse.Pos) (node, bool, error) {
	// A constant text next to a time is a time or a length of time.
	if isTime(x) && y.Constant && y.Kind() == schema.String {
		if d, ok := intervalOf(y); ok {
			*y = d
		} else if d, err := b.date(y, sign); err == nil {
			*y = computedOf(d, p)
		}
	}
	switch {
	case x.Span && y.Span && (sign == "+" || sign == "-"):
		if x.Months != 0 || y.Months != 0 {
			if x.Constant && y.Constant {
				by := int64(1)
				if sign == "-" {
					by = -1
				}
				return span(x.Months+by*y.Months, x.Expr.(plan.Const).Value.Int()+by*y.Expr.(plan.Const).Value.Int()), true, nil
			}
			return node{}, true, unsupportedError(p, "add each to the date", "months have no fixed length")
		}
		n, err := b.arithmetic(sign, node{Node: x.Node}, node{Node: y.Node}, p)
		n.Span = true
		return n, true, err
	case x.Span && (sign == "*" || sign == "/") && !y.Span:
		return b.scaleSpan(sign, x, y, p)
	case y.Span && sign == "*" && !x.Span:
		return b.scaleSpan(sign, y, x, p)
	case x.Span && y.Span && sign == "/":
		n, err := b.arithmetic("/", node{Node: typecheck.Node{Expr: plan.Widen{X: x.Expr, T: schema.Double}}}, node{Node: typecheck.Node{Expr: plan.Widen{X: y.Expr, T: schema.Double}}}, p)
		return n, true, err
	case isTime(x) && y.Span && (sign == "+" || sign == "-"):
		n, err := b.addSpan(*x, *y, sign == "-", p)
		return n, true, err
	case x.Span && isTime(y) && sign == "+":
		n, err := b.addSpan(*y, *x, false, p)
		return n, true, err
	case isTime(x) && isTime(y) && sign == "-":
		return b.between2(x, y, p)
	case (x.Day || x.Kind() == schema.Day) && typecheck.Numeric(y.Kind()) && (sign == "+" || sign == "-"): // a day plus or minus a number of days
		x.Day = true
		n, err := b.shiftByUnits(*x, *y, "day", sign == "-", p)
		return n, true, err
	case isTime(x) || isTime(y) || x.Span || y.Span:
		return node{}, true, unsupportedError(p, "add or subtract an interval: x + interval '7 days'", "%s can't take %s and %s", sign, typecheck.Describe(&x.Node), typecheck.Describe(&y.Node))
	}
	return node{}, false, nil
}

// between2 returns the time from y to x: a number of days if both are days, otherwise a length of time.
func (b *Binder) between2(x, y *node, p sqlparse.Pos) (node, bool, error) {
	ex, err := b.date(x, "-")
	if err != nil {
		return node{}, true, err
	}
	ey, err := b.date(y, "-")
	if err != nil {
		return node{}, true, err
	}
	ms := plan.Apply{Op: plan.Millis, Args: []plan.Expr{ex, ey}, T: schema.Integer}
	n := computedOf(ms, p)
	if n.Span = true; (x.Day || x.Kind() == schema.Day) && (y.Day || y.Kind() == schema.Day) {
		n = computedOf(plan.Apply{Op: plan.Quo, Args: []plan.Expr{ms, Whole(Millis("day"))}, T: schema.Integer}, p)
		n.Days = true
	}
	return n, true, nil
}

// scaleSpan multiplies or divides a length of time.
func (b *Binder) scaleSpan(sign string, x, by *node, p sqlparse.Pos) (node, bool, error) {
	if x.Months != 0 {
		k, ok := by.Expr.(plan.Const)
		n, whole := k.Value.AsInt()
		if !ok || !whole || sign != "*" {
			return node{}, true, unsupportedError(p, "", "months can only be multiplied by a constant whole number")
		}
		return span(x.Months*n, x.Expr.(plan.Const).Value.Int()*n), true, nil
	}
	if k, ok := by.Expr.(plan.Const); ok && x.Constant && sign == "*" {
		if n, isWhole := k.Value.AsInt(); isWhole {
			return span(0, x.Expr.(plan.Const).Value.Int()*n), true, nil
		}
	}
	f, err := by.Want(schema.Double, sign)
	if err != nil {
		return node{}, true, err
	}
	o := map[string]plan.Op{"*": plan.Mul, "/": plan.Div}[sign]
	e := plan.Apply{Op: o, Args: []plan.Expr{plan.Widen{X: x.Expr, T: schema.Double}, f}, T: schema.Double}
	n := computedOf(plan.Convert{X: plan.Apply{Op: plan.Round, Args: []plan.Expr{e, Whole(0)}, T: schema.Double}, T: schema.Integer}, p)
	n.Span = true
	return n, true, nil
}

// addSpan adds a length of time to a date. With back, it subtracts it.
func (b *Binder) addSpan(x, by node, back bool, p sqlparse.Pos) (node, error) {
	e, err := b.date(&x, "+")
	if err != nil {
		return node{}, err
	}
	sign := int64(1)
	if back {
		sign = -1
	}
	if k, ok := by.Expr.(plan.Const); ok {
		ms := k.Value.Int() * sign
		if d, constant := e.(plan.Const); constant && !d.Value.IsNull() {
			t := time.UnixMicro(d.Value.Micros()).UTC()
			if by.Months != 0 {
				t = plan.AddMonths(t, int(by.Months*sign))
			}
			t = t.Add(time.Duration(ms) * time.Millisecond)
			if t.Year() < 1 || t.Year() > 9999 {
				return node{}, invalid(p, "the date is outside of the years 1 to 9999")
			}
			n := moment(t.UnixMicro())
			n.Day = x.Day && ms%Millis("day") == 0
			return n, nil
		}
		if by.Months != 0 {
			e = plan.DateShift{X: e, Amount: Whole(by.Months * sign), Unit: "month"}
		}
		if ms%Millis("day") == 0 && ms != 0 {
			e = plan.DateShift{X: e, Amount: Whole(ms / Millis("day")), Unit: "day"}
		} else if ms != 0 {
			e = plan.DateShift{X: e, Amount: Whole(ms), Unit: "millisecond"}
		}
		n := computedOf(e, p)
		n.Day = x.Day && ms%Millis("day") == 0
		return n, nil
	}
	amount := wholeMillis(by.Expr)
	if back {
		amount = plan.Apply{Op: plan.Sub, Args: []plan.Expr{Whole(0), amount}, T: schema.Integer}
	}
	return computedOf(plan.DateShift{X: e, Amount: amount, Unit: "millisecond"}, p), nil
}

// shiftByUnits adds a number of units to a date. With back, it subtracts them.
func (b *Binder) shiftByUnits(x, n node, u string, back bool, p sqlparse.Pos) (node, error) {
	if k, ok := n.Expr.(plan.Const); ok {
		if whole, is := k.Value.AsInt(); is && whole > -1e9 && whole < 1e9 {
			return b.addSpan(x, span(Months(u)*whole, Millis(u)*whole), back, p)
		}
	}
	e, err := b.date(&x, "+")
	if err != nil {
		return node{}, err
	}
	amount, err := n.Want(schema.Integer, "+")
	if err != nil {
		return node{}, err
	}
	if back {
		amount = plan.Apply{Op: plan.Sub, Args: []plan.Expr{Whole(0), amount}, T: schema.Integer}
	}
	if u == "decade" || u == "century" {
		return node{}, unsupportedError(p, "use years", "%s isn't there", u)
	}
	out := computedOf(plan.DateShift{X: e, Amount: amount, Unit: u}, p)
	out.Day = x.Day && (u == "day" || u == "week" || Months(u) > 0)
	return out, nil
}
