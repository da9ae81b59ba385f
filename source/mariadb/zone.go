package mariadb

import (
	"strconv"
	"strings"
	"time"
)

// A zone is the offsets of a time zone, which are written into the statement. A server may have no tables of zones, and
// with them only knows the years 1970 to 2037. Its rules repeat after lastYear. A year has the offsets of an earlier
// one that begins on the same day of the week and is a leap year if it is.
type zone struct {
	changes []change // in order
	first   int      // the offset before the first of them, in seconds
	varies  bool     // the offset still changes in the years that represent later ones
}

// A change is a change of the offset.
type change struct {
	at            int64 // seconds since 1970
	before, after int   // seconds
}

// firstRepeated and lastYear bound the years that represent later ones. They include each kind of year, since none of
// them is a skipped leap year.
const firstRepeated, lastYear = 2101, 2128

// zoneOf returns the zone of that name, which was checked when the query was bound.
func zoneOf(name string) zone {
	location, err := time.LoadLocation(name)
	if err != nil {
		location = time.UTC
	}
	t := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).In(location)
	var z zone
	_, z.first = t.Zone()
	have := z.first
	for {
		start, end := t.ZoneBounds()
		if _, offset := t.Zone(); offset != have {
			z.changes = append(z.changes, change{start.Unix(), have, offset})
			have = offset
			z.varies = t.Year() >= firstRepeated
		}
		if !end.After(t) && !end.IsZero() { // Go ends the rule's years a day early if they are leap years
			end = t.Add(48 * time.Hour)
		}
		if end.IsZero() || end.UTC().Year() > lastYear {
			return z
		}
		t = end
	}
}

// offset writes the zone's offset in seconds at the date x, which may be repeated: an instant, or, if local, a local
// time. A skipped local time has the offset before the gap, a repeated one that of the first time.
func (z zone) offset(x string, local bool) string {
	if len(z.changes) == 0 {
		return strconv.Itoa(z.first)
	}
	var at, offsets strings.Builder
	for _, c := range z.changes {
		when := c.at
		if local {
			when += int64(max(c.before, c.after))
		}
		at.WriteString(", " + strconv.FormatInt(when, 10))
		offsets.WriteString(", " + strconv.Itoa(c.after))
	}
	const unix = "62167219200" // 1970 in the seconds of TO_SECONDS
	seconds := "TO_SECONDS(" + x + ") - " + unix
	if z.varies {
		seconds = "CASE WHEN YEAR(" + x + ") <= " + strconv.Itoa(lastYear) + " THEN " + seconds +
			" ELSE ELT(1 + 7 * (DAYOFYEAR(CONCAT(YEAR(" + x + "), '-12-31')) = 366) + WEEKDAY(MAKEDATE(YEAR(" + x + "), 1))" + standIns() +
			") + TO_SECONDS(" + x + ") - TO_SECONDS(MAKEDATE(YEAR(" + x + "), 1)) END"
	}
	return "CAST(ELT(1 + INTERVAL(" + seconds + at.String() + "), " + strconv.Itoa(z.first) + offsets.String() + ") AS SIGNED)"
}

// standIns writes the beginnings of the years that represent later ones, in seconds since 1970. First come the 7 common
// years that begin on Monday to Sunday, then the 7 leap years.
func standIns() string {
	var begin [14]string
	for year := lastYear; year >= firstRepeated; year-- {
		t := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		kind := (int(t.Weekday()) + 6) % 7
		if time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).YearDay() == 366 {
			kind += 7
		}
		begin[kind] = strconv.FormatInt(t.Unix(), 10)
	}
	return ", " + strings.Join(begin[:], ", ")
}
