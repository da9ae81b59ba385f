package sqlbind

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// millis contains the lengths of the units with a fixed length, in milliseconds.
var millis = map[string]int64{"millisecond": 1, "second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000, "week": 7 * 86_400_000}

// months contains the lengths of the other units, in months.
var months = map[string]int64{"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}

// unitNames are the names of units in SQL dialects.
var unitNames = map[string]string{"ms": "millisecond", "milliseconds": "millisecond", "s": "second", "sec": "second", "secs": "second", "ss": "second", "seconds": "second",
	"m": "minute", "min": "minute", "mins": "minute", "mi": "minute", "minutes": "minute", "h": "hour", "hh": "hour", "hr": "hour", "hrs": "hour", "hours": "hour",
	"d": "day", "dd": "day", "days": "day", "w": "week", "wk": "week", "weeks": "week", "mon": "month", "mons": "month", "mm": "month", "months": "month",
	"qq": "quarter", "quarters": "quarter", "y": "year", "yy": "year", "yyyy": "year", "yr": "year", "years": "year", "decades": "decade", "centuries": "century"}

// Unit returns the unit for a name, or "".
func Unit(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if u, ok := unitNames[name]; ok {
		return u
	}
	if millis[name] > 0 || months[name] > 0 {
		return name
	}
	return ""
}

// Millis returns the length of a unit in milliseconds, or 0 if it has no fixed length.
func Millis(unit string) int64 { return millis[unit] }

// Months returns the length of a unit in months, or 0 for a shorter unit.
func Months(unit string) int64 { return months[unit] }

// Interval parses a length of time such as "1 year 2 days", "-3 hours" or "01:30:00". It returns months and
// milliseconds. As in PostgreSQL, a fraction of a month becomes days, and a fraction of a longer unit becomes whole
// months.
func Interval(text string) (month, ms int64, ok bool) {
	fields := strings.Fields(strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(text), " ago"), "@ "))
	ago := strings.HasSuffix(strings.ToLower(text), " ago")
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		if strings.Contains(f, ":") {
			d, ok := clock(f)
			if !ok {
				return 0, 0, false
			}
			ms += d
			continue
		}
		// A number and its unit, with an optional space between them. A number without a unit means seconds.
		digits := strings.TrimLeft(f, "+-0123456789.")
		n, err := strconv.ParseFloat(strings.TrimSuffix(f, digits), 64)
		if err != nil {
			return 0, 0, false
		}
		name := digits
		if name == "" {
			if i++; i == len(fields) {
				name = "second"
			} else {
				name = fields[i]
			}
		}
		u := Unit(name)
		switch {
		case u == "" || n > 1e9 || n < -1e9:
			return 0, 0, false
		case u == "month": // a fraction of a month is that fraction of 30 days
			whole := math.Trunc(n)
			month += int64(whole)
			ms += int64(math.Round((n - whole) * 30 * float64(millis["day"])))
		case months[u] > 0:
			month += int64(math.Round(n * float64(months[u])))
		default:
			ms += int64(n * float64(millis[u]))
		}
	}
	if ago {
		month, ms = -month, -ms
	}
	return month, ms, len(fields) > 0
}

// clock parses hours, minutes and seconds. It returns milliseconds.
func clock(s string) (int64, bool) {
	sign := int64(1)
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		s, sign = rest, -1
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return sign * (int64(t.Hour())*3_600_000 + int64(t.Minute())*60_000 + int64(t.Second())*1000 + int64(t.Nanosecond())/1e6), true
		}
	}
	return 0, false
}
