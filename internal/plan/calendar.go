package plan

import (
	"fmt"
	"slices"
	"time"
)

// A Calendar enumerates intervals of one length in one time zone, as texts.
type Calendar struct {
	Interval string
	Zone     *time.Location
}

// Zone returns the time zone for a name or for an offset such as +05:30. It returns UTC for an invalid name, which
// earlier checks reject.
func Zone(name string) *time.Location {
	if at, err := time.Parse("-07:00", name); err == nil {
		_, seconds := at.Zone()
		return time.FixedZone(name, seconds)
	}
	if loc, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return loc
	}
	return time.UTC
}

// Between returns the intervals between from and to, without these two. The argument most is the maximum number of
// results. With down, it returns them in descending order, starting before to.
func (k *Calendar) Between(from, to string, most int, down bool) []string {
	at, last := k.wall(from), k.wall(to)
	step := k.next
	if down {
		at, last, step = last, at, k.previous
	}
	var out []string
	for at = step(at); len(out) < most && (at.Before(last) != down) && !at.Equal(last); at = step(at) {
		if text := k.text(at); k.exists(at, text) {
			out = append(out, text)
		}
	}
	return slices.Clip(out)
}

// wall parses the text of an interval and returns the local time of its beginning, as a time in UTC.
func (k *Calendar) wall(text string) time.Time {
	if k.Interval == "week" {
		var year, week int
		fmt.Sscanf(text, "%d-W%d", &year, &week) // the text has our format
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
		monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
		return monday.AddDate(0, 0, 7*(week-1))
	}
	if k.Interval == "quarter" {
		year, _ := time.Parse("2006", text[:4])
		return year.AddDate(0, 3*int(text[6]-'1'), 0)
	}
	const layout = "2006-01-02 15:04:05"
	t, _ := time.Parse(layout[:len(text)], text) // the text has our format
	return t
}

// text returns the interval that contains t, ignoring t's zone.
func (k *Calendar) text(t time.Time) string {
	switch k.Interval {
	case "year":
		return t.Format("2006")
	case "quarter":
		return fmt.Sprintf("%04d-Q%d", t.Year(), (t.Month()+2)/3)
	case "month":
		return t.Format("2006-01")
	case "week":
		year, week := t.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case "day":
		return t.Format("2006-01-02")
	case "hour":
		return t.Format("2006-01-02 15") + ":00"
	case "minute":
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("2006-01-02 15:04:05")
}

func (k *Calendar) next(t time.Time) time.Time     { return k.step(t, 1) }
func (k *Calendar) previous(t time.Time) time.Time { return k.step(t, -1) }

// step returns the beginning of the interval that is n intervals after t, in the Calendar's zone. Intervals of days and
// longer follow the calendar, in which a day may have 23 or 25 hours. Shorter intervals follow the clock.
func (k *Calendar) step(t time.Time, n int) time.Time {
	switch k.Interval {
	case "year":
		return t.AddDate(n, 0, 0)
	case "quarter":
		return t.AddDate(0, 3*n, 0)
	case "month":
		return t.AddDate(0, n, 0) // t is the first of a month
	case "week":
		return t.AddDate(0, 0, 7*n)
	case "day":
		return t.AddDate(0, 0, n)
	case "hour":
		return t.Add(time.Duration(n) * time.Hour)
	case "minute":
		return t.Add(time.Duration(n) * time.Minute)
	}
	return t.Add(time.Duration(n) * time.Second)
}

// exists reports whether any local time in the interval exists. When clocks go forward, some local times are skipped.
func (k *Calendar) exists(wall time.Time, text string) bool {
	if k.Interval != "hour" && k.Interval != "minute" && k.Interval != "second" && k.Interval != "day" {
		return true
	}
	end := k.next(wall).Add(-time.Second)
	for _, day := range []int{-1, 1} {
		_, offset := wall.AddDate(0, 0, day).In(k.Zone).Zone()
		for _, clock := range []time.Time{wall, end} {
			if k.text(clock.Add(-time.Duration(offset)*time.Second).In(k.Zone)) == text {
				return true
			}
		}
	}
	return false
}

// AddMonths adds n months to t. It returns the last day of the month if the month is too short.
func AddMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month(), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC).AddDate(0, n, 0)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
