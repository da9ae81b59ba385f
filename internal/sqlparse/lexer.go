package sqlparse

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// The limits of a statement.
const (
	MaxText   = 64 << 10 // bytes
	MaxDepth  = 60       // nesting depth of expressions and queries
	MaxNodes  = 5000     // expressions
	MaxValues = 10_000   // constants in the lists of IN, ARRAY and VALUES, which don't count as expressions
)

// A kind is the kind of a token.
type kind uint8

const (
	end    kind = iota
	word        // a keyword or a name, as written
	quoted      // a quoted name
	number
	text
	param
	symbol
)

// A token is a piece of the text.
type token struct {
	kind kind
	text string // the value: a quoted name or a string is without its quotes
	low  string // a word in lower case, or a symbol
	at   Pos
	from int // offsets in the text
	to   int
	head rune // the quote of a quoted name
}

// symbols are the operators and punctuation marks, the longest first.
var symbols = []string{"->>", "#>>", "<->", "!~*", "->", "#>", "!~", "~*", "::", "<=", ">=", "<>", "!=", "||", "&&", "@>", "@?", "@@", "<@", "==",
	"(", ")", "[", "]", ",", ";", ".", "+", "-", "*", "/", "%", "<", ">", "=", "~", "^", "?", "&", "|", "#", ":"}

// Faultf returns an error for the place at in a statement.
func Faultf(at Pos, format string, args ...any) *problem.Error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: "/sql",
		Detail: fmt.Sprintf("line %d, column %d: ", at.Line, at.Column) + fmt.Sprintf(format, args...)}
}

// A lexer is at offset i of src. line and column are the place of i, from 1, for messages.
type lexer struct {
	src          string
	i            int
	line, column int
	joined       bool // the preceding token ends here, so that a bracket begins an index
}

// tokens splits src into tokens. The last token has the kind end.
func tokens(src string) ([]token, error) {
	if len(src) > MaxText {
		return nil, Faultf(Pos{1, 1}, "the statement has %d bytes, at most %d", len(src), MaxText)
	}
	l := &lexer{src: src, line: 1, column: 1}
	if i := strings.IndexByte(src, 0); i >= 0 {
		l.skip(i)
		return nil, Faultf(l.pos(), "the statement contains a NUL byte")
	}
	if !utf8.ValidString(src) {
		return nil, Faultf(l.pos(), "the statement isn't valid UTF-8")
	}
	var out []token
	for {
		before := l.i
		if err := l.space(); err != nil {
			return nil, err
		}
		l.joined = l.i > 0 && l.i == before && len(out) > 0 && (out[len(out)-1].kind == word || out[len(out)-1].low == ")" || out[len(out)-1].low == "]")
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		t.to = l.i
		out = append(out, t)
		if t.kind == end {
			return out, nil
		}
	}
}

func (l *lexer) pos() Pos { return Pos{l.line, l.column} }

// skip advances by n bytes.
func (l *lexer) skip(n int) {
	for _, r := range l.src[l.i : l.i+n] {
		if l.column++; r == '\n' {
			l.line, l.column = l.line+1, 1
		}
	}
	l.i += n
}

// space skips white space and comments, which may nest.
func (l *lexer) space() error {
	for l.i < len(l.src) {
		rest := l.src[l.i:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case unicode.IsSpace(r) || r == '\uFEFF':
			l.skip(size)
		case strings.HasPrefix(rest, "--"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.skip(n)
		case strings.HasPrefix(rest, "/*"):
			n := commentEnd(rest)
			if n < 0 {
				return Faultf(l.pos(), "this comment has no end. Close it with */")
			}
			l.skip(n)
		default:
			return nil
		}
	}
	return nil
}

// commentEnd returns the length of the comment at the beginning of s, or -1 if the comment has no end.
func commentEnd(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			if depth--; depth == 0 {
				return i + 2
			}
			i++
		}
	}
	return -1
}

// next returns the token at the current place.
func (l *lexer) next() (token, error) {
	t := token{at: l.pos(), from: l.i}
	if l.i == len(l.src) {
		return t, nil
	}
	rest := l.src[l.i:]
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\'':
		return l.quote(t, text, '\'', "string")
	case (r == 'E' || r == 'e') && strings.HasPrefix(rest[1:], "'"):
		return l.readEscapeString(t)
	case strings.ContainsRune("rRnN", r) && strings.HasPrefix(rest[1:], "'"): // r'^\d' and N'text' are texts without escapes
		l.skip(1)
		return l.quote(t, text, '\'', "string")
	case r == '"':
		return l.quote(t, quoted, '"', "quoted name")
	case r == '`':
		return l.quote(t, quoted, '`', "quoted name")
	case r == '[' && !l.joined && startsWithBracketName(rest):
		n := strings.IndexByte(rest, ']')
		t.kind, t.text, t.head = quoted, rest[1:n], '['
		l.skip(n + 1)
		return t, nil
	case r == '$':
		return l.dollar(t)
	case r >= '0' && r <= '9', r == '.' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '9':
		return l.number(t)
	case r == '_' || unicode.IsLetter(r):
		n := strings.IndexFunc(rest, func(r rune) bool { return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if n < 0 {
			n = len(rest)
		}
		t.kind, t.text = word, rest[:n]
		t.low = strings.ToLower(t.text)
		l.skip(n)
		return t, nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			t.kind, t.low, t.text = symbol, s, s
			l.skip(len(s))
			return t, nil
		}
	}
	f := Faultf(t.at, "%q has no meaning here", string(r))
	if r == '@' {
		f.Suggestion = "there are no variables: row_number() OVER (…) numbers records. abs(x) is the size of a number, starts_with(x, y) tests how a text begins"
	}
	return t, f
}

// startsWithBracketName reports whether s begins with a name in brackets, as in SQL Server, and not with an index.
func startsWithBracketName(s string) bool {
	n := strings.IndexByte(s, ']')
	if n < 2 {
		return false
	}
	for i, r := range s[1:n] {
		if r != '_' && r != ' ' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return true
}

// quote parses the text between two quotes. A quote inside is doubled.
func (l *lexer) quote(t token, k kind, q byte, what string) (token, error) {
	rest := l.src[l.i:]
	for i := 1; i < len(rest); i++ {
		if rest[i] != q {
			continue
		}
		if i+1 < len(rest) && rest[i+1] == q {
			i++
			continue
		}
		t.kind, t.head = k, rune(q)
		t.text = strings.ReplaceAll(rest[1:i], string(q)+string(q), string(q))
		l.skip(i + 1)
		if k == quoted && t.text == "" {
			return t, Faultf(t.at, "a quoted name can't be empty")
		}
		return t, nil
	}
	return t, Faultf(t.at, "this %s has no end. Close it with %c", what, q)
}

// readEscapeString parses E'…', which has the escapes of C.
func (l *lexer) readEscapeString(t token) (token, error) {
	rest := l.src[l.i+2:]
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case c == '\'' && i+1 < len(rest) && rest[i+1] == '\'':
			i++
			b.WriteByte('\'')
		case c == '\'':
			t.kind, t.text = text, b.String()
			l.skip(i + 3)
			return t, nil
		case c == '\\' && i+1 < len(rest):
			i++
			known, ok := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '\\': '\\', '\'': '\'', 'b': '\b', 'f': '\f'}[rest[i]]
			if !ok {
				return t, Faultf(t.at, `\%c is no escape that is known in E'…'. Write the character itself`, rest[i])
			}
			b.WriteByte(known)
		default:
			b.WriteByte(c)
		}
	}
	return t, Faultf(t.at, "this string has no end. Close it with '")
}

// dollar parses a parameter $1, or a string between $tag$ and $tag$.
func (l *lexer) dollar(t token) (token, error) {
	rest := l.src[l.i+1:]
	n := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if n < 0 {
		n = len(rest)
	}
	if n > 0 {
		t.kind, t.text = param, rest[:n]
		l.skip(n + 1)
		return t, nil
	}
	close := strings.IndexByte(rest, '$')
	if close < 0 || strings.ContainsFunc(rest[:close], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return t, Faultf(t.at, "$ begins a parameter such as $1, or a string such as $$text$$")
	}
	tag := "$" + rest[:close+1]
	body := rest[close+1:]
	stop := strings.Index(body, tag)
	if stop < 0 {
		return t, Faultf(t.at, "this string has no end. Close it with %s", tag)
	}
	t.kind, t.text = text, body[:stop]
	l.skip(2*len(tag) + stop)
	return t, nil
}

// number parses digits with an optional point and exponent. As in PostgreSQL, 1_000 is 1000. As in PostgreSQL 15, a
// letter directly after the number is an error: 1a isn't 1 with the alias a.
func (l *lexer) number(t token) (token, error) {
	rest := l.src[l.i:]
	i := 0
	digits := func() {
		for i < len(rest) && (rest[i] >= '0' && rest[i] <= '9' || rest[i] == '_') {
			i++
		}
	}
	digits()
	if i < len(rest) && rest[i] == '.' {
		i++
		digits()
	}
	if i < len(rest) && (rest[i] == 'e' || rest[i] == 'E') {
		j := i + 1
		if j < len(rest) && (rest[j] == '+' || rest[j] == '-') {
			j++
		}
		if j < len(rest) && rest[j] >= '0' && rest[j] <= '9' {
			i = j
			digits()
		}
	}
	if r, _ := utf8.DecodeRuneInString(rest[i:]); i < len(rest) && (unicode.IsLetter(r) || r == '_') {
		return t, Faultf(t.at, "%q is no number", problem.Cut(rest[:min(i+1, len(rest))]))
	}
	t.kind, t.text = number, strings.ReplaceAll(rest[:i], "_", "")
	l.skip(i)
	return t, nil
}
