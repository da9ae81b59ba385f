package review

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// The maximum number of characters shown of texts that aren't values.
const (
	maxLine  = 200  // of a title, a name, a key or a path
	maxWords = 4000 // of a reason or a comment
)

// maxMarks is the maximum number of combining marks kept on one letter. More marks would cover neighbouring text.
const maxMarks = 4

// An extent limits how much of a text is shown: characters, and line breaks if breaks isn't 0.
type extent struct{ characters, breaks int }

// of returns the beginning of text that fits the extent.
func (e extent) of(text string) string {
	out := first(text, e.characters)
	if e.breaks == 0 {
		return out
	}
	breaks := 0
	for i := range len(out) {
		if out[i] != '\n' {
			continue
		}
		if breaks++; breaks > e.breaks {
			return out[:i]
		}
	}
	return out
}

// show returns v in readable form, cut at MaxShown characters.
func show(v value.Value, t schema.Type) Shown { return showIn(v, t, extent{characters: MaxShown}) }

// showIn returns v in readable form. A stored change contains dates and bytes as texts, and the type t identifies
// them.
func showIn(v value.Value, t schema.Type, most extent) Shown {
	s := Shown{Kind: "text"}
	switch v.Kind() {
	case value.Null:
		return Shown{Kind: "null"}
	case value.Bool:
		s.Kind = "boolean"
	case value.Int, value.Float, value.Decimal:
		s.Kind = "number"
	case value.Date, value.Day:
		s.Kind = "date"
	case value.Bytes:
		s.Kind = "bytes"
	case value.Array, value.Object:
		s.Kind = "json"
	case value.String:
		_, date := value.OfDateText(v.Text()) // a date column of SQLite may contain any text
		switch {
		case date && (t == schema.Date || t == schema.Day):
			s.Kind = "date"
		case t == schema.Bytes && base64Only(v.Text()):
			s.Kind = "bytes"
		}
	}
	text := v.String()
	if text == "" {
		return Shown{Kind: "empty"}
	}
	head := most.of(text)
	s.Text = Visible(head)
	if len(head) < len(text) {
		s.Length, s.Digest = utf8.RuneCountInString(text), sumOf(text)
		s.cut = s.Length - utf8.RuneCountInString(head)
	}
	return s
}

// sumOf returns the SHA-256 of text, in hex.
func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func base64Only(text string) bool {
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") == ""
}

// first returns at most the given number of characters from the beginning of text.
func first(text string, most int) string {
	if len(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i]
		}
		n++
	}
	return text
}

// Visible returns text with all characters visible, so that different texts look different. It writes invisible
// characters, control characters and characters that change the writing direction like ⟨U+202E⟩. It keeps spaces,
// tabs, newlines and the joiners of an emoji.
func Visible(text string) string {
	var out strings.Builder
	marks := 0
	for i, r := range text {
		if unicode.Is(unicode.M, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == ' ', r == '\n', r == '\t', JoinsEmoji(text, i):
			out.WriteRune(r)
		case r == '⟨' && strings.HasPrefix(text[i+len("⟨"):], "U+"), isInvisible(r), marks > maxMarks:
			fmt.Fprintf(&out, "⟨U+%04X⟩", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isInvisible reports whether r has no visible form of its own.
func isInvisible(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case !unicode.IsGraphic(r), unicode.Is(unicode.Zs, r):
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == 0x2800 || r == 0x17b4 || r == 0x17b5
}

// label returns a path or a name on one line.
func label(text string) string {
	return withEllipsis(strings.NewReplacer("\n", "⟨U+000A⟩", "\t", "⟨U+0009⟩").Replace(Visible(first(text, maxLine))), text, maxLine)
}

// identifier returns the key of a record on one line. To a key that is too long it adds the length and the hash, so
// that different keys look different.
func identifier(text string) string {
	if len(first(text, maxLine)) == len(text) {
		return line(text)
	}
	return fmt.Sprintf("%s (%d characters, SHA-256 %s)", line(text), utf8.RuneCountInString(text), sumOf(text))
}

// line returns a text by a person or by the server on one line.
func line(text string) string {
	return withEllipsis(Visible(strings.Join(strings.Fields(first(text, maxLine)), " ")), text, maxLine)
}

// words returns a text by a person or an agent. It keeps line breaks.
func words(text string) string { return withEllipsis(Visible(first(text, maxWords)), text, maxWords) }

func withEllipsis(shown, text string, most int) string {
	if len(first(text, most)) < len(text) {
		return shown + "…"
	}
	return shown
}
