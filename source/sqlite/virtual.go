package sqlite

import (
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
)

// virtual parses CREATE VIRTUAL TABLE name USING module(args), in the form that SQLite stores. ok is false for any
// other text.
func virtual(ddl string) (module string, args []string, ok bool) {
	rest := ddl
	for _, want := range []string{"create", "virtual", "table", "", "using"} {
		var word string
		if word, rest, ok = token(rest); !ok || want != "" && sqldriver.LowerASCII(word) != want {
			return "", nil, false
		}
	}
	if module, rest, ok = token(rest); !ok {
		return "", nil, false
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return module, nil, true
	}
	inner, opened := strings.CutPrefix(rest, "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !opened || !closed || strings.Contains(inner, "--") || strings.Contains(inner, "/*") {
		return module, nil, false
	}
	return module, split(inner), true
}

// split cuts arguments at commas outside quotes and brackets.
func split(s string) []string {
	var out []string
	start, depth := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(':
			depth++
		case ')':
			depth--
		case '\'', '"', '`', '[':
			end := map[byte]byte{'[': ']'}[c]
			if end == 0 {
				end = c
			}
			n := strings.IndexByte(s[i+1:], end)
			if n < 0 {
				n = len(s) - i - 1
			}
			i += n + 1 // a doubled quote ends one text and begins the next, without a comma between
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(s[start:]))
}

// assignment parses "option = value", the form of an argument that isn't a column. The option is returned in lower
// case.
func assignment(arg string) (option, v string, ok bool) {
	if arg == "" || strings.IndexByte("'\"`[", arg[0]) >= 0 {
		return "", "", false // a quoted text is a column
	}
	option, rest, ok := token(arg)
	rest, is := strings.CutPrefix(strings.TrimSpace(rest), "=")
	if !ok || !is {
		return "", "", false
	}
	v, rest, ok = token(rest)
	if !ok || strings.TrimSpace(rest) != "" {
		return sqldriver.LowerASCII(option), "", true
	}
	return sqldriver.LowerASCII(option), v, true
}

// token returns the bare or quoted token at the beginning of s, and the rest of s.
func token(s string) (word, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n\f")
	if s == "" {
		return "", "", false
	}
	end := strings.IndexByte("'\"`[", s[0])
	if end < 0 {
		n := strings.IndexFunc(s, func(c rune) bool {
			return c < utf8.RuneSelf && c != '_' && c != '$' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		})
		if n < 0 {
			n = len(s)
		}
		return s[:n], s[n:], n > 0
	}
	close := "'\"`]"[end]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != close:
		case close != ']' && i+1 < len(s) && s[i+1] == close:
			i++
		default:
			quote := string(close)
			return strings.ReplaceAll(s[1:i], quote+quote, quote), s[i+1:], true
		}
	}
	return "", "", false
}
