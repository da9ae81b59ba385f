// Package expr writes the expressions of package plan as SQL, for each dialect.
//
// Package sqlgen writes stages and calls it for the expressions in them. The text is a plain string in which a Scope's
// Arg has left the places of values; so texts are joined like strings, and values stay apart from the text. What it
// writes is total: no text raises an error in its database, whatever the columns hold, and each result is the one that
// the comments of package plan specify. It refuses what a dialect can't do, by name.
package expr

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Scope is the context of an expression: the columns of a stage, or the elements of a list.
type Scope interface {
	// Arg returns the place of a value: int64, float64, string, bool or []byte. cast is a type of the dialect, "" for
	// none.
	Arg(v any, cast string) string
	// Alias returns a name that is unique in the statement.
	Alias(prefix string) string
	// Atom returns a text that may be repeated: x itself if it is short, else the name of a column that holds x. It
	// takes texts over one record: a text over a group (see Accumulate) is repeated as it is.
	Atom(x string) string
	// Column returns column i of the record as expressions see it (see Dialect.Stored).
	Column(i int) string
	// Field returns the text and the field of the stored column that e, a Ref or an Outer, passes on unchanged; f is nil
	// if e is computed.
	Field(e plan.Expr) (x string, f *schema.Field)
	// Outer returns column i of the record for which a list is made, up levels out from 1, as expressions see it.
	Outer(up, i int) (string, error)
}

// ShortText is the most characters of a text that every database sorts in full: MariaDB compares 1,024 bytes.
const ShortText = 200

// A Dialect writes operators. x and y are the texts of operands, which are in parentheses if they need them, as are
// the texts that its methods return. A computed value is held in the dialect's own type:
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
// JSON's null is always SQL's null, except inside of lists and objects.
type Dialect interface {
	// Stored returns a stored column x of field f as expressions see it: null if the value isn't of the field's type, or
	// is a date outside of the years 1 to 9999. x may be repeated.
	Stored(s Scope, x string, f *schema.Field) string
	// Const returns a constant of type t.
	Const(s Scope, v value.Value, t schema.Type) string
	// Compare writes x op y for operands of type t, null if one of them is null; op is Eq, Gt, Gte, Lt or Lte. Write
	// makes of it the comparisons in which null is a value.
	Compare(s Scope, op plan.Op, x, y string, t schema.Type) (string, error)
	// Apply writes e, whose operands are args; those that must be constants are looked up in e. It is never called for
	// comparisons, IsNull, And, Or, Not and IfNull: Write handles them.
	Apply(s Scope, e plan.Apply, args []string) (string, error)
	// Case writes a Case; otherwise is "" for null. Null in ifs counts as false.
	Case(s Scope, ifs, thens []string, otherwise string, t schema.Type) string
	Part(s Scope, x string, path query.Path) (string, error)
	SetPart(s Scope, x string, path query.Path, v string) (string, error)
	// Object and List write JSON of JSON values, which may be null.
	Object(s Scope, names, values []string) string
	List(s Scope, values []string) string
	As(s Scope, x string, from, to schema.Type) string
	ToJSON(s Scope, x string, from schema.Type) string
	Convert(s Scope, x string, from, to schema.Type) string
	// Parsed returns the String x as JSON, null if it isn't valid. x may be repeated.
	Parsed(x string) string
	// Held returns a computed x of type t as a column that holds it is shown.
	Held(x string, t schema.Type) string
	Widen(s Scope, x string, from, to schema.Type) string
	Matches(s Scope, x string, r query.Regex) (string, error)
	DatePart(s Scope, x, part, zone string) string
	DateTrunc(s Scope, x string, e plan.DateTrunc) string
	DateText(s Scope, x, format, zone string) string
	DateShift(s Scope, x, amount, unit, zone string) string
	DateDiff(s Scope, from, to string, e plan.DateDiff) string
	// Over writes an Over. Its body writes the text of the Body, given the text of an element and, in a Reduce, of the
	// result so far; the Scope passed to it is that of the element, whose Atom may return its argument even if it is
	// long.
	Over(s Scope, o Over) (string, error)

	// Find returns a condition on two stored columns that holds if their values, as expressions see them, are equal, and
	// that can use an index on x; "" if none is better than the comparison itself. It is exact if it holds for no others.
	Find(x string, f *schema.Field, y string, g *schema.Field) (test string, exact bool)
	// Order returns the terms that order by x, of type t: null first, or last if desc; each with its direction.
	Order(s Scope, x string, t schema.Type, desc bool) []string
	// Written returns the text of x, JSON, in a form that is the same for the same held value.
	Written(x string) string
	// Key returns what to group x by, and how to show the key: an expression over the group, the same for the same
	// records in any physical order. short reports that a text has at most ShortText characters.
	Key(s Scope, x string, t schema.Type, short bool) (by, show string)
	// KeyOf is Key for a stored column x of field f, where a group by the column itself costs less; else "".
	KeyOf(x string, f *schema.Field) (by, show string)
	// Divided returns what GROUP BY names in place of by, which divides the same records in the same groups and costs less.
	Divided(by string) string
	// Accumulate writes Sum, Avg, Min, Max, Count, StdDevPop or StdDevSamp over a group. x is of type from, "" for Count.
	Accumulate(s Scope, op plan.Accumulate, x string, from schema.Type) (string, error)
	// AccumulateOf is Accumulate for a stored column x of field f, where another text costs less; else "".
	AccumulateOf(op plan.Accumulate, x string, f *schema.Field) string
	// Pick writes the value of x, of type t, in the one record of a group for which the condition when holds.
	Pick(s Scope, x, when string, t schema.Type) string
	// Collect writes the JSON list l over a group; the empty list of nothing, null if it is too large.
	Collect(s Scope, l List) string
	// Size writes what x, JSON, adds to the size of a list (plan.ListBytes), if Collect needs the size of the list as a
	// column; else "", and Collect measures the list itself.
	Size(s Scope, x string) string
	// Short returns the text x, or another value where x has more than most bytes: Collect and Distinct take what ToJSON
	// makes of that for too large. x may be used twice.
	Short(x string, most int) string
	// Distinct writes the JSON list of the distinct x, JSON, over a group, as AddToSet has them, null if it has more than
	// most bytes; "" if the dialect has no function for it.
	Distinct(s Scope, x string, most int) string
	// Digest writes the md5, in hex, of texts joined by U+001F after a seed. Each of xs is of the type in types.
	Digest(s Scope, seed string, xs []string, types []schema.Type) string
	// Elements writes a FROM item with a row for each element of the JSON x (plan.Unwind): the texts of the element and
	// of its position from 0. It may refer to preceding items of the FROM clause.
	Elements(s Scope, x string) (from, element, position string)
	// Barrier returns the end of a derived table that must not be merged into the surrounding statement.
	Barrier() string
	// Materialized returns the keyword that makes a WITH query run once however often it is read (keep), or each time;
	// "" if the dialect has none.
	Materialized(keep bool) string
	// Start returns x, of type t, as the start of a recursion: later values may be longer, and have more digits.
	Start(x string, t schema.Type) string
	// Correlates reports whether a derived table may refer to the surrounding query.
	Correlates() bool
	// Gathers reports whether a group sorts the columns that its expressions read, and not what they are worth.
	Gathers() bool
}

// A Refuser is a dialect for one statement that remembers what it can't write, where the method has no error.
type Refuser interface {
	// Refused returns an Unsupported problem if a text that the dialect returned doesn't mean what was asked for.
	Refused() error
}

// A List is what a group gathers into one list of JSON.
type List struct {
	X     string   // JSON
	Terms []string // the order
	When  string   // the condition for a record to add its X; "" if all do
	Size  string   // the column with the list's size, the same in all records of the group; "" if Dialect.Size is ""
	Most  int      // the maximum size; a larger list is null
}

// An Over is a plan.Over with its operands as text; Initial and Limit are "" for none.
type Over struct {
	Do             plan.Each
	Input          string
	Initial, Limit string
	Body           func(s Scope, element, before string) (string, error)
}
