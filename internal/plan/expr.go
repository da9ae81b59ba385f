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
