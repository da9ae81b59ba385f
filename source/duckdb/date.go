package duckdb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// localTime returns the functions that write dates in the local time of a zone.
func localTime() sqlgen.LocalTime {
	return sqlgen.LocalTime{
		Text: "VARCHAR", Date: "DATE", Over: "//", Years: years,
		Interval: func(n int, unit string) string { return "to_" + unit + "(" + strconv.Itoa(n) + ")" },
		Begin:    func(unit, local string) string { return "(date_trunc('" + unit + "', " + local + ")::TIMESTAMP)" },
		Since: func(local string, n int) string {
			return "to_days(((extract(dow FROM " + local + ") + " + strconv.Itoa(n) + ") % 7)::INTEGER)"
		},
	}
}

var parts = map[string]string{"year": "year", "month": "month", "dayOfMonth": "day", "dayOfYear": "doy", "isoDayOfWeek": "isodow", "isoWeek": "week", "isoWeekYear": "isoyear",
	"hour": "hour", "minute": "minute", "second": "second"}

// DatePart implements sqlgen.Dialect.
func (dialect) DatePart(s sqlgen.Scope, x, part, zone string) string {
	l := localTime().Local(s, x, zone)
	switch part {
	case "dayOfWeek":
		return "(extract(dow FROM " + l + ") + 1)"
	case "millisecond":
		return "(extract(millisecond FROM " + l + ") % 1000)"
	}
	return "extract(" + parts[part] + " FROM " + l + ")"
}

// DateTrunc implements sqlgen.Dialect.
func (dialect) DateTrunc(s sqlgen.Scope, x string, e plan.DateTrunc) string {
	return localTime().Trunc(s, x, e)
}

var formats = map[byte]string{'Y': "%Y", 'm': "%m", 'd': "%d", 'H': "%H", 'M': "%M", 'S': "%S", 'L': "%g", 'j': "%j", 'G': "%G", 'V': "%V", 'u': "%u"}

// DateText implements sqlgen.Dialect.
func (dialect) DateText(s sqlgen.Scope, x, format, zone string) string {
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
	return "strftime(" + localTime().Local(s, x, zone) + ", " + s.Arg(f.String(), "VARCHAR") + ")"
}

// micros contains the number of microseconds of the units with a constant length.
var micros = map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000}

// DateShift implements sqlgen.Dialect. It adds only if the result can't overflow.
func (dialect) DateShift(s sqlgen.Scope, x, amount, unit, zone string) string {
	n := s.Atom(amount)
	months := map[string]string{"year": "12", "quarter": "3", "month": "1"}[unit]
	days := map[string]string{"week": "7", "day": "1"}[unit]
	switch {
	case months != "":
		l := s.Atom(localTime().Local(s, x, zone))
		fits := "CASE WHEN " + n + " BETWEEN -120000 AND 120000 THEN extract(year FROM " + l + ") * 12 + extract(month FROM " + l + ") - 1 + " + n + " * " + months + " BETWEEN 12 AND 119999 END"
		return years(s.Atom(localTime().Instant(s, "(CASE WHEN "+fits+" THEN "+l+" + to_months(("+n+" * "+months+")::INTEGER) END)", zone)))
	case days != "":
		l := s.Atom(localTime().Local(s, x, zone))
		fits := "CASE WHEN " + n + " BETWEEN -3652059 AND 3652059 THEN " + l + "::DATE - DATE '0001-01-01' + " + n + " * " + days + " BETWEEN 0 AND 3652058 END"
		return years(s.Atom(localTime().Instant(s, "(CASE WHEN "+fits+" THEN "+l+" + to_days(("+n+" * "+days+")::INTEGER) END)", zone)))
	}
	x = localTime().Shown(s, x, zone)
	const most = 315_537_897_600_000_000 // the microseconds of 9999 years
	fits := n + " BETWEEN -" + strconv.FormatInt(most/micros[unit], 10) + " AND " + strconv.FormatInt(most/micros[unit], 10)
	return years(s.Atom("(CASE WHEN " + fits + " THEN make_timestamp(epoch_us(" + x + ") + " + n + " * " + strconv.FormatInt(micros[unit], 10) + ") END)"))
}

// DateDiff implements sqlgen.Dialect.
func (dialect) DateDiff(s sqlgen.Scope, from, to string, e plan.DateDiff) string {
	switch e.Unit {
	case "hour", "minute", "second":
		return "((epoch_us(" + localTime().Begun(s, to, e.Unit, e.Zone) + ") - epoch_us(" + localTime().Begun(s, from, e.Unit, e.Zone) + ")) // " + strconv.FormatInt(micros[e.Unit], 10) + ")"
	case "millisecond":
		count := func(x string) string { // milliseconds since the year 1, so that the division rounds down
			return "((epoch_us(" + localTime().Shown(s, x, e.Zone) + ") + 62135596800000000) // 1000)"
		}
		return "(" + count(to) + " - " + count(from) + ")"
	}
	return localTime().Days(s, from, to, e)
}
