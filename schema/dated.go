package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
)

// ParseDate parses the text of a date for f. It returns false for any other text. For a field that is Endless,
// infinities and dates outside of the years 1 to 9999 are also dates. They become texts in the form of answers.
func (f *Field) ParseDate(text string) (value.Value, bool) {
	if v, ok := value.OfDateText(text); ok || !f.Endless {
		return v, ok
	}
	switch strings.ToLower(text) {
	case "infinity", "+infinity":
		return value.OfString("infinity"), true
	case "-infinity":
		return value.OfString("-infinity"), true
	}
	return f.distant(text)
}

// dated matches a date with a year of any length, in the form of PostgreSQL or of ISO 8601.
var dated = regexp.MustCompile(`^([+-]?)(\d{4,6})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,6})?)?(Z|[+-]\d\d(?::?\d\d)?)?)?( BC)?$`)

// firstYear and lastYear limit the years of PostgreSQL's dates. They exclude its first and last year, which are
// incomplete.
const firstYear, lastYear = -4711, 294275

// distant returns a date outside of the years 1 to 9999 in the form of PostgreSQL in UTC. A year before 1 counts
// backwards and has BC, or is negative as in ISO 8601.
func (f *Field) distant(text string) (value.Value, bool) {
	m := dated.FindStringSubmatch(text)
	if m == nil || m[1] != "" && m[10] != "" {
		return value.Value{}, false
	}
	n := func(i int) int { out, _ := strconv.Atoi(m[i]); return out }
	year := n(2)
	switch {
	case m[10] != "":
		year = 1 - year
	case m[1] == "-":
		year = -year
	}
	at := time.Date(year, time.Month(n(3)), n(4), n(5), n(6), n(7), 0, time.UTC)
	if int(at.Month()) != n(3) || at.Day() != n(4) || at.Hour() != n(5) || n(6) > 59 || n(7) > 59 || f.Type == Day && m[5] != "" {
		return value.Value{}, false
	}
	at = at.Add(-ahead(m[9]))
	if at.Year() < firstYear || at.Year() > lastYear {
		return value.Value{}, false
	}
	era, shown := "", at.Year()
	if shown < 1 {
		era, shown = " BC", 1-shown
	}
	out := fmt.Sprintf("%04d-%s", shown, at.Format("01-02"))
	if f.Type != Day {
		out += at.Format(" 15:04:05") + strings.TrimRight(strings.TrimRight(m[8], "0"), ".")
	}
	if f.Native == "timestamptz" {
		out += "+00"
	}
	return value.OfString(out + era), true
}

// ahead returns the duration by which an ISO 8601 offset, such as +02, -0330 or Z, is ahead of UTC.
func ahead(text string) time.Duration {
	digits := strings.ReplaceAll(strings.TrimLeft(text, "+-Z"), ":", "")
	if digits == "" {
		return 0
	}
	hours, _ := strconv.Atoi(digits[:2])
	minutes, _ := strconv.Atoi(digits[2:])
	by := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if text[0] == '-' {
		return -by
	}
	return by
}
