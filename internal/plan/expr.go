package plan

import (
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Expr is an expression over a record. The set of types is closed. Its Type is String, Integer, Double, Decimal,
// Boolean, Date, Day, UUID, Bytes or JSON. Any and Opaque occur only in a Ref that is passed on or converted to String.
// Any also occurs in the operand of an As. JSON's null is the same as null. Unless stated otherwise, an expression is
// null if an operand is null.
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
	// Outer is a column of the record for which a Nest computes its list. The nearest surrounding Nest has Up 1.
	Outer struct {
		Up, Column int
		T          schema.Type
	}
	// Element is the current element of a surrounding Over. It is JSON. The nearest Over has Up 0.
	Element struct{ Up int }
	// Before is the current result, as JSON, of a surrounding Reduce. Up counts Overs of all kinds, from 0.
	Before struct{ Up int }
	// Const is a constant of type T, or null.
	Const struct {
		Value value.Value
		T     schema.Type
	}
	// Part is the value at Path in X, which is JSON. Path leads only through objects. Part is null if there is no
	// value.
	Part struct {
		X    Expr
		Path query.Path
	}
	// SetPart is X, which is JSON, with the value at Path replaced by V, also JSON. Path leads through objects. If the
	// last member is missing, it is added. A null V becomes a member that is null. X stays unchanged if an object on
	// the path is missing or isn't an object.
	SetPart struct {
		X    Expr
		Path query.Path
		V    Expr
	}
	// Object is a JSON object. Its values are JSON (see ToJSON). Members with null values are kept.
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
	// Case is the Then of the first If that holds, otherwise Else. The Ifs are Booleans, and null counts as false. All
	// other operands have type T.
	Case struct {
		If, Then []Expr
		Else     Expr
		T        schema.Type
	}
	// As is X, of type JSON or Any, if X contains a value of type T, otherwise null. T is String, Integer (a whole
	// number within 64 bits), Double, Decimal (any number), Boolean, or Date (text that OfDateText accepts: see
	// Convert).
	As struct {
		X Expr
		T schema.Type
	}
	// ToJSON is X, of any type, as JSON. Numbers and booleans stay numbers and booleans. Decimals keep all digits.
	// Text, dates, days, UUIDs and bytes become text (value.AppendText). A NaN or an infinity becomes text
	// (value.AppendJSON). JSON is unchanged. An Opaque becomes the text that is returned for it.
	ToJSON struct{ X Expr }
	// Convert is X converted to type T. It is null if the conversion isn't possible:
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
	// A JSON value is converted by its own type. Whole numbers within 64 bits are converted as Integers, other numbers
	// as Doubles. A conversion to Decimal keeps all digits. Objects and lists give null.
	Convert struct {
		X Expr
		T schema.Type
	}
	// Widen is a number in a wider type (Integer, Decimal, Double, as in Convert). It also converts a Day to a Date, at
	// midnight UTC, and a UUID to a String.
	Widen struct {
		X Expr
		T schema.Type
	}
	// Matches reports whether X, a String, matches Regex. It is false for null.
	Matches struct {
		X     Expr
		Regex query.Regex // its Path is nil
	}
	// Dates in expressions are instants of the years 1 to 9999. Other dates are null. A result is also null if the
	// operand's year in the calendar of the Zone is outside of these years. A Zone is "" for UTC, an offset such as
	// "+05:30", or an IANA name. A local time that occurs twice means the first of the two instants. A skipped local
	// time is read with the offset before the change: 02:30 is 03:30 if 02:00 became 03:00.
	//
	// DatePart is a part of X, a Date, in the local time of Zone. It is an Integer. Part is year, month, dayOfMonth,
	// dayOfYear, dayOfWeek (1 is Sunday), isoDayOfWeek (1 is Monday), isoWeek, isoWeekYear, hour, minute, second or
	// millisecond.
	DatePart struct {
		X    Expr
		Part string
		Zone string
	}
	// DateTrunc is the beginning, in Zone, of the Unit that contains X, a Date. Unit is year, quarter, month, week,
	// day, hour, minute or second. The last three use the zone offset at X. WeekStart is the first day of the week, 0
	// for Sunday.
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
	// DateShift is X, a Date, plus Amount times Unit. Amount is an Integer. Unit is year, quarter, month, week, day,
	// hour, minute, second or millisecond. A month that is too short gives its last day. Days follow the calendar of
	// Zone. The result is null if Amount is beyond 100,000 years, or if the result is outside of the years 1 to 9999.
	// For days and longer units, this also applies to the result's year in the calendar of Zone.
	DateShift struct {
		X, Amount Expr
		Unit      string
		Zone      string
	}
	// DateDiff is the number of times a Unit begins in Zone after From until To, both Dates. It is an Integer, negative
	// if To is before From. Units are the units of DateTrunc, and millisecond. For hours and shorter units, it is the
	// time between the DateTruncs of From and To.
	DateDiff struct {
		From, To  Expr
		Unit      string
		Zone      string
		WeekStart int
	}
	// Over iterates over the elements of Input, which is JSON. It is null if Input isn't a list. Body refers to the
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
