package postgres

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Order implements sqlgen.Dialect.
func (p dialect) Order(s sqlgen.Scope, x string, t schema.Type, desc bool) []string {
	direction := " NULLS FIRST"
	if desc {
		direction = " DESC NULLS LAST"
	}
	switch t {
	case schema.Boolean:
		x += "::boolean" // ORDER BY would read a bare constant as the number of a column
	case schema.String:
		if p.encoded {
			return []string{byBytes(x, true) + direction}
		}
		if !strings.HasSuffix(x, pgC+")") {
			x += pgC
		}
		return []string{x + direction}
	case schema.JSON, schema.Array:
		x = s.Atom(x)
		return []string{pgRank(x) + direction, "(CASE WHEN jsonb_typeof(" + x + ") IN ('number', 'boolean') THEN " + x + " END)" + direction,
			byBytes("(CASE jsonb_typeof("+x+") WHEN 'string' THEN "+x+" #>> '{}' END)", p.encoded) + direction}
	}
	return []string{x + direction}
}

// Written implements sqlgen.Dialect.
func (dialect) Written(x string) string { return "(" + x + "::text" + pgC + ")" }

// Key implements sqlgen.Dialect. Equal values may have several forms. One of these forms is shown.
func (dialect) Key(_ sqlgen.Scope, x string, t schema.Type, _ bool) (by, show string) {
	switch t {
	case schema.Decimal:
		x = "trim_scale(" + x + ")"
	case schema.Double:
		x = "(" + x + " + 0)" // adding 0 turns negative zero into zero
	case schema.JSON, schema.Array:
		return x, "min(" + x + "::text" + pgC + ")::jsonb"
	}
	return x, x
}

// GroupTerm implements sqlgen.Dialect. Whole numbers need no cast. Neither does text stored in the default collation,
// in which different texts are never equal. A cast would cost one expression per record.
func (dialect) GroupTerm(by string) string {
	for _, cast := range []string{pgC + ")", "::int8)"} {
		by, _ = bare(by, cast)
	}
	return by
}

// Accumulate implements sqlgen.Dialect.
func (p dialect) Accumulate(s sqlgen.Scope, op plan.Accumulate, x string, from schema.Type) (string, error) {
	if _, stored := bare(x, "::int8)"); !stored && (from == schema.Integer || from == schema.Double) && op != plan.Min && op != plan.Max {
		x = s.Atom(x)
	}
	switch op {
	case plan.Count:
		if x != "" {
			return "count(" + x + ")", nil
		}
		return "count(*)", nil
	case plan.CountDistinct:
		by, _ := p.Key(s, x, from, false)
		return "count(DISTINCT " + by + ")", nil
	case plan.Sum:
		return pgSum(x, from), nil
	case plan.Avg:
		return pgMean(pgTotal(x, from), "count("+x+")"), nil
	case plan.StdDevPop, plan.StdDevSamp:
		name := "stddev_pop("
		if op == plan.StdDevSamp {
			name = "stddev_samp("
		}
		deviation := name + pgNumeric(x) + " + 0.00000000000000000000)" // the result has that many digits after the point
		return "(CASE WHEN bool_and(" + operands(x) + ") THEN " + pgDouble(deviation) + " END)", nil
	case plan.Min, plan.Max:
		return p.extreme(s, op, x, from)
	}
	return "", problem.New(problem.Internal, fmt.Sprintf("sqlgen can't write accumulator %d", op))
}

// pgTotal returns the exact sum, in the type that PostgreSQL uses for it.
func pgTotal(x string, from schema.Type) string {
	switch from {
	case schema.Integer:
		x, _ = bare(x, "::int8)")
	case schema.Double:
		x = pgNumeric(x)
	}
	return "sum(" + x + ")"
}

// pgSum writes a sum in the type of its numbers. It is 0 if there are no values, and null beyond 64 bits or the range
// of doubles.
func pgSum(x string, from schema.Type) string {
	total := pgTotal(x, from)
	switch {
	case from == schema.Decimal:
		return "coalesce(" + total + ", 0)"
	case from == schema.Double:
		return "(CASE WHEN count(" + x + ") = 0 THEN 0 ELSE " + pgDouble(total) + " END)"
	case total != "sum("+x+")": // PostgreSQL sums smaller integers as int8
		return "coalesce(" + total + ", 0)"
	}
	return "(CASE WHEN count(" + x + ") = 0 THEN 0 WHEN " + total + " " + pgIntegers + " THEN " + total + "::int8 END)"
}

// pgMean writes the sum divided by the count, as a Double. If the sum is so small that the division could raise an
// error, the numeric is divided before the conversion.
func pgMean(total, count string) string {
	total += "::numeric"
	return "(CASE WHEN " + count + " > 0 THEN CASE WHEN abs(" + total + ") < 1e-307 * " + count + " THEN " + pgDouble("("+total+" / "+count+")") + " ELSE " + pgDouble(total) + " / " + count + " END END)"
}

// extreme writes Min and Max.
func (p dialect) extreme(s sqlgen.Scope, op plan.Accumulate, x string, t schema.Type) (string, error) {
	name, desc := "min", false
	if op == plan.Max {
		name, desc = "max", true
	}
	switch t {
	case schema.String:
		return p.extremeText(name, x), nil
	case schema.Decimal:
		return "trim_scale(" + name + "(" + x + "))", nil
	case schema.Double:
		return "(" + name + "(" + x + ") + 0)", nil
	case schema.Boolean:
		if desc {
			return "bool_or(" + x + ")", nil
		}
		return "bool_and(" + x + ")", nil
	case schema.UUID:
		return name + "(" + x + "::text" + pgC + ")::uuid", nil
	case schema.Bytes:
		return "decode(" + name + "(encode(" + x + ", 'hex')" + pgC + "), 'hex')", nil
	case schema.JSON, schema.Array:
		return p.extremeJSON(s.Atom(x), name), nil
	}
	return name + "(" + x + ")", nil
}

// extremeText writes the function min or max of texts. Not every version has these functions for bytes, so bytes are
// compared as hex.
func (p dialect) extremeText(name, x string) string {
	if p.encoded {
		return "convert_from(decode(" + name + "(encode(" + byBytes(x, true) + ", 'hex')" + pgC + "), 'hex'), 'UTF8')"
	}
	return name + "(" + x + pgC + ")"
}

// extremeJSON writes the function min or max of JSON. It considers only the values of the least or greatest rank.
// Each aggregate in it keeps only one value in memory, while an ordered list would need memory for all values.
// Between equal numbers, and between objects or lists, their texts decide.
func (p dialect) extremeJSON(x, name string) string {
	of := func(kind, value string) string {
		return "(CASE jsonb_typeof(" + x + ") WHEN '" + kind + "' THEN " + value + " END)"
	}
	first := func(kind string) string { return "min(" + of(kind, x+"::text") + pgC + ")::jsonb" }
	sign, logic := "", "bool_and("
	if name == "max" {
		sign, logic = "-", "bool_or("
	}
	return "(CASE " + name + "(" + pgRank(x) + ")" +
		" WHEN 1 THEN to_jsonb((" + name + "(" + of("number", "ARRAY["+x+"::numeric, "+sign+"scale("+x+"::numeric)]") + "))[1])" +
		" WHEN 2 THEN to_jsonb(" + p.extremeText(name, of("string", x+" #>> '{}'")) + ")" +
		" WHEN 3 THEN " + first("object") + " WHEN 4 THEN " + first("array") +
		" WHEN 6 THEN to_jsonb(" + logic + of("boolean", x+"::boolean") + ")) END)"
}

// Pick implements sqlgen.Dialect.
func (dialect) Pick(_ sqlgen.Scope, x, when string, _ schema.Type) string {
	return "(array_agg(" + x + ") FILTER (WHERE " + when + "))[1]"
}

// Collect implements sqlgen.Dialect.
func (dialect) Collect(s sqlgen.Scope, l sqlgen.Gathered) string {
	x, most := l.X, strconv.Itoa(l.Most)
	var tests []string
	if l.When != "" {
		tests = append(tests, l.When)
	}
	if l.Size != "" { // otherwise jsonb_agg would also collect values that are too large
		x, tests = s.Atom(x), append(tests, l.Size+" <= "+most)
	}
	if len(l.Terms) > 0 {
		x += " ORDER BY " + strings.Join(l.Terms, ", ")
	}
	text := "jsonb_agg(" + x + ")"
	if tests != nil {
		text += " FILTER (WHERE " + strings.Join(tests, " AND ") + ")"
	}
	text = "coalesce(" + text + ", '[]')"
	if l.Size != "" {
		text = "(CASE WHEN coalesce(max(" + l.Size + "), 0) <= " + most + " THEN " + text + " END)"
	}
	return text
}

// Size implements sqlgen.Dialect.
func (dialect) Size(s sqlgen.Scope, x string) string {
	return "coalesce(octet_length(" + s.Atom(x) + "::text), 4) + " + strconv.Itoa(plan.ListElement)
}

// Digest implements sqlgen.Dialect.
func (p dialect) Digest(s sqlgen.Scope, seed string, xs []string, types []schema.Type) string {
	parts := []string{s.Arg(seed, "text")}
	for i, x := range xs {
		if i > 0 {
			parts = append(parts, "chr(31)")
		}
		switch types[i] {
		case schema.Any, schema.Opaque:
			continue
		case schema.Bytes:
			x = "translate(encode(" + x + ", 'base64'), chr(10), '')"
		default:
			x = p.Convert(s, x, types[i], schema.String)
		}
		parts = append(parts, "coalesce("+x+", '')")
	}
	// The encoding of the database must not change which records are sampled.
	return "md5(" + byBytes(strings.Join(parts, " || "), true) + ")" + pgC
}
