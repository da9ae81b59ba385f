package sqlite

import (
	"database/sql/driver"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
)

// A sum adds numbers exactly, so that their order doesn't matter. A real counts as its shortest decimal text. The
// value is a real, or a decimal in SQLite's form. It is null if a number was infinite or the sum is out of range.
type sum struct {
	decimal, average bool

	count int64
	wrong int // the number of infinite numbers
	parts []part
}

// A part is the sum of the added numbers with one exponent.
type part struct {
	exp       int
	high, low uint64 // a signed integer of 128 bits
}

func (s *sum) add(v driver.Value) { s.move(v, 1) }

func (s *sum) remove(v driver.Value) { s.move(v, -1) }

// move adds v if sign is 1, and removes it if sign is -1.
func (s *sum) move(v driver.Value, sign int64) {
	var mantissa int64
	exp := 0
	switch v := v.(type) {
	case int64:
		mantissa = v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			s.wrong += int(sign)
			break
		}
		mantissa, exp = fewest(v)
	default:
		return
	}
	s.count += sign
	if sign < 0 && mantissa == math.MinInt64 { // its negative exceeds 64 bits
		s.at(exp).add(math.MaxInt64)
		s.at(exp).add(1)
		return
	}
	s.at(exp).add(sign * mantissa)
}

// fewest returns x as mantissa × 10^exp with the fewest digits.
func fewest(x float64) (mantissa int64, exp int) {
	if n := int64(x); float64(n) == x && n < 1<<53 && n > -1<<53 {
		return n, 0
	}
	var buffer [32]byte
	text := strconv.AppendFloat(buffer[:0], x, 'e', -1, 64)
	point := false
	for i, c := range text {
		switch {
		case c == 'e':
			e, _ := strconv.Atoi(string(text[i+1:]))
			exp += e
			if x < 0 {
				mantissa = -mantissa
			}
			return mantissa, exp
		case c == '.':
			point = true
		case c >= '0':
			mantissa = mantissa*10 + int64(c-'0') // at most 17 digits
			if point {
				exp--
			}
		}
	}
	return mantissa, exp
}

func (s *sum) at(exp int) *part {
	for i := range s.parts {
		if s.parts[i].exp == exp {
			return &s.parts[i]
		}
	}
	s.parts = append(s.parts, part{exp: exp})
	return &s.parts[len(s.parts)-1]
}

// add adds n. The sum can't exceed 128 bits, because that would take 2^63 numbers.
func (p *part) add(n int64) {
	var carry uint64
	p.low, carry = bits.Add64(p.low, uint64(n), 0)
	p.high, _ = bits.Add64(p.high, uint64(n>>63), carry)
}

func (p *part) total() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(int64(p.high)), 64)
	return n.Add(n, new(big.Int).SetUint64(p.low))
}

// total returns the sum as n × 10^exp.
func (s *sum) total() (n *big.Int, exp int) {
	for i, p := range s.parts {
		if i == 0 || p.exp < exp {
			exp = p.exp
		}
	}
	n = new(big.Int)
	for _, p := range s.parts {
		t := p.total()
		n.Add(n, t.Mul(t, power(p.exp-exp)))
	}
	return n, exp
}

// value returns the sum or the average. It is null for the average of no numbers, and if a number was infinite. It is
// rounded only once, at the end.
func (s *sum) value() driver.Value {
	if s.wrong > 0 || s.average && s.count == 0 {
		return nil
	}
	d := decimalOfBig(s.total())
	if s.average {
		f, ok := d.float()
		if !ok {
			return nil
		}
		return f/float64(s.count) + 0
	}
	if s.decimal {
		return d.number()
	}
	return d.real()
}

// A deviation is the standard deviation of reals. It is computed from exact sums in base 2, and rounded once. It is
// null if a number is too large or too small for arithmetic.
type deviation struct {
	sample int64 // 1 for a sample, 0 for the whole population
	count  int64
	wrong  int // the number of values that are too large or too small
	powers map[int]*power2
}

// A power2 contains two sums over the numbers with one exponent: their sum and the sum of their squares.
type power2 struct{ sum, squares big.Int }

func (d *deviation) add(v driver.Value) { d.move(v, 1) }

func (d *deviation) remove(v driver.Value) { d.move(v, -1) }

// move adds v if sign is 1, and removes it if sign is -1.
func (d *deviation) move(v driver.Value, sign int64) {
	x, ok := v.(float64)
	if !ok {
		return
	}
	d.count += sign
	if !plan.IsInRange(x) {
		d.wrong += int(sign)
		return
	}
	fraction, exp := math.Frexp(x)
	p := d.powers[exp]
	if p == nil {
		if d.powers == nil {
			d.powers = map[int]*power2{}
		}
		p = &power2{}
		d.powers[exp] = p
	}
	n := big.NewInt(int64(math.Ldexp(fraction, 53))) // contains all bits of the fraction
	p.sum.Add(&p.sum, new(big.Int).Mul(n, big.NewInt(sign)))
	p.squares.Add(&p.squares, n.Mul(n.Mul(n, n), big.NewInt(sign)))
}

// value returns the root of (n·Σx² - (Σx)²) / (n·(n - sample)).
func (d *deviation) value() driver.Value {
	if d.wrong > 0 || d.count-d.sample < 1 {
		return nil
	}
	least := 0
	for exp := range d.powers {
		least = min(least, exp)
	}
	sum, squares := new(big.Int), new(big.Int)
	for exp, p := range d.powers {
		up := uint(exp - least)
		sum.Add(sum, new(big.Int).Lsh(&p.sum, up))
		squares.Add(squares, new(big.Int).Lsh(&p.squares, 2*up))
	}
	squares.Mul(squares, big.NewInt(d.count))
	squares.Sub(squares, sum.Mul(sum, sum))
	below := new(big.Int).Mul(big.NewInt(d.count), big.NewInt(d.count-d.sample))
	below.Lsh(below, uint(2*(53-least)))
	root := new(big.Float).SetPrec(128).SetRat(new(big.Rat).SetFrac(squares, below))
	f, _ := root.Sqrt(root).Float64()
	return f
}
