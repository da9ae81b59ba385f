package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// hidden stands for what isn't shown, however much that is.
const hidden = "•••"

// partial leaves of a text: the first characters of an e-mail address and of its domain; the last digits of a long
// number, 4 of 12 or more and 2 of 9 or more; the first character of anything else. What is so short that this would
// be much of it shows nothing. How long the text is never shows.
func partial(v value.Value) value.Value {
	if v.IsNull() {
		return v
	}
	text := v.String()
	if local, domain, ok := address(text); ok {
		host, top := domain, ""
		if dot := strings.LastIndexByte(domain, '.'); len(domain)-dot <= 7 && dot > 0 {
			host, top = domain[:dot], domain[dot:]
		}
		return value.OfString(first(local, 3) + "@" + first(host, 3) + top)
	}
	if digits, ok := number(text); ok {
		switch n := len(digits); {
		case n >= 12:
			return value.OfString(hidden + digits[n-4:])
		case n >= 9:
			return value.OfString(hidden + digits[n-2:])
		}
		return value.OfString(hidden)
	}
	return value.OfString(first(text, 4))
}

// first is the first character of a text that has at least so many, if it is a letter or a digit, and what hides the
// rest.
func first(text string, least int) string {
	r, size := utf8.DecodeRuneInString(text)
	if utf8.RuneCountInString(text) < least || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return hidden
	}
	return text[:size] + hidden
}

// address takes an e-mail address apart.
func address(text string) (local, domain string, ok bool) {
	local, domain, _ = strings.Cut(text, "@") // without one, the domain is empty
	return local, domain, local != "" && strings.Contains(domain, ".") && !strings.ContainsAny(domain, "@/:") && !strings.ContainsFunc(text, unicode.IsSpace)
}

// number returns the digits of a text that has nothing but digits and what phone and card numbers are written with.
func number(text string) (digits string, ok bool) {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			b.WriteByte(c)
		case strings.IndexByte(" -+()/", c) < 0:
			return "", false
		}
	}
	return b.String(), b.Len() > 0
}
