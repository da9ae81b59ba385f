package interpret

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A Number is an exact number: units × 10^-places. The zero Number is invalid.
type Number struct {
	units  *big.Int
	places int
}

// number matches a number in JSON syntax, and the other forms that convert accepts.
var number = regexp.MustCompile(`^([+-]?)(?:([0-9]+)(?:\.([0-9]+))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$`)

// maxExponent limits numbers in text to a size with which computations are fast. The exponent of every double is far
// smaller.
const maxExponent = 1000

// NumberText parses a number in the form that convert accepts.
func NumberText(s string) (Number, bool) {
	m := number.FindStringSubmatch(s)
	if m == nil {
		return Number{}, false
	}
	whole, fraction, exponent := m[2], m[3]+m[4], 0
	if m[5] != "" {
		var err error
		if exponent, err = strconv.Atoi(m[5]); err != nil || exponent > maxExponent || exponent < -maxExponent {
			return Number{}, false
		}
	}
	units, ok := new(big.Int).SetString(m[1]+whole+fraction, 10)
	return Number{units, len(fraction) - exponent}, ok
}

// NumberOf returns a number exactly. A double has the value of its shortest decimal form. The bool is false for NaN,
// the infinities and values that aren't numbers.
func NumberOf(v value.Value) (Number, bool) {
	switch v.Kind() {
	case value.Int:
		return Number{units: big.NewInt(v.Int())}, true
	case value.Decimal:
		return NumberText(v.Text())
	case value.Float:
		return NumberText(strconv.FormatFloat(v.Float(), 'e', -1, 64)) // the text of a NaN or an infinity isn't a number
	}
	return Number{}, false
}

var ten = big.NewInt(10)

func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// at returns the units of d with a larger number of places.
func (d Number) at(places int) *big.Int {
	return new(big.Int).Mul(d.units, power(places-d.places))
}

// Plus returns d + e.
func (d Number) Plus(e Number) Number {
	places := max(d.places, e.places)
	return Number{new(big.Int).Add(d.at(places), e.at(places)), places}
}

// Minus returns d - e.
func (d Number) Minus(e Number) Number {
	return d.Plus(Number{new(big.Int).Neg(e.units), e.places})
}

// Times returns d × e.
func (d Number) Times(e Number) Number {
	return Number{new(big.Int).Mul(d.units, e.units), d.places + e.places}
}

// Abs returns d without its sign.
func (d Number) Abs() Number { return Number{new(big.Int).Abs(d.units), d.places} }

// A rounding is a way to remove digits.
type rounding uint8

// The roundings.
const (
	cutRounding rounding = iota // towards zero
	nearest                     // halves away from zero
	Up                          // towards positive infinity
	Down                        // towards negative infinity
)

// Round returns d with at most this number of places after the point. Negative places are before the point.
func (d Number) Round(places int, how rounding) Number {
	if d.places <= places {
		return d
	}
	step := power(d.places - places)
	units, rest := new(big.Int).QuoRem(d.units, step, new(big.Int))
	away := false
	switch how {
	case nearest:
		away = new(big.Int).Abs(new(big.Int).Lsh(rest, 1)).Cmp(step) >= 0
	case Up:
		away = rest.Sign() > 0
	case Down:
		away = rest.Sign() < 0
	}
	if away {
		units.Add(units, big.NewInt(int64(rest.Sign())))
	}
	return Number{units, places}
}

// String writes d without an exponent and without trailing zeros after the point.
func (d Number) String() string {
	if d.places <= 0 {
		return d.at(0).String()
	}
	digits := new(big.Int).Abs(d.units).String()
	if missing := d.places + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - d.places
	whole, fraction := digits[:point], strings.TrimRight(digits[point:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if d.units.Sign() < 0 {
		whole = "-" + whole
	}
	return whole
}

// Decimal returns d as a Decimal.
func (d Number) Decimal() value.Value { return value.OfDecimal(d.String()) }

// Integer returns d truncated towards zero. It returns null beyond 64 bits.
func (d Number) Integer() value.Value {
	n := d.Round(0, cutRounding).at(0)
	if !n.IsInt64() {
		return value.Value{}
	}
	return value.OfInt(n.Int64())
}

// Double returns the double nearest to d. It returns null beyond the largest double.
func (d Number) Double() value.Value {
	f, err := strconv.ParseFloat(d.units.String()+"e"+strconv.Itoa(-d.places), 64)
	if err != nil {
		return value.Value{}
	}
	return Double(f)
}

// To returns d as an Integer or a Decimal.
func (d Number) To(t schema.Type) value.Value {
	if t == schema.Integer {
		return d.Integer()
	}
	return d.Decimal()
}

// Double returns f as a Double. Negative zero becomes zero.
func Double(f float64) value.Value {
	if f == 0 {
		return value.OfFloat(0)
	}
	return value.OfFloat(f)
}
