// Package expr writes the expressions of algebra as SQL, for each dialect.
//
// It stands inside of compile, which writes stages and asks it for what stands in them. Text is a plain string in which
// a Scope's Arg has left the places of values; so texts are joined like strings, and a value never meets text. What it
// writes is total: no text raises an error in its database, whatever the columns hold, and none gives what the comments
// of algebra don't say. What a dialect can't do is refused by name.
package expr

import (
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Scope is where an expression stands: in the columns of a stage, or in the elements of a list.
type Scope interface {
	// Arg returns the place of a value: int64, float64, string, bool or []byte. cast is a type of the dialect, "" for none.
	Arg(v any, cast string) string
	// Alias makes a name that is unique in the statement.
	Alias(prefix string) string
	// Atom returns a text that may be repeated: x itself when it is short, else the name of a column that holds x. It
	// takes texts over one record: what is computed over a group (see Accumulate) is repeated as it is.
	Atom(x string) string
	// Column is what an expression sees of column i of the record (see Dialect.Stored).
	Column(i int) string
	// Field returns the text of the column that e, a Ref or an Outer, passes on as it is stored, and the field that it
	// holds; nil for what is computed.
	Field(e plan.Expr) (x string, f *schema.Field)
	// Outer is what an expression sees of column i of the record for which a list is made, up levels out from 1.
	Outer(up, i int) (string, error)
}

// ShortText is how many characters a text has at most that every database sorts whole: MariaDB compares 1,024 bytes.
const ShortText = 200

// A Dialect writes operators. x, y are the texts of operands, which stand in parentheses where they need them, and so
// does what a method returns. A computed value is held in the dialect's own type:
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
// JSON's null is always SQL's null, but inside of lists and objects.
type Dialect interface {
	// Stored is what an expression sees of a column x that holds a field as it is stored: null where that isn't of the
	// field's type, or a date outside of the years 1 to 9999. x may be repeated.
	Stored(s Scope, x string, f *schema.Field) string
	// Const is a constant, as a value of type t.
	Const(s Scope, v value.Value, t schema.Type) string
	// Compare writes x op y for operands of type t, null where one of them is null; op is Eq, Gt, Gte, Lt or Lte. Write
	// makes the comparisons that know null of it.
	Compare(s Scope, op plan.Op, x, y string, t schema.Type) (string, error)
	// Apply writes e, whose operands are args; those that must be constants are looked up in e. Comparisons, IsNull, And,
	// Or, Not and IfNull don't come here: Write does them.
	Apply(s Scope, e plan.Apply, args []string) (string, error)
	// Case writes a Case; otherwise is "" for null. In ifs, null doesn't hold.
	Case(s Scope, ifs, thens []string, otherwise string, t schema.Type) string
	Part(s Scope, x string, path query.Path) (string, error)
	SetPart(s Scope, x string, path query.Path, v string) (string, error)
	// Object and List write JSON of JSON values, which may be null.
	Object(s Scope, names, values []string) string
	List(s Scope, values []string) string
	As(s Scope, x string, from, to schema.Type) string
	ToJSON(s Scope, x string, from schema.Type) string
	Convert(s Scope, x string, from, to schema.Type) string
	Widen(s Scope, x string, from, to schema.Type) string
	Matches(s Scope, x string, r query.Regex) (string, error)
	DatePart(s Scope, x, part, zone string) string
	DateTrunc(s Scope, x string, e plan.DateTrunc) string
	DateText(s Scope, x, format, zone string) string
	DateShift(s Scope, x, amount, unit, zone string) string
	DateDiff(s Scope, from, to string, e plan.DateDiff) string
	// Over writes an Over. body writes its Body for the text of an element and, of a Reduce, of what came before; the
	// Scope that it is given is that of the element, whose Atoms may refuse by giving back what they are given.
	Over(s Scope, o Over) (string, error)

	// Find returns a condition on two columns as they are stored that holds where what expressions see of them is equal,
	// and that an index on x serves; "" where there is none that is better than the comparison itself.
	Find(x string, f *schema.Field, y string, g *schema.Field) string
	// Order returns the terms by which x, of type t, is ordered: null first, or last when desc; each with its direction.
	Order(s Scope, x string, t schema.Type, desc bool) []string
	// Written is the text of x, JSON, in a form that is always the same for the same value as it is held.
	Written(x string) string
	// Key returns what to group x by, and how the key is shown: an expression over the group, the same for the same
	// records in any physical order.
	// short tells that a text has at most ShortText characters.
	Key(s Scope, x string, t schema.Type, short bool) (by, show string)
	// Accumulate writes Sum, Avg, Min, Max, Count, StdDevPop or StdDevSamp over a group. x is of type from, "" for Count.
	Accumulate(s Scope, op plan.Accumulate, x string, from schema.Type) (string, error)
	// Pick writes the value of x, of type t, in the one record of a group for which the condition when holds.
	Pick(s Scope, x, when string, t schema.Type) string
	// Collect writes the JSON list of x, JSON, over a group, ordered by terms; the empty list of nothing.
	Collect(s Scope, x string, terms []string) string
	// Distinct writes the JSON list of the distinct x, JSON, over a group, as AddToSet has them.
	Distinct(s Scope, x string) string
	// Digest writes the md5, in hex, of texts joined by U+001F after a seed. Each of xs is of the type in types.
	Digest(s Scope, seed string, xs []string, types []schema.Type) string
	// Elements writes a FROM item with a row for each element of the JSON x (algebra.Unwind): the texts of the element and
	// of its position from 0. It may refer to what stands before it in the FROM clause.
	Elements(s Scope, x string) (from, element, position string)
	// Barrier is what ends a derived table that must not be merged into the statement around it.
	Barrier() string
	// Materialized is what makes a WITH query run once, however often it is read, or each time; "" where that can't be
	// asked for.
	Materialized(keep bool) string
	// Start is x, of type t, where a recursion starts: what follows may be longer, and of more digits.
	Start(x string, t schema.Type) string
	// Correlates reports whether a derived table may refer to what stands outside of it.
	Correlates() bool
}

// An Over is an algebra.Over with its operands as text; Initial and Limit are "" for none.
type Over struct {
	Do             plan.Each
	Input          string
	Initial, Limit string
	Body           func(s Scope, element, before string) (string, error)
}
