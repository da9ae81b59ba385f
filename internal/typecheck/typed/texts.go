package typed

import (
	"math"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// ID returns the value of type t that the text of an id stands for: ids are texts in answers. It returns false for a text that no
// answer shows for such a value, such as 042 for an integer.
func ID(t schema.Type, text string) (value.Value, bool) {
	switch t {
	case schema.Integer:
		n, err := strconv.ParseInt(text, 10, 64)
		return value.OfInt(n), err == nil && strconv.FormatInt(n, 10) == text
	case schema.Double, schema.Decimal:
		return NumberOf(t, text)
	case schema.Boolean:
		if text == "true" || text == "false" {
			return value.OfBool(text == "true"), true
		}
		return ID(schema.Integer, text) // a database without booleans keeps other integers as well
	}
	return value.OfString(text), t == schema.String
}

// NumberOf returns the number that a text stands for in a field of type t, and whether it stands for one. NaN and the infinities are
// numbers where answers show them: of Doubles, and of Decimals in databases that have them.
func NumberOf(t schema.Type, text string) (value.Value, bool) {
	v, err := value.Read([]byte(text), 0)
	if err == nil && v.IsNumber() {
		return v, !extreme(v.Text())
	}
	if t != schema.Double && t != schema.Decimal {
		return v, false
	}
	switch strings.ToLower(text) {
	case "nan":
		return value.OfFloat(math.NaN()), true
	case "infinity", "+infinity", "inf", "+inf":
		return value.OfFloat(math.Inf(1)), true
	case "-infinity", "-inf":
		return value.OfFloat(math.Inf(-1)), true
	}
	return v, false
}

// extreme reports whether a number has more digits, or a larger exponent, than queries may write (see package literals).
func extreme(number string) bool {
	digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	return len(digits) > 1000 || len(strings.TrimLeft(exponent, "+-0")) > 3
}
