package interpret

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/value"
)

// date returns the value of an expression over dates.
func (at *place) date(e plan.Expr) value.Value {
	switch e := e.(type) {
	case plan.DatePart:
		return at.onClock(e.X, e.Zone, func(t time.Time) value.Value { return at.datePart(t, e.Part) })
	case plan.DateTrunc:
		return at.onClock(e.X, e.Zone, func(t time.Time) value.Value {
			return instant(at.begin(t, e.Unit, e.WeekStart))
		})
	case plan.DateText:
		return at.onClock(e.X, e.Zone, func(t time.Time) value.Value { return at.dateText(t, e.Format) })
	case plan.DateShift:
		amount := at.eval(e.Amount)
		return at.onClock(e.X, e.Zone, func(t time.Time) value.Value {
			if amount.IsNull() {
				return amount
			}
			return at.addUnits(t, amount.Int(), e.Unit)
		})
	case plan.DateDiff:
		return at.onClock(e.From, e.Zone, func(from time.Time) value.Value {
			return at.onClock(e.To, e.Zone, func(to time.Time) value.Value { return at.between(from, to, e) })
		})
	}
	at.fail("interpret: there is no expression %T", e)
	return value.Value{}
}

// onClock calls a function with the local time of a date in a zone, and returns the result. It returns null if x isn't
// a date, or if the local time is outside of the years 1 to 9999.
func (at *place) onClock(x plan.Expr, zone string, of func(time.Time) value.Value) value.Value {
	v := at.eval(x)
	location, err := at.parseZone(zone)
	if err != nil {
		at.fail("%v", err)
	}
	if v.IsNull() || err != nil {
		return value.Value{}
	}
	t := time.UnixMicro(v.Micros()).In(location)
	if t.Year() < 1 || t.Year() > 9999 {
		return value.Value{}
	}
	return of(t)
}

// parseZone parses a zone: "" for UTC, an offset, or a name.
func (r *reading) parseZone(zone string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", zone); err == nil {
		_, seconds := t.Zone()
		return time.FixedZone(zone, seconds), nil
	}
	if l := r.zones[zone]; l != nil {
		return l, nil
	}
	l, err := time.LoadLocation(zone)
	if r.zones == nil {
		r.zones = map[string]*time.Location{}
	}
	r.zones[zone] = l
	return l, err
}

// instant returns t as a value. It returns null outside of the years 1 to 9999.
func instant(t time.Time) value.Value { return dateOf(t.UnixMicro()) }

// datePart returns a part of t, as MongoDB's operator of the same name and source/sqlite do.
func (at *place) datePart(t time.Time, part string) value.Value {
	isoYear, isoWeek := t.ISOWeek()
	n, ok := map[string]int{"year": t.Year(), "month": int(t.Month()), "dayOfMonth": t.Day(), "dayOfYear": t.YearDay(),
		"dayOfWeek": int(t.Weekday()) + 1, "isoDayOfWeek": isoWeekday(t), "isoWeek": isoWeek, "isoWeekYear": isoYear,
		"hour": t.Hour(), "minute": t.Minute(), "second": t.Second(), "millisecond": t.Nanosecond() / int(time.Millisecond)}[part]
	if !ok {
		at.fail("dates have no part %q", part)
	}
	return value.OfInt(int64(n))
}

// isoWeekday returns the day of the week, from 1 on Monday to 7 on Sunday.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// begin returns the beginning of the unit that contains t, in t's zone.
func (at *place) begin(t time.Time, unit string, weekStart int) time.Time {
	year, month, day := t.Date()
	switch unit {
	case "year":
		return clock(year, 1, 1, t.Location())
	case "quarter":
		return clock(year, (month-1)/3*3+1, 1, t.Location())
	case "month":
		return clock(year, month, 1, t.Location())
	case "week":
		return clock(year, month, day-(int(t.Weekday())-weekStart+7)%7, t.Location())
	case "day":
		return clock(year, month, day, t.Location())
	}
	length, ok := map[string]time.Duration{"hour": time.Hour, "minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}[unit]
	if !ok {
		at.fail("dates have no unit %q", unit)
		return t
	}
	// These units begin in local time with t's offset, even if the offset has changed since.
	midnight := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second +
		time.Duration(t.Nanosecond())
	return t.Add(-(midnight % length))
}

// clock returns the instant of midnight of a day in a zone.
func clock(year int, month time.Month, day int, zone *time.Location) time.Time {
	return showing(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), zone)
}

// showing returns the instant whose local time in zone is shown. shown is given in UTC. If there are two such instants,
// it returns the first. A skipped local time is read with the offset before the gap.
func showing(shown time.Time, zone *time.Location) time.Time {
	var before, first time.Time
	// No zone changes its offset twice within a day, so only the offsets a day before and after are possible.
	for i, around := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, offset := shown.Add(around).In(zone).Zone()
		t := shown.Add(-time.Duration(offset) * time.Second).In(zone)
		if i == 0 {
			before = t
		}
		_, have := t.Zone()
		if have == offset && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if first.IsZero() {
		return before
	}
	return first
}

var formats = map[byte]func(time.Time) string{
	'Y': func(t time.Time) string { return fmt.Sprintf("%04d", t.Year()) },
	'm': func(t time.Time) string { return t.Format("01") },
	'd': func(t time.Time) string { return t.Format("02") },
	'H': func(t time.Time) string { return t.Format("15") },
	'M': func(t time.Time) string { return t.Format("04") },
	'S': func(t time.Time) string { return t.Format("05") },
	'L': func(t time.Time) string { return fmt.Sprintf("%03d", t.Nanosecond()/int(time.Millisecond)) },
	'j': func(t time.Time) string { return fmt.Sprintf("%03d", t.YearDay()) },
	'G': func(t time.Time) string { year, _ := t.ISOWeek(); return fmt.Sprintf("%04d", year) },
	'V': func(t time.Time) string { _, week := t.ISOWeek(); return fmt.Sprintf("%02d", week) },
	'u': func(t time.Time) string { return fmt.Sprint(isoWeekday(t)) },
	'%': func(time.Time) string { return "%" },
}

// dateText formats t with MongoDB's format specifiers. An unknown specifier fails the reading, because the binder has
// already checked the format.
func (at *place) dateText(t time.Time, format string) value.Value {
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		i++
		if i == len(format) || formats[format[i]] == nil {
			at.fail("the format %q has a part that isn't known", format)
			return value.Value{}
		}
		out.WriteString(formats[format[i]](t))
	}
	return value.OfString(out.String())
}

// addUnits returns the instant that is n units after t. Days and longer units follow the calendar of t's zone.
func (at *place) addUnits(t time.Time, n int64, unit string) value.Value {
	if lengths := map[string]time.Duration{"hour": time.Hour, "minute": time.Minute, "second": time.Second, "millisecond": time.Millisecond}; lengths[unit] > 0 {
		length := lengths[unit].Microseconds()
		if n > maxMicros/length || n < -maxMicros/length {
			return value.Value{}
		}
		return dateOf(t.UnixMicro() + n*length)
	}
	months, days := map[string]int{"year": 12, "quarter": 3, "month": 1}[unit], map[string]int{"week": 7, "day": 1}[unit]
	if months == 0 && days == 0 {
		at.fail("dates have no unit %q", unit)
	}
	if n > maxDays || n < -maxDays {
		return value.Value{}
	}
	shown := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).AddDate(0, months*int(n), 0)
	last := shown.AddDate(0, 1, -1).Day()
	shown = shown.AddDate(0, 0, min(t.Day(), last)-1+days*int(n))
	if shown.Year() < 1 || shown.Year() > 9999 {
		return value.Value{}
	}
	return instant(showing(shown, t.Location()))
}

// The largest differences between two dates.
const (
	maxDays   = 10_000 * 366
	maxMicros = maxDays * 24 * int64(time.Hour/time.Microsecond)
)

// between returns the number of times that a unit begins after from, up to and including to.
func (at *place) between(from, to time.Time, e plan.DateDiff) value.Value {
	months := func(t time.Time) int64 { return int64(t.Year())*12 + int64(t.Month()) - 1 }
	days := func(t time.Time) int64 {
		year, month, day := t.Date()
		return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
	}
	// Monday is 1, and 1970-01-01 was a Thursday. The addition makes the number positive for every date.
	weeks := func(t time.Time) int64 { return (days(t) + 4 - int64(e.WeekStart) + 7*200_000) / 7 }
	switch e.Unit {
	case "year":
		return value.OfInt(int64(to.Year() - from.Year()))
	case "quarter":
		return value.OfInt(months(to)/3 - months(from)/3)
	case "month":
		return value.OfInt(months(to) - months(from))
	case "week":
		return value.OfInt(weeks(to) - weeks(from))
	case "day":
		return value.OfInt(days(to) - days(from))
	}
	length := map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000}[e.Unit]
	apart := at.begin(to, e.Unit, e.WeekStart).UnixMicro() - at.begin(from, e.Unit, e.WeekStart).UnixMicro()
	if length == 0 {
		return value.Value{} // begin has reported the unknown unit
	}
	return value.OfInt(apart / length)
}
