package review

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Limits of Text.
const (
	textFields = 60  // maximum number of fields listed
	textValue  = 120 // characters of one value
)

// Text renders s for an agent and for people who read along. It describes the effect of the change, with the old and
// new value of each field, and says that a person must approve it. Texts of records are quoted and on one line. They
// don't form links where the text is shown as Markdown. The agent reads the web addresses in comments of people as they are.
func Text(s *Sheet) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s. %sID: %s\n\nOperation: %s\n", Heading(s.State), s.unread(), s.ID, s.Title)
	left := textFields
	for i, item := range s.Items {
		indent := ""
		if len(s.Items) == 1 {
			fmt.Fprintf(&out, "Target: %s\n", target(item))
		} else {
			fmt.Fprintf(&out, "%d. %s %s\n", i+1, verb(write.Op(item.Op)), target(item))
			indent = "   "
		}
		if item.Action != "" {
			fmt.Fprintf(&out, "%sby the action %s\n", indent, item.Action)
		}
		if item.Came != "" {
			fmt.Fprintf(&out, "%s(%s)\n", indent, item.Came)
		}
		for _, t := range item.Takes {
			fmt.Fprintf(&out, "%s%s: %s of the answer to call %d\n", indent, t.At, quote(t.Path), t.Call)
		}
		left = item.fields(&out, indent, left)
		if said := item.movedText(); said != "" {
			fmt.Fprintf(&out, "%s%s\n", indent, said)
		}
		if item.Hidden > 0 {
			fmt.Fprintf(&out, "%s(%d more that you don't see)\n", indent, item.Hidden)
		}
	}
	if left < 0 {
		fmt.Fprintf(&out, "… and %d more fields\n", -left)
	}
	for _, o := range s.Others {
		fmt.Fprintf(&out, "Another change of yours waits for the same record: %s (%s)\n", o.ID, o.Title)
	}
	if s.MoreOthers {
		out.WriteString("… and more changes of yours\n")
	}
	if s.Broken {
		out.WriteString("BREAK GLASS: it was approved past the rules of review.\n")
	}
	text := Inert(out.String()) + s.threadText()
	if next := s.next(); next != "" {
		text += Inert("\n" + next + "\n")
	}
	return text
}

// threadText writes a line for each entry of the thread.
func (s *Sheet) threadText() (text string) {
	for _, said := range s.Thread {
		about := ""
		if said.Version > 0 && said.Earlier {
			about = fmt.Sprintf(" (version %d)", said.Version)
		}
		line := fmt.Sprintf("%s %s%s%s\n", said.By, said.Verb(), about, quotedWords(said.Text))
		if said.Agent {
			line = Inert(line)
		} else {
			line = inertBesideAddresses(line)
		}
		text += line
	}
	return text
}

// unread says which parts of the current state were not read before a call. It is for the first line of a sheet. It
// returns "" if everything was read.
func (s *Sheet) unread() string {
	for i, item := range s.Items {
		switch {
		case item.Unread != "" && len(s.Items) == 1:
			return item.Unread + " "
		case item.Unread != "":
			return fmt.Sprintf("%s (call %d, and others may be like it) ", item.Unread, i+1)
		}
	}
	return ""
}

// fields writes a line for each field of i until left reaches 0. It only counts fields that change from null to
// absent. It returns the remaining number of lines. A negative result is the number of fields that had no room.
func (i Item) fields(out *strings.Builder, indent string, left int) int {
	void := 0
	for _, f := range i.Fields {
		if f.Before.Kind == "null" && f.After.Kind == "absent" {
			void++
		} else if left--; left >= 0 {
			fmt.Fprintf(out, "%s%s\n", indent, f.line(i.Op))
		}
	}
	if void > 0 {
		fmt.Fprintf(out, "%s(%d more, null until now)\n", indent, void)
	}
	return left
}

// movedText returns a sentence about a change of the record after the proposal, or "" if the record hasn't changed.
func (i Item) movedText() string {
	switch i.Moved {
	case Changed:
		return "The record has moved since this was proposed."
	case Gone:
		return "The record is gone, or hidden from you, since this was proposed."
	}
	return ""
}

// HasMoved reports whether any record has changed since the change was made.
func (s *Sheet) HasMoved() bool {
	return slices.ContainsFunc(s.Items, func(i Item) bool { return i.Moved != "" })
}

// Lines returns the first differences of s, as Text writes them. It returns at most that many lines, and the number
// of remaining fields.
func Lines(s *Sheet, most int) (lines []string, more int) {
	for _, item := range s.Items {
		for _, f := range item.Fields {
			if f.Source || f.Same {
				continue
			}
			if len(lines) == most {
				more++
				continue
			}
			line := f.line(item.Op)
			if len(s.Items) > 1 {
				line = target(item) + " " + line
			}
			lines = append(lines, line)
		}
		more += item.Hidden
	}
	return lines, more
}

// Heading returns a heading for a change in state s.
func Heading(s change.State) string {
	switch s {
	case change.Returned:
		return "Changes requested"
	case change.Pending:
		return "Change pending approval"
	case change.Granted:
		return "Change approved, not applied yet"
	case change.Applying:
		return "Change being applied"
	}
	return "Change " + string(s)
}

// next says who must approve the change, that nobody can approve it, or how it ended.
func (s *Sheet) next() string {
	switch {
	case s.State != change.Pending:
		return Sentence(s.Outcome)
	case s.HasMoved():
		return fmt.Sprintf("Nobody can approve this change as it is. It expires at %s.", s.expires())
	case s.Need-s.Approvals > 1:
		return fmt.Sprintf("%d humans must approve this change before it takes effect. It expires at %s.", s.Need-s.Approvals, s.expires())
	case s.Approvals > 0:
		return fmt.Sprintf("One more human must approve this change before it takes effect. It expires at %s.", s.expires())
	}
	return fmt.Sprintf("A human must approve this change before it takes effect. It expires at %s.", s.expires())
}

// Sentence returns text with a capital letter at its beginning and a punctuation mark at its end. It returns "" for
// "".
func Sentence(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	r, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(r)) + text[size:]
	if !strings.ContainsAny(text[len(text)-1:], ".:!?") {
		text += "."
	}
	return text
}

func (s *Sheet) expires() string { return s.Expires.UTC().Format("2006-01-02 15:04 UTC") }

// target names the record of an item.
func target(i Item) string {
	switch {
	case i.Class == "":
		return "something that you don't see"
	case i.Key == "" && i.Op == "create":
		return "a new record of " + i.Class
	}
	out := strings.TrimSpace(i.Class + " " + i.Key)
	if i.Label != "" {
		out += " " + quote(i.Label)
	}
	return out
}

// line returns f in the form "status: "Todo" → "Done"".
func (f Field) line(op string) string {
	after := f.After.quotedText()
	if f.Source {
		after += " (by the source)"
	}
	switch {
	case f.Before.Kind == "unread", f.Before.Kind == "absent" && (op == "create" || strings.Contains(f.Path, "/")):
		return fmt.Sprintf("%s: %s", f.Path, after)
	case f.After.Kind == "absent":
		return fmt.Sprintf("%s: %s → (gone)", f.Path, f.Before.quotedText())
	}
	out := fmt.Sprintf("%s: %s → %s", f.Path, f.Before.quotedText(), after)
	if f.Same {
		out = fmt.Sprintf("%s: %s (as it is)", f.Path, f.Before.quotedText())
	}
	if f.Now != nil {
		out += fmt.Sprintf(" (now %s)", f.Now.quotedText())
	}
	return out
}

// quotedText returns s on one line. It quotes texts so that they can't look like a null, a number or a line written
// by the server.
func (s Shown) quotedText() string {
	if s.Label != "" {
		label := s.Label
		s.Label = ""
		return s.quotedText() + " (" + quote(label) + ")"
	}
	text := first(s.Text, textValue)
	cut := ""
	if n := max(s.Length, utf8.RuneCountInString(s.Text)); len(text) < len(s.Text) || s.Length > 0 {
		cut = fmt.Sprintf("… (%d characters)", n)
	}
	switch s.Kind {
	case "absent":
		return "(none)"
	case "unread":
		return "(not read)"
	case "unknown":
		return "(the present value is not known)"
	case "null":
		return "null"
	case "empty":
		return `""`
	case "masked":
		return strings.TrimSpace("(masked) " + string(value.AppendQuote(nil, text)))
	case "text":
		return string(value.AppendQuote(nil, text)) + cut
	}
	return text + cut
}

func quotedWords(text string) string {
	if text == "" {
		return ""
	}
	return ": " + string(value.AppendQuote(nil, first(text, MaxShown)))
}
