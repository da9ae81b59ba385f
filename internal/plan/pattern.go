package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A Pattern is a kind of personal data that may be in a text. Each match is replaced by the name of the pattern:
// [email].
type Pattern string

// The patterns.
const (
	PatternEmail Pattern = "email" // an e-mail address
	PatternPhone Pattern = "phone" // a telephone number: with + or 00, with a leading 0, in a form such as (555) 234-5678, or after a word such as tel
	PatternIBAN  Pattern = "iban"  // a bank account with valid check digits
	PatternCard  Pattern = "card"  // a payment card with a valid check digit
	PatternIP    Pattern = "ip"    // an IPv4 or IPv6 address
	PatternSSN   Pattern = "ssn"   // a social security number of the United States, with hyphens or spaces
)

// AllPatterns returns every pattern.
func AllPatterns() []Pattern {
	return []Pattern{PatternEmail, PatternPhone, PatternIBAN, PatternCard, PatternIP, PatternSSN}
}

// finders returns the finders of all patterns in the order in which they run. Patterns with check digits come first, so
// that a card isn't mistaken for a telephone number.
func finders() []finder {
	return []finder{{PatternIBAN, ibans}, {PatternCard, cards}, {PatternEmail, emails}, {PatternIP, addresses}, {PatternSSN, socials}, {PatternPhone, phones}}
}

// A finder finds the matches of a pattern in a text. The matches are in order and don't overlap.
type finder struct {
	pattern Pattern
	find    func(text string) []span
}

// A span is a range of bytes of a text.
type span struct{ from, to int }

// patterns returns a function that replaces matches of m's patterns in texts, including texts inside JSON. A value
// without a match stays unchanged. A number that matches completely becomes a text.
func (m Mask) patterns() func(value.Value) value.Value {
	used := slices.DeleteFunc(finders(), func(f finder) bool { return !slices.Contains(m.Patterns, f.pattern) })
	var apply func(v value.Value) value.Value
	apply = func(v value.Value) value.Value {
		switch v.Kind() {
		case value.String:
			if text := replace(used, v.Text()); text != v.Text() {
				return value.OfString(text)
			}
			return v
		case value.Array:
			return value.OfArray(each(v.List(), apply))
		case value.Object:
			return value.OfObject(inside(v.Members(), used, apply))
		case value.Null, value.Bool, value.Date, value.Day:
			return v
		case value.Int, value.Float, value.Decimal:
			if text := v.String(); replace(used, text) != text {
				return value.OfString(replace(used, text))
			}
			return v
		}
		return value.Value{} // bytes can't be searched, so they aren't shown
	}
	return apply
}

// each returns the results of f for the elements of a list.
func each(list []value.Value, f func(value.Value) value.Value) []value.Value {
	out := make([]value.Value, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// inside returns the members of an object, with matches replaced in names and values. Names that become equal are
// numbered.
func inside(members []value.Member, used []finder, apply func(value.Value) value.Value) []value.Member {
	out := make([]value.Member, len(members))
	names := make(map[string]bool, len(members))
	for i, m := range members {
		name := replace(used, m.Name)
		for n := 2; names[name]; n++ {
			name = fmt.Sprintf("%s %d", replace(used, m.Name), n)
		}
		names[name] = true
		out[i] = value.Member{Name: name, Value: apply(m.Value)}
	}
	return out
}

// replace replaces the matches of the used patterns in text.
func replace(used []finder, text string) string {
	for _, f := range used {
		spans := f.find(text)
		if len(spans) == 0 {
			continue
		}
		var b strings.Builder
		last := 0
		for _, s := range spans {
			b.WriteString(text[last:s.from])
			b.WriteString("[" + string(f.pattern) + "]")
			last = s.to
		}
		b.WriteString(text[last:])
		text = b.String()
	}
	return text
}

// Marker returns the first marker of m, such as [email], in a text or in texts inside JSON. It returns "" if there is
// no marker, and for a mask other than MaskInside.
func (m *Mask) Marker(v value.Value) string {
	if m == nil || m.Kind != MaskInside || v.IsNull() {
		return ""
	}
	text := v.String()
	for _, p := range m.Patterns {
		if marker := "[" + string(p) + "]"; strings.Contains(text, marker) {
			return marker
		}
	}
	return ""
}

// MatchPatterns returns the patterns that have a match in text.
func MatchPatterns(text string) []Pattern {
	var out []Pattern
	for _, f := range finders() {
		if len(f.find(text)) > 0 {
			out = append(out, f.pattern)
		}
	}
	return out
}

// CutMaskedText returns a piece of a masked text: at most length characters after the first offset characters. JSON is
// cut in its text form.
func CutMaskedText(v value.Value, offset, length int64) value.Value {
	if v.IsNull() || v.Kind() == value.Cut {
		return v
	}
	text := v.String()
	text = text[after(text, offset):]
	return value.OfString(strings.Clone(text[:after(text, length)]))
}

// MaskCharacters returns the number of characters of a masked text, for use with CutMaskedText.
func MaskCharacters(v value.Value) value.Value {
	if v.IsNull() || v.Kind() == value.Cut {
		return v
	}
	return value.OfInt(int64(utf8.RuneCountInString(v.String())))
}

// after returns the number of bytes of the first n characters of text.
func after(text string, n int64) int {
	for i := range text {
		if n--; n < 0 {
			return i
		}
	}
	return len(text)
}
