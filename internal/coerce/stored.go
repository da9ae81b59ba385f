package coerce

import (
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Stored returns a value as the source holds it in the type that the rules declare for its field: null if it isn't in
// the field's form.
func Stored(f *schema.Field, v value.Value) value.Value {
	text, whole := v.Kind() == value.String, v.Kind() == value.Int
	switch form := f.Stored.Form; form {
	case schema.EpochSeconds, schema.EpochMillis:
		const most = 1 << 53 // above any year to 9999, and below an overflow
		if n := v.Int(); whole && n < most && n > -most {
			return Convert(value.OfInt(n*(form.Unit()/1000)), schema.Date)
		}
	case schema.JSONText:
		if read, err := value.Read([]byte(v.Text()), 0); text && err == nil {
			return read
		}
	case schema.Truth:
		if whole {
			return Convert(v, schema.Boolean)
		}
	default:
		if text || form == schema.DecimalForm && v.IsNumber() {
			return Convert(v, f.Type)
		}
	}
	return value.Value{}
}
