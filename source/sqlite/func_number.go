package sqlite

import (
	"cmp"
	"database/sql/driver"
	"math"
	"math/big"
	"math/bits"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
)

// numbers returns the functions of numbers. Functions whose names end in fnOfDecimals accept decimals in SQLite's
// form and are exact. The others accept integers and reals. Overflow, division by zero and arguments that aren't
// numbers give null.
func numbers() map[string]function {
	out := map[string]function{
		fnCompare: {2, func(args []driver.Value) driver.Value { return int64(compare(args[0], args[1])) }},
		fnNumber:  {1, numberText},
		fnDivide:  {2, reals(func(x, y float64) float64 { return x / y })},
		fnModulo: {2, func(args []driver.Value) driver.Value {
			x, xok := args[0].(int64)
			y, yok := args[1].(int64)
			if !xok || !yok || y == 0 {
				return nil
			}
			return x % y
		}},
	}
	for name, op := range map[string]plan.Op{fnSqrt: plan.Sqrt, fnLn: plan.Ln, fnLog10: plan.Log10, fnExp: plan.Exp} {
		out[name] = function{1, func(args []driver.Value) driver.Value { return real(op, args[0], 0.0) }}
	}
	out[fnPow] = function{2, func(args []driver.Value) driver.Value { return real(plan.Pow, args[0], args[1]) }}
	for name, op := range map[string]operation{
		fnAdd:      {add, func(x, y float64) float64 { return x + y }, (*big.Int).Add},
		fnSubtract: {subtract, func(x, y float64) float64 { return x - y }, (*big.Int).Sub},
		fnMultiply: {multiply, func(x, y float64) float64 { return x * y }, nil},
	} {
		out[name] = function{-1, op.fold(op.binaryFunc())}
		out[name+fnOfDecimals] = function{-1, op.fold(op.decimals)}
	}
	for name, f := range map[string]func(args []driver.Value) driver.Value{
		fnAbs: absolute, fnCeil: whole(1), fnFloor: whole(-1), fnTrunc: roundFunc(true), fnRound: roundFunc(false),
	} {
		n := int32(1)
		if name == fnTrunc || name == fnRound {
			n = 2
		}
		out[name] = function{n, func(args []driver.Value) driver.Value {
			// Infinities, and doubles too large or too small for arithmetic, give null in every backend.
			if x, ok := args[0].(float64); ok && !plan.IsInRange(x) {
				return nil
			}
			return f(args)
		}}
	}
	for name, f := range map[string]func(d decimal, places int) decimal{
		fnAbs:   func(d decimal, _ int) decimal { d.neg = false; return d },
		fnCeil:  func(d decimal, _ int) decimal { return d.next(false) },
		fnFloor: func(d decimal, _ int) decimal { return d.next(true) },
		fnTrunc: func(d decimal, places int) decimal { return d.places(places, true) },
		fnRound: func(d decimal, places int) decimal { return d.places(places, false) },
	} {
		out[name+fnOfDecimals] = function{out[name].args, func(args []driver.Value) driver.Value {
			d, ok := decimalOfValue(args[0])
			places, pok := args[len(args)-1].(int64)
			if !ok || !pok && len(args) > 1 {
				return nil
			}
			return f(d, clampPlaces(places)).number()
		}}
	}
	return out
}

// numberText returns a number as JSON text.
func numberText(args []driver.Value) driver.Value {
	if v := plainValue(args[0]); v.IsNumber() {
		return string(v.AppendJSON(nil))
	}
	return nil
}

// clampPlaces limits places to the digits that a double can have.
func clampPlaces(places int64) int { return int(max(-400, min(400, places))) }

// real returns plan.Real of two reals, or nil.
func real(op plan.Op, x, y driver.Value) driver.Value {
	a, aok := x.(float64)
	b, bok := y.(float64)
	if !aok || !bok {
		return nil
	}
	if z, ok := plan.Real(op, a, b); ok {
		return z
	}
	return nil
}

// reals returns a function of two reals. Division by zero and operands that aren't numbers give null.
func reals(op func(x, y float64) float64) func(args []driver.Value) driver.Value {
	return func(args []driver.Value) driver.Value {
		x, xok := args[0].(float64)
		y, yok := args[1].(float64)
		if !xok || !yok || !plan.IsInRange(x) || !plan.IsInRange(y) {
			return nil
		}
		if z := op(x, y); !math.IsNaN(z) && !math.IsInf(z, 0) {
			return z + 0 // adding 0 turns negative zero into zero
		}
		return nil
	}
}

// An operation is one of Add, Subtract and Multiply.
type operation struct {
	integers func(x, y int64) (int64, bool)
	reals    func(x, y float64) float64
	big      func(z, x, y *big.Int) *big.Int // nil for Multiply
}

// fold applies an operation to the first two arguments, then to the result and each further argument.
func (op operation) fold(two func(args []driver.Value) driver.Value) func(args []driver.Value) driver.Value {
	return func(args []driver.Value) driver.Value {
		if len(args) == 0 {
			return nil
		}
		if len(args) == 2 {
			return two(args)
		}
		z := args[0]
		for _, y := range args[1:] {
			z = two([]driver.Value{z, y})
		}
		return z
	}
}

// binaryFunc returns a function of two numbers. For two integers, the result is null if it exceeds 64 bits. Otherwise
// the numbers are reals.
func (op operation) binaryFunc() func(args []driver.Value) driver.Value {
	real := reals(op.reals)
	return func(args []driver.Value) driver.Value {
		x, xok := args[0].(int64)
		y, yok := args[1].(int64)
		if !xok || !yok {
			return real(args)
		}
		if z, ok := op.integers(x, y); ok {
			return z
		}
		return nil
	}
}

// decimals applies op to two decimals. It uses integers if both are integers and the result fits. Otherwise it uses
// big integers with a common exponent. The result is null if an argument isn't a number.
func (op operation) decimals(args []driver.Value) driver.Value {
	x, xok := args[0].(int64)
	y, yok := args[1].(int64)
	if xok && yok {
		if z, ok := op.integers(x, y); ok {
			return z
		}
	}
	d, dok := decimalOfValue(args[0])
	e, eok := decimalOfValue(args[1])
	if !dok || !eok {
		return nil
	}
	if op.big == nil {
		n := d.scaleTo(d.exp)
		return decimalOfBig(n.Mul(n, e.scaleTo(e.exp)), d.exp+e.exp).number()
	}
	exp := min(d.exp, e.exp)
	n := d.scaleTo(exp)
	return decimalOfBig(op.big(n, n, e.scaleTo(exp)), exp).number()
}

func add(x, y int64) (int64, bool) {
	z := x + y
	return z, (z > x) == (y > 0)
}

func subtract(x, y int64) (int64, bool) {
	z := x - y
	return z, (z < x) == (y > 0)
}

func multiply(x, y int64) (int64, bool) {
	high, low := bits.Mul64(magnitude(x), magnitude(y))
	if (x < 0) != (y < 0) {
		return -int64(low), high == 0 && low <= 1<<63
	}
	return int64(low), high == 0 && low < 1<<63
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// absolute returns |x|. It returns null for the least integer, whose absolute value exceeds 64 bits.
func absolute(args []driver.Value) driver.Value {
	switch x := args[0].(type) {
	case int64:
		if x == math.MinInt64 {
			return nil
		}
		return max(x, -x)
	case float64:
		return math.Abs(x)
	}
	return nil
}

// whole returns a function that rounds to the next whole number, upwards (1) or downwards (-1).
func whole(direction int) func(args []driver.Value) driver.Value {
	return func(args []driver.Value) driver.Value {
		switch x := args[0].(type) {
		case int64:
			return x
		case float64:
			if direction > 0 {
				return math.Ceil(x) + 0
			}
			return math.Floor(x) + 0
		}
		return nil
	}
}

// roundFunc returns a function that rounds x to a number of places. If cut is true, it rounds towards zero.
func roundFunc(cut bool) func(args []driver.Value) driver.Value {
	return func(args []driver.Value) driver.Value {
		n, ok := args[1].(int64)
		d, dok := decimalOfValue(args[0])
		if !ok || !dok {
			return nil
		}
		d = d.places(clampPlaces(n), cut)
		switch x := args[0].(type) {
		case int64:
			if z, ok := d.integer(); ok {
				return z
			}
			return nil
		case float64:
			if math.Abs(x) > 1e15 {
				return x
			}
		}
		return d.real()
	}
}

// compare compares two values of one type. Null comes first.
func compare(x, y driver.Value) int {
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	switch x := x.(type) {
	case string:
		s, _ := y.(string)
		return strings.Compare(x, s)
	case []byte:
		b, _ := y.([]byte)
		return strings.Compare(string(x), string(b))
	case int64:
		if n, ok := y.(int64); ok {
			return cmp.Compare(x, n)
		}
	case float64:
		if f, ok := y.(float64); ok {
			return cmp.Compare(x, f)
		}
	}
	d, dok := decimalOfValue(x)
	e, eok := decimalOfValue(y)
	if dok && eok {
		return strings.Compare(string(d.appendOrder(nil)), string(e.appendOrder(nil)))
	}
	f, _ := x.(float64)
	g, _ := y.(float64)
	return cmp.Compare(f, g) // one of them is infinite
}
