package sqlite

import (
	"database/sql/driver"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/value"
)

// funcConversions returns three families of functions. Functions as… return a JSON value that already has the type.
// Functions to… convert a value of a column, or a JSON value. All of them return null if there is no result.
func funcConversions() map[string]function {
	out := map[string]function{
		fnOfAny:     {1, ofAny},
		fnAnyDouble: {1, anyDouble},
		fnAnyJSON: {1, func(args []driver.Value) driver.Value {
			if args[0] == nil {
				return nil
			}
			return asJSON(args[0])
		}},
	}
	for name, as := range map[string]func(v value.Value) driver.Value{
		fnAsString:  asString,
		fnAsInteger: asInteger,
		fnAsDouble:  asDouble,
		fnAsDecimal: asDecimal,
		fnAsBoolean: asBoolean,
		fnAsDate:    func(v value.Value) driver.Value { return dateOf(v, false) },
	} {
		out[name] = ofText(func(text string) driver.Value { return as(scalar(text)) })
	}
	out[fnToString+fnOfDecimals] = function{1, func(args []driver.Value) driver.Value {
		if d, ok := decimalOfValue(args[0]); ok {
			return d.plain()
		}
		return nil
	}}
	for name, to := range map[string]func(v value.Value) driver.Value{
		fnToInteger: toInteger,
		fnToDouble:  toDouble,
		fnToDecimal: toDecimal,
		fnToString:  toString,
		fnToBoolean: toBoolean,
		fnToDate:    func(v value.Value) driver.Value { return dateOf(v, true) },
	} {
		out[name] = function{1, func(args []driver.Value) driver.Value { return to(plainValue(args[0])) }}
		out[name+fnOfJSON] = ofText(func(text string) driver.Value {
			// JSON doesn't distinguish decimals from doubles. A number counts as a Double, unless it is whole or the
			// target is Decimal.
			v := scalar(text)
			if f, ok := v.AsFloat(); ok && v.Kind() == value.Decimal && name != fnToDecimal {
				v = value.OfFloat(f + 0)
				if n, whole := scalar(text).AsInt(); whole {
					v = value.OfInt(n)
				} else if math.IsInf(f, 0) {
					return nil
				}
			}
			return to(v)
		})
	}
	return out
}

// ofAny returns the value of a column without a type as JSON. It returns null for bytes, and for infinities, which
// JSON can't represent.
func ofAny(args []driver.Value) driver.Value {
	switch v := args[0].(type) {
	case float64:
		if math.IsInf(v, 0) {
			return nil
		}
	case nil, []byte:
		return nil
	}
	return asJSON(args[0])
}

func anyDouble(args []driver.Value) driver.Value {
	if f, ok := plainValue(args[0]).AsFloat(); ok {
		return f
	}
	return nil
}

// scalar parses JSON. Objects and lists count as null.
func scalar(text string) value.Value {
	if text == "" || text[0] == '{' || text[0] == '[' {
		return value.Value{}
	}
	return read(text)
}

func asString(v value.Value) driver.Value {
	if v.Kind() != value.String {
		return nil
	}
	return v.Text()
}

func asInteger(v value.Value) driver.Value {
	if n, ok := v.AsInt(); ok {
		return n
	}
	return nil
}

func asDouble(v value.Value) driver.Value {
	if f, ok := v.AsFloat(); ok && !math.IsInf(f, 0) {
		return f + 0 // adding 0 turns negative zero into zero
	}
	return nil
}

// asDecimal returns a number as a decimal in SQLite's form, or null for other kinds.
func asDecimal(v value.Value) driver.Value {
	switch v.Kind() {
	case value.Int:
		return v.Int()
	case value.Decimal:
		return near(v.Text())
	case value.Float:
		if d, ok := decimalOfValue(v.Float()); ok {
			return d.number()
		}
	}
	return nil
}

func asBoolean(v value.Value) driver.Value {
	if v.Kind() != value.Bool {
		return nil
	}
	return truth(v.Bool())
}

// toInteger converts as $toInt does. It truncates a real towards zero. The result is null beyond 64 bits. A text must
// consist of digits with an optional sign.
func toInteger(v value.Value) driver.Value {
	switch v.Kind() {
	case value.Int:
		return v.Int()
	case value.Bool:
		return truth(v.Bool())
	case value.String:
		if n, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
			return n
		}
		return nil
	case value.Float:
		if f := math.Trunc(v.Float()); f >= -1<<63 && f < 1<<63 {
			return int64(f)
		}
	}
	return nil
}

// toDouble converts as $toDouble does. A Boolean becomes 0 or 1. A text must be a number in JSON's form.
func toDouble(v value.Value) driver.Value {
	switch v.Kind() {
	case value.Bool:
		return float64(truth(v.Bool()).(int64))
	case value.String:
		if text, ok := numeral(v.Text()); ok {
			return decimalOf(text).real()
		}
		return nil
	}
	return asDouble(v)
}

// toDecimal converts as $toDecimal does. The result is exact if SQLite can store it exactly.
func toDecimal(v value.Value) driver.Value {
	switch v.Kind() {
	case value.Bool:
		return truth(v.Bool())
	case value.String:
		if text, ok := numeral(v.Text()); ok {
			return near(text)
		}
		return nil
	}
	return asDecimal(v)
}

// near returns the decimal in text, or null if its exponent is beyond ±1000.
func near(text string) driver.Value {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > 1000 || e < -1000 {
			return nil
		}
	}
	return decimalOf(text).number()
}

// numeral returns text without a leading plus if it is a number in JSON's form. Leading zeros and leading points are
// allowed.
func numeral(text string) (string, bool) {
	rest, plus := strings.CutPrefix(text, "+")
	if plus {
		text = rest
	} else {
		rest = strings.TrimPrefix(rest, "-")
	}
	whole := digits(&rest)
	if after, ok := strings.CutPrefix(rest, "."); ok {
		rest = after
		if digits(&rest) == 0 {
			return "", false
		}
	} else if whole == 0 {
		return "", false
	}
	if rest == "" {
		return text, true
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return "", false
	}
	if rest = rest[1:]; rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}
	return text, digits(&rest) > 0 && rest == ""
}

// digits removes the leading digits of text and returns their number.
func digits(text *string) int {
	rest := strings.TrimLeft(*text, "0123456789")
	n := len(*text) - len(rest)
	*text = rest
	return n
}

func toString(v value.Value) driver.Value {
	switch v.Kind() {
	case value.Null, value.Bytes:
		return nil
	}
	return v.String()
}

// plain returns the text of a decimal without an exponent and without trailing zeros. SQLite must be able to store
// the decimal.
func (d decimal) plain() string {
	switch {
	case d.digits == "":
		return "0"
	case d.exp >= 0:
		return d.sign() + d.digits + strings.Repeat("0", d.exp)
	}
	point := len(d.digits) + d.exp
	if point <= 0 {
		return d.sign() + "0." + strings.Repeat("0", -point) + d.digits
	}
	return d.sign() + d.digits[:point] + "." + d.digits[point:]
}

// toBoolean converts as $toBool does. Every text is true, and every number except 0.
func toBoolean(v value.Value) driver.Value {
	switch v.Kind() {
	case value.Bool:
		return truth(v.Bool())
	case value.String:
		return int64(1)
	case value.Int, value.Decimal:
		return truth(decimalOf(v.String()).digits != "")
	case value.Float:
		return truth(v.Float() != 0)
	}
	return nil
}

// dateOf parses a text in ISO 8601. If counted, it also accepts numbers as milliseconds since 1970.
func dateOf(v value.Value, counted bool) driver.Value {
	ms, ok := int64(0), false
	switch {
	case v.Kind() == value.String:
		var date value.Value
		date, ok = value.OfDateText(v.Text())
		ms = time.UnixMicro(date.Micros()).UnixMilli()
	case counted && v.IsNumber():
		ms, ok = toInteger(v).(int64)
	}
	if !ok || !inYears(ms) {
		return nil
	}
	return ms
}
