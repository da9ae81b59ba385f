package sqlgen

import (
	"fmt"
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// An Operand is a column or a JSON node that a condition compares.
type Operand struct {
	Text  string        // the column, or the node
	Field *schema.Field // the field of the column, or nil for a node
	Raw   string        // the stored integer of a date, which may have an index (see schema.Field.Unit), or ""
}

// Node reports whether o is a JSON node.
func (o Operand) Node() bool { return o.Field == nil }

// A SearchedView is a statement under construction over the view that is searched.
type SearchedView interface {
	// Write appends parts.
	Write(parts ...string)
	// Arg returns the place of a value. cast is a type of the dialect, or "".
	Arg(v any, cast string) string
	// Quote quotes a name.
	Quote(name string) string
	// Column returns the column of the searched view for a field, or the column of an index.
	Column(name string) string
}

// Milliseconds is the native type of a computed date. It is always an integer in milliseconds since 1970, even a
// small one.
const Milliseconds = "milliseconds"

// Nameable returns name without NUL. NUL marks the places of values, and no database accepts it in a name.
func Nameable(name string) string { return strings.ReplaceAll(name, "\x00", "\uFFFD") }

// always and Never are conditions that hold for every record and for no record. TRUE and FALSE aren't constants in
// SQLite: a column with that name takes precedence.
const always, Never = "1=1", "1=0"

// UnsupportedError returns the error for a form that a dialect can't write.
func UnsupportedError(format string, args ...any) error {
	return problem.New(problem.Unsupported, fmt.Sprintf(format, args...))
}

// Misread returns the error for a comparison by order with a text that isn't in the form of the field.
func Misread(f *schema.Field, text string) error {
	if f.Form == "" {
		return problem.New(problem.InvalidQuery, fmt.Sprintf("values of %s (%s) have no order. Compare them with $eq, $ne and $in", f.Name, f.Native))
	}
	return problem.New(problem.InvalidQuery, fmt.Sprintf("%s is %s, and %q is not one", f.Name, f.Form, problem.Cut(text)))
}

// Successor returns the least text above all texts that begin with prefix, or "" if there is none.
func Successor(prefix string) string {
	runes := []rune(prefix)
	for len(runes) > 0 {
		last := &runes[len(runes)-1]
		switch {
		case *last == 0xD7FF:
			*last = 0xE000 // the surrogates between these two aren't characters
			return string(runes)
		case *last < 0x10FFFF:
			*last++
			return string(runes)
		}
		runes = runes[:len(runes)-1]
	}
	return ""
}

// Beyond writes a comparison with a number that is above or below all values of the column.
func Beyond(w *Writer, left, op string, above bool) {
	if op != "=" && above == (op[0] == '<') {
		w.Write(left, " IS NOT NULL")
		return
	}
	w.Write(Never)
}

// Infinite reports whether x is not a finite number, and whether it is above all finite numbers. As in value.Compare,
// NaN is above them.
func Infinite(x float64) (above, infinite bool) {
	return !math.IsInf(x, -1), math.IsNaN(x) || math.IsInf(x, 0)
}

// AboveFloor returns the operator to use if the column can't contain the number of a comparison. The new operator
// compares with the greatest possible value of the column below the number. some is false for =, because no record is
// equal.
func AboveFloor(op string) (floored string, some bool) {
	switch op {
	case "=":
		return "", false
	case "<":
		return "<=", true
	case ">=":
		return ">", true
	}
	return op, true
}
