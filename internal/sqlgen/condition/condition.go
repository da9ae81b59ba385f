// Package condition describes what databases write differently in names, conditions and orders. Each database's folder
// beside it implements Dialect; package sqlgen, which knows permits and views, calls it.
package condition

import (
	"fmt"
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen/expr"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Dialect is what differs between databases in names, conditions and orders. An operand x is the SQL text of a column or
// of a JSON node.
type Dialect interface {
	// Quote quotes a name. Names get into a statement only through it.
	Quote(name string) string
	// Home returns the schema of a class that names none; "" where it depends on the connection.
	Home() string
	// Held returns the name under which a derived table holds a column.
	Held(name string) string
	// Key returns the text of x, of a pointer or of the key other that it holds, for a comparison of the two.
	Key(x string, f, other *schema.Field) string
	// Optional returns x, a column of a derived table that a LEFT JOIN may leave without a row.
	Optional(x string) string
	// Same returns the text of x for a comparison with another field, of a type that can be equal to it.
	Same(x string, f, other *schema.Field) string
	// Members returns the text of x, a JSON node, and of key, of the field f, for a comparison of the two: x is null unless
	// it holds a value of f's kind.
	Members(x Operand, key string, f *schema.Field) (node, other string)
	// Placeholder returns the placeholder of argument n, counted from 1, cast to a type of the dialect ("" for none).
	Placeholder(n int, cast string) string
	// Counts reports whether a placeholder names its argument, which then may be used several times.
	Counts() bool
	// Longest returns the most bytes of a pipeline's statement, at most MaxText.
	Longest() int
	// Limit returns the text of a limit or an offset.
	Limit(w *Writer, n int64) string
	// Expressions returns the dialect in which expressions of pipelines are written.
	Expressions() expr.Dialect
	// Computed describes a value of type t that an expression of sqlgen/expr computes, as if a field held it.
	Computed(t schema.Type) *schema.Field
	// Read returns the text that selects a column.
	Read(x string, f *schema.Field) string
	// Written returns a column as the text, or the bytes, in which its value is returned.
	Written(x string, f *schema.Field) string
	// Slice returns the piece of a text, or of bytes, that Written returned: length characters from the first, from 1.
	Slice(x string, f *schema.Field, first, length string) string
	// Bytes returns the number of bytes of a text that Written returned.
	Bytes(x string, f *schema.Field) string
	// Pieces returns the function that counts characters, and the most bytes of a value of which pieces can be cut; ""
	// for any.
	Pieces() (characters, most string)
	// Sorted returns the term that orders by a column, and whether its value is in milliseconds.
	Sorted(x string, f *schema.Field) (term string, millis bool)
	// Bounds returns the most bytes of a value that a condition of a view may copy, and of one that it may read; 0 for
	// any. A record with a longer one isn't in the view. With a bound of what is read, views are computed apart: what the
	// caller asks for reads nothing but their records.
	Bounds() (copied, read int)
	// Negation returns the texts around a condition that make it hold where the condition is false or null.
	Negation() (before, after string)
	// Missing returns a test that a column is null.
	Missing(x string, f *schema.Field) string
	// Fits reports whether a text is in the form of a field of type Opaque, as far as the dialect reads its type.
	Fits(f *schema.Field, text string) bool
	// Ordered returns the NULLS clause of an order, "" if null comes first when ascending by default.
	Ordered(f *schema.Field, desc bool) string
	// Compare writes x op v for a non-null v of the field's kind; op is = > >= < or <=.
	Compare(w *Writer, x Operand, op string, v any) error
	// Own writes that the column x equals a text in its own collation, as a unique index of it compares.
	Own(w *Writer, x Operand, text string)
	// Among writes that x equals one of values, two or more of one kind: texts, numbers or dates.
	Among(w *Writer, x Operand, values []value.Value) error
	// After writes a comparison with the value of the order at a position.
	After(w *Writer, x string, f *schema.Field, op string, v any) error
	// Matches writes that the text x matches a regular expression.
	Matches(w *Writer, x Operand, r query.Regex) error
	// Begins writes that the text x begins with a prefix.
	Begins(w *Writer, x Operand, prefix string)
	// On writes that a JSON node, or a column of points, is a point on an area.
	On(w *Writer, x Operand, f query.GeoWithin) error
	// Distance returns the distance of such a point from the center of an area, as query.GeoWithin.Distance does. It is null if the node isn't a point.
	Distance(w *Writer, x Operand, near query.GeoWithin) (string, error)
	// Nodes writes the FROM clause of the JSON nodes that path leads to in x, the last of them as the returned operand.
	Nodes(w *Writer, x Operand, path query.Path) (Operand, error)
	// Elements writes the FROM item of the elements of a node that is an array, as the returned operand.
	Elements(w *Writer, x Operand) Operand
	// Is writes a test of a JSON node's type, such as "null" or "array".
	Is(x Operand, typ string) string
	// Length returns the number of elements of a node that is an array, null for others.
	Length(x Operand) string
	// Search writes that fields of a view match a full-text search; space is the schema of its indexes, "" for none.
	Search(t Text, space string, of *policy.Search) error
}

// An Operand is what a comparison is about: a column, or a JSON node.
type Operand struct {
	Text  string        // the column, or the node
	Field *schema.Field // the column's field; nil for a node
	Raw   string        // the integer that the source holds for a date, which an index may have (see schema.Field.Unit); "" for none
}

// Node reports whether o is a JSON node.
func (o Operand) Node() bool { return o.Field == nil }

// A Text is a statement under construction, over a view that is searched.
type Text interface {
	// Write appends parts.
	Write(parts ...string)
	// Arg returns the place of a value; cast is a type of the dialect, "" for none.
	Arg(v any, cast string) string
	// Quote quotes a name.
	Quote(name string) string
	// Column returns the column of the view searched that holds a field, or the column of an index.
	Column(name string) string
}

// Milliseconds is the native type of a computed date: an integer, milliseconds since 1970 whatever its size.
const Milliseconds = "milliseconds"

// Nameable returns name without NUL, which marks the places of values and which no database accepts in a name.
func Nameable(name string) string { return strings.ReplaceAll(name, "\x00", "\uFFFD") }

// Conditions that hold for every record and for none. The words TRUE and FALSE are no constants in SQLite: where a table
// has a column of that name, they are that column.
const Always, Never = "1=1", "1=0"

// Standard holds the standard SQL that databases share, to be embedded.
type Standard struct{}

// Quote implements Dialect.
func (Standard) Quote(name string) string {
	return `"` + strings.ReplaceAll(Nameable(name), `"`, `""`) + `"`
}

// Home implements Dialect.
func (Standard) Home() string { return "" }

// Held implements Dialect.
func (Standard) Held(name string) string { return name }

// Own implements Dialect.
func (Standard) Own(w *Writer, x Operand, text string) {
	w.Write(x.Text, " = ")
	w.Put(text, "")
}

// Fits implements Dialect.
func (Standard) Fits(*schema.Field, string) bool { return true }

// Optional implements Dialect.
func (Standard) Optional(x string) string { return x }

// Bounds implements Dialect.
func (Standard) Bounds() (copied, read int) { return 0, 0 }

// Bytes implements Dialect.
func (Standard) Bytes(x string, _ *schema.Field) string { return "octet_length(" + x + ")" }

// Slice implements Dialect.
func (Standard) Slice(x string, _ *schema.Field, first, length string) string {
	return "substr(" + x + ", " + first + ", " + length + ")"
}

// Missing implements Dialect.
func (Standard) Missing(x string, _ *schema.Field) string { return x + " IS NULL" }

// Unsupported returns a refusal of what a dialect can't write.
func Unsupported(format string, args ...any) error {
	return problem.New(problem.Unsupported, fmt.Sprintf(format, args...))
}

// Misread refuses to compare, as less or more, with a text that isn't in the form of a field.
func Misread(f *schema.Field, text string) error {
	if f.Form == "" {
		return problem.New(problem.InvalidQuery, fmt.Sprintf("values of %s (%s) have no order that can be asked for; compare them with $eq, $ne and $in", f.Name, f.Native))
	}
	return problem.New(problem.InvalidQuery, fmt.Sprintf("%s is %s, and %q is not one", f.Name, f.Form, problem.Cut(text)))
}

// Successor returns the least text above all that begin with prefix, "" if there is none.
func Successor(prefix string) string {
	runes := []rune(prefix)
	for len(runes) > 0 {
		last := &runes[len(runes)-1]
		switch {
		case *last == 0xD7FF:
			*last = 0xE000 // the surrogates in between aren't characters
			return string(runes)
		case *last < 0x10FFFF:
			*last++
			return string(runes)
		}
		runes = runes[:len(runes)-1]
	}
	return ""
}

// Beyond writes a comparison with a number above or below all that the column can hold.
func Beyond(w *Writer, left, op string, above bool) {
	if op != "=" && above == (op[0] == '<') {
		w.Write(left, " IS NOT NULL")
		return
	}
	w.Write(Never)
}

// Infinite reports whether x is no finite number, and whether it is above all finite ones: NaN is, as in value.Compare.
func Infinite(x float64) (above, infinite bool) {
	return !math.IsInf(x, -1), math.IsNaN(x) || math.IsInf(x, 0)
}

// AboveFloor returns the operator that compares with the greatest value of a column below a number as op compares with the
// number, which is no value of the column itself. some is false for =, which then holds for no record.
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
