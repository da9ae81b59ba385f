package sqldriver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// OwnedStatement compiles a statement that the application's owner has written about records of c. If c is nil, it
// may be about any records. In the text, :name is a parameter, which becomes an argument. Quoted parts and comments
// stay unchanged. OwnedStatement rejects a text with several statements, and names without a value.
func OwnedStatement(d sqlgen.Dialect, c *schema.Class, text string, parameters value.Value) (sqlgen.Statement, error) {
	t, err := sqlgen.NewText(d)
	if err != nil {
		return sqlgen.Statement{}, err
	}
	wrong := func(format string, args ...any) (sqlgen.Statement, error) {
		return sqlgen.Statement{}, &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "statement", Err: fmt.Errorf("the statement of an action: "+format, args...)}
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), "; \t\r\n")
	for len(text) > 0 {
		if n := skipLength(&t.Writes, text); n > 0 {
			t.Write(text[:n])
			text = text[n:]
			continue
		}
		name := ""
		if text[0] == ':' {
			name = identifier(text[1:])
		}
		switch {
		case text[0] == ';':
			return wrong("it holds several")
		case name == "":
			t.Write(text[:1])
			text = text[1:]
			continue
		}
		v, ok := parameters.Get(name)
		if !ok {
			return wrong("no value for :%s", name)
		}
		t.Write(t.Arg(dmlPlain(&t.Writes, v)))
		text = text[1+len(name):]
	}
	return foreign(t, c, nil)
}

// identifier returns the parameter name at the start of text.
func identifier(text string) string {
	n := 0
	for n < len(text) && (letter(text[n]) || n > 0 && digit(text[n])) {
		n++
	}
	return text[:n]
}

// skipLength returns the length of the quoted part, comment, cast or word at the start of text. It returns 0 if text
// starts with something else.
func skipLength(ws *sqlgen.Writes, text string) int {
	until := func(begin int, end string) int {
		if i := strings.Index(text[begin:], end); i >= 0 {
			return begin + i + len(end)
		}
		return len(text)
	}
	switch {
	case strings.IndexByte(ws.Quotes, text[0]) >= 0:
		return quotedPart(text, strings.IndexByte(ws.Escapes, text[0]) >= 0)
	case slices.ContainsFunc(ws.Comments, func(begin string) bool { return strings.HasPrefix(text, begin) }):
		return until(1, "\n")
	case strings.HasPrefix(text, "/*"):
		return until(2, "*/")
	case strings.HasPrefix(text, "::"):
		return 2
	case ws.Dollars:
		if tag := "$" + identifier(text[1:]) + "$"; strings.HasPrefix(text, tag) {
			return until(len(tag), tag)
		}
	}
	return len(word(text))
}

// word returns the name of a table, a column or a function at the start of text. Unlike a parameter name, it may
// contain letters beyond ASCII, and a $ after the first character. Such a $ doesn't begin a quoted part.
func word(text string) string {
	n := 0
	for n < len(text) && (letter(text[n]) || text[n] >= 0x80 || n > 0 && (text[n] == '$' || digit(text[n]))) {
		n++
	}
	return text[:n]
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// quotedPart returns the length of the quoted part at the start of text. A doubled quote counts as an end, after
// which another part begins.
func quotedPart(text string, escapes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case escapes && text[i] == '\\':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

// dmlPlain returns a value as the argument that the driver expects where no column determines the type.
func dmlPlain(ws *sqlgen.Writes, v value.Value) any {
	switch v.Kind() {
	case value.Null:
		return nil
	case value.Array, value.Object:
		return string(v.AppendJSON(nil))
	}
	return ws.Bind(v, nil)
}
