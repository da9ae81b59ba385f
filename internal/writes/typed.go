package writes

import (
	"encoding/base64"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// fitType converts v to f's type. v must not be null. If that is impossible, it returns a description of the type,
// such as "a number".
func fitType(f *schema.Field, v value.Value, o fieldOptions) (fitted value.Value, must string) {
	ok := true
	switch f.Type {
	case schema.Integer:
		v, ok = whole(f, v, o.Key != nil && o.Key(f.Name))
		must = "a whole number of at most 64 bits"
	case schema.Double, schema.Decimal:
		v, ok = number(f, v)
		must = "a number"
	case schema.Boolean:
		ok, must = v.Kind() == value.Bool, "true or false"
	case schema.String:
		ok, must = v.Kind() == value.String, "a text"
	case schema.UUID:
		v, ok = value.OfUUIDText(v.Text())
		must = "a UUID"
	case schema.Date:
		v, ok = dateValue(f, v)
		must = "a date in ISO 8601, as in 2026-01-31T13:00:00Z"
	case schema.Day:
		v, ok = dateValue(f, v)
		ok = ok && v.Kind() != value.Date
		must = "a date without a time, as in 2026-01-31"
	case schema.Bytes:
		v, ok = raw(v)
		must = "bytes in base64"
	case schema.Array:
		ok, must = v.Kind() == value.Array, "a list"
	case schema.Opaque:
		ok, must = f.Form == "" || v.Kind() == value.String, f.Form
	case schema.Any:
		ok, must = o.Open || v.IsNumber() || v.Kind() == value.String || v.Kind() == value.Bool, "a text, a number or a boolean"
	}
	if ok {
		return v, ""
	}
	return v, must
}

// whole returns v as a 64-bit integer. v may be a text, because many clients have no 64-bit integers. The text of a
// key must be written exactly as answers show it.
func whole(f *schema.Field, v value.Value, key bool) (value.Value, bool) {
	if key && v.Kind() == value.String {
		n, _ := strconv.ParseInt(v.Text(), 10, 64) // the integer of an invalid text is formatted differently
		return value.OfInt(n), strconv.FormatInt(n, 10) == v.Text()
	}
	if v.Kind() == value.String {
		v, _ = schema.Number(f.Type, v.Text())
	}
	n, ok := v.AsInt()
	return value.OfInt(n), ok
}

// number returns v as a number. v may be a text, because many clients have no exact decimals.
func number(f *schema.Field, v value.Value) (value.Value, bool) {
	if v.Kind() == value.String {
		return schema.Number(f.Type, v.Text())
	}
	return v, v.IsNumber()
}

// dateValue returns v as an instant or a day. An Endless date may also remain a text.
func dateValue(f *schema.Field, v value.Value) (value.Value, bool) {
	if v.Kind() == value.Date || v.Kind() == value.Day {
		return v, true
	}
	return f.ParseDate(v.Text())
}

// raw returns v as bytes. A text must be base64.
func raw(v value.Value) (value.Value, bool) {
	if v.Kind() == value.Bytes {
		return v, true
	}
	data, err := base64.StdEncoding.DecodeString(v.Text())
	return value.OfBytes(string(data)), err == nil && v.Kind() == value.String
}
