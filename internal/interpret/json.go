package interpret

import (
	"math"
	"strconv"
	"time"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// seenDate returns a Date or a Day in a column of type t: the midnight of a day, and the day of a midnight.
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

// dateOf returns an instant in the years 1 to 9999, null outside of them.
func dateOf(micros int64) value.Value {
	if t := time.UnixMicro(micros).UTC(); t.Year() < 1 || t.Year() > 9999 {
		return value.Value{}
	}
	return value.OfDate(micros)
}

// JSON returns v as JSON holds it: values without a JSON type become text, and numbers Int or Decimal.
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
