// Package value is the data that passes along the way: JSON values that are exact.
//
// It is a word. A Value holds 64-bit integers, decimals as their text, instants and bytes beside the JSON kinds,
// so nothing is rounded between an agent and a database. Read is the only reader of JSON from outside: it refuses
// what readers disagree about (duplicate keys, NUL, lone surrogates, a second document).
package value

import (
	"math"
	"time"
)

// A Kind tells what a Value holds.
type Kind uint8

// The kinds. The zero Value is Null.
const (
	Null    Kind = iota
	Bool         // Bool
	Int          // Int: 64 bits, signed
	Float        // Float: IEEE 754 double
	Decimal      // Text: a JSON number as written
	String       // Text: valid UTF-8
	Date         // Micros: an instant, microseconds since 1970-01-01 UTC
	Day          // Micros: a calendar date, at its midnight UTC
	Bytes        // Text: raw bytes
	Array        // List
	Object       // Members, in the order read
	Cut          // Size: a value that was too large to be read
)

var kindNames = [...]string{"null", "boolean", "integer", "number", "number", "string", "date", "date", "bytes", "array", "object", "cut"}

// String names k as agents read it.
func (k Kind) String() string { return kindNames[k] }

// A Value is one datum. The zero Value is null. Values are immutable.
type Value struct {
	kind  Kind
	num   int64 // Bool, Int, Float (bits), Date and Day (microseconds), Cut (bytes)
	str   string
	parts *parts // of an Array or Object
}

// parts keeps a Value small: most have none.
type parts struct {
	list    []Value
	members []Member
}

// A Member is one name and value of an Object.
type Member struct {
	Name  string
	Value Value
}

// A Row is the values of one record, in the order of its columns.
type Row []Value

// OfBool returns b as a Value.
func OfBool(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// OfInt returns n as a Value.
func OfInt(n int64) Value { return Value{kind: Int, num: n} }

// OfFloat returns f as a Value.
func OfFloat(f float64) Value { return Value{kind: Float, num: int64(math.Float64bits(f))} }

// OfDecimal returns the number written as text, which must be a JSON number.
func OfDecimal(text string) Value { return Value{kind: Decimal, str: text} }

// OfString returns s as a Value.
func OfString(s string) Value { return Value{kind: String, str: s} }

// OfDate returns the instant that is micros microseconds after 1970-01-01 UTC.
func OfDate(micros int64) Value { return Value{kind: Date, num: micros} }

// OfTime returns t as a Date, cut to microseconds.
func OfTime(t time.Time) Value { return OfDate(t.UnixMicro()) }

// OfDay returns the calendar date whose midnight UTC is micros microseconds after 1970-01-01.
func OfDay(micros int64) Value { return Value{kind: Day, num: micros} }

// OfBytes returns the bytes of s as a Value.
func OfBytes(s string) Value { return Value{kind: Bytes, str: s} }

// OfCut returns what stands for a value of so many bytes that was too large to be read; 0 where its size isn't to be
// known. Written, it is null: whoever writes it says elsewhere that it was cut.
func OfCut(bytes int64) Value { return Value{kind: Cut, num: bytes} }

// OfArray returns the list as a Value, which keeps it.
func OfArray(list []Value) Value { return Value{kind: Array, parts: &parts{list: list}} }

// OfObject returns the members as a Value, which keeps them. Names must differ.
func OfObject(members []Member) Value { return Value{kind: Object, parts: &parts{members: members}} }

// Kind tells what v holds.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == Null }

// Bool returns a Bool's value; false for other kinds.
func (v Value) Bool() bool { return v.kind == Bool && v.num != 0 }

// Int returns an Int's value; 0 for other kinds.
func (v Value) Int() int64 {
	if v.kind != Int {
		return 0
	}
	return v.num
}

// Float returns a Float's value; 0 for other kinds. See AsFloat for any number.
func (v Value) Float() float64 {
	if v.kind != Float {
		return 0
	}
	return math.Float64frombits(uint64(v.num))
}

// Micros returns the microseconds since 1970 of a Date or Day; 0 for other kinds.
func (v Value) Micros() int64 {
	if v.kind != Date && v.kind != Day {
		return 0
	}
	return v.num
}

// Size returns the bytes that a Cut stands for; 0 for other kinds.
func (v Value) Size() int64 {
	if v.kind != Cut {
		return 0
	}
	return v.num
}

// Text returns a String's text, a Decimal's digits or the bytes of Bytes; "" for other kinds.
func (v Value) Text() string { return v.str }

// List returns the elements of an Array; nil for other kinds. It must not be changed.
func (v Value) List() []Value {
	if v.parts == nil {
		return nil
	}
	return v.parts.list
}

// Members returns the members of an Object in order; nil for other kinds. It must not be changed.
func (v Value) Members() []Member {
	if v.parts == nil {
		return nil
	}
	return v.parts.members
}

// Get returns the member called name, and whether v is an Object that has one.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members() {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Part returns what path leads to in v: through objects, and through lists element by element; null where nothing is.
func (v Value) Part(path []string) Value {
	if len(path) == 0 || v.kind == Cut {
		return v
	}
	if v.kind == Array {
		list := make([]Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = e.Part(path)
		}
		return OfArray(list)
	}
	member, _ := v.Get(path[0])
	return member.Part(path[1:])
}

// IsNumber reports whether v is an Int, a Float or a Decimal.
func (v Value) IsNumber() bool { return v.kind == Int || v.kind == Float || v.kind == Decimal }
