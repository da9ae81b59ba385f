package dml

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// stored returns v, of the type that the rules declare for f, as the source holds it, or why it can't hold v.
func stored(f *schema.Field, v value.Value) (value.Value, string) {
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
	case schema.EpochSeconds, schema.EpochMillis, schema.DateText:
		return storedDate(f, v)
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

// storedDate is stored for an instant.
func storedDate(f *schema.Field, v value.Value) (value.Value, string) {
	if read, ok := value.OfDateText(v.Text()); ok && v.Kind() == value.String {
		v = read
	}
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return v, "must be a date in ISO 8601, not " + problem.Cut(v.String())
	}
	unit := f.Unit()
	switch {
	case unit == 0:
		return value.OfString(value.OfDate(v.Micros()).String()), ""
	case v.Micros()%unit != 0:
		return v, fmt.Sprintf("holds whole %s", map[bool]string{true: "seconds", false: "milliseconds"}[unit > 1000])
	}
	return value.OfInt(v.Micros() / unit), ""
}
