package credential

import (
	"html"
	"strconv"
	"unicode/utf8"
)

// unescaped is a text with the place in the text that it comes from of each of its bytes, and of its end. A nil at says
// that it is that text.
type unescaped struct {
	text []byte
	at   []int32
}

// again unescapes u: what URLs, JSON and HTML write for characters. A nil text says that there was nothing to do.
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

// escape returns the character that b begins with an escape of, below zero for a byte, and the escape's length; 0 for none.
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

// digits reads n hexadecimal digits of b from at on; a zero is none that a credential holds.
func digits(b []byte, at, n int) (rune, bool) {
	if len(b) < at+n {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[at:at+n]), 16, 32)
	return rune(v), err == nil && v > 0
}
