package plan

import (
	"math"

	"github.com/bailiwick-dev/bailiwick/value"
)

// IsInRange reports whether a Double is in the range of arithmetic. It returns false for a NaN.
func IsInRange(x float64) bool {
	size := math.Abs(x)
	return x == 0 || size >= 1e-150 && size <= 1e150
}

// mostExponent is the largest size of an exponent of e for which the power is in the range of arithmetic.
const mostExponent = 345

// Real returns the result of Sqrt, Pow, Ln, Log10 or Exp of x. y is the exponent of Pow. If ok is false, the result is
// null.
func Real(op Op, x, y float64) (z float64, ok bool) {
	if !IsInRange(x) || !IsInRange(y) {
		return 0, false
	}
	switch op {
	case Sqrt:
		return math.Sqrt(x) + 0, x >= 0
	case Ln:
		return math.Log(x) + 0, x > 0
	case Log10:
		z = math.Log10(x)
		if n := math.Round(z); math.Abs(n) <= 22 && math.Pow10(int(n)) == x {
			z = n // powers of ten have exact logarithms
		}
		return z + 0, x > 0
	case Exp:
		return math.Exp(x), math.Abs(x) <= mostExponent
	case Pow:
		switch {
		case y == 0:
			return 1, true
		case x == 0:
			return 0, y > 0
		case x < 0 && y != math.Trunc(y), !(math.Abs(y*math.Log(math.Abs(x))) <= mostExponent):
			return 0, false
		}
		return math.Pow(x, y), true
	}
	return 0, false
}

// RealOf is Real for arguments that are Doubles and not null.
func RealOf(op Op, args []value.Value) value.Value {
	z, ok := Real(op, args[0].Float(), args[len(args)-1].Float())
	if !ok {
		return value.Value{}
	}
	return value.OfFloat(z)
}
