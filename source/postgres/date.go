package postgres

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// local returns an instant in the local time of a zone, null if that is outside of the years 1 to 9999.
func (dialect) local(s sqlgen.Scope, x, zone string) string {
	if zone == "" {
		return x
	}
	return pgYears(s.Atom(pgClock(s, x, zone)))
}

// shown returns x if it is in the years 1 to 9999 in the local time of a zone.
func (p dialect) shown(s sqlgen.Scope, x, zone string) string {
	x = s.Atom(x)
	if zone == "" {
		return x
	}
	return s.Atom("(CASE WHEN " + p.local(s, x, zone) + " IS NOT NULL THEN " + x + " END)")
}

func pgClock(s sqlgen.Scope, x, zone string) string {
	if minutes, ok := sqlgen.ZoneOffset(zone); ok {
		return "(" + x + " + interval '" + strconv.Itoa(minutes) + " minutes')"
	}
	return "(" + x + " AT TIME ZONE 'UTC' AT TIME ZONE " + s.Arg(zone, "text") + ")"
}

// instantOf returns the instant at which the local time of a zone is y. Of two such instants PostgreSQL takes the
// later. The earlier has the offset from before the change.
func (dialect) instantOf(s sqlgen.Scope, y, zone string) string {
	switch minutes, ok := sqlgen.ZoneOffset(zone); {
	case zone == "":
		return y
	case ok:
		return "(" + y + " - interval '" + strconv.Itoa(minutes) + " minutes')"
	}
	y = s.Atom(y)
	later := s.Atom("(" + y + " AT TIME ZONE " + s.Arg(zone, "text") + " AT TIME ZONE 'UTC')")
	before := "(" + later + " - interval '3 hours')"
	earlier := s.Atom("(" + y + " - (" + pgClock(s, before, zone) + " - " + before + "))")
	return "(CASE WHEN " + pgClock(s, earlier, zone) + " = " + y + " THEN " + earlier + " ELSE " + later + " END)"
}

var pgParts = map[string]string{"year": "year", "month": "month", "dayOfMonth": "day", "dayOfYear": "doy", "isoDayOfWeek": "isodow", "isoWeek": "week", "isoWeekYear": "isoyear",
	"hour": "hour", "minute": "minute"}

// DatePart implements sqlgen.Dialect.
func (p dialect) DatePart(s sqlgen.Scope, x, part, zone string) string {
	l := p.local(s, x, zone)
	switch part {
	case "dayOfWeek":
		return "(extract(dow FROM " + l + ")::int8 + 1)"
	case "second":
		return "floor(extract(second FROM " + l + "))::int8"
	case "millisecond":
		return "(floor(extract(millisecond FROM " + l + "))::int8 % 1000)"
	}
	return "extract(" + pgParts[part] + " FROM " + l + ")::int8"
}

// DateTrunc implements sqlgen.Dialect.
func (p dialect) DateTrunc(s sqlgen.Scope, x string, e plan.DateTrunc) string {
	switch e.Unit {
	case "hour", "minute", "second":
		begin := p.begin(s, x, e.Unit, e.Zone)
		if e.Zone == "" {
			return begin
		}
		return pgYears(s.Atom(begin))
	case "week":
		l := s.Atom(p.local(s, x, e.Zone))
		begin := "(date_trunc('day', " + l + ") - ((extract(dow FROM " + l + ")::int4 + " + strconv.Itoa(7-e.WeekStart) + ") % 7) * interval '1 day')"
		return pgYears(s.Atom(p.instantOf(s, begin, e.Zone)))
	}
	begin := "date_trunc('" + e.Unit + "', " + p.local(s, x, e.Zone) + ")"
	if e.Zone == "" {
		return begin
	}
	return pgYears(s.Atom(p.instantOf(s, begin, e.Zone)))
}

// begin returns when the hour, the minute or the second of x began, with the offset of x.
func (p dialect) begin(s sqlgen.Scope, x, unit, zone string) string {
	if zone == "" {
		return "date_trunc('" + unit + "', " + x + ")"
	}
	x = s.Atom(x)
	l := s.Atom(p.local(s, x, zone))
	return "(" + x + " - (" + l + " - date_trunc('" + unit + "', " + l + ")))"
}

var pgFormats = map[byte]string{'Y': "YYYY", 'm': "MM", 'd': "DD", 'H': "HH24", 'M': "MI", 'S': "SS", 'L': "MS", 'j': "DDD", 'G': "IYYY", 'V': "IW", 'u': "ID"}

// DateText implements sqlgen.Dialect.
func (p dialect) DateText(s sqlgen.Scope, x, format, zone string) string {
	var f strings.Builder
	literal := func(text string) {
		f.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`)
	}
	for format != "" {
		before, rest, _ := strings.Cut(format, "%")
		if before != "" {
			literal(before)
		}
		if rest == "" {
			break
		}
		if code := pgFormats[rest[0]]; code != "" {
			f.WriteString(code + `""`) // so that the letters that follow aren't part of it
		} else {
			literal(rest[:1])
		}
		format = rest[1:]
	}
	return "(to_char(" + p.local(s, x, zone) + ", " + s.Arg(f.String(), "text") + ")" + pgC + ")"
}

// DateShift implements sqlgen.Dialect. It adds only if nothing can overflow.
func (p dialect) DateShift(s sqlgen.Scope, x, amount, unit, zone string) string {
	n := s.Atom(amount)
	months := map[string]string{"year": "12", "quarter": "3", "month": "1"}[unit]
	days := map[string]string{"week": "7", "day": "1"}[unit]
	switch {
	case months != "":
		l := s.Atom(p.local(s, x, zone))
		// The first test is only of the amount, because PostgreSQL evaluates constants before the other tests.
		fits := n + " BETWEEN -120000 AND 120000 AND extract(year FROM " + l + ")::numeric * 12 + extract(month FROM " + l + ")::numeric - 1 + " + n + "::numeric * " + months + " BETWEEN 12 AND 119999"
		return pgYears(s.Atom(p.instantOf(s, "(CASE WHEN "+fits+" THEN "+l+" + make_interval(months => ("+n+" * "+months+")::int4) END)", zone)))
	case days != "":
		l := s.Atom(p.local(s, x, zone))
		fits := n + " BETWEEN -3652059 AND 3652059 AND " + l + "::date - date '0001-01-01' + " + n + " * " + days + " BETWEEN 0 AND 3652058"
		return pgYears(s.Atom(p.instantOf(s, "(CASE WHEN "+fits+" THEN "+l+" + make_interval(days => ("+n+" * "+days+")::int4) END)", zone)))
	}
	most := map[string]string{"hour": "87649416", "minute": "5258964960", "second": "315537897600", "millisecond": "315537897600000"}[unit]
	step := n + " * interval '1 " + unit + "'"
	if unit == "millisecond" {
		step = "(" + n + " / 1000) * interval '1 second' + (" + n + " % 1000) * interval '1 millisecond'"
	}
	x = p.shown(s, x, zone)
	seconds := map[string]string{"hour": " * 3600", "minute": " * 60", "second": "", "millisecond": " / 1000"}[unit]
	fits := n + " BETWEEN -" + most + " AND " + most + " AND extract(epoch FROM " + x + ")::numeric + " + n + "::numeric" + seconds + " BETWEEN -62135596800 AND 253402300800"
	return pgYears(s.Atom("(CASE WHEN " + fits + " THEN " + x + " + " + step + " END)"))
}

// DateDiff implements sqlgen.Dialect.
func (p dialect) DateDiff(s sqlgen.Scope, from, to string, e plan.DateDiff) string {
	switch e.Unit {
	case "hour", "minute", "second":
		seconds := map[string]string{"hour": "3600", "minute": "60", "second": "1"}[e.Unit]
		return "trunc(extract(epoch FROM " + p.begin(s, to, e.Unit, e.Zone) + " - " + p.begin(s, from, e.Unit, e.Zone) + ")::numeric / " + seconds + ")::int8"
	case "millisecond":
		from, to = p.shown(s, from, e.Zone), p.shown(s, to, e.Zone)
		return "(floor(extract(epoch FROM " + to + ")::numeric * 1000) - floor(extract(epoch FROM " + from + ")::numeric * 1000))::int8"
	}
	a, b := s.Atom(p.local(s, from, e.Zone)), s.Atom(p.local(s, to, e.Zone))
	count := func(l string) string {
		switch e.Unit {
		case "year":
			return "extract(year FROM " + l + ")"
		case "quarter":
			return "(extract(year FROM " + l + ") * 4 + extract(quarter FROM " + l + "))"
		case "month":
			return "(extract(year FROM " + l + ") * 12 + extract(month FROM " + l + "))"
		case "week": // 3 January of the year 0, and so every seventh day after, is a Sunday
			return "((" + l + "::date - date '0001-01-07' + " + strconv.Itoa(14-e.WeekStart) + ") / 7)"
		}
		return "(" + l + "::date - date '0001-01-01')"
	}
	return "(" + count(b) + " - " + count(a) + ")::int8"
}
