package postgres

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// localTime returns the functions that write dates in the local time of a zone.
func localTime() sqlgen.LocalTime {
	return sqlgen.LocalTime{
		Text: "text", Date: "date", Over: "/", Whole: "::int8", Years: pgYears,
		Interval: func(n int, unit string) string { return "interval '" + strconv.Itoa(n) + " " + unit + "'" },
		Begin:    func(unit, local string) string { return "date_trunc('" + unit + "', " + local + ")" },
		Since: func(local string, n int) string {
			return "((extract(dow FROM " + local + ")::int4 + " + strconv.Itoa(n) + ") % 7) * interval '1 day'"
		},
	}
}

var pgParts = map[string]string{"year": "year", "month": "month", "dayOfMonth": "day", "dayOfYear": "doy", "isoDayOfWeek": "isodow", "isoWeek": "week", "isoWeekYear": "isoyear",
	"hour": "hour", "minute": "minute"}

// DatePart implements sqlgen.Dialect.
func (dialect) DatePart(s sqlgen.Scope, x, part, zone string) string {
	l := localTime().Local(s, x, zone)
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
func (dialect) DateTrunc(s sqlgen.Scope, x string, e plan.DateTrunc) string {
	return localTime().Trunc(s, x, e)
}

var pgFormats = map[byte]string{'Y': "YYYY", 'm': "MM", 'd': "DD", 'H': "HH24", 'M': "MI", 'S': "SS", 'L': "MS", 'j': "DDD", 'G': "IYYY", 'V': "IW", 'u': "ID"}

// DateText implements sqlgen.Dialect.
func (dialect) DateText(s sqlgen.Scope, x, format, zone string) string {
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
			f.WriteString(code + `""`) // the quotes separate the code from the letters that follow
		} else {
			literal(rest[:1])
		}
		format = rest[1:]
	}
	return "(to_char(" + localTime().Local(s, x, zone) + ", " + s.Arg(f.String(), "text") + ")" + pgC + ")"
}

// DateShift implements sqlgen.Dialect. It adds only if the result can't overflow.
func (dialect) DateShift(s sqlgen.Scope, x, amount, unit, zone string) string {
	n := s.Atom(amount)
	months := map[string]string{"year": "12", "quarter": "3", "month": "1"}[unit]
	days := map[string]string{"week": "7", "day": "1"}[unit]
	switch {
	case months != "":
		l := s.Atom(localTime().Local(s, x, zone))
		// The first test concerns only the amount, because PostgreSQL evaluates constants before the other tests.
		fits := n + " BETWEEN -120000 AND 120000 AND extract(year FROM " + l + ")::numeric * 12 + extract(month FROM " + l + ")::numeric - 1 + " + n + "::numeric * " + months + " BETWEEN 12 AND 119999"
		return pgYears(s.Atom(localTime().Instant(s, "(CASE WHEN "+fits+" THEN "+l+" + make_interval(months => ("+n+" * "+months+")::int4) END)", zone)))
	case days != "":
		l := s.Atom(localTime().Local(s, x, zone))
		fits := n + " BETWEEN -3652059 AND 3652059 AND " + l + "::date - date '0001-01-01' + " + n + " * " + days + " BETWEEN 0 AND 3652058"
		return pgYears(s.Atom(localTime().Instant(s, "(CASE WHEN "+fits+" THEN "+l+" + make_interval(days => ("+n+" * "+days+")::int4) END)", zone)))
	}
	most := map[string]string{"hour": "87649416", "minute": "5258964960", "second": "315537897600", "millisecond": "315537897600000"}[unit]
	step := n + " * interval '1 " + unit + "'"
	if unit == "millisecond" {
		step = "(" + n + " / 1000) * interval '1 second' + (" + n + " % 1000) * interval '1 millisecond'"
	}
	x = localTime().Shown(s, x, zone)
	seconds := map[string]string{"hour": " * 3600", "minute": " * 60", "second": "", "millisecond": " / 1000"}[unit]
	fits := n + " BETWEEN -" + most + " AND " + most + " AND extract(epoch FROM " + x + ")::numeric + " + n + "::numeric" + seconds + " BETWEEN -62135596800 AND 253402300800"
	return pgYears(s.Atom("(CASE WHEN " + fits + " THEN " + x + " + " + step + " END)"))
}

// DateDiff implements sqlgen.Dialect.
func (dialect) DateDiff(s sqlgen.Scope, from, to string, e plan.DateDiff) string {
	switch e.Unit {
	case "hour", "minute", "second":
		seconds := map[string]string{"hour": "3600", "minute": "60", "second": "1"}[e.Unit]
		return "trunc(extract(epoch FROM " + localTime().Begun(s, to, e.Unit, e.Zone) + " - " + localTime().Begun(s, from, e.Unit, e.Zone) + ")::numeric / " + seconds + ")::int8"
	case "millisecond":
		from, to = localTime().Shown(s, from, e.Zone), localTime().Shown(s, to, e.Zone)
		return "(floor(extract(epoch FROM " + to + ")::numeric * 1000) - floor(extract(epoch FROM " + from + ")::numeric * 1000))::int8"
	}
	return localTime().Days(s, from, to, e)
}
