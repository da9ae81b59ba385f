package interpret

import (
	"math"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// seenDate returns a Date or a Day as a column of type t shows it. A Day in a column of dates is its midnight, and a
// midnight in a column of days is the Day.
func seenDate(t schema.Type, v value.Value) value.Value {
	if v.Kind() != value.Date && v.Kind() != value.Day {
		return value.Value{}
	}
	v = dateOf(v.Micros())
	switch {
	case v.IsNull() || t == schema.Date:
		return v
	case v.Micros()%day != 0:
		return value.Value{}
	}
	return value.OfDay(v.Micros())
}

const day = int64(24 * time.Hour / time.Microsecond)

// dateOf returns an instant. It returns null outside of the years 1 to 9999.
func dateOf(micros int64) value.Value {
	if t := time.UnixMicro(micros).UTC(); t.Year() < 1 || t.Year() > 9999 {
		return value.Value{}
	}
	return value.OfDate(micros)
}

// JSON returns v in the form that it has in JSON. Values without a JSON type become text, and numbers become Int or
// Decimal.
func JSON(v value.Value) value.Value {
	switch v.Kind() {
	case value.Date, value.Day, value.Bytes:
		return value.OfString(v.String())
	case value.Float:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return value.OfString(v.String())
		}
		d, _ := NumberOf(v)
		if n, err := strconv.ParseInt(d.String(), 10, 64); err == nil {
			return value.OfInt(n)
		}
		return d.Decimal()
	}
	return v.Map(JSON)
}
