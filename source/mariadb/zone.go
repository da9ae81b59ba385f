package mariadb

import (
	"strconv"
	"strings"
	"time"
)

// A zone contains the offsets of a time zone, which are written into the statement. A server may have no tables of
// zones, and its tables cover only the years 1970 to 2037. After lastYear the rules repeat. A later year has the
// offsets of an earlier year that begins on the same day of the week. Both are leap years, or neither is.
type zone struct {
	changes []change // in chronological order
	first   int      // the offset before the first change, in seconds
	varies  bool     // the offset still changes in the years that represent later years
}

// A change is a change of the offset.
type change struct {
	at            int64 // seconds since 1970
	before, after int   // seconds
}

// firstRepeated and lastYear are the first and last of the years that represent later years. They include each kind
// of year, because they contain no skipped leap year.
const firstRepeated, lastYear = 2101, 2128

// zoneOf returns the zone of that name. The name was checked when the query was bound.
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
		if !end.After(t) && !end.IsZero() { // Go ends a rule's leap years a day early
			end = t.Add(48 * time.Hour)
		}
		if end.IsZero() || end.UTC().Year() > lastYear {
			return z
		}
		t = end
	}
}

// offset writes the zone's offset in seconds at the date x, which may occur several times. x is an instant or, if
// local, a local time. A skipped local time has the offset before the gap. A repeated local time has the offset of
// its first occurrence.
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

// standIns writes the beginnings of the years that represent later years, in seconds since 1970. First come the 7
// common years that begin on Monday to Sunday, then the 7 leap years.
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
