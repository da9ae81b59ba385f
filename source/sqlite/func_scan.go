package sqlite

import (
	"strings"
	"unicode/utf8"

	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/go-json-experiment/json/jsontext"
)

// A scanJSON reads valid JSON without building values. On invalid text it ends early.
type scanJSON struct {
	text string
	at   int
}

func (s *scanJSON) space() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\n' || s.text[s.at] == '\t' || s.text[s.at] == '\r') {
		s.at++
	}
}

// open enters the object or list that begins with bracket. It returns false if there isn't one at this position.
func (s *scanJSON) open(bracket byte) bool {
	s.space()
	if s.at >= len(s.text) || s.text[s.at] != bracket {
		return false
	}
	s.at++
	return true
}

// more moves to the next element or member. It returns false after the last one.
func (s *scanJSON) more() bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == ',' {
		s.at++
		s.space()
	}
	return s.at < len(s.text) && s.text[s.at] != ']' && s.text[s.at] != '}'
}

// name reads the name of a member, with the colon after it.
func (s *scanJSON) name() string {
	raw := s.value()
	s.space()
	if s.at < len(s.text) {
		s.at++
	}
	return unquoteJSON(raw)
}

// value reads a value and returns its text.
func (s *scanJSON) value() string {
	s.space()
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.skipString()
			if depth == 0 {
				return s.text[start:s.at]
			}
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return s.text[start:s.at]
			}
			if depth--; depth == 0 {
				s.at++
				return s.text[start:s.at]
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return s.text[start:s.at]
			}
		}
		s.at++
	}
	s.at = len(s.text)
	return s.text[start:]
}

// skipString moves behind the string that begins at the current position.
func (s *scanJSON) skipString() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
	s.at = len(s.text)
}

// unquoteJSON returns the text of a JSON string.
func unquoteJSON(raw string) string {
	if len(raw) >= 2 && !strings.Contains(raw, `\`) {
		return raw[1 : len(raw)-1]
	}
	// If raw isn't valid, text is the part before the error.
	text, _ := jsontext.AppendUnquote(nil, raw)
	return string(text)
}

// elements calls yield with the text of each element of a list, until yield returns false. It reports whether text is
// a list.
func elements(text string, yield func(raw string) bool) bool {
	s := scanJSON{text: text}
	if !s.open('[') {
		return false
	}
	for s.more() && yield(s.value()) {
	}
	return true
}

// find returns the position in text of the value at path.
func find(text string, path []string) (from, to int, ok bool) {
	s := scanJSON{text: text}
	for _, part := range path {
		if !s.open('{') {
			return 0, 0, false
		}
		found := false
		for !found && s.more() {
			if found = s.name() == part; !found {
				s.value()
			}
		}
		if !found {
			return 0, 0, false
		}
	}
	raw := s.value()
	return s.at - len(raw), s.at, true
}

// deepest is the maximum nesting of JSON in a column. The adapter shows deeper JSON as text.
const deepest = 100

// valid reports whether the adapter accepts text as JSON.
func valid(text string) bool {
	if !jsontext.Value(text).IsValid() {
		return false
	}
	depth := 0
	for s := (scanJSON{text: text}); s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '"':
			from := s.at
			s.skipString()
			if strings.Contains(s.text[from:s.at], `\u0000`) && strings.Contains(unquoteJSON(s.text[from:s.at]), "\x00") {
				return false
			}
			s.at--
		case '[', '{':
			if depth++; depth > deepest {
				return false
			}
		case ']', '}':
			depth--
		}
	}
	return true
}

// read parses JSON of any depth.
func read(text string) value.Value {
	v, err := value.Read([]byte(text), 1<<20)
	if err != nil {
		return value.OfString(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return v
}

// jsonText returns raw as the result of a function that returns JSON. JSON's null becomes null.
func jsonText(raw string) any {
	if raw == "null" || raw == "" {
		return nil
	}
	return raw
}

// quoteJSON returns text as a JSON string. NUL and characters that JSON can't contain (see value.Read) become U+FFFD.
// It copies a long text only once, because a statement may quote thousands of texts.
func quoteJSON(s string) string {
	const step = 4096
	s = writable(s)
	if len(s) <= step {
		return string(value.AppendQuote(nil, s))
	}
	var out strings.Builder
	out.Grow(len(s) + len(s)/64)
	out.WriteByte('"')
	piece := make([]byte, 0, 2*step)
	for len(s) > 0 {
		n := min(step, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		piece = value.AppendQuote(piece[:0], s[:n])
		out.Write(piece[1 : len(piece)-1])
		s = s[n:]
	}
	out.WriteByte('"')
	return out.String()
}

// writable returns s with U+FFFD in place of characters that JSON can't contain.
func writable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
