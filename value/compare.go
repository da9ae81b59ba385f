package value

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Compare compares a and b as the query language does. It returns -1, 0 or 1, and whether the values are comparable.
// Nulls and values of different types are not comparable. Text and bytes are compared by their bytes. Numbers are
// compared as doubles if one is a Float, otherwise exactly. NaN equals itself and is greater than all numbers.
func Compare(a, b Value) (int, bool) {
	if a.kind == Null || rank(a.kind) != rank(b.kind) {
		return 0, false
	}
	switch a.kind {
	case Int, Float, Decimal:
		return compareNumbers(a, b), true
	case String, Bytes:
		return strings.Compare(a.str, b.str), true
	case Bool, Date, Day:
		return cmp.Compare(a.num, b.num), true
	}
	if Equal(a, b) {
		return 0, true
	}
	return 0, false
}

// Equal reports whether a and b are the same value. Null equals null. Objects are equal if they have equal members in
// any order. Numbers are equal by value.
func Equal(a, b Value) bool {
	if rank(a.kind) != rank(b.kind) {
		return false
	}
	switch a.kind {
	case Null:
		return true
	case Array:
		if len(a.List()) != len(b.List()) {
			return false
		}
		for i := range a.List() {
			if !Equal(a.List()[i], b.List()[i]) {
				return false
			}
		}
		return true
	case Object:
		if len(a.Members()) != len(b.Members()) {
			return false
		}
		for _, m := range a.Members() {
			if other, ok := b.Get(m.Name); !ok || !Equal(m.Value, other) {
				return false
			}
		}
		return true
	}
	c, _ := Compare(a, b)
	return c == 0
}

// Order compares a and b in a total order for sorting. Null comes first. Then come the types in the order of MongoDB:
// numbers, text, objects, arrays, bytes, booleans, dates. Values of one type are ordered as in Compare. Numbers that
// are equal as doubles are ordered exactly. Objects and arrays are ordered by their JSON.
func Order(a, b Value) int {
	if c := cmp.Compare(rank(a.kind), rank(b.kind)); c != 0 || a.kind == Null {
		return c
	}
	if a.kind == Array || a.kind == Object {
		return strings.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil)))
	}
	c, _ := Compare(a, b)
	if c == 0 && (a.kind == Float) != (b.kind == Float) {
		return orderExactly(a, b)
	}
	return c
}

// orderExactly orders two numbers that are equal as doubles. Exactly one of them is a Float. For example, 2^53+1 and
// 2^53 both equal the double 2^53, and the order of the three must be consistent. A Float counts as its shortest
// decimal form.
func orderExactly(a, b Value) int {
	if a.kind != Float {
		return -orderExactly(b, a)
	}
	f := a.Float()
	if math.IsInf(f, 0) { // the other is a Decimal beyond the range of doubles
		return cmp.Compare(f, 0)
	}
	return parseDecimal(strconv.FormatFloat(f, 'g', -1, 64)).compare(parseDecimal(digits(b)))
}

// rank returns the position of a kind in the order of types. Kinds of equal rank are comparable.
func rank(k Kind) int {
	return [...]int{Null: 0, Int: 1, Float: 1, Decimal: 1, String: 2, Object: 3, Array: 4, Bytes: 5, Bool: 6, Date: 7, Day: 7, Cut: 8}[k]
}

// AsFloat returns a number as the nearest double, and whether v is a number. Beyond the range of doubles, the result is
// an infinity.
func (v Value) AsFloat() (float64, bool) {
	switch v.kind {
	case Int:
		return float64(v.num), true
	case Float:
		return v.Float(), true
	case Decimal:
		f, _ := strconv.ParseFloat(v.str, 64) // out of range, the result is an infinity, as intended
		return f, true
	}
	return 0, false
}

// AsInt returns a number as an int64, and whether the conversion is exact.
func (v Value) AsInt() (int64, bool) {
	switch v.kind {
	case Int:
		return v.num, true
	case Float:
		f := v.Float()
		return int64(f), f == math.Trunc(f) && f >= -1<<63 && f < 1<<63
	case Decimal:
		d := parseDecimal(v.str)
		if d.exp > 19 || len(d.digits) > d.exp && d.digits != "" {
			return 0, false
		}
		text := d.digits + strings.Repeat("0", max(0, d.exp-len(d.digits)))
		if d.neg {
			text = "-" + text
		}
		if d.digits == "" {
			return 0, true
		}
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// compareNumbers compares two numbers exactly, unless one is a Float. Then the other number is converted to a Float. So
// two different Ints beyond 2^53 may both equal the same Float. Order distinguishes them.
func compareNumbers(a, b Value) int {
	switch {
	case a.kind == Int && b.kind == Int:
		return cmp.Compare(a.num, b.num)
	case a.kind == Float || b.kind == Float:
		x, _ := a.AsFloat()
		y, _ := b.AsFloat()
		return compareFloats(x, y)
	}
	return parseDecimal(digits(a)).compare(parseDecimal(digits(b)))
}

// compareFloats orders floats. NaN equals itself and comes after all others, so that sorting is total.
func compareFloats(x, y float64) int {
	switch xn, yn := math.IsNaN(x), math.IsNaN(y); {
	case xn && yn:
		return 0
	case xn:
		return 1
	case yn:
		return -1
	}
	return cmp.Compare(x, y)
}

func digits(v Value) string {
	if v.kind == Int {
		return strconv.FormatInt(v.num, 10)
	}
	return v.str
}

// A decimal is ±0.digits × 10^exp. digits has no zeros at either end. Comparisons use this form, so that a large
// exponent costs nothing.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// parseDecimal parses a number in JSON syntax. An exponent beyond ±2^40 counts as ±2^40. No text has enough digits to
// compensate for such an exponent.
func parseDecimal(s string) decimal {
	var d decimal
	s, d.neg = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil || e > 1<<40 || e < -1<<40 {
			e = 1 << 40
			if strings.Contains(s[i:], "-") {
				e = -e
			}
		}
		d.exp, s = e, s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	all := whole + fraction
	trimmed := strings.TrimLeft(all, "0")
	d.exp += len(whole) - (len(all) - len(trimmed))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// compare returns -1, 0 or 1. Digits are compared as text, because both begin directly after the point.
func (d decimal) compare(e decimal) int {
	sign := func(d decimal) int {
		switch {
		case d.digits == "":
			return 0
		case d.neg:
			return -1
		}
		return 1
	}
	s, t := sign(d), sign(e)
	if s != t || s == 0 {
		return cmp.Compare(s, t)
	}
	if c := cmp.Compare(d.exp, e.exp); c != 0 {
		return c * s
	}
	return strings.Compare(d.digits, e.digits) * s
}
