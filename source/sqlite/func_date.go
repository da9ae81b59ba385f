package sqlite

import (
	"database/sql/driver"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
)

// minMillis and maxMillis are the limits of the years 1 to 9999.
const (
	minMillis = -62135596800000
	maxMillis = 253402300799999
)

func inYears(ms int64) bool { return ms >= minMillis && ms <= maxMillis }

const day = 86400

// A clock is the wall clock of a zone. Its times are represented as if they were in UTC.
type clock struct{ *time.Location }

// at returns the wall-clock time at instant t, represented as if it were in UTC.
func (c clock) at(t time.Time) time.Time {
	_, offset := t.In(c.Location).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// instant returns the instant at which the clock shows wall. If the clock shows it twice, that is the first instant.
// If the clock skips it, the offset before the gap applies.
func (c clock) instant(wall time.Time) time.Time {
	_, before := wall.AddDate(0, 0, -1).In(c.Location).Zone()
	_, after := wall.AddDate(0, 0, 1).In(c.Location).Zone()
	first := wall.Add(-time.Duration(before) * time.Second)
	if before == after || c.at(first).Equal(wall) {
		return first
	}
	if second := wall.Add(-time.Duration(after) * time.Second); c.at(second).Equal(wall) {
		return second
	}
	return first
}

// zone parses a zone: "" for UTC, an offset such as "+05:30", or a name of the IANA database. It returns nil for any
// other text.
func zone(name string) any {
	if name == "" || name == "UTC" {
		return time.UTC
	}
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone("", offset)
	}
	loc, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return (*time.Location)(nil)
	}
	return loc
}

// at parses the instant and the zone of a function's arguments.
func (c *caches) at(ms, name driver.Value) (time.Time, clock, bool) {
	n, ok := ms.(int64)
	text, zok := name.(string)
	if !ok || !zok || !inYears(n) {
		return time.Time{}, clock{}, false
	}
	loc := c.zones.get(text, zone).(*time.Location)
	if loc == nil {
		return time.Time{}, clock{}, false
	}
	t := time.UnixMilli(n).UTC()
	year := t.In(loc).Year()
	return t, clock{loc}, year >= 1 && year <= 9999
}

// dates returns the functions of dates. Instants are integers, in milliseconds since 1970. A zone is "", an offset or
// an IANA name, and c caches its parsed form. The result is null for null, and for an instant outside of the years 1
// to 9999.
func dates(c *caches) map[string]function {
	return map[string]function{
		fnInstant:  {1, instant},
		fnDay:      {1, midnight},
		fnDateText: ofDate(func(ms int64) value.Value { return value.OfDate(ms * 1000) }),
		fnDayText:  ofDate(func(ms int64) value.Value { return value.OfDay(ms * 1000) }),
		fnDatePart: {3, func(args []driver.Value) driver.Value {
			t, clock, ok := c.at(args[0], args[2])
			name, _ := args[1].(string)
			if !ok {
				return nil
			}
			return datePart(clock.at(t), name)
		}},
		fnDateTrunc: {4, func(args []driver.Value) driver.Value {
			t, clock, ok := c.at(args[0], args[2])
			unit, _ := args[1].(string)
			first, _ := args[3].(int64)
			if !ok {
				return nil
			}
			return funcMillis(clock.begin(t, unit, first))
		}},
		fnDateWrite: {3, func(args []driver.Value) driver.Value {
			t, clock, ok := c.at(args[0], args[2])
			format, fok := args[1].(string)
			if !ok || !fok {
				return nil
			}
			return formatTime(clock.at(t), format)
		}},
		fnDateShift: {4, func(args []driver.Value) driver.Value {
			t, clock, ok := c.at(args[0], args[3])
			n, nok := args[1].(int64)
			unit, _ := args[2].(string)
			if !ok || !nok {
				return nil
			}
			return clock.shift(t, n, unit)
		}},
		fnDateDiff: {5, func(args []driver.Value) driver.Value {
			from, clock, ok := c.at(args[0], args[3])
			to, _, tok := c.at(args[1], args[3])
			unit, _ := args[2].(string)
			first, _ := args[4].(int64)
			if !ok || !tok {
				return nil
			}
			return clock.between(from, to, unit, first)
		}},
	}
}

func instant(args []driver.Value) driver.Value {
	if t, ok := storedInstant(args[0]); ok {
		return t.UnixMilli()
	}
	return nil
}

func midnight(args []driver.Value) driver.Value {
	if t, ok := storedInstant(args[0]); ok && t.UnixMicro()%(day*1e6) == 0 {
		return t.UnixMilli()
	}
	return nil
}

func ofDate(of func(ms int64) value.Value) function {
	return function{1, func(args []driver.Value) driver.Value {
		if ms, ok := args[0].(int64); ok && inYears(ms) {
			return of(ms).String()
		}
		return nil
	}}
}

// funcMillis returns t in milliseconds, or null if it is outside of the years 1 to 9999.
func funcMillis(t time.Time) driver.Value {
	if ms := t.UnixMilli(); inYears(ms) {
		return ms
	}
	return nil
}

// datePart returns the part of wall that MongoDB's operator of the same name returns. dayOfWeek counts from Sunday as
// 1, and isoDayOfWeek from Monday as 1. An unknown part gives null.
func datePart(wall time.Time, part string) driver.Value {
	year, week := wall.ISOWeek()
	switch part {
	case "year":
		return int64(wall.Year())
	case "month":
		return int64(wall.Month())
	case "dayOfMonth":
		return int64(wall.Day())
	case "dayOfYear":
		return int64(wall.YearDay())
	case "dayOfWeek":
		return int64(wall.Weekday()) + 1
	case "isoDayOfWeek":
		return (int64(wall.Weekday())+6)%7 + 1
	case "isoWeek":
		return int64(week)
	case "isoWeekYear":
		return int64(year)
	case "hour":
		return int64(wall.Hour())
	case "minute":
		return int64(wall.Minute())
	case "second":
		return int64(wall.Second())
	case "millisecond":
		return int64(wall.Nanosecond() / 1e6)
	}
	return nil
}
