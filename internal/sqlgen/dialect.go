package sqlgen

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Dialect is how one database writes statements. Each adapter of a database has one in its folder, and passes it to this package.
//
// In names, conditions and orders an operand x is the SQL text of a column or of a JSON node. In expressions x and y
// are the texts of operands. They are in parentheses if they need them, and so are the texts that the methods return. A
// computed value is held in the dialect's own type:
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
// JSON's null is always SQL's null, except inside of lists and objects. An expression that a dialect can't write is an error, or, where a
// method returns no error, the text that Unwritable returns.
type Dialect interface {
	// Names, placeholders and columns.

	// Name returns the name of the database in the semantic conventions of OpenTelemetry.
	Name() string
	// Quote quotes a name. Names get into a statement only through it.
	Quote(name string) string
	// Home returns the schema of a class that names none, or "" where it depends on the connection.
	Home() string
	// ViewColumn returns the name under which a derived table holds a column.
	ViewColumn(name string) string
	// JoinKey returns the text of x, of a pointer or of the key other that it holds, for a comparison of the two.
	JoinKey(x string, f, other *schema.Field) string
	// Optional returns x, a column of a derived table that a LEFT JOIN may leave without a row.
	Optional(x string) string
	// Same returns the text of x for a comparison with another field, of a type that can be equal to it.
	Same(x string, f, other *schema.Field) string
	// Members returns the text of x, a JSON node, and of key, of the field f, for a comparison of the two. x is null
	// unless it holds a value of f's kind.
	Members(x Operand, key string, f *schema.Field) (node, other string)
	// Placeholder returns the placeholder of argument n, counted from 1, cast to a type of the dialect unless cast is
	// "".
	Placeholder(n int, cast string) string
	// Counts reports whether a placeholder names its argument, which then may be used several times.
	Counts() bool
	// Longest returns the most bytes of a pipeline's statement, at most MaxText.
	Longest() int
	// Limit returns the text of a limit or an offset.
	Limit(w *Writer, n int64) string
	// Computed describes a value of type t that an expression computes, as if a field held it.
	ComputedField(t schema.Type) *schema.Field
	// Read returns the text that selects a column.
	Read(x string, f *schema.Field) string
	// AsText returns a column as the text, or the bytes, in which its value is returned.
	AsText(x string, f *schema.Field) string
	// Slice returns the piece of a text, or of bytes, that AsText returned: length characters from the first, from 1.
	Slice(x string, f *schema.Field, first, length string) string
	// Bytes returns the number of bytes of a text that AsText returned.
	Bytes(x string, f *schema.Field) string
	// Pieces returns the function that counts characters, and the most bytes of a value of which pieces can be cut, or ""
	// for any.
	Pieces() (characters, most string)
	// Sorted returns the term that orders by a column, and whether its value is in milliseconds.
	OrderTerm(x string, f *schema.Field) (term string, millis bool)
	// Bounds returns the most bytes of a value that a condition of a view may copy, and of one that it may read. 0
	// means any size. A record with a longer one isn't in the view. With a bound on reading, views are computed apart,
	// so that the caller's conditions read only their records.
	Bounds() (copied, read int)
	// Negation returns the texts around a condition that make it hold where the condition is false or null.
	Negation() (before, after string)
	// Missing returns a test that a column is null.
	Missing(x string, f *schema.Field) string
	// Fits reports whether a text is in the form of a field of type Opaque, as far as the dialect reads its type.
	Fits(f *schema.Field, text string) bool
	// Ordered returns the NULLS clause of an order, "" if null comes first when ascending by default.
	NullsClause(f *schema.Field, desc bool) string
	// CompareValue writes x op v for a non-null v of the field's kind. op is = > >= < or <=.
	CompareValue(w *Writer, x Operand, op string, v any) error
	// Own writes that the column x equals a text in its own collation, as a unique index of it compares.
	Own(w *Writer, x Operand, text string)
	// Among writes that x equals one of values, two or more of one kind: texts, numbers or dates.
	Among(w *Writer, x Operand, values []value.Value) error
	// After writes a comparison with the value of the order at a position.
	After(w *Writer, x string, f *schema.Field, op string, v any) error
	// MatchText writes that the text x matches a regular expression.
	MatchText(w *Writer, x Operand, r query.Regex) error
	// Begins writes that the text x begins with a prefix.
	Begins(w *Writer, x Operand, prefix string)
	// On writes that a JSON node, or a column of points, is a point on an area.
	On(w *Writer, x Operand, f query.GeoWithin) error
	// Distance returns the distance of such a point from the center of an area, as query.GeoWithin.Distance does. It is null if the node isn't a point.
	Distance(w *Writer, x Operand, near query.GeoWithin) (string, error)
	// Nodes writes the FROM clause of the JSON nodes that path leads to in x, the last of them as the returned operand.
	Nodes(w *Writer, x Operand, path query.Path) (Operand, error)
	// NodeElements writes the FROM item of the elements of a node that is an array, as the returned operand.
	NodeElements(w *Writer, x Operand) Operand
	// Is writes a test of a JSON node's type, such as "null" or "array".
	Is(x Operand, typ string) string
	// Length returns the number of elements of a node that is an array, null for others.
	Length(x Operand) string
	// Search writes that fields of a view match a full-text search. space is the schema of its indexes, or "".
	Search(t SearchedView, space string, of *policy.Search) error

	// Writes returns how the database is written, or the zero Writes for one that is only read.
	Writes() Writes

	// Expressions of pipelines.

	// Stored returns a stored column x of field f as expressions see it. It is null if the value isn't of the field's
	// type, or if it is a date outside of the years 1 to 9999. x may be repeated.
	StoredValue(s Scope, x string, f *schema.Field) string
	// Const returns a constant of type t.
	Const(s Scope, v value.Value, t schema.Type) string
	// Compare writes x op y for operands of type t, null if one of them is null. op is Eq, Gt, Gte, Lt or Lte. WriteExpr
	// makes of it the comparisons in which null is a value.
	Compare(s Scope, op plan.Op, x, y string, t schema.Type) (string, error)
	// Apply writes e, whose operands are args. Those that must be constants are looked up in e. It is never called for
	// comparisons, IsNull, And, Or, Not and IfNull: WriteExpr handles them.
	Apply(s Scope, e plan.Apply, args []string) (string, error)
	// Case writes a Case. An otherwise of "" means null. Null in ifs counts as false.
	Case(s Scope, ifs, thens []string, otherwise string, t schema.Type) string
	Part(s Scope, x string, path query.Path) (string, error)
	SetPart(s Scope, x string, path query.Path, v string) (string, error)
	// Object and Gathered write JSON of JSON values, which may be null.
	Object(s Scope, names, values []string) string
	List(s Scope, values []string) string
	As(s Scope, x string, from, to schema.Type) string
	ToJSON(s Scope, x string, from schema.Type) string
	Convert(s Scope, x string, from, to schema.Type) string
	// Parsed returns the String x as JSON, null if it isn't valid. x may be repeated.
	ParseJSON(x string) string
	// Held returns a computed x of type t as a column that holds it is shown.
	DerivedColumn(x string, t schema.Type) string
	Widen(s Scope, x string, from, to schema.Type) string
	Matches(s Scope, x string, r query.Regex) (string, error)
	DatePart(s Scope, x, part, zone string) string
	DateTrunc(s Scope, x string, e plan.DateTrunc) string
	DateText(s Scope, x, format, zone string) string
	DateShift(s Scope, x, amount, unit, zone string) string
	DateDiff(s Scope, from, to string, e plan.DateDiff) string
	// Over writes an Over. Its body writes the text of the Body, given the text of an element and, in a Reduce, of the
	// result so far. The Scope passed to it is the scope of the element, whose Atom may return its argument even if it
	// is long.
	Over(s Scope, o Over) (string, error)

	// Find returns a condition on two stored columns that can use an index on x. It holds if their values, as
	// expressions see them, are equal. It returns "" if none is better than the comparison itself. It is exact if it
	// holds for no others.
	Find(x string, f *schema.Field, y string, g *schema.Field) (test string, exact bool)
	// Order returns the terms that order by x, of type t, each with its direction. Null is first, or last if desc.
	Order(s Scope, x string, t schema.Type, desc bool) []string
	// Written returns the text of x, JSON, in a form that is the same for the same held value.
	Written(x string) string
	// Key returns the expression to group x by, and one to show the key. The latter is an expression over the group,
	// and the same for the same records in any physical order. short reports that a text has at most shortText
	// characters.
	Key(s Scope, x string, t schema.Type, short bool) (by, show string)
	// KeyOf is Key for a stored column x of field f, where a group by the column itself costs less, or else "".
	KeyOf(x string, f *schema.Field) (by, show string)
	// Divided returns the expression for GROUP BY in place of by. It divides the same records into the same groups and
	// costs less.
	GroupTerm(by string) string
	// Accumulate writes Sum, Avg, Min, Max, Count, StdDevPop or StdDevSamp over a group. x is of type from, "" for Count.
	Accumulate(s Scope, op plan.Accumulate, x string, from schema.Type) (string, error)
	// Aggregates returns the names of functions that Accumulate uses beside those of other databases.
	Aggregates() []string
	// AccumulateOf is Accumulate for a stored column x of field f, where another text costs less, or else "".
	AccumulateOf(op plan.Accumulate, x string, f *schema.Field) string
	// Pick writes the value of x, of type t, in the only record of a group that satisfies the condition when.
	Pick(s Scope, x, when string, t schema.Type) string
	// Collect writes the JSON list l over a group. It is empty for an empty group, and null if it is too large.
	Collect(s Scope, l Gathered) string
	// Size writes the size that x, JSON, adds to a list (plan.ListBytes), if Collect needs the size of the list as a
	// column. Otherwise it returns "", and Collect measures the list itself.
	Size(s Scope, x string) string
	// Short returns the text x, or another value where x has more than most bytes: Collect and Distinct treat that
	// value's JSON as too large. x may be used twice.
	Short(x string, most int) string
	// Distinct writes the JSON list of the distinct x, JSON, over a group, as AddToSet has them. It is null if it has
	// more than most bytes. Distinct returns "" if the dialect has no function for it.
	Distinct(s Scope, x string, most int) string
	// Digest writes the md5, in hex, of texts joined by U+001F after a seed. Each of xs is of the type in types.
	Digest(s Scope, seed string, xs []string, types []schema.Type) string
	// Elements writes a FROM item with a row for each element of the JSON x (plan.Unwind). A row has the texts of the
	// element and of its position from 0. It may refer to preceding items of the FROM clause.
	Elements(s Scope, x string) (from, element, position string)
	// Barrier returns the end of a derived table that must not be merged into the surrounding statement.
	Barrier() string
	// Materialized returns the keyword that makes a WITH query run once however often it is read (keep), or each time.
	// It returns "" if the dialect has none.
	MaterializedKeyword(keep bool) string
	// Start returns x, of type t, as the start of a recursion: later values may be longer, and have more digits.
	Start(x string, t schema.Type) string
	// Correlates reports whether a derived table may refer to the surrounding query.
	Correlates() bool
	// Gathers reports whether a group sorts the columns that its expressions read, and not their values.
	Gathers() bool
}
