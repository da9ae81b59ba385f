package sqldriver

import "strings"

// A Token is one token of SQL as stored in a catalogue.
type Token struct {
	Kind TokenKind
	Text string // without its quotes
}

// A TokenKind is a kind of token.
type TokenKind uint8

// The kinds.
const (
	WordToken   TokenKind = iota // as written
	QuotedToken                  // an identifier in quotes
	TextToken                    // a string
	NumberToken
	punctToken // one character, or "::" or "=="
)

// Is reports whether t is the keyword or punctuation s, which is in upper case.
func (t Token) Is(s string) bool {
	return (t.Kind == WordToken || t.Kind == punctToken) && strings.EqualFold(t.Text, s)
}

// Quoting describes which characters quote names in a catalogue.
type Quoting uint8

// The kinds of quoting.
const (
	DoubleQuotes Quoting = iota // only double quotes. An E before a text means that backslashes are escapes in it
	AllQuotes                   // double quotes, backticks and brackets
)

// LexSQL splits sql into tokens. It returns false if a quote isn't closed.
func LexSQL(sql string, quoting Quoting) ([]Token, bool) {
	var out []Token
	for i := 0; i < len(sql); {
		c, rest := sql[i], sql[i:]
		switch {
		case strings.IndexByte(" \t\n\r\f", c) >= 0:
			i++
		case strings.HasPrefix(rest, "--"):
			i += until(rest, 2, "\n")
		case strings.HasPrefix(rest, "/*"):
			i += until(rest, 2, "*/")
		case quoting == AllQuotes && c == '[':
			n := strings.IndexByte(rest, ']')
			if n < 0 {
				return nil, false
			}
			out, i = append(out, Token{QuotedToken, rest[1:n]}), i+n+1
		case c == '\'' || c == '"' || quoting == AllQuotes && c == '`':
			s, n := unquote(rest)
			if n == 0 {
				return nil, false
			}
			kind := QuotedToken
			if c == '\'' {
				kind = TextToken
			}
			out, i = append(out, Token{kind, s}), i+n
		case '0' <= c && c <= '9' || c == '.' && len(rest) > 1 && '0' <= rest[1] && rest[1] <= '9':
			n := numberLength(rest)
			out, i = append(out, Token{NumberToken, rest[:n]}), i+n
		case inWord(c):
			n := 1
			for n < len(rest) && (inWord(rest[n]) || '0' <= rest[n] && rest[n] <= '9' || rest[n] == '$') {
				n++
			}
			if n == 1 && len(rest) > 1 && rest[1] == '\'' && strings.IndexByte("xXeEbB", c) >= 0 {
				s, m := unquote(rest[1:])
				if m == 0 {
					return nil, false
				}
				t := Token{punctToken, rest[:1+m]} // a punctuation token, so that it matches no form
				if quoting == DoubleQuotes && c == 'E' && !strings.Contains(strings.ReplaceAll(s, `\\`, ""), `\`) {
					t = Token{TextToken, strings.ReplaceAll(s, `\\`, `\`)}
				}
				out, i = append(out, t), i+1+m
				continue
			}
			out, i = append(out, Token{WordToken, rest[:n]}), i+n
		default:
			n := 1
			if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "==") {
				n = 2
			}
			out, i = append(out, Token{punctToken, rest[:n]}), i+n
		}
	}
	return out, true
}

func inWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// until returns the length of s up to and including end, searching from position from.
func until(s string, from int, end string) int {
	if n := strings.Index(s[from:], end); n >= 0 {
		return from + n + len(end)
	}
	return len(s)
}

// unquote returns the content of the quoted text at the start of s, with each doubled quote as one. n is the length
// with quotes, or 0 if the quote isn't closed.
func unquote(s string) (content string, n int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == s[0] {
			b.WriteByte(s[i])
			i++
			continue
		}
		return b.String(), i + 1
	}
	return "", 0
}

// numberLength returns the number of bytes of the number at the start of s. Letters directly after the number count
// too, and then the token is not a valid number.
func numberLength(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		sign := (c == '+' || c == '-') && n > 0 && (s[n-1] == 'e' || s[n-1] == 'E')
		if !sign && c != '.' && !inWord(c) && (c < '0' || c > '9') {
			break
		}
		n++
	}
	return n
}

// TokenGroup returns the tokens between the bracket that ts starts with and its closing bracket, and the tokens after it.
func TokenGroup(ts []Token) (inner, rest []Token, ok bool) {
	depth := 0
	for i, t := range ts {
		switch {
		case t.Kind != punctToken:
		case t.Text == "(" || t.Text == "[":
			depth++
		case t.Text == ")" || t.Text == "]":
			depth--
		}
		if depth == 0 {
			return ts[min(1, i):i], ts[i+1:], i > 0
		}
	}
	return nil, nil, false
}

// strip removes parentheses that enclose all of ts.
func strip(ts []Token) []Token {
	for len(ts) > 0 && ts[0].Is("(") {
		inner, rest, ok := TokenGroup(ts)
		if !ok || len(rest) > 0 {
			return ts
		}
		ts = inner
	}
	return ts
}

// SplitTokens cuts ts at every sep outside brackets.
func SplitTokens(ts []Token, sep string) [][]Token {
	var out [][]Token
	depth, start := 0, 0
	for i, t := range ts {
		switch {
		case t.Is("(") || t.Is("["):
			depth++
		case t.Is(")") || t.Is("]"):
			depth--
		case depth == 0 && t.Is(sep):
			out, start = append(out, ts[start:i]), i+1
		}
	}
	return append(out, ts[start:])
}

// LowerASCII returns s with the letters A to Z in lower case, as SQL compares unquoted names.
func LowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
