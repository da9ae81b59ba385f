package plan

import (
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Whole returns the sum (Add), the difference (Sub) or the product (Mul) of two constant whole numbers of at most 2^30
// in size. ok is false for other operators and operands.
func Whole(op Op, x, y Expr) (v value.Value, ok bool) {
	a, okA := x.(Const)
	b, okB := y.(Const)
	if !okA || !okB || a.T != schema.Integer || b.T != schema.Integer || a.Value.IsNull() || b.Value.IsNull() {
		return v, false
	}
	m, n := a.Value.Int(), b.Value.Int()
	if most := int64(1 << 30); m > most || m < -most || n > most || n < -most {
		return v, false
	}
	switch op {
	case Add:
		return value.OfInt(m + n), true
	case Sub:
		return value.OfInt(m - n), true
	case Mul:
		return value.OfInt(m * n), true
	}
	return v, false
}
