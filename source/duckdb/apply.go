package duckdb

import (
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Apply implements sqlgen.Dialect. It computes integers with 128 bits, and casts them back without errors.
func (d dialect) Apply(s sqlgen.Scope, e plan.Apply, a []string) (string, error) {
	switch e.Op {
	case plan.Add, plan.Sub, plan.Mul:
		return d.arithmetic(s, e, a)
	case plan.Div:
		x, y := s.Atom(a[0]), s.Atom(a[1])
		return "(CASE WHEN " + operands(x, y) + " AND " + y + " <> 0 THEN " + x + " / " + y + " + 0 END)", nil
	case plan.Mod:
		return integer(a[0] + "::HUGEINT % nullif(" + a[1] + ", 0)"), nil
	case plan.Quo:
		return integer(a[0] + "::HUGEINT // nullif(" + a[1] + ", 0)"), nil
	case plan.BitAnd:
		return "(" + a[0] + " & " + a[1] + ")", nil
	case plan.BitOr:
		return "(" + a[0] + " | " + a[1] + ")", nil
	case plan.BitXor:
		return "xor(" + a[0] + ", " + a[1] + ")", nil
	case plan.Abs, plan.Ceil, plan.Floor:
		return d.whole(s, e, a[0]), nil
	case plan.Sqrt, plan.Pow, plan.Ln, plan.Log10, plan.Exp:
		return "(" + sqlgen.RealFunction(s, e.Op, a, func(x string) string { return operands(x) }) + "::DOUBLE)", nil
	case plan.Trunc, plan.Round:
		return d.cut(s, e, a[0]), nil
	case plan.Millis:
		return "((epoch_us(" + a[0] + ") - epoch_us(" + a[1] + ")) // 1000)", nil
	case plan.Truth, plan.Size, plan.IsList, plan.TypeOf:
		return d.ofJSON(s, e.Op, a[0]), nil
	case plan.ElemAt, plan.InList, plan.SliceList, plan.JoinLists, plan.JoinTexts, plan.SumList, plan.AvgList, plan.MinList, plan.MaxList:
		return "", unsupported("operators of lists")
	}
	return d.text(s, e, a)
}

func integer(x string) string { return "TRY_CAST(" + x + " AS BIGINT)" }

// operands returns the condition that Doubles are in the range of arithmetic.
func operands(xs ...string) string {
	tests := make([]string, len(xs))
	for i, x := range xs {
		tests[i] = "(" + x + " = 0 OR abs(" + x + ") BETWEEN 1e-150::DOUBLE AND 1e150::DOUBLE)"
	}
	return strings.Join(tests, " AND ")
}

// arithmetic combines its operands from left to right.
func (d dialect) arithmetic(s sqlgen.Scope, e plan.Apply, a []string) (string, error) {
	op := map[plan.Op]string{plan.Add: " + ", plan.Sub: " - ", plan.Mul: " * "}[e.Op]
	x := a[0]
	for _, y := range a[1:] {
		switch {
		case e.T == schema.Integer:
			x = integer(x + "::HUGEINT" + op + y)
		case e.T == schema.Double:
			x, y = s.Atom(x), s.Atom(y)
			x = "(CASE WHEN " + operands(x, y) + " THEN " + x + op + y + " + 0 END)"
		case e.Op == plan.Mul:
			return "", unsupported("products of decimals")
		default:
			x = "(" + x + op + y + ")"
		}
	}
	return x, nil
}

// whole writes Abs, Ceil and Floor.
func (d dialect) whole(s sqlgen.Scope, e plan.Apply, x string) string {
	name := map[plan.Op]string{plan.Abs: "abs(", plan.Ceil: "ceil(", plan.Floor: "floor("}[e.Op]
	switch e.T {
	case schema.Integer: // only for Abs
		return integer("abs(" + x + "::HUGEINT)")
	case schema.Double:
		x = s.Atom(x)
		return "(CASE WHEN " + operands(x) + " THEN " + name + x + ") + 0 END)"
	}
	return "(" + name + x + ")::DECIMAL(38,12))"
}

// cut writes Trunc and Round, with the remainder of a division by a power of ten.
func (d dialect) cut(s sqlgen.Scope, e plan.Apply, x string) string {
	c, _ := e.Args[1].(plan.Const)
	places := c.Value.Int()
	x = s.Atom(x)
	cut := func(x, cast, unit, half string) string {
		if e.Op == plan.Round {
			x = "(" + x + " + CASE WHEN " + x + " < 0 THEN -" + half + cast + " ELSE " + half + cast + " END)"
		}
		return "(" + x + " - " + x + " % " + unit + cast + ")"
	}
	switch {
	case e.T == schema.Integer && places >= 0:
		return x
	case e.T == schema.Integer:
		unit := power(-places).String()
		return integer(cut("("+x+"::HUGEINT)", "::HUGEINT", unit, "5"+unit[2:]))
	case e.T == schema.Decimal && places >= decimalScale:
		return x
	case e.T == schema.Decimal:
		return cut(x, "::DECIMAL(38,12)", unitOf(places), halfOf(places))
	case places > 15 || places < -15:
		return d.refuse("a Double to %d places", places)
	}
	exact := "(" + x + "::VARCHAR::DECIMAL(38,18))"
	near := map[plan.Op]string{plan.Trunc: "trunc(", plan.Round: "round("}[e.Op] + x + ")"
	if places != 0 {
		near = "TRY_CAST(NULL AS DOUBLE)"
		if e.Op == plan.Round {
			near = "round(" + x + ", " + strconv.FormatInt(places, 10) + ")"
		}
	}
	return "(CASE WHEN NOT (" + operands(x) + ") THEN NULL WHEN abs(" + x + ") > 1e15 THEN " + x + " WHEN " + exact + "::VARCHAR::DOUBLE = " + x + " THEN " +
		cut(exact, "::DECIMAL(38,18)", unitOf(places), halfOf(places)) + "::VARCHAR::DOUBLE + 0 ELSE " + near + " END)"
}

// unitOf returns the value of the last kept digit. halfOf returns half of that value.
func unitOf(places int64) string {
	if places <= 0 {
		return power(-places).String()
	}
	return "0." + strings.Repeat("0", int(places)-1) + "1"
}

func halfOf(places int64) string {
	if places < 0 {
		return "5" + strings.Repeat("0", int(-places)-1)
	}
	return "0." + strings.Repeat("0", int(places)) + "5"
}

// ofJSON writes the operators that depend on the type of a JSON value.
func (d dialect) ofJSON(s sqlgen.Scope, op plan.Op, x string) string {
	x = s.Atom(x)
	typ := "json_type(" + x + ")"
	switch op {
	case plan.Truth:
		return "coalesce(CASE " + typ + " WHEN 'BOOLEAN' THEN " + x + " = 'true' WHEN 'BIGINT' THEN " + x + "::DOUBLE <> 0 WHEN 'UBIGINT' THEN " + x + "::DOUBLE <> 0 WHEN 'DOUBLE' THEN TRY_CAST(" +
			x + " AS DOUBLE) <> 0 ELSE TRUE END AND " + x + " IS NOT NULL, FALSE)"
	case plan.Size:
		return "(CASE " + typ + " WHEN 'ARRAY' THEN json_array_length(" + x + ")::BIGINT END)"
	case plan.IsList:
		return "coalesce(" + typ + " = 'ARRAY', FALSE)"
	}
	return "(CASE " + typ + " WHEN 'BOOLEAN' THEN 'bool' WHEN 'VARCHAR' THEN 'string' WHEN 'OBJECT' THEN 'object' WHEN 'ARRAY' THEN 'array' WHEN 'BIGINT' THEN 'number' " +
		"WHEN 'UBIGINT' THEN 'number' WHEN 'DOUBLE' THEN 'number' ELSE 'null' END)"
}

const (
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
)

// text writes the operators of text.
func (d dialect) text(s sqlgen.Scope, e plan.Apply, a []string) (string, error) {
	switch e.Op {
	case plan.Concat:
		return "(" + strings.Join(a, " || ") + ")", nil
	case plan.Substr:
		x, y, z := s.Atom(a[0]), s.Atom(a[1]), s.Atom(a[2])
		start := "least(" + y + ", 2147483646) + 1"
		return "(CASE WHEN coalesce(" + y + ", -1) < 0 OR " + z + " IS NULL THEN NULL WHEN " + z + " < 0 THEN substr(" + x + ", " + start + ") ELSE substr(" + x + ", " + start + ", least(" + z + ", 2147483647)) END)", nil
	case plan.Lower:
		return "translate(" + a[0] + ", '" + upperCase + "', '" + lowerCase + "')", nil
	case plan.Upper:
		return "translate(" + a[0] + ", '" + lowerCase + "', '" + upperCase + "')", nil
	case plan.Trim:
		return "trim(" + a[0] + ", " + a[1] + ")", nil
	case plan.TrimLeft:
		return "ltrim(" + a[0] + ", " + a[1] + ")", nil
	case plan.TrimRight:
		return "rtrim(" + a[0] + ", " + a[1] + ")", nil
	case plan.Split:
		x := s.Atom(a[0])
		return "(CASE WHEN " + x + " = '' THEN '[\"\"]' ELSE to_json(string_split(" + x + ", " + a[1] + "))::VARCHAR END)", nil
	case plan.Length:
		return "length(" + a[0] + ")", nil
	case plan.IndexOf:
		return "(strpos(" + a[0] + ", " + a[1] + ") - 1)", nil
	case plan.ReplaceAll:
		x, z := s.Atom(a[0]), s.Atom(a[2])
		return "(CASE WHEN strlen(" + x + ") * (1 + strlen(" + z + ")) < 500000000 THEN replace(" + x + ", " + a[1] + ", " + z + ") END)", nil
	}
	// DuckDB doesn't run operators that were added to the language later. The gateway computes them over the
	// remaining records.
	return "", unsupported("an operator of these steps")
}
