package sqlbind

import (
	"fmt"
	"slices"
	"strings"
)

// A Letter is a part of a format of to_char, strftime or DATE_FORMAT, with its replacement: a format of plan.DateText,
// or the text from a timeNames.
type Letter struct {
	Theirs, Ours string
	Table        *timeNames
}

// A timeNames contains a text for each value of a part of a time. Each text has Width characters. The first text is for
// the value From.
type timeNames struct {
	Part  string // a part of plan.DatePart
	From  int64
	Width int64
	Texts string
	Trim  bool  // spaces at both ends are removed
	Cycle int64 // if not 0, the texts repeat after this number of values
}

// A piece is a part of a format: a format of plan.DateText, or a timeNames.
type piece struct {
	Format string
	Table  *timeNames
}

var (
	monthNames = []string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	dayNames   = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
)

// monthName and dayName are the English names of months and of the days of a week.
var (
	monthName = table("month", 1, 9, monthNames).withTrim()
	dayName   = table("dayOfWeek", 1, 9, dayNames).withTrim()
)

// table makes a timeNames from texts. Each text is padded or cut to width.
func table(part string, from, width int64, texts []string) *timeNames {
	t := &timeNames{Part: part, From: from, Width: width}
	for _, text := range texts {
		t.Texts += (text + "         ")[:width]
	}
	return t
}

func (t timeNames) withTrim() *timeNames {
	t.Trim = true
	return &t
}

// timeNumbers returns the numbers from 1 to most. Numbers with one digit begin with a space.
func timeNumbers(part string, most int) *timeNames {
	var texts []string
	for n := range most {
		texts = append(texts, fmt.Sprintf("%2d", n+1))
	}
	return table(part, 1, 2, texts)
}

// hours12 returns the hours of a twelve-hour clock.
func hours12() *timeNames {
	return table("hour", 0, 2, strings.Fields(strings.Repeat("12 01 02 03 04 05 06 07 08 09 10 11 ", 2)))
}

func halves(am, pm string) *timeNames {
	return table("hour", 0, 2, append(slices.Repeat([]string{am}, 12), slices.Repeat([]string{pm}, 12)...))
}

// twoDigits returns the last two digits of the year.
func twoDigits() *timeNames {
	var texts []string
	for n := range 100 {
		texts = append(texts, fmt.Sprintf("%02d", n))
	}
	t := table("year", 0, 2, texts)
	t.Cycle = 100
	return t
}

// weekdays returns digits for the days of the week, from Sunday.
func weekdays(digits string) *timeNames { return table("dayOfWeek", 1, 1, strings.Split(digits, "")) }

// nameLetters returns the letters of to_char for names, in upper case, capitalised and in lower case.
func nameLetters(letter, short, part string, names []string) []Letter {
	var out []Letter
	for _, as := range []func(string) string{strings.ToUpper, strings.Clone, strings.ToLower} {
		var full []string
		for _, n := range names {
			full = append(full, as(n))
		}
		padded := table(part, 1, 9, full)
		out = append(out, Letter{"FM" + as(letter), "", padded.withTrim()}, Letter{"TM" + as(letter), "", padded.withTrim()}, Letter{as(letter), "", padded},
			Letter{as(short), "", table(part, 1, 3, full)})
	}
	return out
}

// postgresFormat are the letters of to_char.
var postgresFormat = slices.Concat(nameLetters("Month", "Mon", "month", monthNames), nameLetters("Day", "Dy", "dayOfWeek", dayNames),
	plain("YYYY %Y yyyy %Y IYYY %G MM %m mm %m DDD %j DD %d dd %d TZ UTC tz utc HH24 %H hh24 %H MI %M mi %M SS %S ss %S MS %L IW %V ID %u"), []Letter{
		{"FMMM", "", timeNumbers("month", 12).withTrim()}, {"FMDD", "", timeNumbers("dayOfMonth", 31).withTrim()}, {"Q", "", table("month", 1, 1, strings.Split("111222333444", ""))},
		{"HH12", "", hours12()}, {"hh12", "", hours12()}, {"HH", "", hours12()}, {"hh", "", hours12()}, {"AM", "", halves("AM", "PM")}, {"PM", "", halves("AM", "PM")},
		{"am", "", halves("am", "pm")}, {"pm", "", halves("am", "pm")}, {"D", "", weekdays("1234567")}, {"YY", "", twoDigits()}, {"yy", "", twoDigits()}})

// sqliteFormat are the letters of strftime.
var sqliteFormat = append(plain("%Y %Y %m %m %d %d %H %H %M %M %S %S %j %j %f %S.%L %F %Y-%m-%d %T %H:%M:%S %R %H:%M %G %G %V %V %u %u %% %%"),
	Letter{"%y", "", twoDigits()}, Letter{"%w", "", weekdays("0123456")}, Letter{"%I", "", hours12()}, Letter{"%p", "", halves("AM", "PM")}, Letter{"%e", "", timeNumbers("dayOfMonth", 31)})

// mysqlFormat are the letters of DATE_FORMAT.
var mysqlFormat = append(plain("%Y %Y %m %m %d %d %H %H %i %M %s %S %S %S %j %j %T %H:%M:%S %x %G %v %V %% %%"),
	Letter{"%M", "", monthName}, Letter{"%b", "", table("month", 1, 3, monthNames)}, Letter{"%W", "", dayName}, Letter{"%a", "", table("dayOfWeek", 1, 3, dayNames)},
	Letter{"%c", "", timeNumbers("month", 12).withTrim()}, Letter{"%e", "", timeNumbers("dayOfMonth", 31).withTrim()}, Letter{"%w", "", weekdays("0123456")},
	Letter{"%y", "", twoDigits()}, Letter{"%h", "", hours12()}, Letter{"%I", "", hours12()}, Letter{"%p", "", halves("AM", "PM")})

// plain makes letters from pairs of words: the foreign format, and the format of plan.DateText.
func plain(pairs string) []Letter {
	words := strings.Fields(pairs)
	var out []Letter
	for i := 0; i < len(words); i += 2 {
		out = append(out, Letter{words[i], words[i+1], nil})
	}
	return out
}

// Format returns the pieces of a format. If a part is unknown, it returns the beginning of that part.
func Format(text string, letters []Letter) (pieces []piece, unknown string) {
	postgres := letters[0].Theirs[0] != '%'
	add := func(format string) {
		if n := len(pieces); n > 0 && pieces[n-1].Table == nil {
			pieces[n-1].Format += format
		} else {
			pieces = append(pieces, piece{Format: format})
		}
	}
	for text != "" {
		if i := slices.IndexFunc(letters, func(l Letter) bool { return strings.HasPrefix(text, l.Theirs) }); i >= 0 {
			if l := letters[i]; l.Table != nil {
				pieces = append(pieces, piece{Table: l.Table})
			} else {
				add(l.Ours)
			}
			text = text[len(letters[i].Theirs):]
			continue
		}
		if quoted, ok := strings.CutPrefix(text, `"`); ok && postgres {
			inside, rest, _ := strings.Cut(quoted, `"`)
			add(strings.ReplaceAll(inside, "%", "%%"))
			text = rest
			continue
		}
		c := text[0]
		if c == '%' || postgres && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') && c != 'T' && c != 'Z' {
			return nil, text[:min(len(text), 4)]
		}
		add(text[:1])
		text = text[1:]
	}
	return pieces, ""
}
