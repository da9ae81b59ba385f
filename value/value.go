// Package value represents data exactly: JSON values and the types of databases.
//
// A Value supports 64-bit integers, decimals as text, instants and bytes, in addition to the kinds of JSON. So no
// number is rounded between an agent and a database. Read parses all external JSON. It rejects input that parsers
// interpret differently, such as duplicate keys, NUL, lone surrogates or a second document.
package value

import (
	"math"
	"time"
)

// A Kind is the kind of a Value.
type Kind uint8

// The kinds, with the methods that return their contents. The zero Value is Null.
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
	Cut          // Size: the placeholder for a value that was too large to read
)

var kindNames = [...]string{"null", "boolean", "integer", "number", "number", "string", "date", "date", "bytes", "array", "object", "cut"}

// String returns the name of k as agents see it.
func (k Kind) String() string { return kindNames[k] }

// A Value is one immutable value. The zero Value is null.
type Value struct {
	kind  Kind
	num   int64 // Bool, Int, Float (bits), Date and Day (microseconds), Cut (bytes)
	str   string
	parts *parts // the contents of an Array or Object
}

// parts contains the elements of an Array or the members of an Object. A pointer to it keeps Value small.
type parts struct {
	list    []Value
	members []Member
}

// A Member is one name and value of an Object.
type Member struct {
	Name  string
	Value Value
}

// A Row contains the values of one record in the order of its columns.
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

// OfDecimal returns the number text, which must be a JSON number, as a Decimal.
func OfDecimal(text string) Value { return Value{kind: Decimal, str: text} }

// OfString returns s as a Value.
func OfString(s string) Value { return Value{kind: String, str: s} }

// OfDate returns the instant micros microseconds after 1970-01-01 UTC.
func OfDate(micros int64) Value { return Value{kind: Date, num: micros} }

// OfTime returns t as a Date, truncated to microseconds.
func OfTime(t time.Time) Value { return OfDate(t.UnixMicro()) }

// OfDay returns the calendar date whose midnight UTC is micros microseconds after 1970-01-01.
func OfDay(micros int64) Value { return Value{kind: Day, num: micros} }

// OfBytes returns the bytes of s as a Value.
func OfBytes(s string) Value { return Value{kind: Bytes, str: s} }

// Unmeasured is the size of a Cut for a list that was never collected because it exceeds the maximum size of lists. It
// is above any budget.
const Unmeasured = math.MaxInt32

// OfCut returns the placeholder for a value that was too large to read. bytes is the size of the value, or 0 if the
// size must stay hidden. A Cut is encoded as null, so the encoder must report separately that the value was cut.
func OfCut(bytes int64) Value { return Value{kind: Cut, num: bytes} }

// OfArray returns list as an Array. The Value keeps the slice.
func OfArray(list []Value) Value { return Value{kind: Array, parts: &parts{list: list}} }

// OfStrings returns an Array of the texts as Strings.
func OfStrings[Text ~string](texts []Text) Value {
	list := make([]Value, len(texts))
	for i, s := range texts {
		list[i] = OfString(string(s))
	}
	return OfArray(list)
}

// OfObject returns an Object with the members, whose names must differ. The Value keeps the slice.
func OfObject(members []Member) Value { return Value{kind: Object, parts: &parts{members: members}} }

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == Null }

// Bool returns a Bool's value, or false for other kinds.
func (v Value) Bool() bool { return v.kind == Bool && v.num != 0 }

// Int returns an Int's value, or 0 for other kinds.
func (v Value) Int() int64 {
	if v.kind != Int {
		return 0
	}
	return v.num
}

// Float returns a Float's value, or 0 for other kinds. AsFloat converts any number.
func (v Value) Float() float64 {
	if v.kind != Float {
		return 0
	}
	return math.Float64frombits(uint64(v.num))
}

// Micros returns the microseconds since 1970 of a Date or Day, or 0 for other kinds.
func (v Value) Micros() int64 {
	if v.kind != Date && v.kind != Day {
		return 0
	}
	return v.num
}

// Size returns the size in bytes of the value that a Cut replaces, or 0 for other kinds.
func (v Value) Size() int64 {
	if v.kind != Cut {
		return 0
	}
	return v.num
}

// Text returns a String's text, a Decimal's digits or the bytes of Bytes, or "" for other kinds.
func (v Value) Text() string { return v.str }

// List returns the elements of an Array, or nil for other kinds. The caller must not change the slice.
func (v Value) List() []Value {
	if v.parts == nil {
		return nil
	}
	return v.parts.list
}

// Members returns the members of an Object in order, or nil for other kinds. The caller must not change the slice.
func (v Value) Members() []Member {
	if v.parts == nil {
		return nil
	}
	return v.parts.members
}

// Get returns the member with this name, and whether v is an Object with such a member.
func (v Value) Get(name string) (Value, bool) {
	for _, m := range v.Members() {
		if m.Name == name {
			return m.Value, true
		}
	}
	return Value{}, false
}

// Map returns an Array or an Object in which the elements, or the members' values, are replaced by the results of f. It
// returns other values unchanged.
func (v Value) Map(f func(Value) Value) Value {
	switch v.Kind() {
	case Array:
		list := make([]Value, len(v.List()))
		for i, e := range v.List() {
			list[i] = f(e)
		}
		return OfArray(list)
	case Object:
		members := make([]Member, len(v.Members()))
		for i, m := range v.Members() {
			members[i] = Member{Name: m.Name, Value: f(m.Value)}
		}
		return OfObject(members)
	}
	return v
}

// Part returns the value at path in v, or null if there is no such value. The path leads through objects. In an array,
// it applies to each element.
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
