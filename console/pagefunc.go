package console

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// pageFunctions returns the functions of the templates by name. Times are shown relative to the time that now
// returns.
func pageFunctions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"line":     func(s any) template.HTML { return safeLine(fmt.Sprint(s), 160) },
		"short":    func(s any) template.HTML { return safeLine(fmt.Sprint(s), 60) },
		"para":     func(s any) template.HTML { return safeBlock(fmt.Sprint(s), 4000) },
		"whole":    func(s any) template.HTML { return safeLine(fmt.Sprint(s), 1000) }, // more than package review gives
		"all":      func(s any) template.HTML { return safeText(fmt.Sprint(s)) },
		"field":    func(of effect, n int, f review.Field) fieldOf { return fieldOf{of, n, f} },
		"bySource": bySource,
		"name":     nameText,
		"sub":      func(n int) int { return n - 1 },
		"brief":    func(s any) template.HTML { return safeBlock(fmt.Sprint(s), 300) }, // for values that the page also shows in full
		"at":       func(id any, item int, of review.Item) effect { return effect{fmt.Sprint(id), item, of} },
		"plain":    func(s any) string { return plainText(fmt.Sprint(s), 120) },
		"count":    func(n any) string { return countText(n) },
		"ago":      func(t time.Time) string { return spanText(now().Sub(t)) + " ago" },
		"until":    func(t time.Time) string { return until(t.Sub(now())) },
		"clock":    clockText, "stamp": stampText,
		"path":    func(s any) string { return url.PathEscape(plainText(fmt.Sprint(s), 64)) },
		"word":    func(s any) string { return eventText(plainText(fmt.Sprint(s), 20)) },
		"deref":   func(b *bool) bool { return b != nil && *b },
		"whoName": whoName,
		"initial": initial,
		"plural":  plural, "eventName": eventText,
		"day":    func(t time.Time) string { return t.UTC().Format("2 Jan") },
		"moment": func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"outcomes": func() []string {
			return []string{audit.OK, audit.Refused, audit.Failed, audit.Cancelled, audit.Proposed, audit.Withdrawn, audit.Approved, audit.Rejected, audit.Expired,
				audit.Applying, audit.Applied}
		},
		"took": microsText, "dollars": dollars,
		"verb":   verbText,
		"before": func(w []review.Word) []review.Word { return wordsOfSide(w, "removed") },
		"after":  func(w []review.Word) []review.Word { return wordsOfSide(w, "added") },
		"shown":  shownText,
		"state":  stateText,
		"lends":  lendsText,
		"grants": grantsText,
		"markdown": func(s review.Shown) template.HTML {
			if s.Kind != "text" || s.Length > 0 {
				return ""
			}
			return renderMarkdown(s.Text)
		},
		"inc":  func(i int) int { return i + 1 },
		"list": func(items ...any) []any { return items },
	}
}

// An effect is an item of a change, with the data for its links.
type effect struct {
	Change string
	N      int // from 0
	review.Item
}

// A fieldOf is a field of an effect.
type fieldOf struct {
	Of effect
	N  int // from 0
	review.Field
}

// bySource returns the indexes of the fields that the source sets by itself.
func bySource(i review.Item) []int {
	var out []int
	for n, f := range i.Fields {
		if f.Source {
			out = append(out, n)
		}
	}
	return out
}

// until formats a duration until a future time.
func until(d time.Duration) string {
	if d <= 0 {
		return "now"
	}
	unit := time.Second // future times are rounded, and past times are truncated
	for _, u := range []time.Duration{time.Minute, time.Hour} {
		if d >= u {
			unit = u
		}
	}
	if d >= 48*time.Hour {
		unit = 24 * time.Hour
	}
	return "in " + spanText(d.Round(unit))
}

// whoName returns the name to show for a person.
func whoName(p identity.Principal) string { return cmp.Or(p.Owner, p.Name, p.ID) }

// initial returns the first letter of the name to show, in upper case.
func initial(p identity.Principal) string {
	r, _ := utf8.DecodeRuneInString(whoName(p))
	return plainText(string(unicode.ToUpper(r)), 1)
}
