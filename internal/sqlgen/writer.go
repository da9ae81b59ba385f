package sqlgen

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// MaxText is the maximum size of a statement in bytes. Databases accept larger statements, but only a contrived query
// grows that large.
const MaxText = 4 << 20

// maxArguments is the maximum number of arguments of a statement. SQLite accepts 32,766 and PostgreSQL 65,535.
const maxArguments = 30_000

// An argument is a value and the type of the dialect to which it is cast. The place of an argument in a text is its
// number between two NULs. A text has no other NULs: it contains no values, and Quote removes NUL from names.
type argument struct {
	value any
	cast  string
}

// A Writer contains the text of a statement under construction and, separately, the values. The zero Writer is empty.
type Writer struct {
	text    strings.Builder
	args    []argument
	aliases int
}

// Write appends parts.
func (w *Writer) Write(parts ...string) {
	for _, p := range parts {
		w.text.WriteString(p)
	}
}

// Grow makes room for n more bytes.
func (w *Writer) Grow(n int) { w.text.Grow(n) }

// Alias returns a name for a table that is unique in the statement.
func (w *Writer) Alias(prefix string) string {
	w.aliases++
	return prefix + strconv.Itoa(w.aliases)
}

// Arg returns the place of a value. The place may be written any number of times.
func (w *Writer) Arg(v any, cast string) string {
	w.args = append(w.args, argument{v, cast})
	return "\x00" + strconv.Itoa(len(w.args)-1) + "\x00"
}

// Unwritable returns the text for a form that a dialect can't write, for methods without an error. Statement refuses a
// text that contains it and returns the reason.
func Unwritable(reason string) string { return "\x00!" + reason + "\x00" }

// Put writes the place of a value.
func (w *Writer) Put(v any, cast string) { w.Write(w.Arg(v, cast)) }

// Capture returns the text that write appends to w. w must be empty before the call.
func (w *Writer) Capture(write func() error) (string, error) {
	err := write()
	text := w.text.String()
	w.text.Reset()
	return text, err
}

// Either joins parts with OR. It writes a balanced tree, because databases limit the depth of an expression.
func (w *Writer) Either(parts []func() error) error {
	switch n := len(parts); n {
	case 0:
		w.Write(Never)
		return nil
	case 1:
		return parts[0]()
	default:
		w.Write("(")
		if err := w.Either(parts[:n/2]); err != nil {
			return err
		}
		w.Write(" OR ")
		err := w.Either(parts[n/2:])
		w.Write(")")
		return err
	}
}

// Statement returns the text and the values in their order. It replaces the places of values by placeholders of d. If
// placeholders name their arguments, they are numbered by first use. Otherwise the value is repeated for each place.
// Statement refuses a text that is longer than most, in bytes.
func (w *Writer) Statement(d Dialect, most int) (string, []any, error) {
	text := w.text.String()
	if strings.Count(text, "\x00")%2 != 0 {
		return "", nil, problem.New(problem.Internal, "a NUL in the text of a statement")
	}
	var b strings.Builder
	b.Grow(len(text) + 8*len(w.args)) // "$1::text" instead of a number between NULs
	args := make([]any, 0, len(w.args))
	numbers := make([]int, len(w.args)) // from 1, or 0 for values that haven't appeared yet
	for i, part := 0, ""; text != ""; i++ {
		part, text, _ = strings.Cut(text, "\x00")
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		if reason, ok := strings.CutPrefix(part, "!"); ok {
			return "", nil, problem.New(problem.Unsupported, reason)
		}
		n, err := strconv.Atoi(part)
		if err != nil || n >= len(w.args) {
			return "", nil, problem.New(problem.Internal, "a NUL in the text of a statement")
		}
		if numbers[n] == 0 || !d.Counts() {
			args = append(args, w.args[n].value)
			numbers[n] = len(args)
		}
		b.WriteString(d.Placeholder(numbers[n], w.args[n].cast))
	}
	if len(args) > maxArguments {
		return "", nil, problem.New(problem.InvalidQuery, fmt.Sprintf("the query compares with %d values. At most %d are supported", len(args), maxArguments))
	}
	if b.Len() > most {
		return "", nil, &problem.Error{Code: problem.Unsupported, Detail: fmt.Sprintf("the query becomes a statement of %d bytes here. At most %d are supported", b.Len(), most),
			Suggestion: "compute in several stages, or with fewer expressions inside of each other"}
	}
	return b.String(), args, nil
}
