package pipelines

import (
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// match draws the operand of a $match: a where object, an expression, or both.
func (g *generator) match(s scope) value.Value {
	switch pick(g, "match", "where", "where", "$expr", "both") {
	case "$expr":
		return object1("$expr", g.expr(condition, s, 3))
	case "both":
		return value.OfObject(append(g.where(s, 0).Members(), value.Member{Name: "$expr", Value: g.expr(condition, s, 2)}))
	}
	return g.where(s, 2)
}

// where draws a where object. depth is the remaining number of nested levels.
func (g *generator) where(s scope, depth int) value.Value {
	if depth > 0 {
		switch op := pick(g, "logic", "", "", "", "$and", "$or", "$nor", "$not"); op {
		case "":
		case "$not":
			return object1(op, g.where(s, depth-1))
		default:
			return object1(op, list(g.where(s, depth-1), g.where(s, depth-1)))
		}
	}
	if len(s) == 0 {
		return members()
	}
	c := s[g.times("field", 0, len(s)-1)]
	path := c.name
	if c.is == schema.JSON {
		for range pick(g, "steps", 0, 1, 1, 2) {
			path += "." + g.step()
		}
	}
	return object1(path, g.operators(c))
}

// operators draws an object {$op: operand} for values of a column.
func (g *generator) operators(c column) value.Value {
	switch op := pick(g, "operator", "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$regex", "$startsWith", "$size", "$not"); op {
	case "$in", "$nin":
		return object1(op, list(g.literal(c), g.literal(c)))
	case "$exists":
		return object1(op, value.OfBool(pick(g, "exists", true, false)))
	case "$regex":
		return object1(op, value.OfString(pick(g, "regex", "^a", "pp", "[a-c]+$", "ß|İ", `\d`, "^$", ".")))
	case "$startsWith":
		return object1(op, value.OfString(pick(g, "prefix", "", "a", "A", "e", "ß", "re")))
	case "$size":
		return object1(op, whole(pick(g, "size", 0, 1, 2)))
	case "$not":
		return object1(op, object1(pick(g, "inside", "$eq", "$gt", "$lte"), g.literal(c)))
	default:
		return object1(op, g.literal(c))
	}
}

// literal draws a value to compare with a column. Usually it has the column's type.
func (g *generator) literal(c column) value.Value {
	if g.chance("unlike", 8) {
		return pick(g, "unlike", value.Value{}, value.OfInt(1), value.OfString("a"), value.OfBool(true))
	}
	switch c.is {
	case schema.Integer, schema.Double, schema.Decimal:
		if g.chance("decimal", 2) {
			return value.OfDecimal(pick(g, "decimal", decimals...))
		}
		return g.constant(integer)
	case schema.Boolean:
		return g.constant(condition)
	case schema.Date, schema.Day:
		return value.OfString(pick(g, "instant", instants...))
	case schema.UUID:
		return value.OfString("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	case schema.JSON, schema.Any:
		return pick(g, "JSON", value.OfInt(1), value.OfString("a"), value.OfString("x"), value.OfDecimal("1.5"), value.OfBool(true), list(value.OfInt(1)))
	}
	return value.OfString(pick(g, "text", strs...))
}
