package interpret

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// digits matches the form of a whole number that convert accepts.
var digits = regexp.MustCompile(`^[+-]?[0-9]+$`)

// Widen returns a number in a wider type, a day as the instant of its midnight, or a UUID as text.
func Widen(v value.Value, t schema.Type) value.Value {
	switch {
	case t == schema.Date && v.Kind() == value.Day:
		return dateOf(v.Micros())
	case t == schema.Decimal && v.IsNumber():
		return convert(v, t)
	case t == schema.Double && v.Kind() == value.Float:
		return Double(v.Float()) // this includes NaN and the infinities
	case t == schema.Double && v.IsNumber():
		return convert(v, t)
	}
	return v
}

// Cast returns the result of a plan.As of v: v if it has that type, otherwise null.
func Cast(v value.Value, t schema.Type) value.Value {
	switch k := v.Kind(); {
	case t == schema.String && k == value.String, t == schema.Boolean && k == value.Bool:
		return v
	case t == schema.Integer && v.IsNumber():
		if n, ok := v.AsInt(); ok {
			return value.OfInt(n)
		}
	case (t == schema.Double || t == schema.Decimal) && v.IsNumber():
		return Widen(v, t)
	case t == schema.Date && k == value.String:
		return convert(v, t)
	}
	return value.Value{}
}

// converting returns v, a value in JSON, in the form for a conversion. A number that isn't whole becomes a Double,
// except for a conversion to Decimal.
func converting(v value.Value, to schema.Type) value.Value {
	if v.Kind() != value.Decimal || to == schema.Decimal {
		return v
	}
	if n, ok := v.AsInt(); ok {
		return value.OfInt(n)
	}
	return Widen(v, schema.Double)
}

// convert returns v in another type. It returns null if that is impossible.
func convert(v value.Value, t schema.Type) value.Value {
	switch t {
	case schema.Integer:
		if v.Kind() == value.String && !digits.MatchString(v.Text()) {
			return value.Value{}
		}
		if v.Kind() == value.Float { // the exact value, not the value of its shortest text
			n, ok := value.OfFloat(math.Trunc(v.Float())).AsInt()
			if !ok {
				return value.Value{}
			}
			return value.OfInt(n)
		}
		if d, ok := decimalFrom(v); ok {
			return d.Integer()
		}
	case schema.Double:
		if v.Kind() == value.Float {
			return v
		}
		if v.Kind() == value.String && number.MatchString(v.Text()) { // the exponent may have any size
			return finite(strconv.ParseFloat(strings.TrimPrefix(v.Text(), "+"), 64))
		}
		if d, ok := decimalFrom(v); ok {
			return d.Double()
		}
	case schema.Decimal:
		if d, ok := decimalFrom(v); ok {
			return d.Decimal()
		}
	case schema.String:
		return textValue(v)
	case schema.Boolean:
		return truth(v)
	case schema.Date:
		return dateFrom(v)
	}
	return value.Value{}
}

func finite(f float64, err error) value.Value {
	if err != nil || math.IsInf(f, 0) {
		return value.Value{}
	}
	return Double(f)
}

// decimalFrom returns the number to which v is converted.
func decimalFrom(v value.Value) (Number, bool) {
	switch v.Kind() {
	case value.String:
		return NumberText(v.Text())
	case value.Bool:
		if v.Bool() {
			return NumberOf(value.OfInt(1))
		}
		return NumberOf(value.OfInt(0))
	case value.Date, value.Day:
		return NumberOf(value.OfInt(v.Micros() / 1000))
	}
	return NumberOf(v)
}

// textValue returns the text to which v is converted.
func textValue(v value.Value) value.Value {
	switch v.Kind() {
	case value.Null, value.Bytes, value.Array, value.Object:
		return value.Value{}
	case value.Decimal:
		d, ok := NumberOf(v)
		if !ok {
			return value.Value{}
		}
		return value.OfString(d.String())
	}
	return value.OfString(v.String())
}

// truth returns the boolean to which v is converted.
func truth(v value.Value) value.Value {
	switch v.Kind() {
	case value.Bool:
		return v
	case value.Int, value.Float, value.Decimal:
		return value.OfBool(!value.Equal(v, value.OfInt(0)))
	case value.String, value.Date, value.Day:
		return value.OfBool(true)
	}
	return value.Value{}
}

// dateFrom returns the instant to which v is converted.
func dateFrom(v value.Value) value.Value {
	switch v.Kind() {
	case value.String:
		d, ok := value.OfDateText(v.Text())
		if !ok {
			return value.Value{}
		}
		return dateOf(d.Micros())
	case value.Date, value.Day:
		return dateOf(v.Micros())
	}
	if !v.IsNumber() {
		return value.Value{}
	}
	ms := convert(v, schema.Integer)
	if n := ms.Int(); ms.IsNull() || n > math.MaxInt64/1000 || n < math.MinInt64/1000 {
		return value.Value{}
	}
	return dateOf(ms.Int() * 1000)
}
