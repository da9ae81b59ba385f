package console

import (
	"cmp"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/console/internal/sanitize"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/write"
)

// ago formats how long ago t was: 3 s, 5 min, 2 h, 4 d.
func (c *Console) ago(t time.Time) string { return span(c.now().Sub(t)) + " ago" }

// until formats how long it is until t.
func (c *Console) until(t time.Time) string {
	d := t.Sub(c.now())
	if d <= 0 {
		return "now"
	}
	unit := time.Second // future times are rounded, past ones are truncated
	for _, u := range []time.Duration{time.Minute, time.Hour} {
		if d >= u {
			unit = u
		}
	}
	if d >= 48*time.Hour {
		unit = 24 * time.Hour
	}
	return "in " + span(d.Round(unit))
}

func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

// clock formats t for people, in UTC.
func clock(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05") + " UTC" }

// stamp formats t for machines.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural returns "1 row" or "3 rows".
func plural(n any, one string) string {
	if text := countOf(n); text != "1" {
		return text + " " + one + "s"
	}
	return "1 " + one
}

func countOf(n any) string {
	switch n := n.(type) {
	case int:
		return sanitize.Count(n)
	case int64:
		return sanitize.Count(n)
	}
	return fmt.Sprint(n)
}

// verb returns a word for an operation.
func verb(op any) string {
	switch op := fmt.Sprint(op); op {
	case string(write.OpSchema):
		return "change class"
	case "group":
		return "several writes"
	default:
		return sanitize.Plain(op, 40)
	}
}

// stateWord returns the name of a state, and what to do about it.
func stateWord(s change.State) string {
	switch s {
	case change.Pending:
		return "waiting for review"
	case change.Returned:
		return "returned to its agent"
	case change.Replaced:
		return "replaced by a newer version"
	case change.Granted:
		return "approved, about to run"
	case change.Applying:
		return "running"
	case change.Unknown:
		return "outcome unknown"
	case change.Stale:
		return "stale: the record moved"
	case change.Failed:
		return "failed: nothing was written"
	}
	return string(s)
}

// A pill is the label of a value that has no text of its own.
type pill struct {
	Pill  string // "" where Value is shown
	Class string
	Value review.Shown
}

// shownOf distinguishes null, empty, absent and hidden values from equal texts.
func shownOf(s review.Shown) pill {
	switch s.Kind {
	case "absent", "":
		return pill{Pill: "no value", Class: "absent"}
	case "null":
		return pill{Pill: "null", Class: "null"}
	case "empty":
		return pill{Pill: "empty text", Class: "empty"}
	case "hidden":
		return pill{Pill: "hidden from you", Class: "hidden"}
	case "masked":
		return pill{Pill: "masked", Class: "hidden", Value: s}
	}
	return pill{Value: s, Class: s.Kind}
}

// whoName returns the name to show for a person.
func whoName(p identity.Principal) string { return cmp.Or(p.Owner, p.Name, p.ID) }

// initial returns the first letter of that name.
func initial(p identity.Principal) string {
	r, _ := utf8.DecodeRuneInString(whoName(p))
	return sanitize.Plain(string(unicode.ToUpper(r)), 1)
}

// side returns one side of a comparison of two texts: the common parts and those of kind. A part that was cut belongs
// to the part before it.
func side(words []review.Word, kind string) []review.Word {
	var out []review.Word
	last := "same"
	for _, w := range words {
		if w.Kind != "cut" {
			last = w.Kind
		}
		if last == "same" || last == kind {
			out = append(out, w)
		}
	}
	return out
}
