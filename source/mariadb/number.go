package mariadb

import (
	"regexp"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Apply implements sqlgen.Dialect.
func (m dialect) Apply(s sqlgen.Scope, e plan.Apply, args []string) (string, error) {
	if e.Op == plan.ReplaceMatches {
		return m.replaceMatches(s, e, args[0])
	}
	if e.Op == plan.FindMatch || e.Op == plan.FindMatches {
		return m.findMatch(s, e, args[0])
	}
	for _, family := range []func(sqlgen.Scope, plan.Apply, []string) string{m.arithmetic, m.ofText, m.ofLists} {
		if text := family(s, e, args); text != "" {
			return text, nil
		}
	}
	return "", sqlgen.UnsupportedForm("MariaDB has no form of this operator", "leave it out")
}

// arithmetic writes the operators on numbers and Millis. It returns "" for other operators.
func (m dialect) arithmetic(s sqlgen.Scope, e plan.Apply, args []string) string {
	switch e.Op {
	case plan.Add, plan.Sub, plan.Mul, plan.Div, plan.Mod:
		x := args[0]
		for _, y := range args[1:] {
			x = m.binary(e.Op, e.T, s.Atom(x), s.Atom(y))
		}
		return x
	case plan.Quo:
		return "(" + args[0] + " DIV " + args[1] + ")"
	case plan.BitAnd, plan.BitOr, plan.BitXor: // the result of these operators is unsigned
		return "CAST(" + args[0] + map[plan.Op]string{plan.BitAnd: " & ", plan.BitOr: " | ", plan.BitXor: " ^ "}[e.Op] + args[1] + " AS SIGNED)"
	case plan.Abs:
		switch e.T {
		case schema.Integer:
			return "ABS(NULLIF(" + args[0] + ", " + least64 + "))"
		case schema.Decimal:
			return "ABS(" + args[0] + ")"
		}
		return m.doubleResult(s, args[0], func(x string) string { return "ABS(" + x + ")" })
	case plan.Ceil, plan.Floor:
		call := "CEILING("
		if e.Op == plan.Floor {
			call = "FLOOR("
		}
		if e.T == schema.Decimal {
			return m.fit(call + s.Atom(args[0]) + ")")
		}
		return m.doubleResult(s, args[0], func(x string) string { return call + x + ")" })
	case plan.Sqrt, plan.Pow, plan.Ln, plan.Log10, plan.Exp:
		return sqlgen.RealFunction(s, e.Op, args, m.operand)
	case plan.Trunc, plan.Round:
		return m.roundExpr(s, e, args)
	case plan.Millis:
		return "(TIMESTAMPDIFF(MICROSECOND, " + args[1] + ", " + args[0] + ") DIV 1000)"
	}
	return ""
}

// binary writes an operator on two numbers of one type. Their texts may occur several times.
func (m dialect) binary(op plan.Op, t schema.Type, x, y string) string {
	sign := map[plan.Op]string{plan.Add: " + ", plan.Sub: " - ", plan.Mul: " * ", plan.Div: " / ", plan.Mod: " MOD "}[op]
	switch {
	case op == plan.Mod:
		return "(" + x + sign + y + ")"
	case t == schema.Integer:
		return m.within64("CAST(" + x + " AS DECIMAL(65,0))" + sign + y)
	case t == schema.Decimal: // a constant may exceed the range of columns, and too large a product is an error
		size := "ABS(" + x + sign + y + ") < " + beyondDecimal
		if op == plan.Mul {
			size = "ABS(CAST(" + x + " AS DOUBLE) * CAST(" + y + " AS DOUBLE)) < 1e35"
		}
		return "(CASE WHEN ABS(" + x + ") < 1e35 AND ABS(" + y + ") < 1e35 THEN CASE WHEN " + size + " THEN CAST(" + x + sign + y + " AS " + decimal + ") END END)"
	}
	return "(CASE WHEN " + m.operand(x) + " AND " + m.operand(y) + " THEN " + x + sign + y + " + 0e0 END)"
}

// within64 returns a DECIMAL as an Integer, or null beyond 64 bits.
func (dialect) within64(x string) string {
	return "(CASE WHEN " + x + " BETWEEN " + least64 + " AND " + most64 + " THEN CAST(" + x + " AS SIGNED) END)"
}

// clampToInt64 is like within64, for an aggregate. MariaDB computes an aggregate as often as it occurs in the
// statement, and here x occurs only once. A value beyond 64 bits becomes the nearest number outside of the range,
// which then becomes null. x must not be null.
func (dialect) clampToInt64(x string) string {
	const below, above = "-9223372036854775809", "9223372036854775808"
	return "CAST(NULLIF(NULLIF(LEAST(GREATEST(" + x + ", " + below + "), " + above + "), " + above + "), " + below + ") AS SIGNED)"
}

// operand writes the condition that a Double is in the range of arithmetic, so that no result overflows.
func (dialect) operand(x string) string {
	return "(" + x + " = 0 OR ABS(" + x + ") BETWEEN 1e-150 AND 1e150)"
}

// doubleResult returns of(x) for a Double in the range of arithmetic. Adding 0 removes the sign of a zero.
func (m dialect) doubleResult(s sqlgen.Scope, x string, of func(x string) string) string {
	x = s.Atom(x)
	return "(CASE WHEN " + m.operand(x) + " THEN " + of(x) + " + 0e0 END)"
}

// roundExpr writes a Trunc or a Round.
func (m dialect) roundExpr(s sqlgen.Scope, e plan.Apply, args []string) string {
	c, _ := e.Args[1].(plan.Const)
	places := c.Value.Int()
	call := func(x string) string {
		if e.Op == plan.Trunc {
			return "TRUNCATE(" + x + ", " + s.Arg(places, "") + ")"
		}
		return "ROUND(" + x + ", " + s.Arg(places, "") + ")"
	}
	switch e.T {
	case schema.Integer:
		return m.within64(s.Atom(call("CAST(" + args[0] + " AS DECIMAL(65,0))")))
	case schema.Decimal:
		return m.fit(s.Atom(call(args[0])))
	}
	return m.doubleResult(s, args[0], func(x string) string { // a Double is rounded by its decimal text
		return "CASE WHEN ABS(" + x + ") > 1e15 THEN " + x + " ELSE CAST(" + call("CAST("+x+" AS "+decimal+")") + " AS DOUBLE) END"
	})
}

// Accumulate implements sqlgen.Dialect.
func (m dialect) Accumulate(s sqlgen.Scope, op plan.Accumulate, x string, from schema.Type) (string, error) {
	// A column below stores all records. That costs more than computing a short text several times.
	if few := from != schema.Double && from != schema.JSON && len(x) < 200; x != "" && !few {
		x = s.Atom(x)
	}
	switch op {
	case plan.Count:
		if x != "" {
			return "COUNT(" + x + ")", nil
		}
		return "COUNT(*)", nil
	case plan.CountDistinct:
		by, _ := m.Key(s, x, from, false)
		return "COUNT(DISTINCT " + by + ")", nil
	case plan.Min, plan.Max:
		call := "MIN("
		if op == plan.Max {
			call = "MAX("
		}
		switch from {
		case schema.JSON: // the sort key, followed by the value
			return "SUBSTRING_INDEX(" + call + "CONCAT(" + m.place(s, x) + `, '\0', ` + x + `)), '\0', -1)`, nil
		case schema.UUID:
			return "CAST(" + call + m.Widen(s, x, from, schema.String) + ") AS UUID)", nil
		}
		return call + x + ")", nil
	case plan.StdDevPop, plan.StdDevSamp:
		return m.deviation(op, x), nil
	}
	if from == schema.Integer {
		x = uncast(x)
	}
	sum := m.sum(x, from)
	if op != plan.Avg {
		return sum, nil
	}
	if from == schema.Integer {
		sum = "SUM(" + x + ")"
	}
	return "(CAST(" + sum + " AS DOUBLE) / COUNT(" + x + "))", nil
}

// uncast returns the column that the Integer x casts, if it is a named column or a column of a step. A sum is a
// DECIMAL that is exact for signed and unsigned integers, so it needs no cast. A cast per record would take half as
// long as the rest of the query.
func uncast(x string) string {
	if column := castColumn.FindStringSubmatch(x); column != nil {
		return column[1]
	}
	return x
}

var castColumn = regexp.MustCompile("^CAST\\(([a-z][0-9]*\\.(?:`[^`\x00]+`|c[0-9]+)) AS SIGNED\\)$")

// sum writes a Sum over a group. It adds Doubles as DECIMALs, so that the sum is exact and doesn't depend on the
// order. Values below 1e-13 are added separately, multiplied by 1e38. The sum is null if a value is smaller than
// 1e-51, or if the sum of the magnitudes is 1e34 or more.
func (m dialect) sum(x string, from schema.Type) string {
	switch from {
	case schema.Integer:
		return m.clampToInt64("COALESCE(SUM(" + x + "), 0)")
	case schema.Decimal:
		return "(CASE WHEN COALESCE(SUM(LEAST(ABS(CAST(" + x + " AS DOUBLE)), 1e34)), 0) < 1e34 THEN CAST(COALESCE(SUM(" + x + "), 0) AS " + decimal + ") END)"
	}
	written := "JSON_NORMALIZE(CAST({x} AS CHAR))" + nopad // such as 5.5E-17
	main := "COALESCE(SUM(CASE WHEN ABS({x}) >= 1e-13 THEN CAST({x} AS " + decimal + ") END), 0)"
	rest := "COALESCE(SUM(CASE WHEN ABS({x}) < 1e-13 AND {x} <> 0 THEN CAST(CONCAT(SUBSTRING_INDEX(" + written + ", 'E', 1), 'E', CAST(SUBSTRING_INDEX(" +
		written + ", 'E', -1) AS SIGNED) + 38) AS " + decimal + ") END), 0)"
	return strings.ReplaceAll("(CASE WHEN COALESCE(SUM(CASE WHEN ABS({x}) < 1e-51 AND {x} <> 0 THEN 1e34 ELSE LEAST(ABS({x}), 1e34) END), 0) >= 1e34 THEN NULL"+
		" WHEN "+rest+" = 0 THEN CAST("+main+" AS DOUBLE) WHEN "+main+" = 0 THEN CAST(CONCAT("+rest+", 'e-38') AS DOUBLE)"+
		" ELSE CAST("+main+" + CAST(CONCAT("+rest+", 'e-38') AS DECIMAL(65,38)) AS DOUBLE) END)", "{x}", x)
}

// deviation writes a standard deviation of Doubles from exact sums, so that it doesn't depend on the order. The
// server's own deviation does. It uses the values unchanged, or scaled by 1e10 up or down, depending on the largest
// value. The result is null beyond 1e25 and below 1e-13, and if there are no values.
func (m dialect) deviation(op plan.Accumulate, x string) string {
	count := "COUNT({x})"
	if op == plan.StdDevSamp {
		count = "SQRT(COUNT({x}) * (COUNT({x}) - 1))"
	}
	text := "(CASE WHEN SUM(" + m.operand("{x}") + ") < COUNT({x}) THEN NULL WHEN MAX(ABS({x})) = 0 THEN 0e0 / " + count
	for _, r := range []struct{ least, most, scale, back string }{
		{"1e-3", "1e15", "", ""}, {"1e15", "1e25", " * 1e-10", " / 1e-10"}, {"1e-13", "1e-3", " * 1e10", " / 1e10"},
	} {
		// Larger values would raise an error when multiplied.
		d := "CAST(CASE WHEN ABS({x}) <= " + r.most + " THEN {x}" + r.scale + " END AS DECIMAL(65,15))"
		text += " WHEN MAX(ABS({x})) BETWEEN " + r.least + " AND " + r.most + " THEN SQRT(CAST(COUNT({x}) * SUM(" + d + " * " + d + ") - SUM(" + d + ") * SUM(" + d + ") AS DOUBLE)) / " + count + r.back
	}
	return strings.ReplaceAll(text+" END)", "{x}", x)
}
