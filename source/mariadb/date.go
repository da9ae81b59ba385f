package mariadb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// local returns the Date x in the local time of a zone. It is null outside of the years 1 to 9999. Intervals of days
// and shorter units never leave these years in MariaDB.
func (m dialect) local(s sqlgen.Scope, x, zone string) string {
	if zone == "" {
		return x
	}
	if minutes, ok := sqlgen.ZoneOffset(zone); ok {
		return "(" + x + " + INTERVAL " + strconv.Itoa(60*minutes) + " SECOND)"
	}
	x = s.Atom(x)
	return "(" + x + " + INTERVAL " + zoneOf(zone).offset(x, false) + " SECOND)"
}

// instant returns the Date at which the local time of a zone is x.
func (m dialect) instant(s sqlgen.Scope, x, zone string) string {
	if zone == "" {
		return x
	}
	if minutes, ok := sqlgen.ZoneOffset(zone); ok {
		return "(" + x + " - INTERVAL " + strconv.Itoa(60*minutes) + " SECOND)"
	}
	x = s.Atom(x)
	return "(" + x + " - INTERVAL " + zoneOf(zone).offset(x, true) + " SECOND)"
}

// DatePart implements sqlgen.Dialect.
func (m dialect) DatePart(s sqlgen.Scope, x, part, zone string) string {
	x = m.local(s, x, zone)
	switch part {
	case "dayOfMonth", "dayOfYear", "dayOfWeek", "year", "month", "hour", "minute", "second":
		return strings.ToUpper(part) + "(" + x + ")"
	case "isoDayOfWeek":
		return "(WEEKDAY(" + x + ") + 1)"
	case "isoWeek":
		return "WEEK(" + x + ", 3)"
	case "isoWeekYear":
		return "(YEARWEEK(" + x + ", 3) DIV 100)"
	}
	return "(MICROSECOND(" + x + ") DIV 1000)"
}

// since writes the number of microseconds between the beginning of a unit and the local time x. The unit is an hour
// or less. It returns "" for other units.
func (dialect) since(x, unit string) string {
	switch unit {
	case "hour":
		return "(MINUTE(" + x + ") * 60000000 + SECOND(" + x + ") * 1000000 + MICROSECOND(" + x + "))"
	case "minute":
		return "(SECOND(" + x + ") * 1000000 + MICROSECOND(" + x + "))"
	case "second":
		return "MICROSECOND(" + x + ")"
	case "millisecond":
		return "(MICROSECOND(" + x + ") MOD 1000)"
	}
	return ""
}

// DateTrunc implements sqlgen.Dialect.
func (m dialect) DateTrunc(s sqlgen.Scope, x string, e plan.DateTrunc) string {
	x = s.Atom(x)
	clock := s.Atom(m.local(s, x, e.Zone))
	if since := m.since(clock, e.Unit); since != "" {
		return "(" + x + " - INTERVAL " + since + " MICROSECOND)"
	}
	day := "DATE(" + clock + ")"
	switch e.Unit {
	case "year":
		day += " - INTERVAL DAYOFYEAR(" + clock + ") - 1 DAY"
	case "quarter":
		day += " - INTERVAL DAYOFMONTH(" + clock + ") - 1 DAY - INTERVAL (MONTH(" + clock + ") - 1) MOD 3 MONTH"
	case "month":
		day += " - INTERVAL DAYOFMONTH(" + clock + ") - 1 DAY"
	case "week":
		day += " - INTERVAL (DAYOFWEEK(" + clock + ") + " + strconv.Itoa(6-e.WeekStart) + ") MOD 7 DAY"
	}
	return m.instant(s, "CAST("+day+" AS DATETIME(6))", e.Zone)
}

// formats maps the parts of a date's text to the codes of DATE_FORMAT, where it has them.
var formats = map[byte]string{'Y': "%Y", 'm': "%m", 'd': "%d", 'H': "%H", 'M': "%i", 'S': "%s", 'j': "%j", 'G': "%x", 'V': "%v", '%': "%%"}

// DateText implements sqlgen.Dialect.
func (m dialect) DateText(s sqlgen.Scope, x, format, zone string) string {
	x = s.Atom(m.local(s, x, zone))
	parts := []string{"''"}
	run := ""
	flush := func() {
		if run != "" {
			parts = append(parts, "DATE_FORMAT("+x+", "+s.Arg(run, "")+")")
		}
		run = ""
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			run += format[i : i+1]
			continue
		}
		i++
		switch format[i] {
		case 'L':
			flush()
			parts = append(parts, "LEFT(DATE_FORMAT("+x+", '%f'), 3)")
		case 'u':
			flush()
			parts = append(parts, "WEEKDAY("+x+") + 1")
		default:
			run += formats[format[i]]
		}
	}
	flush()
	return "(CASE WHEN " + x + " IS NOT NULL THEN CONCAT(" + strings.Join(parts, ", ") + ") END)"
}

// DateShift implements sqlgen.Dialect.
func (m dialect) DateShift(s sqlgen.Scope, x, amount, unit, zone string) string {
	amount = s.Atom(amount)
	clock := m.local(s, x, zone)
	// The server's unit, its number per unit, and the maximum amount: 100,000 years.
	u := map[string]struct{ times, unit, most string }{
		"year": {"1", "YEAR", "100000"}, "quarter": {"3", "MONTH", "400000"}, "month": {"1", "MONTH", "1200000"},
		"week": {"7", "DAY", "5217000"}, "day": {"1", "DAY", "36524300"}, "hour": {"1", "HOUR", "876582000"},
		"minute": {"1", "MINUTE", "52594920000"}, "second": {"1", "SECOND", "3155695200000"}, "millisecond": {"1000", "MICROSECOND", "3155695200000000"},
	}[unit]
	few := "(CASE WHEN " + amount + " BETWEEN -" + u.most + " AND " + u.most + " THEN "
	interval := " + INTERVAL " + amount + " * " + u.times + " " + u.unit
	if u.unit != "YEAR" && u.unit != "MONTH" && u.unit != "DAY" {
		if zone == "" {
			return few + x + interval + " END)"
		}
		return "(CASE WHEN " + clock + " IS NOT NULL THEN " + few + s.Atom(x) + interval + " END) END)"
	}
	shown := s.Atom(few + clock + interval + " END)")
	// An interval of months may result in the year 0.
	return m.instant(s, "(CASE WHEN YEAR("+shown+") > 0 THEN "+shown+" END)", zone)
}

// DateDiff implements sqlgen.Dialect.
func (m dialect) DateDiff(s sqlgen.Scope, from, to string, e plan.DateDiff) string {
	from, to = s.Atom(from), s.Atom(to)
	a, b := s.Atom(m.local(s, from, e.Zone)), s.Atom(m.local(s, to, e.Zone))
	minus := func(of func(x string) string) string { return "(" + of(b) + " - " + of(a) + ")" }
	switch e.Unit {
	case "year":
		return minus(func(x string) string { return "YEAR(" + x + ")" })
	case "quarter":
		return minus(func(x string) string { return "(YEAR(" + x + ") * 4 + QUARTER(" + x + "))" })
	case "month":
		return minus(func(x string) string { return "(YEAR(" + x + ") * 12 + MONTH(" + x + "))" })
	case "week": // TO_DAYS is 1 on a Sunday, modulo 7
		return minus(func(x string) string {
			return "((TO_DAYS(" + x + ") + " + strconv.Itoa(6-e.WeekStart) + ") DIV 7)"
		})
	case "day":
		return minus(func(x string) string { return "TO_DAYS(" + x + ")" })
	}
	length := map[string]string{"hour": "3600000000", "minute": "60000000", "second": "1000000", "millisecond": "1000"}[e.Unit]
	return "((TIMESTAMPDIFF(MICROSECOND, " + from + ", " + to + ") - " + m.since(b, e.Unit) + " + " + m.since(a, e.Unit) + ") DIV " + length + ")"
}
