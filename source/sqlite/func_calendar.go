package sqlite

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"
)

// begin returns the beginning of the unit that contains t, by the clock. Weeks begin on the day first, where 0 is
// Sunday.
func (c clock) begin(t time.Time, unit string, first int64) time.Time {
	wall := c.at(t)
	switch unit {
	case "hour":
		return t.Add(wall.Truncate(time.Hour).Sub(wall))
	case "minute":
		return t.Add(wall.Truncate(time.Minute).Sub(wall))
	case "second":
		return t.Truncate(time.Second)
	case "millisecond":
		return t
	}
	return c.instant(unitBegin(wall, unit, first))
}

// unitBegin returns the midnight at which a unit of a day or longer begins.
func unitBegin(wall time.Time, unit string, first int64) time.Time {
	y, m, d := wall.Date()
	switch unit {
	case "year":
		m, d = 1, 1
	case "quarter":
		m, d = (m-1)/3*3+1, 1
	case "month":
		d = 1
	case "week":
		d -= int((int64(wall.Weekday()) - first%7 + 7) % 7)
	}
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// shift returns the instant n units later, or null if it is out of range.
func (c clock) shift(t time.Time, n int64, unit string) driver.Value {
	const years = 100_000
	most, months, days := int64(years*366*day)*1000, int64(0), int64(0)
	var step time.Duration
	switch unit {
	case "year":
		most, months = years, 12
	case "quarter":
		most, months = years*4, 3
	case "month":
		most, months = years*12, 1
	case "week":
		most, days = years*53, 7
	case "day":
		most, days = years*366, 1
	case "hour":
		most, step = most/3600000, time.Hour
	case "minute":
		most, step = most/60000, time.Minute
	case "second":
		most, step = most/1000, time.Second
	case "millisecond":
		step = time.Millisecond
	default:
		return nil
	}
	if n > most || n < -most {
		return nil
	}
	if step > 0 {
		// In milliseconds, since a Duration can't exceed 292 years.
		ms := t.UnixMilli() + n*step.Milliseconds()
		if !inYears(ms) {
			return nil
		}
		return ms
	}
	wall := c.at(t)
	if months > 0 {
		y, m, d := wall.Date()
		last := time.Date(y, m+time.Month(n*months)+1, 0, 0, 0, 0, 0, time.UTC)
		days = int64(min(d, last.Day()) - d)
		wall = wall.AddDate(0, 0, 1-d) // the first day of the month, which exists in every month
		wall = wall.AddDate(0, int(n*months), d-1+int(days))
	} else {
		wall = wall.AddDate(0, 0, int(n*days))
	}
	if wall.Year() < 1 || wall.Year() > 9999 {
		return nil
	}
	return funcMillis(c.instant(wall))
}

// between returns the number of units that begin after the instant from and not after the instant to.
func (c clock) between(from, to time.Time, unit string, first int64) driver.Value {
	switch unit {
	case "hour", "minute", "second", "millisecond":
		step := map[string]int64{"hour": 3600000, "minute": 60000, "second": 1000, "millisecond": 1}[unit]
		return (c.begin(to, unit, 0).UnixMilli() - c.begin(from, unit, 0).UnixMilli()) / step
	}
	a, b := unitBegin(c.at(from), unit, first), unitBegin(c.at(to), unit, first)
	months := int64(b.Year()-a.Year())*12 + int64(b.Month()-a.Month())
	days := (b.Unix() - a.Unix()) / day
	switch unit {
	case "year":
		return months / 12
	case "quarter":
		return months / 3
	case "month":
		return months
	case "week":
		return days / 7
	case "day":
		return days
	}
	return nil
}

// formatTime formats wall with the conversions of MongoDB's $dateToString. They are %Y %m %d %H %M %S, %L
// (milliseconds), %j (day of the year), %G %V %u (ISO year, week and weekday) and %%. It copies unknown conversions,
// which the binder has already rejected.
func formatTime(wall time.Time, format string) string {
	year, week := wall.ISOWeek()
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out.WriteByte(format[i])
			continue
		}
		i++
		switch format[i] {
		case 'Y':
			fmt.Fprintf(&out, "%04d", wall.Year())
		case 'm':
			fmt.Fprintf(&out, "%02d", wall.Month())
		case 'd':
			fmt.Fprintf(&out, "%02d", wall.Day())
		case 'H':
			fmt.Fprintf(&out, "%02d", wall.Hour())
		case 'M':
			fmt.Fprintf(&out, "%02d", wall.Minute())
		case 'S':
			fmt.Fprintf(&out, "%02d", wall.Second())
		case 'L':
			fmt.Fprintf(&out, "%03d", wall.Nanosecond()/1e6)
		case 'j':
			fmt.Fprintf(&out, "%03d", wall.YearDay())
		case 'G':
			fmt.Fprintf(&out, "%04d", year)
		case 'V':
			fmt.Fprintf(&out, "%02d", week)
		case 'u':
			fmt.Fprintf(&out, "%d", (int(wall.Weekday())+6)%7+1)
		case '%':
			out.WriteByte('%')
		default:
			out.WriteString(format[i-1 : i+1])
		}
	}
	return out.String()
}
