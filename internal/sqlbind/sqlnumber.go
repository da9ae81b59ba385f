package sqlbind

import (
	"math"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A numberType is PostgreSQL's type of a number. The order is significant: an operator on two numbers gives the greater
// type.
type numberType uint8

// The types. ownNumber means that the type follows from the type of the computation: Integer is integer, Decimal is
// numeric, Double is double precision. The other types differ from it. For example, an average of whole numbers is a
// Double here, but numeric in PostgreSQL.
const (
	ownNumber numberType = iota
	bigint               // the sum is numeric
	numeric              // division gives a fraction, and halves are rounded away from zero
	floating             // double precision: division gives a fraction, and halves are rounded to the even number
)

// Of returns the type of a number that is computed in t. It is ownNumber for an integer.
func (n numberType) Of(t schema.Type) numberType {
	switch {
	case n == ownNumber && t == schema.Decimal:
		return numeric
	case n == ownNumber && t == schema.Double:
		return floating
	}
	return n
}

// namedNumber returns the type of computation and PostgreSQL's type for numbers of a database's type. name is the
// database's type in lower case. The bool is false for other types. INT64, LONG, SIGNED and UNSIGNED are types of
// BigQuery, Spark and MySQL for whole numbers of 64 bits.
func namedNumber(name string) (schema.Type, numberType, bool) {
	switch name {
	case "int", "integer", "smallint", "int2", "int4", "int32", "tinyint":
		return schema.Integer, ownNumber, true
	case "bigint", "int8", "int64", "long", "signed", "unsigned":
		return schema.Integer, bigint, true
	case "real", "float", "float4", "float8", "float64", "double":
		return schema.Double, ownNumber, true
	case "numeric", "decimal", "dec", "bignumeric", "number":
		return schema.Decimal, ownNumber, true
	}
	return 0, ownNumber, false
}

// numberOfColumn returns the type of a column. native is its type in the database.
func numberOfColumn(native string) numberType {
	_, n, _ := namedNumber(strings.ToLower(native))
	return n
}

// numberOfPart returns the type of the result of extract or date_part.
func numberOfPart(function string) numberType {
	if function == "date_part" {
		return floating
	}
	return numeric
}

// numberOfConstant returns the type of a constant.
func numberOfConstant(v value.Value) numberType {
	switch n, _ := v.AsInt(); {
	case v.Kind() != value.Int && v.IsNumber():
		return numeric
	case v.Kind() == value.Int && (n < math.MinInt32 || n > math.MaxInt32):
		return bigint
	}
	return ownNumber
}

// Sum returns the type of a sum. A sum of integers is bigint, and a sum of bigints is numeric.
func (n numberType) Sum() numberType {
	if n == ownNumber || n == bigint {
		return n + 1
	}
	return n
}

// Average returns the type of an average, a deviation, a variance, or a number rounded to some places.
func (n numberType) Average() numberType { return max(n, numeric) }

// Real returns the result type of functions that PostgreSQL defines only for numeric and double precision, such as
// floor and sqrt.
func (n numberType) Real() numberType {
	if n == numeric {
		return n
	}
	return floating
}

// ComparisonType returns the type to which n is converted in a comparison with another number. The argument both is the
// common type of the two numbers.
func (n numberType) ComparisonType(both numberType) numberType {
	if both < numeric {
		return n
	}
	return both
}

// quotient returns x / y. The quotient of whole numbers is truncated towards zero.
func quotient(x, y plan.Expr, t schema.Type) plan.Expr {
	of := func(o plan.Op, a, b plan.Expr) plan.Expr { return plan.Apply{Op: o, Args: []plan.Expr{a, b}, T: t} }
	if t != schema.Integer {
		return of(plan.Div, x, y)
	}
	if k, ok := y.(plan.Const); ok && k.Value.Int() != -1 {
		return of(plan.Quo, x, y)
	}
	return plan.Case{If: []plan.Expr{numberTest(plan.Same, y, numberWhole(-1))}, Then: []plan.Expr{of(plan.Sub, numberWhole(0), x)}, Else: of(plan.Quo, x, y), T: t}
}

// signOf returns -1, 0 or 1 if the number x is less than, equal to or greater than zero. It is null for null, because
// none of the three tests holds.
func signOf(x, zero plan.Expr) plan.Expr {
	return plan.Case{If: []plan.Expr{numberTest(plan.Under, x, zero), numberTest(plan.Under, zero, x), numberTest(plan.Same, x, zero)},
		Then: []plan.Expr{numberWhole(-1), numberWhole(1), numberWhole(0)}, Else: plan.Const{T: schema.Integer}, T: schema.Integer}
}

// bucketOf returns the number of the part that contains the Double x, if a range is divided into n equal parts. It is 0
// before the range and n + 1 after it. A range with a greater first bound counts downwards.
func bucketOf(x plan.Expr, from, to float64, n int64) plan.Expr {
	of := func(o plan.Op, x, y plan.Expr) plan.Expr {
		return plan.Apply{Op: o, Args: []plan.Expr{x, y}, T: schema.Double}
	}
	if from > to { // the same range of -x, counted upwards
		x, from, to = of(plan.Sub, double(0), x), -from, -to
	}
	at := of(plan.Div, of(plan.Mul, of(plan.Sub, x, double(from)), double(float64(n))), double(to-from))
	part := plan.Convert{X: plan.Apply{Op: plan.Floor, Args: []plan.Expr{at}, T: schema.Double}, T: schema.Integer}
	inside := plan.Apply{Op: plan.Add, Args: []plan.Expr{part, numberWhole(1)}, T: schema.Integer}
	null := plan.Apply{Op: plan.IsNull, Args: []plan.Expr{x}, T: schema.Boolean}
	return plan.Case{If: []plan.Expr{null, numberTest(plan.Under, x, double(from)), numberTest(plan.UpTo, double(to), x), numberTest(plan.UpTo, numberWhole(n), part)},
		Then: []plan.Expr{plan.Const{T: schema.Integer}, numberWhole(0), numberWhole(n + 1), numberWhole(n)}, Else: inside, T: schema.Integer}
}

// series returns the whole numbers from one end to the other, one per row, including both ends. step isn't 0. There are
// no rows if the step leads away from the end. The bool is false if there would be more numbers than the argument most.
func series(from, to, step int64, most int) ([]value.Row, bool) {
	var rows []value.Row
	for n := from; step > 0 && n <= to || step < 0 && n >= to; {
		if len(rows) == most {
			return nil, false
		}
		rows = append(rows, value.Row{value.OfInt(n)})
		next := n + step
		if (next > n) != (step > 0) {
			break // beyond 64 bits
		}
		n = next
	}
	return rows, true
}

func numberWhole(n int64) plan.Expr { return plan.Const{Value: value.OfInt(n), T: schema.Integer} }

func double(f float64) plan.Expr { return plan.Const{Value: value.OfFloat(f), T: schema.Double} }

func numberTest(o plan.Op, x, y plan.Expr) plan.Expr {
	return plan.Apply{Op: o, Args: []plan.Expr{x, y}, T: schema.Boolean}
}
