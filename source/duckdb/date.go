package duckdb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// local returns an instant in the local time of a zone, null if that is outside of the years 1 to 9999.
func (d dialect) local(s sqlgen.Scope, x, zone string) string {
	if zone == "" {
		return x
	}
	return years(s.Atom(clock(s, x, zone)))
}

// shown returns x if it is in the years 1 to 9999 in the local time of a zone.
func (d dialect) shown(s sqlgen.Scope, x, zone string) string {
	x = s.Atom(x)
	if zone == "" {
		return x
	}
	return s.Atom("(CASE WHEN " + d.local(s, x, zone) + " IS NOT NULL THEN " + x + " END)")
}

func clock(s sqlgen.Scope, x, zone string) string {
	if minutes, ok := sqlgen.ZoneOffset(zone); ok {
		return "(" + x + " + to_minutes(" + strconv.Itoa(minutes) + "))"
	}
	return "(" + x + " AT TIME ZONE 'UTC' AT TIME ZONE " + s.Arg(zone, "VARCHAR") + ")"
}

// instantOf returns the instant at which the local time of a zone is y. Of two such instants DuckDB takes the later.
// The earlier has the offset from before the change.
func (d dialect) instantOf(s sqlgen.Scope, y, zone string) string {
	switch minutes, ok := sqlgen.ZoneOffset(zone); {
	case zone == "":
		return y
	case ok:
		return "(" + y + " - to_minutes(" + strconv.Itoa(minutes) + "))"
	}
	y = s.Atom(y)
	later := s.Atom("(" + y + " AT TIME ZONE " + s.Arg(zone, "VARCHAR") + " AT TIME ZONE 'UTC')")
	before := "(" + later + " - to_hours(3))"
	earlier := s.Atom("(" + y + " - (" + clock(s, before, zone) + " - " + before + "))")
	return "(CASE WHEN " + clock(s, earlier, zone) + " = " + y + " THEN " + earlier + " ELSE " + later + " END)"
}

var parts = map[string]string{"year": "year", "month": "month", "dayOfMonth": "day", "dayOfYear": "doy", "isoDayOfWeek": "isodow", "isoWeek": "week", "isoWeekYear": "isoyear",
	"hour": "hour", "minute": "minute", "second": "second"}

// DatePart implements sqlgen.Dialect.
func (d dialect) DatePart(s sqlgen.Scope, x, part, zone string) string {
	l := d.local(s, x, zone)
	switch part {
	case "dayOfWeek":
		return "(extract(dow FROM " + l + ") + 1)"
	case "millisecond":
		return "(extract(millisecond FROM " + l + ") % 1000)"
	}
	return "extract(" + parts[part] + " FROM " + l + ")"
}

// begun returns when the unit of a local time began.
func begun(unit, l string) string { return "(date_trunc('" + unit + "', " + l + ")::TIMESTAMP)" }

// DateTrunc implements sqlgen.Dialect.
func (d dialect) DateTrunc(s sqlgen.Scope, x string, e plan.DateTrunc) string {
	var begin string
	switch e.Unit {
	case "hour", "minute", "second":
		begin = d.begin(s, x, e.Unit, e.Zone)
	case "week":
		l := s.Atom(d.local(s, x, e.Zone))
		begin = "(" + begun("day", l) + " - to_days(((extract(dow FROM " + l + ") + " + strconv.Itoa(7-e.WeekStart) + ") % 7)::INTEGER))"
		return years(s.Atom(d.instantOf(s, begin, e.Zone)))
	default:
		begin = begun(e.Unit, d.local(s, x, e.Zone))
		if e.Zone != "" {
			begin = d.instantOf(s, begin, e.Zone)
		}
	}
	if e.Zone == "" {
		return begin
	}
	return years(s.Atom(begin))
}

// begin returns when the hour, the minute or the second of x began, with the offset of x.
func (d dialect) begin(s sqlgen.Scope, x, unit, zone string) string {
	if zone == "" {
		return begun(unit, x)
	}
	x = s.Atom(x)
	l := s.Atom(d.local(s, x, zone))
	return "(" + x + " - (" + l + " - " + begun(unit, l) + "))"
}

var formats = map[byte]string{'Y': "%Y", 'm': "%m", 'd': "%d", 'H': "%H", 'M': "%M", 'S': "%S", 'L': "%g", 'j': "%j", 'G': "%G", 'V': "%V", 'u': "%u"}

// DateText implements sqlgen.Dialect.
func (d dialect) DateText(s sqlgen.Scope, x, format, zone string) string {
	var f strings.Builder
	for i := 0; i < len(format); i++ {
		switch {
		case format[i] != '%':
			f.WriteByte(format[i])
		case i+1 < len(format):
			i++
			if code := formats[format[i]]; code != "" {
				f.WriteString(code)
			} else {
				f.WriteString(strings.ReplaceAll(format[i:i+1], "%", "%%"))
			}
		}
	}
	return "strftime(" + d.local(s, x, zone) + ", " + s.Arg(f.String(), "VARCHAR") + ")"
}

// micros are the microseconds of the units that are always of the same length.
var micros = map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000}

// DateShift implements sqlgen.Dialect. It adds only if nothing can overflow.
func (d dialect) DateShift(s sqlgen.Scope, x, amount, unit, zone string) string {
	n := s.Atom(amount)
	months := map[string]string{"year": "12", "quarter": "3", "month": "1"}[unit]
	days := map[string]string{"week": "7", "day": "1"}[unit]
	switch {
	case months != "":
		l := s.Atom(d.local(s, x, zone))
		fits := "CASE WHEN " + n + " BETWEEN -120000 AND 120000 THEN extract(year FROM " + l + ") * 12 + extract(month FROM " + l + ") - 1 + " + n + " * " + months + " BETWEEN 12 AND 119999 END"
		return years(s.Atom(d.instantOf(s, "(CASE WHEN "+fits+" THEN "+l+" + to_months(("+n+" * "+months+")::INTEGER) END)", zone)))
	case days != "":
		l := s.Atom(d.local(s, x, zone))
		fits := "CASE WHEN " + n + " BETWEEN -3652059 AND 3652059 THEN " + l + "::DATE - DATE '0001-01-01' + " + n + " * " + days + " BETWEEN 0 AND 3652058 END"
		return years(s.Atom(d.instantOf(s, "(CASE WHEN "+fits+" THEN "+l+" + to_days(("+n+" * "+days+")::INTEGER) END)", zone)))
	}
	x = d.shown(s, x, zone)
	const most = 315_537_897_600_000_000 // the microseconds of 9999 years
	fits := n + " BETWEEN -" + strconv.FormatInt(most/micros[unit], 10) + " AND " + strconv.FormatInt(most/micros[unit], 10)
	return years(s.Atom("(CASE WHEN " + fits + " THEN make_timestamp(epoch_us(" + x + ") + " + n + " * " + strconv.FormatInt(micros[unit], 10) + ") END)"))
}

// DateDiff implements sqlgen.Dialect.
func (d dialect) DateDiff(s sqlgen.Scope, from, to string, e plan.DateDiff) string {
	switch e.Unit {
	case "hour", "minute", "second":
		return "((epoch_us(" + d.begin(s, to, e.Unit, e.Zone) + ") - epoch_us(" + d.begin(s, from, e.Unit, e.Zone) + ")) // " + strconv.FormatInt(micros[e.Unit], 10) + ")"
	case "millisecond":
		count := func(x string) string { // milliseconds since the year 1, so that the division rounds down
			return "((epoch_us(" + d.shown(s, x, e.Zone) + ") + 62135596800000000) // 1000)"
		}
		return "(" + count(to) + " - " + count(from) + ")"
	}
	a, b := s.Atom(d.local(s, from, e.Zone)), s.Atom(d.local(s, to, e.Zone))
	count := func(l string) string {
		switch e.Unit {
		case "year":
			return "extract(year FROM " + l + ")"
		case "quarter":
			return "(extract(year FROM " + l + ") * 4 + extract(quarter FROM " + l + "))"
		case "month":
			return "(extract(year FROM " + l + ") * 12 + extract(month FROM " + l + "))"
		case "week": // 3 January of the year 0, and so every seventh day after, is a Sunday
			return "((" + l + "::DATE - DATE '0001-01-07' + " + strconv.Itoa(14-e.WeekStart) + ") // 7)"
		}
		return "(" + l + "::DATE - DATE '0001-01-01')"
	}
	return "(" + count(b) + " - " + count(a) + ")"
}
