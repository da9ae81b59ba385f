package sqlexpr

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqltext"
	"github.com/bailiwick-dev/bailiwick/internal/sqltime"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// part returns a part of a time, or of a length of time.
func (b *Binder) part(name string, x Node, p sqltext.Pos) (Node, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	if u := sqltime.Unit(name); u != "" {
		name = u
	}
	if x.Span {
		return b.partOfSpan(name, x, p)
	}
	d, err := b.date(&x, "extract")
	if err != nil {
		return Node{}, err
	}
	get := func(part string) plan.Expr { return plan.DatePart{X: d, Part: part} }
	sum := func(o plan.Op, a plan.Expr, n int64) plan.Expr {
		return plan.Apply{Op: o, Args: []plan.Expr{a, Whole(n)}, T: schema.Integer}
	}
	switch name {
	case "year", "month", "hour", "minute":
		return computedOf(get(name), p), nil
	case "second":
		return computedOf(get("second"), p), nil
	case "day", "dayofmonth":
		return computedOf(get("dayOfMonth"), p), nil
	case "doy", "dayofyear":
		return computedOf(get("dayOfYear"), p), nil
	case "dow", "weekday": // Sunday is 0
		return computedOf(sum(plan.Sub, get("dayOfWeek"), 1), p), nil
	case "dayofweek":
		return computedOf(get("dayOfWeek"), p), nil
	case "isodow":
		return computedOf(get("isoDayOfWeek"), p), nil
	case "week", "isoweek":
		return computedOf(get("isoWeek"), p), nil
	case "isoyear":
		return computedOf(get("isoWeekYear"), p), nil
	case "quarter":
		return computedOf(sum(plan.Quo, sum(plan.Add, get("month"), 2), 3), p), nil
	case "epoch":
		ms := plan.Apply{Op: plan.Millis, Args: []plan.Expr{d, moment(0).Expr}, T: schema.Integer}
		return computedOf(plan.Apply{Op: plan.Div, Args: []plan.Expr{plan.Widen{X: ms, T: schema.Double}, plan.Const{Value: value.OfFloat(1000), T: schema.Double}}, T: schema.Double}, p), nil
	}
	return Node{}, &problem.Error{Code: problem.InvalidQuery, Pointer: At(p), Detail: "unknown part of a date " + strconv.Quote(problem.Cut(name)),
		Near: problem.Nearest(name, []string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "dow", "isodow", "doy", "epoch"}, 2)}
}

// partOfSpan returns a part of a length of time, which counts days as PostgreSQL does for the difference of two times.
func (b *Binder) partOfSpan(name string, x Node, p sqltext.Pos) (Node, error) {
	if name == "epoch" {
		if x.Months != 0 {
			return Node{}, Unsupported(p, "", "months have no fixed length")
		}
		return computedOf(plan.Apply{Op: plan.Div, Args: []plan.Expr{plan.Widen{X: x.Expr, T: schema.Double}, plan.Const{Value: value.OfFloat(1000), T: schema.Double}}, T: schema.Double}, p), nil
	}
	of := func(o plan.Op, a plan.Expr, n int64) plan.Expr {
		return plan.Apply{Op: o, Args: []plan.Expr{a, Whole(n)}, T: schema.Integer}
	}
	switch name {
	case "day":
		return computedOf(of(plan.Quo, x.Expr, sqltime.Millis("day")), p), nil
	case "hour":
		return computedOf(of(plan.Quo, of(plan.Mod, x.Expr, sqltime.Millis("day")), sqltime.Millis("hour")), p), nil
	case "minute":
		return computedOf(of(plan.Quo, of(plan.Mod, x.Expr, sqltime.Millis("hour")), sqltime.Millis("minute")), p), nil
	case "second":
		return computedOf(of(plan.Quo, of(plan.Mod, x.Expr, sqltime.Millis("minute")), 1000), p), nil
	}
	return Node{}, Unsupported(p, "extract(epoch FROM …) gives all of it in seconds", "a length of time has no part %q here", problem.Cut(name))
}

// format converts a constant format to that of plan.DateText.
func format(x *Node, letters []sqltime.Letter, what string) (string, error) {
	k, ok := x.Expr.(plan.Const)
	if !ok || k.Value.Kind() != value.String {
		return "", problem.NotSupported(x.At, "%s takes its format as a constant text", what)
	}
	out, unknown := sqltime.Format(k.Value.Text(), letters)
	if unknown != "" {
		known := make([]string, len(letters))
		for i, l := range letters {
			known[i] = l.Theirs
		}
		return "", problem.Invalid(x.At, "%s doesn't know %q in a format; it knows %s", what, unknown, strings.Join(known, " "))
	}
	return out, nil
}
