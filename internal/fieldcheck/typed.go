package fieldcheck

import (
	"encoding/base64"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// typed returns v, which isn't null, as a value of f's type, or a description of that type: "a number".
func typed(f *schema.Field, v value.Value, o Options) (fitted value.Value, must string) {
	ok := true
	switch f.Type {
	case schema.Integer:
		v, ok = whole(v, o.Key != nil && o.Key(f.Name))
		must = "a whole number of at most 64 bits"
	case schema.Double, schema.Decimal:
		ok, must = v.IsNumber(), "a number"
	case schema.Boolean:
		ok, must = v.Kind() == value.Bool, "true or false"
	case schema.String:
		ok, must = v.Kind() == value.String, "a text"
	case schema.UUID:
		v, ok = value.OfUUIDText(v.Text())
		must = "a UUID"
	case schema.Date:
		v, ok = dated(v)
		must = "a date in ISO 8601, as in 2026-01-31T13:00:00Z"
	case schema.Day:
		v, _ = dated(v) // if it isn't a date, it isn't a day either
		ok, must = v.Kind() == value.Day, "a date without a time, as in 2026-01-31"
	case schema.Bytes:
		v, ok = raw(v)
		must = "bytes in base64"
	case schema.Array:
		ok, must = v.Kind() == value.Array, "a list"
	case schema.Any:
		ok, must = o.Open || v.IsNumber() || v.Kind() == value.String || v.Kind() == value.Bool, "a text, a number or a boolean"
	}
	if ok {
		return v, ""
	}
	return v, must
}

// whole returns v as a 64-bit integer; a key may be written as text.
func whole(v value.Value, key bool) (value.Value, bool) {
	if key && v.Kind() == value.String {
		n, _ := strconv.ParseInt(v.Text(), 10, 64) // invalid text differs from its result
		return value.OfInt(n), strconv.FormatInt(n, 10) == v.Text()
	}
	n, ok := v.AsInt()
	return value.OfInt(n), ok
}

// dated returns v as an instant or a day.
func dated(v value.Value) (value.Value, bool) {
	if v.Kind() == value.Date || v.Kind() == value.Day {
		return v, true
	}
	return value.OfDateText(v.Text())
}

// raw returns v as bytes.
func raw(v value.Value) (value.Value, bool) {
	if v.Kind() == value.Bytes {
		return v, true
	}
	data, err := base64.StdEncoding.DecodeString(v.Text())
	return value.OfBytes(string(data)), err == nil && v.Kind() == value.String
}
