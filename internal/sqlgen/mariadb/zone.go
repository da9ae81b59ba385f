package mariadb

import (
	"strconv"
	"strings"
	"time"
)

// A zone is the offsets of a time zone, which are written into the statement: a server may have no tables of zones, and
// knows with them the years 1970 to 2037 alone. Its rules repeat after lastYear: a year has the offsets of one before it
// that begins on the same day of the week and is a leap year when it is.
type zone struct {
	changes []change // in order
	first   int      // the offset before the first of them, in seconds
	varies  bool     // the offset still changes in the years that stand for later ones
}

// A change is from the offset before to another.
type change struct {
	at            int64 // seconds since 1970
	before, after int   // seconds
}

// The years that stand for later ones hold each kind of year, for none of them is a leap year left out.
const firstRepeated, lastYear = 2101, 2128

// offsetOf reads an offset such as +05:30, in seconds.
func offsetOf(name string) (int, bool) {
	t, err := time.Parse("-07:00", name)
	_, seconds := t.Zone()
	return seconds, err == nil
}

// zoneOf returns the zone of that name. bind has seen that there is one.
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
		if !end.After(t) && !end.IsZero() { // Go ends the rule's years a day early when they are leap years
			end = t.Add(48 * time.Hour)
		}
		if end.IsZero() || end.UTC().Year() > lastYear {
			return z
		}
		t = end
	}
}

// offset writes the zone's offset in seconds at the date x, which may be repeated: an instant, or when local the time
// that its clock shows. What the clock skips has the offset before, what it shows twice that of the first time.
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

// standIns writes when the years begin that stand for later ones, in seconds since 1970: the 7 common ones that begin on
// Monday to Sunday, then the 7 leap years.
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
