package console

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/write"
)

// spanText formats a duration: 3 s, 5 min, 2 h, 4 d.
func spanText(d time.Duration) string {
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

// clockText formats t for people, in UTC.
func clockText(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05") + " UTC" }

// stampText formats t for machines.
func stampText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural returns "1 row" or "3 rows".
func plural(n any, one string) string {
	if text := countText(n); text != "1" {
		return text + " " + one + "s"
	}
	return "1 " + one
}

// countText formats a number with separators.
func countText(n any) string {
	switch n := n.(type) {
	case int:
		return groupedDigits(n)
	case int64:
		return groupedDigits(n)
	}
	return fmt.Sprint(n)
}

// verbText returns the name of an operation for people.
func verbText(op any) string {
	switch op := fmt.Sprint(op); op {
	case string(write.OpSchema):
		return "change class"
	case "group":
		return "several writes"
	default:
		return plainText(op, 40)
	}
}

// stateText returns the name of a state for people.
func stateText(s change.State) string {
	switch s {
	case change.Pending:
		return "waiting for review"
	case change.Returned:
		return "returned to its agent"
	case change.Replaced:
		return "replaced by a newer version"
	case change.Granted:
		return "approved, not run yet"
	case change.Applying:
		return "running"
	case change.Unknown:
		return "outcome unknown"
	case change.Stale:
		return "stale: not as reviewed"
	case change.Failed:
		return "failed"
	}
	return string(s)
}

// A pillOf is the label for a value that has no text.
type pillOf struct {
	Pill  string // "" if Value is shown instead
	Class string
	Value review.Shown
}

// longNumber is the maximum number of characters of a number that is never broken between two lines.
const longNumber = 24

// shownText distinguishes null, empty, absent and hidden values from strings with the same text.
func shownText(s review.Shown) pillOf {
	switch s.Kind {
	case "absent", "":
		return pillOf{Pill: "no value", Class: "absent"}
	case "unread":
		return pillOf{Pill: "not read", Class: "absent"}
	case "unknown":
		return pillOf{Pill: "not known", Class: "hidden"}
	case "null":
		return pillOf{Pill: "null", Class: "null"}
	case "empty":
		return pillOf{Pill: "empty text", Class: "empty"}
	case "hidden":
		return pillOf{Pill: "hidden from you", Class: "hidden"}
	case "masked":
		return pillOf{Pill: "masked", Class: "hidden", Value: s}
	}
	if s.Kind == "number" && len(s.Text) > longNumber {
		return pillOf{Value: s, Class: "number kind-long"}
	}
	return pillOf{Value: s, Class: s.Kind}
}

// wordsOfSide returns one side of a comparison of two texts: the common parts and the parts of the given kind. A part
// that was cut belongs to the part before it.
func wordsOfSide(words []review.Word, kind string) []review.Word {
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

// lendsText describes what an agent may do with a scope.
func lendsText(s identity.Scope) string {
	return map[identity.Scope]string{identity.Read: "records that you see", identity.Write: "propose to create and change records. People review it",
		identity.Delete: "propose to delete records. People review it", identity.Schema: "propose to change classes and fields", identity.Explain: "see the statements that a query runs"}[s]
}

// grantsText describes what a person may do with a scope.
func grantsText(s identity.Scope) string {
	return map[identity.Scope]string{identity.Review: "decide about changes", identity.Audit: "read the audit", identity.Operator: "manage people and tokens, break the glass",
		identity.Read: "see the records that changes are about", identity.Write: "have agents propose to create and change records",
		identity.Delete: "have agents propose to delete records", identity.Schema: "have agents propose to change classes and fields"}[s]
}

// eventText removes characters from an ID that can't be part of an event name.
func eventText(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, id)
}

// A stagePart is a Word, numbered if it differs.
type stagePart struct {
	review.Word
	N, Prev, Next int // the position among the differing parts, from 1, or 0
}

// stageParts numbers the words that differ.
func stageParts(words []review.Word) (out []stagePart, changed int) {
	for _, w := range words {
		p := stagePart{Word: w}
		if w.Kind != "same" {
			changed++
			p.N, p.Prev = changed, changed-1
		}
		out = append(out, p)
	}
	for i := range out {
		if n := out[i].N; n > 0 && n < changed {
			out[i].Next = n + 1
		}
	}
	return out, changed
}

// microsText formats microseconds for people.
func microsText(n int64) string {
	switch {
	case n >= 10_000_000:
		return fmt.Sprintf("%.0f s", float64(n)/1e6)
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f s", float64(n)/1e6)
	case n >= 10_000:
		return fmt.Sprintf("%.0f ms", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f ms", float64(n)/1e3)
}

// dollars formats millionths of a US dollar for people.
func dollars(n int64) string {
	if n > 0 && n < 10_000 {
		return fmt.Sprintf("$%.4f", float64(n)/1e6)
	}
	return fmt.Sprintf("$%.2f", float64(n)/1e6)
}

// nameText returns the name of a field, with places at which a browser may break it: after "/", "_", "." and "-".
func nameText(path string) template.HTML {
	return template.HTML(strings.NewReplacer("</", "</", "/", "/<wbr>", "_", "_<wbr>", ".", ".<wbr>", "-", "-<wbr>").Replace(string(safeLine(path, 1000))))
}
