package metric

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ownTime is the dimension that means the time field of each metric.
const ownTime = "time"

// Periods are the lengths of periods, the shortest first.
var Periods = []string{"hour", "day", "week", "month", "quarter", "year"}

// formats has the format of each period for to_char. The texts sort like the times.
var formats = map[string]string{"hour": `YYYY-MM-DD HH24:"00"`, "day": "YYYY-MM-DD", "week": `IYYY-"W"IW`, "month": "YYYY-MM", "quarter": `YYYY-"Q"Q`, "year": "YYYY"}

// A dimension is one thing to group by.
type dimension struct {
	text   string // as the caller writes it
	path   query.Path
	period string // one of Periods, or "" for the value itself
	at     string // its JSON pointer
}

// parseDimension parses a dimension: a path, and for a date the period after a colon.
func parseDimension(text, at string) (dimension, error) {
	path, period, timed := strings.Cut(strings.TrimSpace(text), ":")
	d := dimension{text: path, period: strings.ToLower(strings.TrimSpace(period)), at: at}
	if timed {
		d.text += ":" + d.period
		if !slices.Contains(Periods, d.period) {
			near := problem.Nearest(d.period, Periods, 1)
			return d, &problem.Error{Code: problem.InvalidArgument, Pointer: at, Near: near, Detail: fmt.Sprintf("unknown period %q%s", problem.Cut(d.period), problem.DidYouMean(near)),
				Suggestion: "periods are " + strings.Join(Periods, ", ") + ", as in placed_at:month"}
		}
	}
	var err error
	d.path, err = query.CheckPath(path, at)
	return d, err
}

// of returns the dimension of the metrics with a time field. The path of ownTime is that field.
func (d dimension) of(m *Metric) (dimension, error) {
	if d.path.String() != ownTime || m.Class.Field(ownTime) != nil && m.Time != ownTime {
		return d, nil
	}
	if m.Time == "" {
		return d, timeless(m, d.at)
	}
	d.path = query.Path{m.Time}
	return d, nil
}

func timeless(m *Metric, at string) error {
	return &problem.Error{Code: problem.InvalidArgument, Kind: "no_time", Pointer: at, Detail: m.Name + " has no time field of its own", Suggestion: "name a date field, as in placed_at:month, and write a range of time as where"}
}

// groupBy adds a dimension to the statement.
func (s *statement) groupBy(d dimension) {
	if s.err != nil {
		return
	}
	name, f, err := s.column(d.path, d.at)
	if err != nil {
		s.err = err
		return
	}
	var x sqlparse.Expr = name
	switch dated := f.Type == schema.Date || f.Type == schema.Day; {
	case f.Type.IsStructured():
		s.err = multiplies(d.at, "%s holds several values, which would count a record several times", d.path)
		return
	case dated && d.period == "" && f.Type == schema.Date:
		s.err = &problem.Error{Code: problem.InvalidArgument, Pointer: d.at, Detail: d.path.String() + " is a moment: nearly each record has its own", Suggestion: "write the period, as in " + d.path.String() + ":month"}
		return
	case !dated && d.period != "":
		s.err = &problem.Error{Code: problem.InvalidArgument, Pointer: d.at, Detail: fmt.Sprintf("%s is of type %s, which has no periods", d.path, f.Type), Suggestion: "leave out :" + d.period}
		return
	case f.Type == schema.Day && d.period == "hour":
		s.err = &problem.Error{Code: problem.InvalidArgument, Pointer: d.at, Detail: d.path.String() + " is a day without a time", Suggestion: "write " + d.path.String() + ":day"}
		return
	case d.period != "":
		if s.zone != "" && f.Type == schema.Date {
			x = &sqlparse.Binary{Op: "at time zone", L: x, R: &sqlparse.String{Text: s.zone}}
		}
		x = &sqlparse.Call{Name: "to_char", Args: []sqlparse.Expr{x, &sqlparse.String{Text: formats[d.period]}}}
	}
	s.group = append(s.group, x)
	s.add(x, d.text)
}

// A span is a range of time. Each end is the zero time for none, and else a local time that is written in UTC.
type span struct{ from, to time.Time }

// within adds that a time field is in a range.
func (s *statement) within(field string, of span, zone *time.Location) {
	if s.err != nil || field == "" {
		return
	}
	x, f, err := s.column(query.Path{field}, "/from")
	if err != nil {
		s.err = err
		return
	}
	moment := func(t time.Time) value.Value {
		if f.Type == schema.Day {
			return value.OfDay(t.UnixMicro())
		}
		return value.OfTime(time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone))
	}
	if !of.from.IsZero() {
		s.where = both("and", s.where, &sqlparse.Binary{Op: ">=", L: x, R: s.param(moment(of.from))})
	}
	if !of.to.IsZero() {
		s.where = both("and", s.where, &sqlparse.Binary{Op: "<", L: x, R: s.param(moment(of.to))})
	}
}

var spelled = regexp.MustCompile(`^(\d{4})(?:-Q([1-4])|-W(\d{2})|-(\d{2})(?:-(\d{2}))?)?$`)

// parseEnd parses an end of a range: a year, quarter, month, week or day, or a moment. It returns the local time at
// which it begins and at which it ends, written in UTC. A moment begins and ends at once.
func parseEnd(text, at string, zone *time.Location) (begins, ends time.Time, err error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		t = t.In(zone)
		wall := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		return wall, wall, nil
	}
	wrong := &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: fmt.Sprintf("%q is not a date", problem.Cut(text)), Suggestion: "write 2026, 2026-Q3, 2026-07, 2026-W28, 2026-07-01 or 2026-07-01T12:00:00Z"}
	part := spelled.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(text)))
	if part == nil || part[1] == "0000" {
		return begins, ends, wrong
	}
	number := func(i int) int { n, _ := strconv.Atoi(part[i]); return n }
	first := func(month, day int) time.Time {
		return time.Date(number(1), time.Month(month), day, 0, 0, 0, 0, time.UTC)
	}
	switch {
	case part[2] != "":
		begins = first(3*number(2)-2, 1)
		ends = begins.AddDate(0, 3, 0)
	case part[3] != "":
		fourth := first(1, 4)
		begins = fourth.AddDate(0, 0, 7*(number(3)-1)-(int(fourth.Weekday())+6)%7)
		if year, week := begins.ISOWeek(); year != number(1) || week != number(3) {
			return begins, ends, wrong
		}
		ends = begins.AddDate(0, 0, 7)
	case part[5] != "":
		begins = first(number(4), number(5))
		if int(begins.Month()) != number(4) || begins.Day() != number(5) {
			return begins, ends, wrong
		}
		ends = begins.AddDate(0, 0, 1)
	case part[4] != "":
		if number(4) < 1 || number(4) > 12 {
			return begins, ends, wrong
		}
		begins = first(number(4), 1)
		ends = begins.AddDate(0, 1, 0)
	default:
		begins = first(1, 1)
		ends = begins.AddDate(1, 0, 0)
	}
	return begins, ends, nil
}

// parseZone returns a time zone by its name or offset. "" is UTC.
func parseZone(name string) (*time.Location, error) {
	if _, err := time.Parse("-07:00", name); err == nil || name == "" {
		return plan.Zone(name), nil
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return nil, &problem.Error{Code: problem.InvalidArgument, Pointer: "/timezone", Detail: fmt.Sprintf("unknown time zone %q", problem.Cut(name)), Suggestion: "write a name such as Europe/Oslo, or an offset such as +05:30"}
	}
	return plan.Zone(name), nil
}

// periodOf returns the text of the period that contains a local time written in UTC.
func periodOf(period string, t time.Time) string {
	switch period {
	case "hour":
		return t.Format("2006-01-02 15") + ":00"
	case "day":
		return t.Format("2006-01-02")
	case "week":
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case "month":
		return t.Format("2006-01")
	case "quarter":
		return fmt.Sprintf("%04d-Q%d", t.Year(), (t.Month()+2)/3)
	}
	return t.Format("2006")
}

// between returns the periods from first to last, both included, at most so many.
func between(period, first, last string, zone *time.Location, most int) []string {
	if first > last {
		return nil
	}
	if first == last {
		return []string{first}
	}
	k := &plan.Calendar{Interval: period, Zone: zone}
	return append(append([]string{first}, k.Between(first, last, most, false)...), last)
}
