// Package pagefunc is the functions that the console's pages call: from values to words, and from texts of others to HTML in
// which nothing is alive.
package pagefunc

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/console/internal/markdown"
	"github.com/bailiwick-dev/bailiwick/console/internal/sanitize"
	"github.com/bailiwick-dev/bailiwick/console/internal/words"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// Map returns the functions by name. now is the time that others are shown relative to.
func Map(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"line":     func(s any) template.HTML { return sanitize.Line(fmt.Sprint(s), 160) },
		"short":    func(s any) template.HTML { return sanitize.Line(fmt.Sprint(s), 60) },
		"para":     func(s any) template.HTML { return sanitize.Block(fmt.Sprint(s), 4000) },
		"whole":    func(s any) template.HTML { return sanitize.Line(fmt.Sprint(s), 1000) }, // more than package review lets through
		"all":      func(s any) template.HTML { return sanitize.Text(fmt.Sprint(s)) },
		"field":    func(of effect, n int, f review.Field) fieldOf { return fieldOf{of, n, f} },
		"bySource": bySource,
		"sub":      func(n int) int { return n - 1 },
		"brief":    func(s any) template.HTML { return sanitize.Block(fmt.Sprint(s), 300) }, // of what the page has in full elsewhere
		"at":       func(id any, item int, of review.Item) effect { return effect{fmt.Sprint(id), item, of} },
		"plain":    func(s any) string { return sanitize.Plain(fmt.Sprint(s), 120) },
		"count":    func(n any) string { return words.Count(n) },
		"ago":      func(t time.Time) string { return words.Span(now().Sub(t)) + " ago" },
		"until":    func(t time.Time) string { return until(t.Sub(now())) },
		"clock":    words.Clock, "stamp": words.Stamp,
		"path":    func(s any) string { return url.PathEscape(sanitize.Plain(fmt.Sprint(s), 64)) },
		"word":    func(s any) string { return words.Event(sanitize.Plain(fmt.Sprint(s), 20)) },
		"deref":   func(b *bool) bool { return b != nil && *b },
		"whoName": whoName,
		"initial": initial,
		"plural":  words.Plural, "eventName": words.Event,
		"day":    func(t time.Time) string { return t.UTC().Format("2 Jan") },
		"moment": func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"outcomes": func() []string {
			return []string{audit.OK, audit.Refused, audit.Failed, audit.Cancelled, audit.Proposed, audit.Withdrawn, audit.Approved, audit.Rejected, audit.Expired,
				audit.Applying, audit.Applied}
		},
		"took": words.Micros, "dollars": words.Dollars,
		"verb":   words.Verb,
		"before": func(w []review.Word) []review.Word { return words.Side(w, "removed") },
		"after":  func(w []review.Word) []review.Word { return words.Side(w, "added") },
		"shown":  words.Shown,
		"state":  words.State,
		"lends":  words.Lends,
		"grants": words.Grants,
		"markdown": func(s review.Shown) template.HTML {
			if s.Kind != "text" || s.Length > 0 {
				return ""
			}
			return markdown.Render(s.Text)
		},
		"inc":  func(i int) int { return i + 1 },
		"list": func(items ...any) []any { return items },
	}
}

// An effect is an item of a change, with what its links need.
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

// bySource returns the places of the fields that the source sets by itself.
func bySource(i review.Item) []int {
	var out []int
	for n, f := range i.Fields {
		if f.Source {
			out = append(out, n)
		}
	}
	return out
}

// until formats how long something is in the future.
func until(d time.Duration) string {
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
