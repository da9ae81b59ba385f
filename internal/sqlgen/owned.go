package sqlgen

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A statement that the application's owner has written contains :name for each parameter. Quoted parts and comments stay
// unchanged.

// An ownedKind is a kind of part in such a statement.
type ownedKind uint8

const (
	ownedText     ownedKind = iota // a quoted part, a comment, a cast, a number or punctuation
	ownedWordPart                  // a keyword or the name of a table, a column or a function
	ownedParam                     // a parameter, without its colon
)

// An ownedPart is a part of a statement.
type ownedPart struct {
	kind ownedKind
	text string
}

// readOwned splits a statement of the owner into parts. It refuses a text with several statements, and comments whose
// content the database runs.
func readOwned(ws *Writes, text string) ([]ownedPart, error) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), "; \t\r\n")
	var out []ownedPart
	for whole := text; len(text) > 0; {
		part := ownedPart{ownedText, text[:1]}
		switch name := paramName(text); {
		case name != "":
			part = ownedPart{ownedParam, name}
			text = text[1:]
		case text[0] == ';':
			return nil, errors.New("it has several statements. Write one")
		case slices.ContainsFunc(ws.Run, func(begin string) bool { return strings.HasPrefix(text, begin) }):
			line := 1 + strings.Count(whole[:len(whole)-len(text)], "\n")
			comment, _, _ := strings.Cut(text[:skipLength(ws, text)], "\n")
			return nil, fmt.Errorf("the database runs the content of the comment %q of line %d. Write it without the comment, or remove it", problem.Cut(comment), line)
		default:
			if n := skipLength(ws, text); n > 0 {
				part.text = text[:n]
			} else if w := nameAt(text); w != "" {
				part = ownedPart{ownedWordPart, w}
			}
		}
		out, text = append(out, part), text[len(part.text):]
	}
	return out, nil
}

// Owned writes a statement of the owner into t, with the values of its parameters as arguments. It refuses a text with
// several statements, and parameters without a value. A parameter that appears twice is two arguments, because the
// database can need it in two types. With once it is one, so that one place determines the type of all.
func (t *Text) Owned(text string, once bool, parameters func(name string) (value.Value, bool)) error {
	parts, err := readOwned(&t.Writes, text)
	if err != nil {
		return err
	}
	return t.ownedParts(parts, once, parameters)
}

// ownedParts is Owned for a statement that was read.
func (t *Text) ownedParts(parts []ownedPart, once bool, parameters func(name string) (value.Value, bool)) error {
	places := map[string]string{}
	for _, p := range parts {
		if p.kind != ownedParam {
			t.Write(p.text)
			continue
		}
		v, ok := parameters(p.text)
		if !ok {
			return fmt.Errorf("it has no value for :%s", p.text)
		}
		if places[p.text] == "" || !once {
			places[p.text] = t.Arg(plainArgument(&t.Writes, v))
		}
		t.Write(places[p.text])
	}
	return nil
}

// nativeStatements are the first words of statements in the database's own SQL that a query can have.
var nativeStatements = []string{"select", "with", "values", "table"}

// ReadNative returns the parameters of a statement in the database's own SQL, each once. It refuses a text that isn't one
// statement, or that does something else than read. The errors are sentences for the owner.
func ReadNative(d Dialect, text string) (parameters []string, err error) {
	ws := d.Writes()
	if ws.Quotes == "" || ws.Bind == nil {
		return nil, fmt.Errorf("statements of its own are not supported for %s", d.Name())
	}
	parts, err := readNative(&ws, text)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.kind == ownedParam && !slices.Contains(parameters, p.text) {
			parameters = append(parameters, p.text)
		}
	}
	return parameters, nil
}

// readNative is readOwned for a statement that only reads.
func readNative(ws *Writes, text string) ([]ownedPart, error) {
	parts, err := readOwned(ws, text)
	if err != nil {
		return nil, err
	}
	words := ownedWords(parts)
	for _, w := range words {
		if slices.Contains(writingWords, w.text) && !w.calls { // with a parenthesis it is a function, such as replace
			return nil, fmt.Errorf("it contains %s, and a query only reads. Put quotes around the word if it is a name", strings.ToUpper(w.text))
		}
	}
	if len(words) == 0 || !slices.Contains(nativeStatements, words[0].text) {
		return nil, errors.New("it must begin with SELECT, WITH, VALUES or TABLE")
	}
	return parts, nil
}

// native writes the statement of the owner in the plan. Its columns are those of the plan, by position.
func (w *writer) native() error {
	t := &Text{Writes: w.Writes(), w: w}
	for _, c := range w.plan.Columns {
		w.columns = append(w.columns, ColumnOf(c.Field))
	}
	parts, err := readNative(&t.Writes, w.plan.Native.Text)
	if err == nil {
		err = t.ownedParts(parts, true, func(name string) (value.Value, bool) {
			v, ok := w.plan.Native.Params[name]
			return v, ok
		})
	}
	if err != nil { // the caller doesn't see why. It isn't Unsupported, because no adapter may compute a part of the statement
		return &problem.Error{Code: problem.Upstream, Kind: "native", Lasting: true, Detail: "the query " + w.plan.View.Name() + " can't run here", Err: err}
	}
	return nil
}

// paramName returns the name of the parameter at the start of text, or "".
func paramName(text string) string {
	if text[0] != ':' {
		return ""
	}
	n := 1
	for n < len(text) && (letter(text[n]) || n > 1 && digit(text[n])) {
		n++
	}
	return text[1:n]
}

// skipLength returns the length of the quoted part, comment or cast at the start of text. It returns 0 if text starts
// with something else.
func skipLength(ws *Writes, text string) int {
	until := func(begin int, end string) int {
		if i := strings.Index(text[begin:], end); i >= 0 {
			return begin + i + len(end)
		}
		return len(text)
	}
	switch {
	case strings.IndexByte(ws.Quotes, text[0]) >= 0:
		return quotedPart(text, strings.IndexByte(ws.Escapes, text[0]) >= 0)
	case ws.Dollars && len(text) > 1 && text[0]|0x20 == 'e' && text[1] == '\'': // PostgreSQL's E'it\'s'
		return 1 + quotedPart(text[1:], true)
	case slices.ContainsFunc(ws.Comments, func(begin string) bool { return strings.HasPrefix(text, begin) }):
		return until(1, "\n")
	case strings.HasPrefix(text, "/*"):
		return commentLength(text, ws.Nested)
	case strings.HasPrefix(text, "::"):
		return 2
	case ws.Dollars && text[0] == '$':
		tag := 1
		for tag < len(text) && (letter(text[tag]) || tag > 1 && digit(text[tag])) {
			tag++
		}
		if tag < len(text) && text[tag] == '$' {
			return until(tag+1, text[:tag+1])
		}
	}
	return 0
}

// commentLength returns the length of the comment at the start of text. If nested is true, each /* needs a */.
func commentLength(text string, nested bool) int {
	open := 1
	for i := 2; i < len(text)-1; i++ {
		switch text[i : i+2] {
		case "*/":
			if open--; open == 0 || !nested {
				return i + 2
			}
			i++
		case "/*":
			open++
			i++
		}
	}
	return len(text)
}

// nameAt returns the name of a table, a column or a function at the start of text. Unlike a parameter name, it may
// contain letters beyond ASCII, and a $ after the first character. Such a $ doesn't begin a quoted part.
func nameAt(text string) string {
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

// plainArgument returns a value as the argument that the driver expects where no column determines the type.
func plainArgument(ws *Writes, v value.Value) any {
	switch v.Kind() {
	case value.Null:
		return nil
	case value.Array, value.Object:
		return string(v.AppendJSON(nil))
	}
	return ws.Bind(v, nil)
}
