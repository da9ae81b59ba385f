package sqlgen

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
)

// LocalTime writes operators on dates for databases with AT TIME ZONE, date_trunc and extract, such as PostgreSQL and
// DuckDB. Its fields are the parts that these databases write differently.
type LocalTime struct {
	Text     string                           // the type of texts
	Date     string                           // the type of days
	Over     string                           // the operator that divides whole numbers
	Whole    string                           // the cast of the difference of two counts to an Integer, or ""
	Interval func(n int, unit string) string  // an interval of n minutes or hours
	Begin    func(unit, local string) string  // the beginning of the unit of a local time
	Since    func(local string, n int) string // an interval: n days more than the day of the week, 0 for Sunday, modulo 7
	Years    func(x string) string            // x, or null outside of the years 1 to 9999. x is repeated
}

// Local returns an instant in the local time of a zone. The result is null outside of the years 1 to 9999.
func (l LocalTime) Local(s Scope, x, zone string) string {
	if zone == "" {
		return x
	}
	return l.Years(s.Atom(l.clock(s, x, zone)))
}

// Shown returns x, or null if its local time in a zone is outside of the years 1 to 9999.
func (l LocalTime) Shown(s Scope, x, zone string) string {
	x = s.Atom(x)
	if zone == "" {
		return x
	}
	return s.Atom("(CASE WHEN " + l.Local(s, x, zone) + " IS NOT NULL THEN " + x + " END)")
}

func (l LocalTime) clock(s Scope, x, zone string) string {
	if minutes, ok := ZoneOffset(zone); ok {
		return "(" + x + " + " + l.Interval(minutes, "minutes") + ")"
	}
	return "(" + x + " AT TIME ZONE 'UTC' AT TIME ZONE " + s.Arg(zone, l.Text) + ")"
}

// Instant returns the instant at which the local time of a zone is y. If there are two such instants, the database
// returns the later one, and Instant the earlier one. The earlier one has the offset from before the change.
func (l LocalTime) Instant(s Scope, y, zone string) string {
	switch minutes, ok := ZoneOffset(zone); {
	case zone == "":
		return y
	case ok:
		return "(" + y + " - " + l.Interval(minutes, "minutes") + ")"
	}
	y = s.Atom(y)
	later := s.Atom("(" + y + " AT TIME ZONE " + s.Arg(zone, l.Text) + " AT TIME ZONE 'UTC')")
	before := "(" + later + " - " + l.Interval(3, "hours") + ")"
	earlier := s.Atom("(" + y + " - (" + l.clock(s, before, zone) + " - " + before + "))")
	return "(CASE WHEN " + l.clock(s, earlier, zone) + " = " + y + " THEN " + earlier + " ELSE " + later + " END)"
}

// Trunc writes a DateTrunc.
func (l LocalTime) Trunc(s Scope, x string, e plan.DateTrunc) string {
	var begin string
	switch e.Unit {
	case "hour", "minute", "second":
		begin = l.Begun(s, x, e.Unit, e.Zone)
	case "week":
		at := s.Atom(l.Local(s, x, e.Zone))
		begin = "(" + l.Begin("day", at) + " - " + l.Since(at, 7-e.WeekStart) + ")"
		return l.Years(s.Atom(l.Instant(s, begin, e.Zone)))
	default:
		begin = l.Begin(e.Unit, l.Local(s, x, e.Zone))
		if e.Zone != "" {
			begin = l.Instant(s, begin, e.Zone)
		}
	}
	if e.Zone == "" {
		return begin
	}
	return l.Years(s.Atom(begin))
}

// Begun returns the start of the hour, the minute or the second of x, with the zone offset that applies at x.
func (l LocalTime) Begun(s Scope, x, unit, zone string) string {
	if zone == "" {
		return l.Begin(unit, x)
	}
	x = s.Atom(x)
	at := s.Atom(l.Local(s, x, zone))
	return "(" + x + " - (" + at + " - " + l.Begin(unit, at) + "))"
}

// Days writes a DateDiff in days, or in a unit that consists of whole days.
func (l LocalTime) Days(s Scope, from, to string, e plan.DateDiff) string {
	a, b := s.Atom(l.Local(s, from, e.Zone)), s.Atom(l.Local(s, to, e.Zone))
	count := func(at string) string {
		year := "extract(year FROM " + at + ")"
		switch e.Unit {
		case "year":
			return year
		case "quarter":
			return "(" + year + " * 4 + extract(quarter FROM " + at + "))"
		case "month":
			return "(" + year + " * 12 + extract(month FROM " + at + "))"
		case "week": // 3 January of the year 0 is a Sunday, and so is each seventh day after it
			return "((" + at + "::" + l.Date + " - " + l.Date + " '0001-01-07' + " + strconv.Itoa(14-e.WeekStart) + ") " + l.Over + " 7)"
		}
		return "(" + at + "::" + l.Date + " - " + l.Date + " '0001-01-01')"
	}
	return "(" + count(b) + " - " + count(a) + ")" + l.Whole
}
