package tool

import (
	"fmt"
	"slices"
	"time"
)

// A calendar knows which intervals there are, by the texts that formats gives them.
type calendar struct {
	interval string
	zone     *time.Location
}

// zone returns the zone of a name, or of an offset such as +05:30. What is none was refused before, and is UTC here.
func zone(name string) *time.Location {
	if at, err := time.Parse("-07:00", name); err == nil {
		_, seconds := at.Zone()
		return time.FixedZone(name, seconds)
	}
	if loc, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return loc
	}
	return time.UTC
}

// between returns the intervals after from and before to, the first most of them; in descending order with down, the
// last most.
func (k *calendar) between(from, to string, most int, down bool) []string {
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

// wall reads the text of an interval as what clocks show at its beginning: a time in UTC that stands for it.
func (k *calendar) wall(text string) time.Time {
	if k.interval == "week" {
		var year, week int
		fmt.Sscanf(text, "%d-W%d", &year, &week) // the source wrote it by our format
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
		monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
		return monday.AddDate(0, 0, 7*(week-1))
	}
	const layout = "2006-01-02 15:04:05"
	t, _ := time.Parse(layout[:len(text)], text) // the same
	return t
}

// text writes the interval that a time is in, whatever its zone.
func (k *calendar) text(t time.Time) string {
	switch k.interval {
	case "year":
		return t.Format("2006")
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

func (k *calendar) next(t time.Time) time.Time     { return k.step(t, 1) }
func (k *calendar) previous(t time.Time) time.Time { return k.step(t, -1) }

func (k *calendar) step(t time.Time, n int) time.Time {
	switch k.interval {
	case "year":
		return t.AddDate(n, 0, 0)
	case "month":
		return t.AddDate(0, n, 0) // from the first of a month
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

// exists reports whether clocks of the zone ever show a time of the interval: when they are put forward, they pass
// over an hour.
func (k *calendar) exists(wall time.Time, text string) bool {
	if k.interval != "hour" && k.interval != "minute" && k.interval != "second" && k.interval != "day" {
		return true
	}
	end := k.next(wall).Add(-time.Second)
	for _, day := range []int{-1, 1} {
		_, offset := wall.AddDate(0, 0, day).In(k.zone).Zone()
		for _, clock := range []time.Time{wall, end} {
			if k.text(clock.Add(-time.Duration(offset)*time.Second).In(k.zone)) == text {
				return true
			}
		}
	}
	return false
}
