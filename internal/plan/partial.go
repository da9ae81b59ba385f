package plan

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
)

// hidden replaces the hidden part of a text of any length.
const hidden = "•••"

// partial masks a text. Of an e-mail address it shows the first character of the name and of the domain. Of a long
// number it shows the last digits: 4 of 12 or more, 2 of 9 or more. Of any other text it shows the first character. It
// hides a text completely if the text is too short for this. It never reveals the length of the text.
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
		return value.OfString(maskFirst(local, 3) + "@" + maskFirst(host, 3) + top)
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
	return value.OfString(maskFirst(text, 4))
}

// maskFirst returns the first character of text, followed by hidden. It returns only hidden if text has fewer than
// least characters, or if it doesn't begin with a letter or a digit.
func maskFirst(text string, least int) string {
	r, size := utf8.DecodeRuneInString(text)
	if utf8.RuneCountInString(text) < least || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return hidden
	}
	return text[:size] + hidden
}

// address splits an e-mail address.
func address(text string) (local, domain string, ok bool) {
	local, domain, _ = strings.Cut(text, "@") // without an at sign, the domain is empty
	return local, domain, local != "" && strings.Contains(domain, ".") && !strings.ContainsAny(domain, "@/:") && !strings.ContainsFunc(text, unicode.IsSpace)
}

// number returns the digits of a text. ok is false if the text contains anything but digits and the punctuation of
// phone and card numbers.
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
