package pipelines

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A kind is the type of a drawn expression.
type kind uint8

const (
	number kind = iota
	integer
	textual
	condition
	instant
	listed
)

var kindTypes = map[kind][]schema.Type{
	number: {schema.Integer, schema.Double, schema.Decimal}, integer: {schema.Integer}, textual: {schema.String, schema.UUID},
	condition: {schema.Boolean}, instant: {schema.Date, schema.Day}, listed: {},
}

// expr draws an expression of a kind. depth is the remaining number of nested levels.
func (g *generator) expr(k kind, s scope, depth int) value.Value {
	if depth <= 0 || g.chance("leaf", 3) {
		return g.leaf(k, s)
	}
	if g.chance("choice", 6) {
		return g.choice(k, s, depth-1)
	}
	switch k {
	case number:
		return g.numeric(s, depth-1)
	case integer:
		return g.count(s, depth-1)
	case textual:
		return g.textual(s, depth-1)
	case condition:
		return g.condition(s, depth-1)
	case instant:
		return g.instant(s, depth-1)
	}
	return g.list(s, depth-1)
}

// any draws an expression of any kind except a list.
func (g *generator) any(s scope, depth int) value.Value {
	return g.expr(pick(g, "kind", number, textual, integer, condition, instant), s, depth)
}

// leaf draws a column, a part of a column, or a constant.
func (g *generator) leaf(k kind, s scope) value.Value {
	own := s.ofTypes(kindTypes[k]...)
	if k == listed {
		own = s.lists()
	}
	dynamic := s.dynamic()
	switch {
	case len(own) > 0 && !g.chance("not own", 4):
		return ref(g.column(own))
	case len(dynamic) > 0 && !g.chance("not dynamic", 2):
		name := g.column(dynamic)
		for range pick(g, "steps", 1, 0, 1, 2) {
			name += "." + g.step()
		}
		return ref(name)
	case g.chance("null", 12):
		return value.Value{}
	}
	return g.constant(k)
}

var (
	// A double can't represent the last three exactly.
	integers = []int64{0, 1, -1, 2, 3, 7, -3, 10, 100, 9007199254740993, 9223372036854775807, -9223372036854775808}
	decimals = []string{"1e100", "1e-200", "0.5", "-0.25", "2.5", "1.25", "1e3", "0.1", "123456789.125"}
	strs     = []string{"", "a", "A", "apple", "ß", "İ", "é", "e\u0301", "𝒳", "it's", `"q\"`, "100%_", " ", "42", "-7", "2.5", "1e2", "red",
		"2026-01-31", "2026-01-31T10:00:00+01:00", "null", "true", "$x", "line\nline", "?", ":a", "\t", "go"}
	instants = []string{"2026-03-29T00:30:00Z", "2026-10-25T00:30:00.5Z", "1969-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
		"2024-02-29T12:00:00Z", "2025-12-29T00:00:00Z", "2027-01-03T23:59:59Z", "1980-01-31T10:00:00Z"}
	zoneNames = []string{"+05:30", "-11:30", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC", "-03", "Australia/Lord_Howe"}
)

func (g *generator) constant(k kind) value.Value {
	switch k {
	case number:
		if g.chance("decimal", 2) {
			from := decimals
			if g.d.lacks(Digits) {
				from = decimals[2:]
			}
			d := value.OfDecimal(pick(g, "decimal", from...))
			if g.d.lacks(Decimals) {
				return object1("$toDouble", d)
			}
			return d
		}
		fallthrough
	case integer:
		from := integers
		if g.d.Tables[sourcetest.WideIntegers] != "" {
			from = integers[:len(integers)-3]
		}
		return value.OfInt(pick(g, "integer", from...))
	case textual:
		return object1("$literal", value.OfString(pick(g, "text", strs...)))
	case condition:
		return value.OfBool(pick(g, "truth", true, false))
	case instant:
		return object1("$toDate", value.OfString(pick(g, "instant", instants...)))
	}
	return list(g.constant(pick(g, "element", number, textual, condition)), g.constant(pick(g, "element", number, textual)))
}

// choice draws an expression that depends on a condition or on null.
func (g *generator) choice(k kind, s scope, depth int) value.Value {
	switch pick(g, "choice", "$cond", "$ifNull", "$switch") {
	case "$cond":
		return object1("$cond", list(g.expr(condition, s, depth), g.expr(k, s, depth), g.expr(k, s, depth)))
	case "$ifNull":
		return object1("$ifNull", list(g.expr(k, s, depth), g.expr(k, s, depth)))
	}
	branch := members("case", g.expr(condition, s, depth), "then", g.expr(k, s, depth))
	if g.chance("default", 2) {
		return object1("$switch", members("branches", list(branch)))
	}
	return object1("$switch", members("branches", list(branch, members("case", g.expr(condition, s, depth), "then", g.expr(k, s, depth))), "default", g.expr(k, s, depth)))
}

func (g *generator) numeric(s scope, depth int) value.Value {
	switch op := pick(g, "numeric", "$add", "$subtract", "$multiply", "$divide", "$abs", "$ceil", "$floor", "$sqrt", "$pow", "$ln", "$log10", "$exp", "$trunc", "$round", "$toDouble", "$toDecimal",
		"$sum", "$min", "$reduce", "count", "count", "element"); op {
	case "$add", "$multiply":
		if op == "$multiply" && g.d.lacks(Digits) {
			return object1(op, list(g.expr(integer, s, depth), g.expr(integer, s, depth)))
		}
		if g.chance("three", 4) {
			return object1(op, list(g.expr(number, s, depth), g.expr(number, s, depth), g.expr(number, s, depth)))
		}
		return object1(op, list(g.expr(number, s, depth), g.expr(number, s, depth)))
	case "$subtract", "$divide":
		return object1(op, list(g.expr(number, s, depth), g.expr(number, s, depth)))
	case "$sqrt":
		return object1(op, g.expr(number, s, depth))
	case "$ln", "$log10", "$exp": // databases differ in the last digit, so the result is rounded
		x := g.expr(integer, s, depth)
		if op == "$exp" {
			x = object1("$mod", list(x, whole(9)))
		}
		return object1("$round", list(object1(op, x), whole(6)))
	case "$pow":
		return object1(op, list(g.expr(integer, s, depth), whole(pick(g, "power", 0, 1, 2, 3, -1))))
	case "$trunc", "$round":
		return object1(op, list(g.expr(number, s, depth), whole(pick(g, "places", 0, 1, 2, -1, 5))))
	case "$toDouble", "$toDecimal":
		switch {
		case g.d.lacks(Decimals):
			op = "$toDouble"
		case op == "$toDecimal" && g.d.lacks(Digits):
			return object1(op, g.expr(integer, s, depth))
		}
		return object1(op, g.any(s, depth))
	case "$sum", "$min":
		if g.d.lacks(Spread) {
			return object1(pick(g, "over", "$sum", "$avg", "$min", "$max"), list(list(g.expr(integer, s, depth), g.expr(integer, s, depth))))
		}
		return object1(pick(g, "over", "$sum", "$avg", "$min", "$max"), list(g.expr(listed, s, depth)))
	case "$reduce":
		inside := append(s.of(func(c column) bool { return c.name[0] != '$' }), column{name: "$this", is: schema.JSON}, column{name: "$value", is: schema.JSON})
		return object1(op, members("input", g.expr(listed, s, depth), "initialValue", g.constant(number), "in", g.expr(number, inside, min(depth, 2))))
	case "element":
		if end := pick(g, "end", "", "", "$first", "$last"); end != "" {
			return object1(end, list(g.expr(listed, s, depth)))
		}
		return object1("$arrayElemAt", list(g.expr(listed, s, depth), g.expr(pick(g, "place", integer, number), s, 0)))
	case "count":
		return g.count(s, depth)
	default:
		return object1(op, g.expr(number, s, depth))
	}
}

// byTypes draws an operator of query.Families with the result type t, and arguments of suitable types. It excludes
// the family Doubles, because databases may differ in the last digit.
func (g *generator) byTypes(t schema.Type, s scope, depth int) value.Value {
	of := map[schema.Type]kind{schema.Integer: integer, schema.String: textual, schema.Date: instant, schema.Boolean: condition, schema.JSON: listed}
	sig := pick(g, "operator", slices.DeleteFunc(slices.Clone(query.Signatures), func(s query.Signature) bool {
		return s.Node == "" || s.Gives != t || slices.Contains(s.Takes, schema.Double)
	})...)
	args := make([]value.Value, max(sig.Min, sig.Max, len(sig.Names)))
	if sig.Max < 0 {
		args = make([]value.Value, max(sig.Min, 2))
	}
	for i := range args {
		if i > 1 {
			depth = 0
		}
		args[i] = g.expr(of[sig.Takes[min(i, len(sig.Takes)-1)]], s, depth)
	}
	if sig.Names == nil {
		return object1(sig.Op, list(args...))
	}
	named := make([]value.Member, len(args))
	for i, name := range sig.Names {
		named[i] = value.Member{Name: name, Value: args[i]}
	}
	return object1(sig.Op, value.OfObject(named))
}

// count draws an expression that returns a whole number.
func (g *generator) count(s scope, depth int) value.Value {
	switch op := pick(g, "count", "by types", "by types", "by types", "by types", "$size", "part", "part", "$dateDiff", "$toInt", "$toLong", "$cmp", "$add", "$subtract",
		"millis", "$bitNot", "$convert", "$regexFind"); op {
	case "by types":
		return g.byTypes(schema.Integer, s, depth)
	case "$regexFind":
		return g.regexMember(s, depth, "idx")
	case "$convert":
		return object1(op, members("input", g.any(s, depth), "to", pick(g, "to", "int", "long"), "onError", g.constant(integer), "onNull", g.expr(integer, s, 0)))
	case "$bitNot":
		return object1(op, g.expr(integer, s, depth))
	case "$add", "$subtract":
		return object1(op, list(g.expr(integer, s, depth), g.expr(integer, s, depth)))
	case "$size":
		return object1(op, list(g.expr(listed, s, depth)))
	case "part":
		part := pick(g, "part", "$year", "$month", "$dayOfMonth", "$dayOfYear", "$dayOfWeek", "$isoDayOfWeek", "$isoWeek", "$isoWeekYear", "$hour", "$minute",
			"$second", "$millisecond")
		return object1(part, g.withZone(members("date", g.expr(instant, s, depth))))
	case "$dateDiff":
		m := members("startDate", g.expr(instant, s, depth), "endDate", g.expr(instant, s, depth), "unit", g.unit(true))
		return object1(op, g.withZone(g.week(m)))
	case "$cmp":
		k := pick(g, "compared", number, textual, instant, condition)
		return object1(op, list(g.expr(k, s, depth), g.expr(k, s, depth)))
	case "millis":
		return object1("$subtract", list(g.expr(instant, s, depth), g.expr(instant, s, depth)))
	default:
		return object1(op, g.any(s, depth))
	}
}

func (g *generator) textual(s scope, depth int) value.Value {
	switch op := pick(g, "textual", "by types", "by types", "by types", "by types", "$trim", "$ltrim", "$rtrim", "$toString", "$dateToString", "$type", "part", "$reduce",
		"$regexFind"); op {
	case "by types":
		return g.byTypes(schema.String, s, depth)
	case "$regexFind":
		return g.regexMember(s, depth, "match")
	case "$trim", "$ltrim", "$rtrim":
		if g.chance("chars", 2) {
			return object1(op, members("input", g.expr(textual, s, depth)))
		}
		return object1(op, members("input", g.expr(textual, s, depth), "chars", pick(g, "chars", "a", "pe", "ß]", "^-a", " \\", "é'", "%_")))
	case "$toString", "$type":
		return object1(op, g.any(s, depth))
	case "$dateToString":
		return object1(op, g.withZone(members("date", g.expr(instant, s, depth), "format",
			pick(g, "format", "%Y-%m-%dT%H:%M:%S.%LZ", "%G-W%V-%u", "%j", "%H:%M", "%% 'x' \"%d\"", "%Y"))))
	case "$reduce":
		inside := append(s.of(func(c column) bool { return c.name[0] != '$' }), column{name: "$this", is: schema.JSON}, column{name: "$value", is: schema.JSON})
		return object1(op, members("input", g.expr(listed, s, depth), "initialValue", g.constant(textual), "in", g.expr(textual, inside, min(depth, 1))))
	default:
		parts := object1("$split", list(g.expr(textual, s, depth), value.OfString(pick(g, "separator", "a", "p", " ", "ß", "pp", "'", "é"))))
		return object1("$arrayElemAt", list(parts, whole(pick(g, "at", 0, 1, -1))))
	}
}

func (g *generator) condition(s scope, depth int) value.Value {
	switch op := pick(g, "condition", "compare", "compare", "compare", "$and", "$or", "$not", "$in", "$isArray", "$regexMatch", "$toBool", "truth"); op {
	case "compare":
		k := pick(g, "compared", number, number, textual, textual, instant, condition, listed)
		return object1(pick(g, "op", "$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), list(g.expr(k, s, depth), g.expr(k, s, depth)))
	case "$and", "$or":
		return object1(op, list(g.expr(condition, s, depth), g.expr(condition, s, depth)))
	case "$not":
		return object1(op, list(g.expr(condition, s, depth)))
	case "$in":
		return object1(op, list(g.any(s, depth), g.expr(listed, s, depth)))
	case "$isArray":
		return object1(op, list(pick(g, "of", g.expr(listed, s, depth), g.leaf(number, s))))
	case "$regexMatch":
		return object1(op, members("input", g.expr(textual, s, depth), "regex", pick(g, "regex", "^a", "pp", "[a-c]+$", "ß|İ", `\d`, "^$", "."),
			"options", pick(g, "options", "", "i")))
	case "$toBool":
		return object1(op, g.any(s, depth))
	default:
		return object1("$and", list(g.any(s, depth)))
	}
}

func (g *generator) instant(s scope, depth int) value.Value {
	switch op := pick(g, "instant", "$dateTrunc", "$dateTrunc", "$dateAdd", "$dateSubtract", "$toDate", "shift", "$dateFromParts", "$dateFromString"); op {
	case "$dateFromParts":
		year := object1("$add", list(whole(2020), object1("$mod", list(g.expr(integer, s, depth), whole(9)))))
		return object1(op, members("year", year, "month", g.expr(integer, s, 0), "day", g.expr(integer, s, 0), "hour", g.constant(integer)))
	case "$dateFromString":
		return object1(op, members("dateString", g.expr(textual, s, depth), "onError", g.constant(instant), "onNull", g.expr(instant, s, 0)))
	case "$dateTrunc":
		m := g.week(members("date", g.expr(instant, s, depth), "unit", g.unit(false)))
		if !g.d.UTC {
			m = g.withZone(m)
		}
		return object1(op, m)
	case "$dateAdd", "$dateSubtract":
		return object1(op, g.withZone(members("startDate", g.expr(instant, s, depth), "unit", g.unit(true), "amount", g.expr(integer, s, depth))))
	case "$toDate":
		return object1(op, g.expr(pick(g, "from", number, textual, textual, instant), s, depth))
	default:
		return object1("$add", list(g.expr(instant, s, depth), g.expr(integer, s, depth)))
	}
}

// list draws an expression that returns a list.
func (g *generator) list(s scope, depth int) value.Value {
	switch op := pick(g, "list", "literal", "literal", "$split", "$slice", "$filter", "$filter", "$map", "$map", "$concatArrays", "sets", "$objectToArray", "$regexFind"); op {
	case "$regexFind":
		if g.d.lacks(FindAll) {
			return g.regexMember(s, depth, "captures")
		}
		return object1("$regexFindAll", g.regexInput(s, depth))
	case "literal":
		return list(g.any(s, depth), g.any(s, depth))
	case "$split":
		return object1(op, list(g.expr(textual, s, depth), value.OfString(pick(g, "separator", "a", "p", " ", "ß", ".", "é"))))
	case "$slice":
		if g.chance("from", 2) {
			return object1(op, list(g.expr(listed, s, depth), whole(pick(g, "from", 0, 1, -1, -5, 9)), whole(pick(g, "many", 1, 2, 10))))
		}
		return object1(op, list(g.expr(listed, s, depth), whole(pick(g, "many", 1, 2, -1, -2, 10))))
	case "$concatArrays":
		return object1(op, list(g.expr(listed, s, depth), g.expr(listed, s, depth)))
	case "sets":
		return object1(pick(g, "set", "$setUnion", "$setIntersection", "$setDifference"), list(g.expr(listed, s, depth), g.expr(listed, s, depth)))
	case "$objectToArray":
		return object1(op, g.objectFromPairs(s, depth))
	case "$filter":
		m := members("input", g.expr(listed, s, depth), "cond", g.expr(condition, append(s, column{name: "$this", is: schema.JSON}), depth))
		if g.chance("limit", 4) {
			m = members("input", g.expr(listed, s, depth), "as", "e", "cond", g.expr(condition, append(s, column{name: "$e", is: schema.JSON}), depth),
				"limit", whole(pick(g, "limit", 1, 2)))
		}
		return object1(op, m)
	default:
		name := pick(g, "as", "this", "e")
		inside := append(s, column{name: "$" + name, is: schema.JSON})
		in := g.any(inside, depth)
		if g.chance("object", 4) {
			in = members("k", in, "e", ref("$"+name))
		}
		return object1("$map", members("input", g.expr(listed, s, depth), "as", name, "in", in))
	}
}

// regexMember draws a member of the result of a regular expression.
func (g *generator) regexMember(s scope, depth int, member string) value.Value {
	vars := members("found", object1("$regexFind", g.regexInput(s, depth)))
	return object1("$let", members("vars", vars, "in", ref("$found."+member)))
}

// regexInput draws a text and a regular expression for which every database finds the same parts.
func (g *generator) regexInput(s scope, depth int) value.Value {
	regex := pick(g, "regex", "a", "(p)(p)?", "[a-c]+", "(ß)|(İ)", `\d+`, "^.", ".$", `(\d+)-(\d+)`, "([^a]*)a", "(a)*p", ".", `^([a-z]+)(\d)?$`, `\s+`)
	return members("input", g.expr(textual, s, depth), "regex", regex, "options", pick(g, "options", "", "i"))
}

// objectFromPairs draws an object whose member names come from the records.
func (g *generator) objectFromPairs(s scope, depth int) value.Value {
	pair := func() value.Value {
		if g.chance("object", 2) {
			return members("k", g.expr(textual, s, 0), "v", g.any(s, depth))
		}
		return list(g.expr(textual, s, 0), g.any(s, depth))
	}
	pairs := list(pair(), pair())
	if g.chance("more", 4) {
		pairs = g.expr(listed, s, depth)
	}
	return object1("$arrayToObject", list(pairs))
}
