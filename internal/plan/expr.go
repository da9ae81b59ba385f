package plan

import (
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Expr is an expression over a record. The set is closed. Its Type is one of String, Integer, Double, Decimal,
// Boolean, Date, Day, UUID, Bytes and JSON. Any and Opaque occur only in a Ref that is passed on or converted to
// String. Any also occurs in the operand of an As. JSON's null is null. Unless stated otherwise an expression is null
// if an operand is.
type Expr interface {
	Type() schema.Type
	isExpr()
}

type (
	// Ref is a column of the record.
	Ref struct {
		Column int
		T      schema.Type
	}
	// Outer is a column of the record for which a Nest computes its list: the Nest that is Up levels out, from 1.
	Outer struct {
		Up, Column int
		T          schema.Type
	}
	// Element is the current element of the Over that is Up levels out, from 0. It is JSON.
	Element struct{ Up int }
	// Before is the current result, as JSON, of the Over, a Reduce, that is Up levels out. All kinds count, from 0.
	Before struct{ Up int }
	// Const is a constant of type T, or null.
	Const struct {
		Value value.Value
		T     schema.Type
	}
	// Part is the value at Path in X, which is JSON: through objects only, null if there is none.
	Part struct {
		X    Expr
		Path query.Path
	}
	// SetPart is X, which is JSON, with the value at Path replaced by V, also JSON. Path leads through objects. A
	// missing last member is added, and a null V is a member that is null. The result is X unchanged if an object on
	// the path is missing or not an object.
	SetPart struct {
		X    Expr
		Path query.Path
		V    Expr
	}
	// Object is a JSON object. Its values are JSON (see ToJSON). Null values are kept as members.
	Object struct {
		Names  []string
		Values []Expr
	}
	// List is a JSON list. Its elements are JSON.
	List struct{ Elements []Expr }
	// Apply is an operator with its arguments.
	Apply struct {
		Op   Op
		Args []Expr
		T    schema.Type
	}
	// Case is the Then of the first If that holds, else Else. If are Boolean, null is false. All others have type T.
	Case struct {
		If, Then []Expr
		Else     Expr
		T        schema.Type
	}
	// As is X, JSON or Any, if it holds a value of type T, or null. T is String, Integer (a whole number within 64
	// bits), Double, Decimal (any number), Boolean, or Date (text that OfDateText accepts: see Convert).
	As struct {
		X Expr
		T schema.Type
	}
	// ToJSON is X as JSON. X is of any type. Numbers and booleans stay such, and Decimals keep all their digits. Text,
	// dates, days, UUIDs and bytes become their text (value.AppendText). A NaN or an infinity becomes text
	// (value.AppendJSON). JSON is unchanged, and Opaque is the text that is shown.
	ToJSON struct{ X Expr }
	// Convert is X converted to type T, null if that isn't possible:
	//
	//	to Integer  whole numbers within 64 bits; other numbers truncated; text of digits with an optional sign;
	//	            true 1, false 0; dates and days as milliseconds since 1970, truncated
	//	to Double   numbers; text in JSON's number format (also with a leading +, zeros or point); 1 and 0; milliseconds.
	//	            Null beyond the largest Double; 0 below the smallest
	//	to Decimal  the same; null for NaN, infinities and text with an exponent beyond 1000
	//	to String   numbers as value.AppendText (Decimals without trailing zeros, Doubles in their shortest form),
	//	            true and false, dates and days in ISO 8601, UUIDs; no bytes
	//	to Boolean  numbers other than 0, dates, days, UUIDs and text are true; no bytes
	//	to Date     days; text as OfDateText; truncated numbers as milliseconds since 1970; only years 1 to 9999
	//
	// A JSON value converts by its own type. Whole numbers within 64 bits convert as Integers and other numbers as
	// Doubles, but to Decimal with all their digits. Objects and lists give null.
	Convert struct {
		X Expr
		T schema.Type
	}
	// Widen is a number in a wider type (Integer, Decimal, Double, as in Convert). It is also a Day as the Date of its
	// midnight UTC, or a UUID as String.
	Widen struct {
		X Expr
		T schema.Type
	}
	// Matches reports whether X, a String, matches. It is false for null.
	Matches struct {
		X     Expr
		Regex query.Regex // its Path is nil
	}
	// Dates in expressions are instants of the years 1 to 9999. Others are null, and so is a result computed from a
	// date outside of these years in the calendar of the Zone. A Zone is "" for UTC, an offset such as "+05:30", or an
	// IANA name. A local time that occurs twice is the first of the two. One that is skipped is read with the offset
	// before, so 02:30 is 03:30 where 02:00 became 03:00.
	//
	// DatePart is a part of X, a Date, in the local time of Zone: an Integer. Part is year, month, dayOfMonth, dayOfYear,
	// dayOfWeek (1 is Sunday), isoDayOfWeek (1 is Monday), isoWeek, isoWeekYear, hour, minute, second or millisecond.
	DatePart struct {
		X    Expr
		Part string
		Zone string
	}
	// DateTrunc is the instant at which the Unit of X, a Date, begins in Zone. Unit is year, quarter, month, week, day,
	// hour, minute or second, the last three with the offset of X. WeekStart is the first day of the week, from Sunday.
	DateTrunc struct {
		X         Expr
		Unit      string
		Zone      string
		WeekStart int
	}
	// DateText is X, a Date, in Zone, formatted by Format. The parts are %Y (4 digits), %m, %d, %H, %M, %S, %L
	// (milliseconds), %j (3 digits) and %%. ISO parts are %G (year), %V (week, 2 digits) and %u (1 is Monday). Other
	// text is copied.
	DateText struct {
		X      Expr
		Format string
		Zone   string
	}
	// DateShift is X, a Date, plus Amount, an Integer, of Unit. Unit is year, quarter, month, week, day, hour, minute,
	// second or millisecond. A month is clamped to the last day of a shorter month. Days follow the calendar of Zone.
	// The result is null if Amount is beyond 100,000 years, or if the result is outside of the years 1 to 9999. For
	// days and longer units, it must be inside in the calendar of Zone as well.
	DateShift struct {
		X, Amount Expr
		Unit      string
		Zone      string
	}
	// DateDiff is the number of times a Unit begins in Zone after From until To, both Dates: an Integer, negative if To
	// is before From. Units are those of DateTrunc, and millisecond. For hours and shorter it is the time between the
	// two DateTruncs.
	DateDiff struct {
		From, To  Expr
		Unit      string
		Zone      string
		WeekStart int
	}
	// Over iterates over the elements of Input, which is JSON. It is null if that is not a list. Body refers to the
	// element as Element{0}.
	//
	//	Map     the list of the Bodies, which are JSON
	//	Select  the list of the elements for which Body, Boolean, holds; at most Limit of them (nil: all; null or less than 1: null)
	//	Reduce  Body, JSON, for the last element; Before{0} is Body for the previous one, or Initial; null where that has more than MostBefore bytes
	Over struct {
		Do             Each
		Input          Expr
		Initial, Limit Expr
		Body           Expr
	}
)

// An Each is the kind of an Over.
type Each uint8

// The kinds of Over.
const (
	MapEach Each = iota
	SelectEach
	ReduceEach
)

// An Op is the operator of an Apply.
type Op uint8

// The operators. x, y and z are the arguments in order.
const (
	// Arithmetic: arguments and result are of type T. An Integer beyond 64 bits is null. For Doubles, an operand other
	// than 0 whose size isn't within 1e-150 and 1e150 makes the result null, as does a NaN. A zero has no sign.
	Add Op = iota
	Sub
	Mul
	Div   // Doubles, or null if y is 0
	Mod   // Integers, with the sign of x, or null if y is 0
	Quo   // Integers, truncated towards zero, or null if y is 0. y is never -1, for which a result could be beyond 64 bits
	Abs   // Integer, Decimal or Double
	Ceil  // Decimal or Double, to a whole one of the same type
	Floor //
	Sqrt  // of a Double, or null below 0
	Pow   // x to the power of y, Doubles: null where that isn't real, or not within e^-345 and e^345 in size. Of 0: 1 for 0, 0 for more
	Ln    // of a Double, or null unless above 0
	Log10 //
	Exp   // e to the power of a Double, or null beyond 345 in size
	// Trunc is x to y decimal places, towards zero. y is a constant Integer, -20 to 20, negative before the point.
	// Doubles count by their decimal form.
	Trunc
	// Round is the same, to the nearest, with halves away from zero. Like Trunc, it leaves a Double beyond 1e15 in size
	// unchanged.
	Round

	// The bits of Integers, in two's complement: two arguments.
	BitAnd
	BitOr
	BitXor

	// Comparison: both operands are of one type. The result is Boolean, never null. Null equals null and is less than
	// everything else. Text compares by its bytes, and false is before true. A NaN equals itself and is above all
	// Doubles. JSON is equal as in value.Equal. Less and greater compare numbers, text and booleans among themselves,
	// and else types by value.Order. Two objects, or two lists, are neither less nor greater. They are at least or at
	// most each other only if equal.
	Eq
	Ne
	Gt
	Gte
	Lt
	Lte
	Cmp // -1, 0 or 1: an Integer. Not for JSON

	// Comparison as in SQL: both of one type, and true only if neither is null. Boolean, never null.
	Same   // equal
	Differ // not equal
	Under  // less
	UpTo   // less or equal

	IsNull // Boolean, never null
	And    // of any number of Booleans. Null counts as false. Never null
	Or
	Not
	Truth  // of JSON: false for null, false and 0, else true. Never null
	IfNull // the first argument that isn't null. All are of type T

	Concat // Strings
	// Substr is at most z characters (code points) of x from position y (Integers, from 0). It is all from y if z is
	// negative, and null if y is.
	Substr
	Lower      // the letters A to Z only
	Upper      // the letters a to z only
	Trim       // x without the characters of y, a constant String, at both ends
	TrimLeft   //
	TrimRight  //
	Split      // the JSON list of the parts of x between the separators y, a constant, non-empty String
	Length     // in code points: an Integer
	IndexOf    // the first position of y in x in code points, or -1
	ReplaceAll // x with z for each y, or x if y is empty
	Reverse    // the characters from the last to the first
	// Capitalize writes the first letter of each word in upper case and its others in lower case, A to Z only. A word
	// is of these letters, of digits and of all characters beyond ASCII.
	Capitalize

	// ReplaceMatches is x with z, a constant String, for each part that y matches. y is a constant String in RE2 syntax
	// that literals.ExactPattern accepts. With a fourth argument, a constant Boolean that is false, it replaces only
	// the first part.
	ReplaceMatches

	// FindMatch is the first part of x that y matches, a constant String in RE2 syntax, as the JSON object {match, idx,
	// captures}. These are its text, the code points before it, and the list of the texts of y's groups, null for one
	// that took no part. FindMatch is null if there is no such part, or if x has more than MostSearched bytes.
	FindMatch
	FindMatches // the list of all such parts, which may be []. y matches no empty text. Null if there are more than MostMatches

	Millis // from y to x, both Dates: an Integer, truncated

	Size      // the number of elements of x, JSON: an Integer, or null if it is not a list
	ElemAt    // the element at y, an Integer, from the end if negative. JSON, or null if there is none
	InList    // whether x equals an element of the list y, both JSON: Boolean, never null
	SliceList // of the list x from y, an Integer (from the end if negative, the first at most), at most z elements (an Integer above 0, else null)
	IsList    // Boolean, never null
	JoinLists // the concatenated lists: JSON, or null if one is not a list
	// Common is the distinct elements of the list x that the list y has too, as JSON, in the order of their first
	// places in x. It is null if one is not a list.
	Common
	Without   // those that the list y doesn't have
	Pairs     // the members of x, an object, as a list of objects {k, v}, by the bytes of their names: JSON, or null if it is not an object
	Gather    // the object of the list x of such pairs, or of lists of two: the last of a name counts. JSON, or null if it is not a list of them, or a name isn't text
	JoinTexts // the texts in the list x, with y, a text, between them, or null if there are none. Other elements are left out
	SumList   // of the numbers in the list x, each as a Double: a Double as in Sum, or null if it is not a list
	AvgList   // null if there are no numbers
	MinList   // the least number in the list x: a Double, or null if there is none
	MaxList   //
	TypeOf    // of JSON: "number", "string", "bool", "object", "array" or "null". Never null
)

// The limits of FindMatch and FindMatches.
const (
	MostSearched = 1 << 20
	MostMatches  = 10_000
)

// Expression returns the constant regular expression of an operator whose second argument is one.
func (e Apply) Expression() string {
	k, _ := e.Args[1].(Const)
	return k.Value.Text()
}

// Replacement returns the constants of a ReplaceMatches: the expression, what replaces a part that it matches, and whether all are.
func (e Apply) Replacement() (expression, with string, all bool) {
	pattern, _ := e.Args[1].(Const)
	text, _ := e.Args[2].(Const)
	if all = true; len(e.Args) == 4 {
		k, _ := e.Args[3].(Const)
		all = k.Value.Bool()
	}
	return pattern.Value.Text(), text.Value.Text(), all
}

// Type implements Expr.
func (e Ref) Type() schema.Type { return e.T }

// Type implements Expr.
func (e Outer) Type() schema.Type { return e.T }

// Type implements Expr.
func (e Element) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e Before) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e Const) Type() schema.Type { return e.T }

// Type implements Expr.
func (e Part) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e SetPart) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e Object) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e List) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e Apply) Type() schema.Type { return e.T }

// Type implements Expr.
func (e Case) Type() schema.Type { return e.T }

// Type implements Expr.
func (e As) Type() schema.Type { return e.T }

// Type implements Expr.
func (e ToJSON) Type() schema.Type { return schema.JSON }

// Type implements Expr.
func (e Convert) Type() schema.Type { return e.T }

// Type implements Expr.
func (e Widen) Type() schema.Type { return e.T }

// Type implements Expr.
func (e Matches) Type() schema.Type { return schema.Boolean }

// Type implements Expr.
func (e DatePart) Type() schema.Type { return schema.Integer }

// Type implements Expr.
func (e DateTrunc) Type() schema.Type { return schema.Date }

// Type implements Expr.
func (e DateText) Type() schema.Type { return schema.String }

// Type implements Expr.
func (e DateShift) Type() schema.Type { return schema.Date }

// Type implements Expr.
func (e DateDiff) Type() schema.Type { return schema.Integer }

// Type implements Expr.
func (e Over) Type() schema.Type { return schema.JSON }

func (Ref) isExpr()       {}
func (Outer) isExpr()     {}
func (Element) isExpr()   {}
func (Before) isExpr()    {}
func (Const) isExpr()     {}
func (Part) isExpr()      {}
func (SetPart) isExpr()   {}
func (Object) isExpr()    {}
func (List) isExpr()      {}
func (Apply) isExpr()     {}
func (Case) isExpr()      {}
func (As) isExpr()        {}
func (ToJSON) isExpr()    {}
func (Convert) isExpr()   {}
func (Widen) isExpr()     {}
func (Matches) isExpr()   {}
func (DatePart) isExpr()  {}
func (DateTrunc) isExpr() {}
func (DateText) isExpr()  {}
func (DateShift) isExpr() {}
func (DateDiff) isExpr()  {}
func (Over) isExpr()      {}
