package interpret

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DecodeValue converts v, a value stored in the source, to the type that the rules declare for its field. It returns
// null if the value isn't in the field's form.
func DecodeValue(f *schema.Field, v value.Value) value.Value {
	text, whole := v.Kind() == value.String, v.Kind() == value.Int
	switch form := f.Stored.Form; form {
	case schema.EpochSeconds, schema.EpochMillis:
		const most = 1 << 53 // above any year to 9999, and below an overflow
		if n := v.Int(); whole && n < most && n > -most {
			return convert(value.OfInt(n*(form.Unit()/1000)), schema.Date)
		}
	case schema.JSONText:
		if read, err := value.Read([]byte(v.Text()), 0); text && err == nil {
			return read
		}
	case schema.Truth:
		if whole {
			return convert(v, schema.Boolean)
		}
	case schema.Midnight:
		return seenDate(schema.Day, v)
	default:
		if text || form == schema.DecimalForm && v.IsNumber() {
			return convert(v, f.Type)
		}
	}
	return value.Value{}
}

// EncodeValue converts v to the form in which the source stores it. v has the type that the rules declare for f. If the
// source can't store v, the text is the reason, otherwise "".
func EncodeValue(f *schema.Field, v value.Value) (value.Value, string) {
	if v.IsNull() {
		return v, ""
	}
	switch form := f.Stored.Form; form {
	case schema.JSONText:
		return value.OfString(string(v.AppendJSON(nil))), ""
	case schema.Truth:
		if v.Kind() != value.Bool {
			return v, "must be true or false"
		}
		return value.OfInt(map[bool]int64{true: 1}[v.Bool()]), ""
	case schema.EpochSeconds, schema.EpochMillis, schema.DateText, schema.Midnight:
		return heldDate(f, v)
	case schema.DecimalForm, schema.IntegerText, schema.DoubleText:
		if _, whole := v.AsInt(); !v.IsNumber() || form == schema.IntegerText && !whole {
			return v, "must be " + map[bool]string{false: "a number", true: "an integer of 64 bits"}[form == schema.IntegerText]
		}
		if f.Stored.Field.Type == schema.String {
			return value.OfString(v.String()), ""
		}
		return v, ""
	}
	return v, "is held in a form that can't be written"
}

// heldDate is EncodeValue for an instant.
func heldDate(f *schema.Field, v value.Value) (value.Value, string) {
	if read, ok := value.OfDateText(v.Text()); ok && v.Kind() == value.String {
		v = read
	}
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return v, "must be a date in ISO 8601, not " + problem.Cut(v.String())
	}
	unit := f.Unit()
	switch {
	case f.Stored.Form == schema.Midnight && v.Micros()%day != 0:
		return v, "holds a day without a time"
	case f.Stored.Form == schema.Midnight:
		return value.OfDate(v.Micros()), ""
	case unit == 0:
		return value.OfString(value.OfDate(v.Micros()).String()), ""
	case v.Micros()%unit != 0:
		return v, fmt.Sprintf("holds whole %s", map[bool]string{true: "seconds", false: "milliseconds"}[unit > 1000])
	}
	return value.OfInt(v.Micros() / unit), ""
}
