package console

import (
	"cmp"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/console/internal/sanitize"
	"github.com/bailiwick-dev/bailiwick/console/internal/words"
	"github.com/bailiwick-dev/bailiwick/identity"
)

// ago formats how long ago t was: 3 s, 5 min, 2 h, 4 d.
func (c *Console) ago(t time.Time) string { return words.Span(c.now().Sub(t)) + " ago" }

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
	return "in " + words.Span(d.Round(unit))
}

// whoName returns the name to show for a person.
func whoName(p identity.Principal) string { return cmp.Or(p.Owner, p.Name, p.ID) }

// initial returns the first letter of that name.
func initial(p identity.Principal) string {
	r, _ := utf8.DecodeRuneInString(whoName(p))
	return sanitize.Plain(string(unicode.ToUpper(r)), 1)
}
