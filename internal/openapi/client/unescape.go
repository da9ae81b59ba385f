package client

import (
	"html"
	"strconv"
	"unicode/utf8"
)

// unescaped is a text with the position of each of its bytes, and of its end, in the original text. If at is nil, the
// text is the original.
type unescaped struct {
	text []byte
	at   []int32
}

// again undoes one level of URL, JSON and HTML escapes in u. The text of the result is nil if u contains no escapes.
func (u unescaped) again() unescaped {
	out := unescaped{text: make([]byte, 0, len(u.text)), at: make([]int32, 0, len(u.text)+1)}
	place := func(i int) int32 {
		if u.at == nil {
			return int32(i)
		}
		return u.at[i]
	}
	changed := false
	for i := 0; i < len(u.text); {
		r, n := escape(u.text[i:])
		if n == 0 {
			out.text, out.at = append(out.text, u.text[i]), append(out.at, place(i))
			i++
			continue
		}
		changed = true
		before := len(out.text)
		if r < 0 { // one byte
			out.text = append(out.text, byte(-r))
		} else {
			out.text = utf8.AppendRune(out.text, r)
		}
		for range len(out.text) - before {
			out.at = append(out.at, place(i))
		}
		i += n
	}
	if !changed {
		return unescaped{}
	}
	out.at = append(out.at, place(len(u.text)))
	return out
}

// escape decodes the escape at the start of b. It returns the character, which is negative for a single byte, and the
// escape's length. The length is 0 if there is no escape.
func escape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[0] {
	case '%':
		if r, ok := digits(b, 1, 2); ok {
			return -r, 3
		}
	case '\\':
		switch b[1] {
		case 'u':
			if r, ok := digits(b, 2, 4); ok {
				return r, 6
			}
		case 'x':
			if r, ok := digits(b, 2, 2); ok {
				return -r, 4
			}
		case '/', '\\', '"', '\'':
			return -rune(b[1]), 2
		}
	case '&':
		for end := 2; end < len(b) && end < 12; end++ {
			if b[end] != ';' {
				continue
			}
			if plain := html.UnescapeString(string(b[:end+1])); plain != string(b[:end+1]) {
				r, size := utf8.DecodeRuneInString(plain)
				if size == len(plain) {
					return r, end + 1
				}
			}
			break
		}
	}
	return 0, 0
}

// digits parses the n hexadecimal digits of b at position at. It refuses zero, because no credential contains a zero
// byte.
func digits(b []byte, at, n int) (rune, bool) {
	if len(b) < at+n {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[at:at+n]), 16, 32)
	return rune(v), err == nil && v > 0
}
