package console

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// safeLine returns at most most characters of text, on one line.
func safeLine(text string, most int) template.HTML {
	return writeSafe(text, extent{most, lines, false})
}

// safeBlock returns at most most characters of text, with its line breaks.
func safeBlock(text string, most int) template.HTML {
	return writeSafe(text, extent{most, lines, true})
}

// safeText returns all of text, with its line breaks.
func safeText(text string) template.HTML {
	return writeSafe(text, extent{math.MaxInt, math.MaxInt, true})
}

// plainText returns text on one line without markup, for titles and attributes. It replaces odd characters with
// U+FFFD.
func plainText(text string, most int) string {
	var b strings.Builder
	n := 0
	for i, r := range text {
		if n == most {
			b.WriteString("…")
			break
		}
		if r == '\n' || r == '\t' {
			r = ' '
		} else if odd(r) && !review.JoinsEmoji(text, i) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// pile is the maximum number of combining marks per letter. More marks would overlap the surrounding lines.
const pile = 4

// marked matches a character in the form in which review.Visible escapes it.
var marked = regexp.MustCompile(`^⟨U\+[0-9A-F]{4,6}⟩`)

// lines is the maximum number of line breaks in safeBlock, so that a text can't push the rest of the page out of
// view.
const lines = 60

// An extent limits how much of a text is written: the characters and, if breaks is set, the line breaks.
type extent struct {
	most, lines int
	breaks      bool
}

// writeSafe returns text as HTML, limited by e. Characters that could mislead a reader are replaced by visible names.
// These are invisible, control and direction characters, and piles of combining marks.
func writeSafe(text string, e extent) template.HTML {
	var b strings.Builder
	n, broken, skip, piled := 0, 0, 0, 0
	for i, r := range text {
		if skip > i {
			continue // inside a mark, which counts as one character
		}
		if n == e.most || broken == e.lines {
			fmt.Fprintf(&b, `<span class="cut">… %s more characters</span>`, groupedDigits(utf8.RuneCountInString(text[i:])))
			break
		}
		n++
		if !unicode.Is(unicode.M, r) {
			piled = 0
		} else if piled++; piled > pile {
			if piled == pile+1 {
				b.WriteString(`<span class="odd">more marks</span>`)
			}
			continue
		}
		switch {
		case r == '\n' && e.breaks:
			broken++
			b.WriteByte('\n')
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case r == '\r' && e.breaks && strings.HasPrefix(text[i:], "\r\n"):
		case r == '⟨' && marked.MatchString(text[i:]):
			// A mark of review.Visible counts as one character. In a text that only resembles a mark, Visible has
			// escaped the bracket.
			mark := marked.FindString(text[i:])
			skip = i + len(mark)
			fmt.Fprintf(&b, `<span class="odd">%s</span>`, strings.Trim(mark, "⟨⟩"))
		case odd(r) && !review.JoinsEmoji(text, i):
			fmt.Fprintf(&b, `<span class="odd">U+%04X</span>`, r)
		default:
			escape(&b, r)
		}
	}
	return template.HTML(b.String()) // every rune is escaped above
}

// escape writes r as html/template would. The result is valid in text and in a quoted attribute.
func escape(b *strings.Builder, r rune) {
	switch r {
	case '<':
		b.WriteString("&lt;")
	case '>':
		b.WriteString("&gt;")
	case '&':
		b.WriteString("&amp;")
	case '"':
		b.WriteString("&#34;")
	case '\'':
		b.WriteString("&#39;")
	default:
		b.WriteRune(r)
	}
}

// odd reports whether a reader can't see r or its position.
func odd(r rune) bool {
	switch {
	case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	case r == '\u2028', r == '\u2029', r == '\u3164', r == '\uFFA0', r == '\u115F', r == '\u1160', r == '\u2800':
		return true
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0xE0100 && r <= 0xE01EF: // variation selectors
		return true
	}
	return unicode.Is(unicode.Zs, r) && r != ' ' && r != '\u00A0' && r != '\u202F'
}

// groupedDigits formats n with thin spaces between thousands: 1 048 576.
func groupedDigits[N int | int64](n N) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if left := len(digits) - i; i > 0 && left%3 == 0 && digits[i-1] != '-' {
			b.WriteRune('\u202F')
		}
		b.WriteRune(d)
	}
	return b.String()
}
