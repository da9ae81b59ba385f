package typecheck

import (
	"strconv"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ID returns the value of type t for the text of an id, because ids are texts in answers. It returns false for a text
// that no answer contains, such as 042 for an integer.
func ID(t schema.Type, text string) (value.Value, bool) {
	switch t {
	case schema.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return value.OfInt(n), err == nil && strconv.FormatInt(n, 10) == text
	case schema.Double, schema.Decimal:
		return schema.Number(t, text)
	case schema.Boolean:
		if text == "true" || text == "false" {
			return value.OfBool(text == "true"), true
		}
		return ID(schema.Integer, text) // a database without booleans may store other integers in a boolean column
	}
	return value.OfString(text), t == schema.String
}
