package plan

import (
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Expr is a value computed of a record. The set is closed. Its Type is one of String, Integer, Double, Decimal,
// Boolean, Date, Day, UUID, Bytes and JSON; Any and Opaque only where it is a Ref that is passed on, or, for Any, what
// an As makes something of. JSON's null is null. Unless it says otherwise an expression is null when an operand is.
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
	// Outer is a column of the record for which a Nest computes its list: of the Nest that is Up levels out, from 1.
	Outer struct {
		Up, Column int
		T          schema.Type
	}
	// Element is the element of the list that the Over which is Up levels out, from 0, is looking at. It is JSON.
	Element struct{ Up int }
	// Before is what the Over which is Up levels out, from 0 and of any kind, has computed so far: a Reduce. It is JSON.
	Before struct{ Up int }
	// Const is a constant: of the kind that T wants, or null.
	Const struct {
		Value value.Value
		T     schema.Type
	}
	// Part is what Path leads to in X, which is JSON: through objects alone, null where there is nothing.
	Part struct {
		X    Expr
		Path query.Path
	}
	// SetPart is X, which is JSON, with the value V, JSON as well, where Path leads to in it through objects; an object
	// that hasn't got the last member gets it, and a null V is a member that is null. X itself where Path leads nowhere:
	// where what should hold a part of it is no object or isn't there.
	SetPart struct {
		X    Expr
		Path query.Path
		V    Expr
	}
	// Object is a JSON object. Its values are JSON (see ToJSON); null ones are members that are null.
	Object struct {
		Names  []string
		Values []Expr
	}
	// List is a JSON list. Its elements are JSON.
	List struct{ Elements []Expr }
	// Apply is an operator.
	Apply struct {
		Op   Op
		Args []Expr
		T    schema.Type
	}
	// Case is the Then of the first If that holds, else Else. If are Boolean, null doesn't hold; all others are of type T.
	Case struct {
		If, Then []Expr
		Else     Expr
		T        schema.Type
	}
	// As is X, JSON or Any, where it holds a value of type T: String, Integer (a number that is whole and within 64
	// bits), Double, Decimal (any number), Boolean; Date (text that OfDateText reads: see Convert). Null for all else.
	As struct {
		X Expr
		T schema.Type
	}
	// ToJSON is X as JSON: numbers and booleans as such; text, and dates, days, UUIDs and bytes as their text
	// (value.AppendText); Decimals with all their digits; a NaN or an infinity as text (value.AppendJSON). X is of any type
	// but Opaque; JSON stays as it is.
	ToJSON struct{ X Expr }
	// Convert is X in another type, null where that can't be:
	//
	//	to Integer  whole numbers within 64 bits; other numbers cut towards zero; text of digits with a sign at most;
	//	            true 1, false 0; dates and days as milliseconds since 1970, cut towards zero
	//	to Double   numbers; text that writes one as JSON does (a leading +, zeros and point are fine); 1 and 0; milliseconds.
	//	            Null beyond the largest Double; what is too small is 0
	//	to Decimal  the same; null for NaN, infinities and text with an exponent beyond 1000
	//	to String   numbers as value.AppendText (Decimals without zeros at the end, Doubles in their fewest digits),
	//	            true and false, dates and days in ISO 8601, UUIDs; no bytes
	//	to Boolean  numbers other than 0, dates, days, UUIDs and text are true; no bytes
	//	to Date     days; text as OfDateText; numbers (cut) as milliseconds since 1970; years 1 to 9999 alone
	//
	// JSON converts as what it holds: whole numbers within 64 bits as Integers, other numbers as Doubles, but to Decimal with
	// all their digits; objects and lists to nothing.
	Convert struct {
		X Expr
		T schema.Type
	}
	// Widen is a number in a wider type (Integer, Decimal, Double; see Convert), a Day as the Date of its midnight in UTC,
	// or a UUID as String.
	Widen struct {
		X Expr
		T schema.Type
	}
	// Matches tells whether X, a String, matches. False for null.
	Matches struct {
		X     Expr
		Regex query.Regex // its Path is nil
	}
	// Dates in expressions are instants of the years 1 to 9999; what is outside of them is null, and so is what is computed
	// of a date that the calendar of the Zone has outside of them. A Zone is "" for UTC, an offset as "+05:30", or a name of
	// the IANA database. A time of the clock that a zone has twice is the first of the two;
	// one that it skips is read with the offset before, so 02:30 is 03:30 where 02:00 became 03:00.
	//
	// DatePart is a part of X, a Date, as the calendar and the clock of Zone have it: an Integer. Part is year, month,
	// dayOfMonth, dayOfYear, dayOfWeek (1 is Sunday), isoDayOfWeek (1 is Monday), isoWeek, isoWeekYear, hour, minute,
	// second or millisecond.
	DatePart struct {
		X    Expr
		Part string
		Zone string
	}
	// DateTrunc is the instant at which the Unit of X, a Date, begins in Zone. Unit is year, quarter, month, week, day,
	// hour, minute or second, the last three with the offset that X has. WeekStart is the first day of the week, 0 is Sunday.
	DateTrunc struct {
		X         Expr
		Unit      string
		Zone      string
		WeekStart int
	}
	// DateText is X, a Date, in Zone, written by Format: %Y (4 digits) %m %d %H %M %S %L (milliseconds) %j (3 digits)
	// %G (ISO year) %V (ISO week, 2 digits) %u (1 is Monday) %%, and other text as it is.
	DateText struct {
		X      Expr
		Format string
		Zone   string
	}
	// DateShift is X, a Date, and Amount, an Integer, of Unit later: year, quarter, month (the last day of a shorter
	// month instead of one that isn't there), week, day (by the calendar of Zone), hour, minute, second, millisecond.
	// Null when Amount is beyond 100,000 years or the result outside of the years 1 to 9999: as an instant, and, from days
	// on, in the calendar of Zone as well.
	DateShift struct {
		X, Amount Expr
		Unit      string
		Zone      string
	}
	// DateDiff is how many times a Unit begins in Zone after From until To, both Dates: an Integer, negative when To is
	// before From. Units as in DateTrunc, and millisecond. For hours and less it is the time between the two DateTruncs.
	DateDiff struct {
		From, To  Expr
		Unit      string
		Zone      string
		WeekStart int
	}
	// Over computes something for each element of Input, which is JSON, null when that is no list. Body sees the
	// element as Element{0}.
	//
	//	Map     the list of the Bodies, which are JSON
	//	Select  the list of the elements for which Body, Boolean, holds; the first Limit of them (nil: all; null or less than 1: null)
	//	Reduce  Body, JSON, for the last element, where Before{0} is Body for the one before, Initial for the first
	Over struct {
		Do             Each
		Input          Expr
		Initial, Limit Expr
		Body           Expr
	}
)

// An Each is what an Over does.
type Each uint8

// What is done with each element.
const (
	MapEach Each = iota
	SelectEach
	ReduceEach
)

// An Op is an operator of an Apply.
type Op uint8

// The operators. x, y are the arguments in turn.
const (
	// Arithmetic: arguments and result of type T. An Integer beyond 64 bits is null. Doubles: an operand that isn't 0
	// and whose size isn't within 1e-150 and 1e150 makes null, of each of these; so does a NaN. A zero has no sign.
	Add Op = iota
	Sub
	Mul
	Div   // Doubles; null when y is 0
	Mod   // Integers, with the sign of x; null when y is 0
	Abs   // Integer, Decimal or Double
	Ceil  // Decimal or Double, to a whole one of the same type
	Floor //
	Trunc // of x at y places behind the point (a constant Integer, -20 to 20, negative before it), towards zero. Doubles as they are written in decimal
	Round // the same, to the nearest; halves away from zero. A Double beyond 1e15 in size stays as it is, for Trunc as well

	// Comparison: both of one type; Boolean, never null. Null equals null and is less than all else. Text by its bytes,
	// false before true, Doubles with NaN equal to itself and above all. JSON: equal as value.Equal; less and more as
	// numbers, text and booleans among themselves, by value.Order's order of types apart from that; two objects, or two
	// lists, are neither less nor more, and at least or at most only when equal.
	Eq
	Ne
	Gt
	Gte
	Lt
	Lte
	Cmp // -1, 0 or 1: an Integer. Not of JSON

	Same   // both are equal and neither is null: Boolean, never null
	IsNull // Boolean, never null
	And    // of any number of Booleans; null counts as false; never null
	Or
	Not
	Truth  // of JSON: false for null, false and 0, else true; never null
	IfNull // the first of the arguments, all of type T, that isn't null

	Concat     // Strings
	Substr     // of x, at most z characters (code points) from the one at y (Integers, from 0); all from y when z is negative; null when y is
	Lower      // the letters A to Z alone
	Upper      // the letters a to z alone
	Trim       // x without the characters of y, a constant String, at both ends
	TrimLeft   //
	TrimRight  //
	Split      // the JSON list of the parts of x between the separators y, a constant String that isn't empty
	Length     // in code points: an Integer
	IndexOf    // the first place of y in x in code points, -1 when it isn't there
	ReplaceAll // x with z for each y; x when y is empty

	Millis // from y to x, both Dates: an Integer, cut towards zero

	Size      // how many elements x, JSON, has: an Integer; null when it is no list
	ElemAt    // the element at y, an Integer; from the end when negative. JSON; null when there is none
	InList    // whether x equals an element of the list y, both JSON: Boolean, never null
	SliceList // of the list x from y, an Integer (from the end when negative, the first at most), at most z elements (an Integer above 0, else null)
	IsList    // Boolean, never null
	JoinLists // the lists one after the other: JSON; null when one is no list
	SumList   // of the numbers in the list x, each as a Double: a Double as Sum makes it; null when it is no list
	AvgList   // null when there are none
	MinList   // the least number in the list x: a Double; null when there is none
	MaxList   //
	TypeOf    // of JSON: "number", "string", "bool", "object", "array" or "null"; never null
)

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
