package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Dialect writes statements for one database. Each database adapter has one in its folder and passes it to this
// package.
//
// In the methods for names, conditions and orders, an operand x is the SQL text of a column or of a JSON node. In the
// methods for expressions, x and y are the texts of operands. Operands and returned texts are in parentheses where
// necessary. A computed value has one of these types of the database:
//
//	           PostgreSQL  SQLite                                   MariaDB
//	String     text        TEXT                                     utf8mb4_nopad_bin
//	Integer    int8        INTEGER                                  BIGINT
//	Double     float8      REAL                                     DOUBLE
//	Decimal    numeric     INTEGER or REAL                          DECIMAL
//	Boolean    boolean     INTEGER 0, 1                             BIGINT 0, 1
//	Date       timestamp   INTEGER, milliseconds since 1970         DATETIME(6)
//	Day        date        INTEGER, milliseconds since 1970         DATE
//	UUID       uuid        TEXT, lower case                         UUID
//	Bytes      bytea       BLOB                                     VARBINARY
//	JSON       jsonb       TEXT of valid JSON                       JSON text
//
// JSON's null is always SQL's null, except inside lists and objects. A method returns an error for an expression that
// the dialect can't write. Methods without an error return the text of Unwritable.
type Dialect interface {
	// Names, placeholders and columns.

	// Name returns the name of the database in the semantic conventions of OpenTelemetry.
	Name() string
	// Quote quotes a name. It is the only way to put a name into a statement.
	Quote(name string) string
	// Home returns the schema of a class that names none, or "" if the connection determines the schema.
	Home() string
	// ViewColumn returns the name of a column in a derived table.
	ViewColumn(name string) string
	// JoinKey returns the text of x for a comparison of a pointer with the key that it contains. f is the field of x.
	// The argument other is the field on the other side.
	JoinKey(x string, f, other *schema.Field) string
	// Optional returns x, a column of a derived table for which a LEFT JOIN may find no row.
	Optional(x string) string
	// Same returns the text of x for a comparison with the field other. Values of the two types can be equal.
	Same(x string, f, other *schema.Field) string
	// Members returns the texts for a comparison of x, a JSON node, with key, a column of the field f. node is null
	// unless it contains a value of the kind of f.
	Members(x Operand, key string, f *schema.Field) (node, other string)
	// Placeholder returns the placeholder of argument n, counted from 1. It casts the placeholder to the type cast of
	// the dialect, or not at all for "".
	Placeholder(n int, cast string) string
	// Counts reports whether a placeholder names its argument by number, so that several placeholders can use one
	// argument.
	Counts() bool
	// Longest returns the maximum size in bytes of a pipeline's statement. It is at most MaxText.
	Longest() int
	// Limit returns the text of a limit or an offset.
	Limit(w *Writer, n int64) string
	// ComputedField returns a field that describes a computed value of type t.
	ComputedField(t schema.Type) *schema.Field
	// Read returns the text that selects a column.
	Read(x string, f *schema.Field) string
	// AsText returns the text, or the bytes, of a column's value in the form in which it is returned.
	AsText(x string, f *schema.Field) string
	// Slice returns a piece of a text or of bytes that AsText returned: length characters from position first,
	// counted from 1.
	Slice(x string, f *schema.Field, first, length string) string
	// Bytes returns the number of bytes of a text that AsText returned.
	Bytes(x string, f *schema.Field) string
	// Pieces returns the function that counts characters. The second result is the maximum size in bytes of a value
	// that can be cut into pieces, or "" for any size.
	Pieces() (characters, most string)
	// OrderTerm returns the term that orders by a column, and whether the term is in milliseconds.
	OrderTerm(x string, f *schema.Field) (term string, millis bool)
	// Bounds returns two limits in bytes for values in the condition of a view: the largest value that it may copy,
	// and the largest that it may read. 0 means no limit. A record with a larger value isn't in the view. With a
	// limit on reading, each view is computed before the caller's conditions, which then read only records of the
	// view.
	Bounds() (copied, read int)
	// Negation returns the texts before and after a condition that negate it. The result holds if the condition is
	// false or null.
	Negation() (before, after string)
	// Missing returns a test that a column is null.
	Missing(x string, f *schema.Field) string
	// Fits reports whether a text is in the form of a field of type Opaque. It checks only types that the dialect can
	// read.
	Fits(f *schema.Field, text string) bool
	// NullsClause returns the NULLS clause of an order, or "" if the database sorts null first in ascending order by
	// default.
	NullsClause(f *schema.Field, desc bool) string
	// CompareValue writes x op v for a non-null v of the field's kind. op is = > >= < or <=.
	CompareValue(w *Writer, x Operand, op string, v any) error
	// Own writes the condition that the column x equals a text in the column's own collation, as its unique index
	// compares.
	Own(w *Writer, x Operand, text string)
	// Among writes the condition that x equals one of the given values. There are at least two values: all texts, all
	// numbers or all dates.
	Among(w *Writer, x Operand, values []value.Value) error
	// After writes a comparison of x with the value at a position of the order.
	After(w *Writer, x string, f *schema.Field, op string, v any) error
	// MatchText writes the condition that the text x matches a regular expression.
	MatchText(w *Writer, x Operand, r query.Regex) error
	// Begins writes the condition that the text x begins with a prefix.
	Begins(w *Writer, x Operand, prefix string)
	// On writes the condition that a JSON node, or a column of points, is a point in an area.
	On(w *Writer, x Operand, f query.GeoWithin) error
	// Distance returns the distance of a point from the center of an area, as query.GeoWithin.Distance does. It is
	// null if x isn't a point.
	Distance(w *Writer, x Operand, near query.GeoWithin) (string, error)
	// Nodes writes the FROM clause of the JSON nodes at path in x. The returned operand is the last node of the path.
	Nodes(w *Writer, x Operand, path query.Path) (Operand, error)
	// NodeElements writes the FROM item of the elements of a node that is an array. The returned operand is an
	// element.
	NodeElements(w *Writer, x Operand) Operand
	// Is writes a test of a JSON node's type, such as "null" or "array".
	Is(x Operand, typ string) string
	// Length returns the number of elements of a node that is an array. It is null for other nodes.
	Length(x Operand) string
	// Search writes the condition that fields of a view match a full-text search. space is the schema of its indexes,
	// or "".
	Search(t SearchedView, space string, of *policy.Search) error

	// Writes returns the description of how to write the database, or the zero Writes for a read-only database.
	Writes() Writes

	// Expressions of pipelines.

	// StoredValue returns a stored column x of field f as expressions see it. It is null if the value isn't of the
	// field's type, or if it is a date outside of the years 1 to 9999. x must be cheap to repeat.
	StoredValue(s Scope, x string, f *schema.Field) string
	// Const returns a constant of type t.
	Const(s Scope, v value.Value, t schema.Type) string
	// Compare writes x op y for operands of type t. It is null if an operand is null. op is Eq, Gt, Gte, Lt or Lte.
	// WriteExpr adds the comparisons in which null is a value.
	Compare(s Scope, op plan.Op, x, y string, t schema.Type) (string, error)
	// Apply writes e with the texts args of its operands. It reads operands that must be constants from e. WriteExpr
	// never calls Apply for comparisons, IsNull, And, Or, Not and IfNull, because it writes them itself.
	Apply(s Scope, e plan.Apply, args []string) (string, error)
	// Case writes a Case. An empty otherwise means null. A null condition in ifs counts as false.
	Case(s Scope, ifs, thens []string, otherwise string, t schema.Type) string
	Part(s Scope, x string, path query.Path) (string, error)
	SetPart(s Scope, x string, path query.Path, v string) (string, error)
	// Object and List write JSON. Their values are JSON and may be null.
	Object(s Scope, names, values []string) string
	List(s Scope, values []string) string
	As(s Scope, x string, from, to schema.Type) string
	ToJSON(s Scope, x string, from schema.Type) string
	Convert(s Scope, x string, from, to schema.Type) string
	// ParseJSON returns the String x as JSON. It is null if x isn't valid JSON. x must be cheap to repeat.
	ParseJSON(x string) string
	// DerivedColumn returns a computed x of type t in the form in which a column is returned.
	DerivedColumn(x string, t schema.Type) string
	Widen(s Scope, x string, from, to schema.Type) string
	Matches(s Scope, x string, r query.Regex) (string, error)
	DatePart(s Scope, x, part, zone string) string
	DateTrunc(s Scope, x string, e plan.DateTrunc) string
	DateText(s Scope, x, format, zone string) string
	DateShift(s Scope, x, amount, unit, zone string) string
	DateDiff(s Scope, from, to string, e plan.DateDiff) string
	// Over writes an Over. Its Body writes the text for one element and, in a Reduce, for the result so far. The
	// Scope passed to Body is the scope of the element. Atom of that scope may return its argument even if the
	// argument is long.
	Over(s Scope, o Over) (string, error)

	// Find returns a condition on two stored columns that can use an index on x. The condition holds if the values,
	// as expressions see them, are equal. Find returns "" if the comparison itself is at least as good. exact is true
	// if the condition holds only for equal values.
	Find(x string, f *schema.Field, y string, g *schema.Field) (test string, exact bool)
	// Order returns the terms that order by x, of type t, each with its direction. Null is first, or last for desc.
	Order(s Scope, x string, t schema.Type, desc bool) []string
	// Written returns the text of the JSON x in one form for all JSON with the same stored value.
	Written(x string) string
	// Key returns the expression to group x by and the expression that shows the key. The second is an expression over
	// the group. It gives the same result for the same records in any physical order. short reports that a text has at
	// most shortText characters.
	Key(s Scope, x string, t schema.Type, short bool) (by, show string)
	// KeyOf is Key for a stored column x of field f. It returns "" unless grouping by the column itself costs less.
	KeyOf(x string, f *schema.Field) (by, show string)
	// GroupTerm returns the expression for GROUP BY in place of by. The new expression makes the same groups at a
	// lower cost.
	GroupTerm(by string) string
	// Accumulate writes Sum, Avg, Min, Max, Count, StdDevPop or StdDevSamp over a group. x is of type from, which is
	// "" for Count.
	Accumulate(s Scope, op plan.Accumulate, x string, from schema.Type) (string, error)
	// Aggregates returns the names of the functions that only this dialect's Accumulate uses.
	Aggregates() []string
	// AccumulateOf is Accumulate for a stored column x of field f. It returns "" unless another text costs less.
	AccumulateOf(op plan.Accumulate, x string, f *schema.Field) string
	// Pick writes the value of x, of type t, in the only record of a group that satisfies the condition when.
	Pick(s Scope, x, when string, t schema.Type) string
	// Collect writes the JSON list l over a group. The list is empty for an empty group, and null if it is too large.
	Collect(s Scope, l Gathered) string
	// Size writes the size that the JSON x adds to a list (plan.ListBytes), if Collect needs the size of the list as
	// a column. It returns "" if Collect measures the list itself.
	Size(s Scope, x string) string
	// Short returns the text x, or another value if x is longer than most, in bytes. Collect and Distinct treat the
	// JSON of that other value as too large. x must be cheap to use twice.
	Short(x string, most int) string
	// Distinct writes the JSON list of the distinct JSON values x over a group, in the order of AddToSet. The list is
	// null if it is larger than most, in bytes. Distinct returns "" if the dialect has no function for it.
	Distinct(s Scope, x string, most int) string
	// Digest writes the md5, in hex, of seed and texts, joined by U+001F. Each of xs has the type at its index in
	// types.
	Digest(s Scope, seed string, xs []string, types []schema.Type) string
	// Elements writes a FROM item with a row for each element of the JSON x (plan.Unwind). It returns the texts of
	// the element and of its position, counted from 0. The item may refer to preceding items of the FROM clause.
	Elements(s Scope, x string) (from, element, position string)
	// Barrier returns the end of a derived table that the database must not merge into the surrounding statement.
	Barrier() string
	// MaterializedKeyword returns the keyword for a WITH query. With keep, the query runs once, however often it is
	// read. Without keep, it runs each time. The keyword is "" if the dialect has none.
	MaterializedKeyword(keep bool) string
	// Start returns x, of type t, as the start of a recursion. Later values may be longer and have more digits.
	Start(x string, t schema.Type) string
	// Correlates reports whether a derived table may refer to the surrounding query.
	Correlates() bool
	// Probes reports whether a statement that reads few records should look up the record behind each pointer of a view
	// (a scalar subquery). Otherwise it lists all visible records that a pointer may name (IN), as statements over many records do.
	Probes() bool
	// Ahead returns the number of records that the first page of a class reads before it tests their pointers, or 0 for
	// all. A statement with such a limit may find fewer records than the page has. See Statement.Ahead.
	Ahead() int
	// Gathers reports whether a group sorts the columns that its expressions read, rather than the values of the
	// expressions.
	Gathers() bool
}
