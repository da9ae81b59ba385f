package sqlite

import (
	"database/sql/driver"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A decimal is ±digits × 10^exp. digits have no leading or trailing zeros, and are "" for 0.
type decimal struct {
	neg    bool
	digits string
	exp    int
}

// farExponent is the largest exponent that decimals distinguish. The sum of two such exponents fits an int.
const farExponent = 1 << 40

// decimalOf parses a JSON number.
func decimalOf(s string) decimal {
	var d decimal
	s, d.neg = strings.CutPrefix(s, "-")
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil || e > farExponent || e < -farExponent {
			e = farExponent
			if strings.Contains(s[i:], "-") {
				e = -e
			}
		}
		d.exp, s = e, s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.exp -= len(fraction)
	d.digits = strings.TrimRight(digits, "0")
	d.exp += len(digits) - len(d.digits)
	if d.digits == "" {
		return decimal{}
	}
	return d
}

// decimalOfValue converts a number of SQLite. A real counts as its shortest decimal text.
func decimalOfValue(v driver.Value) (decimal, bool) {
	switch v := v.(type) {
	case int64:
		return decimalOf(strconv.FormatInt(v, 10)), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return decimal{}, false
		}
		return decimalOf(strconv.FormatFloat(v, 'e', -1, 64)), true
	}
	return decimal{}, false
}

// places rounds d to n places after the point, or before the point if n is negative. It rounds to the nearest number,
// and halves away from zero. If cut is true, it rounds towards zero.
func (d decimal) places(n int, cut bool) decimal {
	drop := -n - d.exp // the number of digits to remove
	if drop <= 0 || d.digits == "" {
		return d
	}
	up := false
	if drop <= len(d.digits) {
		up = !cut && d.digits[len(d.digits)-drop] >= '5'
		d.digits = d.digits[:len(d.digits)-drop]
	} else {
		d.digits = ""
	}
	d.exp = -n
	if up {
		grown, _ := new(big.Int).SetString("0"+d.digits, 10)
		d.digits = grown.Add(grown, big.NewInt(1)).String()
	}
	trimmed := strings.TrimRight(d.digits, "0")
	d.exp += len(d.digits) - len(trimmed)
	if d.digits = trimmed; trimmed == "" {
		return decimal{}
	}
	return d
}

// next returns the next whole number, downwards or upwards. It returns d itself if d is whole.
func (d decimal) next(down bool) decimal {
	w := d.places(0, true)
	if w == d || d.neg != down {
		return w
	}
	n := big.NewInt(1)
	if down {
		n.Neg(n)
	}
	return decimalOfBig(n.Add(n, w.scaleTo(0)), 0)
}

// whole reports whether d has no digits after the point and at most 19 digits, the maximum of 64-bit integers.
func (d decimal) whole() bool { return d.exp >= 0 && len(d.digits)+d.exp <= 19 }

func (d decimal) sign() string {
	if d.neg {
		return "-"
	}
	return ""
}

// integer returns d as an integer, and false if d isn't whole or exceeds 64 bits.
func (d decimal) integer() (int64, bool) {
	if !d.whole() {
		return 0, false
	}
	n, err := strconv.ParseInt(d.sign()+"0"+d.digits+strings.Repeat("0", d.exp), 10, 64)
	return n, err == nil
}

// float returns the double nearest to d, and whether it is finite.
func (d decimal) float() (float64, bool) {
	f, err := strconv.ParseFloat(d.sign()+"0"+d.digits+"e"+strconv.Itoa(d.exp), 64)
	return f + 0, err == nil
}

// number returns d in SQLite's form of decimals, or nil if SQLite can't store it.
func (d decimal) number() driver.Value {
	if n, ok := d.integer(); ok {
		return n
	}
	f, ok := d.float()
	switch {
	case !ok:
		return nil
	case f == math.Trunc(f) && f >= -1<<63 && f < 1<<63:
		return int64(f) // the form of Stored
	}
	return f
}

// real returns d as a real, or nil if it is out of range.
func (d decimal) real() driver.Value {
	if f, ok := d.float(); ok {
		return f
	}
	return nil
}

// scaleTo returns d × 10^-exp. exp must be at most the exponent of d.
func (d decimal) scaleTo(exp int) *big.Int {
	n, _ := new(big.Int).SetString(d.sign()+"0"+d.digits, 10)
	return n.Mul(n, power(d.exp-exp))
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func decimalOfBig(n *big.Int, exp int) decimal {
	d := decimalOf(n.String())
	if d.digits != "" {
		d.exp += exp
	}
	return d
}

// key returns a text that is identical for equal numbers.
func (d decimal) key() string { return d.sign() + d.digits + "e" + strconv.Itoa(d.exp) }

// appendOrder appends bytes whose order is the order of the numbers.
func (d decimal) appendOrder(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, 1)
	}
	start := len(dst)
	dst = append(dst, 2)
	size := uint64(d.exp+len(d.digits)) + 1<<62
	for shift := 56; shift >= 0; shift -= 8 {
		dst = append(dst, byte(size>>shift))
	}
	dst = append(append(dst, d.digits...), 0)
	if d.neg {
		dst[start] = 0
		for i := start + 1; i < len(dst); i++ {
			dst[i] = ^dst[i]
		}
	}
	return dst
}
