package metric

import (
	"fmt"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The comparisons of a question with an earlier range.
const (
	previousPeriod = "previous_period"
	previousYear   = "previous_year"
)

// A comparison is the same question about an earlier range.
type comparison struct {
	plan   *Plan
	step   func(time.Time) (earlier time.Time, same bool) // same is false if the earlier month or year lacks this time
	groups map[string]*group                              // by key, of the earlier range
	begins map[string]string                              // the earlier period of each period of the question that has one
	empty  bool                                           // the earlier range contains no time
}

// planComparison plans the comparison that the question asks for.
func (p *Plan) planComparison() error {
	r := &p.request
	at := p.period()
	wrong := func(detail, instead string) error {
		return &problem.Error{Code: problem.InvalidArgument, Pointer: "/compare", Detail: detail, Suggestion: instead}
	}
	switch {
	case r.Compare == "":
		return nil
	case r.Compare != previousPeriod && r.Compare != previousYear:
		return wrong(fmt.Sprintf("unknown comparison %q", problem.Cut(r.Compare)), "comparisons are "+previousPeriod+" and "+previousYear)
	case r.From == "" || r.To == "":
		return wrong("a comparison needs a range", "write from and to")
	case at < 0 && slices.ContainsFunc(p.by, func(d dimension) bool { return d.period != "" }):
		return wrong("a comparison goes over one period", "name one period in by")
	case at >= 0 && !p.ranged(at):
		return wrong(fmt.Sprintf("from and to are about the metrics' own time, not about %s", p.by[at].path), "write time:"+p.by[at].period+" in by")
	}
	c := &comparison{step: p.step(at)}
	earlier := *p
	earlier.Statements, earlier.places = nil, map[string]place{}
	earlier.span.from, _ = c.step(p.span.from)
	earlier.span.to, _ = c.step(p.span.to)
	if earlier.span.from.Year() < 1 {
		return wrong("there is no range before the year 1", "write a later from")
	}
	c.empty = !earlier.span.from.Before(earlier.span.to)
	c.plan, p.earlier = &earlier, c
	if c.empty {
		return nil
	}
	return earlier.build()
}

// step returns the function that leads from a time of the question to the time that is compared with it. at is the
// dimension that is a period, or -1.
func (p *Plan) step(at int) func(time.Time) (time.Time, bool) {
	period := ""
	if at >= 0 {
		period = p.by[at].period
	}
	from, to := p.span.from, p.span.to
	months := 0
	switch {
	case p.request.Compare == previousYear && period == "week":
		return sameWeek
	case p.request.Compare == previousYear || period == "year":
		months = 12
	case period == "quarter":
		months = 3
	case period == "month":
		months = 1
	case period != "":
		hours := map[string]int{"hour": 1, "day": 24, "week": 7 * 24}[period]
		return func(t time.Time) (time.Time, bool) { return t.Add(-time.Duration(hours) * time.Hour), true }
	case from.Equal(startOfMonth(from)) && to.Equal(startOfMonth(to)): // whole months
		months = 12*(to.Year()-from.Year()) + int(to.Month()) - int(from.Month())
	default:
		return func(t time.Time) (time.Time, bool) { return t.Add(from.Sub(to)), true }
	}
	return func(t time.Time) (time.Time, bool) { return monthsBefore(t, months) }
}

func startOfMonth(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// monthsBefore returns the same day and time some months earlier. If that month is too short, it returns the end of the
// month, and false.
func monthsBefore(t time.Time, months int) (time.Time, bool) {
	first := startOfMonth(t).AddDate(0, -months, 0)
	next := first.AddDate(0, 1, 0)
	if out := first.Add(t.Sub(startOfMonth(t))); out.Before(next) {
		return out, true
	}
	return next, false
}

// sameWeek returns the same day and time of the week with the same number a year earlier. If that year has no such
// week, it returns the end of the year's last week, and false.
func sameWeek(t time.Time) (time.Time, bool) {
	year, week := t.ISOWeek()
	out := weekOf(year-1, week).Add(t.Sub(weekOf(year, week)))
	if y, _ := out.ISOWeek(); y == year-1 {
		return out, true
	}
	return weekOf(year, 1), false
}

// weekOf returns the beginning of a week of the ISO calendar.
func weekOf(year, week int) time.Time {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	return fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7)
}

// startOf returns the beginning of a period, from its text.
func startOf(text string) time.Time {
	if t, err := time.Parse("2006-01-02 15:04", text); err == nil {
		return t
	}
	t, _, _ := parseEnd(text, "", time.UTC) // a text of periodOf
	return t
}

// join reads the results of the earlier range, and adds to groups those that only the earlier range has.
func (c *comparison) join(p *Plan, groups []*group, results [][]value.Row) ([]*group, error) {
	c.groups, c.begins = map[string]*group{}, map[string]string{}
	at, now := p.period(), map[string]string{}
	if at >= 0 {
		first, last := p.ends(nil, at)
		for _, text := range between(p.by[at].period, first, last, p.zone, maxGroups) {
			if t, same := c.step(startOf(text)); same {
				c.begins[text] = periodOf(p.by[at].period, t)
				now[c.begins[text]] = text
			}
		}
	}
	if c.empty {
		return groups, nil
	}
	before, err := c.plan.join(results)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, g := range groups {
		known[keyOf(g.key)] = true
	}
	for _, g := range before {
		c.groups[keyOf(g.key)] = g
		key := slices.Clone(g.key)
		if at >= 0 {
			text, ok := now[key[at].Text()]
			if !ok {
				continue
			}
			key[at] = value.OfString(text)
		}
		if !known[keyOf(key)] {
			groups = append(groups, &group{key, map[string]value.Value{}})
		}
	}
	return groups, nil
}

// previous returns the value of a metric in the earlier range, for a row of the answer. It is null if the earlier range
// has no such period.
func (c *comparison) previous(p *Plan, m Usable, row value.Row) value.Value {
	key := slices.Clone(row[:len(p.by)])
	if at := p.period(); at >= 0 {
		text, ok := c.begins[key[at].Text()]
		if !ok {
			return value.Value{}
		}
		key[at] = value.OfString(text)
	}
	switch g := c.groups[keyOf(key)]; {
	case c.empty:
		return value.Value{}
	case g != nil:
		return g.value(m)
	}
	return (&group{}).value(m) // it was read, and has no records
}

// change returns by which part of the previous value a value is greater. It is null without a previous value, and for 0.
func change(now, previous value.Value) value.Value {
	a, ok := now.AsFloat()
	b, also := previous.AsFloat()
	if !ok || !also {
		return value.Value{}
	}
	return divide(value.OfFloat(a-b), previous)
}

// words describes the earlier range: "previous: from 2025-07-01 to before 2025-10-01".
func (c *comparison) words() string {
	show := func(t time.Time) string {
		if t.Equal(t.Truncate(24 * time.Hour)) {
			return t.Format(time.DateOnly)
		}
		return t.Format("2006-01-02T15:04:05")
	}
	return "previous: from " + show(c.plan.span.from) + " to before " + show(c.plan.span.to)
}
