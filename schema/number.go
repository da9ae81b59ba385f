package schema

import (
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// Number parses the text of a number for a field of type t. It returns false for any other text. NaN and the infinities
// are numbers for Doubles and, in databases that support them, for Decimals.
func Number(t Type, text string) (value.Value, bool) {
	v, err := value.Read([]byte(text), 0)
	if err == nil && v.IsNumber() {
		return v, !extreme(v.Text())
	}
	if t != Double && t != Decimal {
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

// extreme reports whether a number has more digits or a larger exponent than queries may contain (see package
// literals).
func extreme(number string) bool {
	digits, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	return len(digits) > 1000 || len(strings.TrimLeft(exponent, "+-0")) > 3
}
