package sqlite

import (
	"math"
	"math/big"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
)

// nan reports whether an argument is a NaN, which SQLite treats as null.
func nan(v any) bool {
	x, ok := v.(float64)
	return ok && math.IsNaN(x)
}

// beside returns a replacement for n, which isn't an integer. It compares by op with every 64-bit integer in the same
// way as n.
func beside(n sqlgen.Number, op string) any {
	exact, _ := new(big.Rat).SetString(n.Text) // a JSON number always parses
	floor := new(big.Int).Div(exact.Num(), exact.Denom())
	if !floor.IsInt64() {
		return math.Nextafter(n.Float, math.Inf(-1)) // less than all integers. Numbers from 2^63 on never get here
	}
	if op == "<" || op == ">=" {
		return floor.Int64() + 1
	}
	return floor.Int64()
}
