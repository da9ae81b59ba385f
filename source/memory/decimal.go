package memory

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A decimal is an exact number: units × 10^-places.
type decimal struct {
	units  *big.Int
	places int
}

// number matches a number as JSON writes it, and the other forms that Convert accepts.
var number = regexp.MustCompile(`^([+-]?)(?:([0-9]+)(?:\.([0-9]+))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$`)

// maxExponent keeps numbers in text small enough to compute with. The exponent of every double is far below it.
const maxExponent = 1000

// decimalText parses a number as Convert does from text.
func decimalText(s string) (decimal, bool) {
	m := number.FindStringSubmatch(s)
	if m == nil {
		return decimal{}, false
	}
	whole, fraction, exponent := m[2], m[3]+m[4], 0
	if m[5] != "" {
		var err error
		if exponent, err = strconv.Atoi(m[5]); err != nil || exponent > maxExponent || exponent < -maxExponent {
			return decimal{}, false
		}
	}
	units, ok := new(big.Int).SetString(m[1]+whole+fraction, 10)
	return decimal{units, len(fraction) - exponent}, ok
}

// decimalOf returns a number exactly: a double as it is written in the fewest digits. It returns false for values that
// aren't numbers, NaN and the infinities.
func decimalOf(v value.Value) (decimal, bool) {
	switch v.Kind() {
	case value.Int:
		return decimal{units: big.NewInt(v.Int())}, true
	case value.Decimal:
		return decimalText(v.Text())
	case value.Float:
		return decimalText(strconv.FormatFloat(v.Float(), 'e', -1, 64)) // the text of a NaN or an infinity isn't a number
	}
	return decimal{}, false
}

var ten = big.NewInt(10)

func power(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// at returns the units of d at a larger number of places.
func (d decimal) at(places int) *big.Int {
	return new(big.Int).Mul(d.units, power(places-d.places))
}

func (d decimal) plus(e decimal) decimal {
	places := max(d.places, e.places)
	return decimal{new(big.Int).Add(d.at(places), e.at(places)), places}
}

func (d decimal) minus(e decimal) decimal {
	return d.plus(decimal{new(big.Int).Neg(e.units), e.places})
}

func (d decimal) times(e decimal) decimal {
	return decimal{new(big.Int).Mul(d.units, e.units), d.places + e.places}
}

// A rounding is how digits are removed.
type rounding uint8

const (
	cut     rounding = iota // towards zero
	nearest                 // halves away from zero
	up
	down
)

// round returns d with at most that many places after the point; negative places are before it.
func (d decimal) round(places int, how rounding) decimal {
	if d.places <= places {
		return d
	}
	step := power(d.places - places)
	units, rest := new(big.Int).QuoRem(d.units, step, new(big.Int))
	away := false
	switch how {
	case nearest:
		away = new(big.Int).Abs(new(big.Int).Lsh(rest, 1)).Cmp(step) >= 0
	case up:
		away = rest.Sign() > 0
	case down:
		away = rest.Sign() < 0
	}
	if away {
		units.Add(units, big.NewInt(int64(rest.Sign())))
	}
	return decimal{units, places}
}

// String writes d without an exponent and without trailing zeros after the point.
func (d decimal) String() string {
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

func (d decimal) decimal() value.Value { return value.OfDecimal(d.String()) }

// integer returns d truncated towards zero, null beyond 64 bits.
func (d decimal) integer() value.Value {
	n := d.round(0, cut).at(0)
	if !n.IsInt64() {
		return value.Value{}
	}
	return value.OfInt(n.Int64())
}

// double returns the double nearest to d, null beyond the largest.
func (d decimal) double() value.Value {
	f, err := strconv.ParseFloat(d.units.String()+"e"+strconv.Itoa(-d.places), 64)
	if err != nil {
		return value.Value{}
	}
	return double(f)
}

// double returns a Double without the sign of zero.
func double(f float64) value.Value {
	if f == 0 {
		return value.OfFloat(0)
	}
	return value.OfFloat(f)
}
