package pipelines

import (
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
)

var id = sourcetest.Column{Name: "id", Is: schema.Integer, Required: true}

// tables returns the tables that only this package uses, in addition to those of sourcetest.
func tables() []sourcetest.Table {
	return []sourcetest.Table{people(), teams(), sales(), hops(), nothing(), doubles(), values(), loose()}
}

func to(field, target string) schema.Relation {
	return schema.Relation{Fields: []string{field}, Target: target, TargetFields: []string{"id"}}
}

// people returns a table whose records point to a team and to another person. Doubles are multiples of 0.25, so that
// every sum is exact.
func people() sourcetest.Table {
	return sourcetest.Table{Name: "people", Key: []string{"id"}, Foreign: []schema.Relation{to("boss", "people"), to("team", "teams")},
		Columns: []sourcetest.Column{id, {Name: "name", Is: schema.String}, {Name: "team", Is: schema.String}, {Name: "boss", Is: schema.Integer},
			{Name: "born", Is: schema.Date}, {Name: "level", Is: schema.Integer}, {Name: "rate", Is: schema.Double}, {Name: "pay", Is: schema.Decimal},
			{Name: "skills", Is: schema.JSON}, {Name: "home", Is: schema.JSON}, {Name: "active", Is: schema.Boolean}},
		Rows: `
[1, "Ann", "red",  null, "1980-02-29T12:00:00Z", 3,    2.5,   1000.25, ["go","sql"],     {"city":"Oslo","zip":"0150"},        true]
[2, "Bob", "red",  1,    "1990-12-31T23:30:00Z", 2,    0.75,  800.5,   ["sql"],          {"city":"Bergen"},                   true]
[3, "Cem", "blue", 1,    null,                   2,    null,  800.5,   [],               {"$sql":null},                       false]
[4, "Dee", "blue", 3,    "1980-02-29T12:00:00Z", null, -1.25, null,    {"$sql":null},    {"city":"Oslo","tags":["x","y"]},    null]
[5, "Éva", null,   4,    "2000-01-01T00:00:00Z", 1,    0,     0.75,    ["go","go",null], {"city":null},                       true]
[6, "eve", "gone", 6,    null,                   null, null,  null,    [[1],"sql"],      {},                                  false]
`}
}

func teams() sourcetest.Table {
	return sourcetest.Table{Name: "teams", Key: []string{"id"},
		Columns: []sourcetest.Column{{Name: "id", Is: schema.String, Required: true}, {Name: "name", Is: schema.String}, {Name: "goal", Is: schema.Integer}},
		Rows: `
["red",  "Red Team", 10]
["blue", "Blue",     null]
["void", "Nobody",   5]
`}
}

func sales() sourcetest.Table {
	return sourcetest.Table{Name: "sales", Key: []string{"id"}, Foreign: []schema.Relation{to("seller", "people")},
		Columns: []sourcetest.Column{id, {Name: "seller", Is: schema.Integer}, {Name: "item", Is: schema.String}, {Name: "qty", Is: schema.Integer},
			{Name: "price", Is: schema.Double}, {Name: "at", Is: schema.Date}},
		Rows: `
[1, 1,    "pen", 3,    0.5,  "2026-01-05T10:00:00Z"]
[2, 1,    "ink", 1,    4.25, "2026-01-31T23:30:00Z"]
[3, 2,    "pen", 10,   0.5,  "2026-02-01T00:30:00Z"]
[4, 2,    "pad", null, 2,    null]
[5, 3,    "pen", 0,    null, "2026-03-29T01:30:00Z"]
[6, null, "ink", 2,    4.25, "2026-03-29T00:59:59.999Z"]
[7, 99,   null,  5,    1,    "2025-12-29T08:00:00Z"]
`}
}

// hops returns a table whose records point to one another: in a ring, in a line, to themselves, to nothing, and from
// a fork.
func hops() sourcetest.Table {
	return sourcetest.Table{Name: "hops", Key: []string{"n"},
		Columns: []sourcetest.Column{{Name: "n", Is: schema.Integer, Required: true}, {Name: "next", Is: schema.Integer}, {Name: "kind", Is: schema.String}},
		Rows: `
[1, 2,    "ring"]
[2, 3,    "ring"]
[3, 1,    "ring"]
[4, 5,    "line"]
[5, null, "line"]
[6, 6,    "self"]
[7, 99,   "lost"]
[8, 4,    "fork"]
[9, 4,    "fork"]
`}
}

// nothing returns a table without records.
func nothing() sourcetest.Table {
	return sourcetest.Table{Name: "nothing", Key: []string{"id"}, Columns: []sourcetest.Column{id, {Name: "n", Is: schema.Integer},
		{Name: "x", Is: schema.Double}, {Name: "s", Is: schema.String}, {Name: "at", Is: schema.Date}, {Name: "doc", Is: schema.JSON}}}
}

// doubles returns a table of doubles whose binary sum depends on the order of the summands. No value is near 2^54.
// There, two decimals can be equally near to a double and databases choose differently, so a difference would be
// visible.
func doubles() sourcetest.Table {
	return sourcetest.Table{Name: "doubles", Key: []string{"id"}, Columns: []sourcetest.Column{id, {Name: "kind", Is: schema.String}, {Name: "x", Is: schema.Double}},
		Rows: `
[1,  "tenths", 0.1]
[2,  "tenths", 0.2]
[3,  "tenths", 0.3]
[4,  "far",    1e22]
[5,  "far",    1]
[6,  "far",    -1e22]
[7,  "tiny",   5e-324]
[8,  "tiny",   5e-324]
[9,  "huge",   1.7e308]
[10, "huge",   1.7e308]
[11, "mixed",  1e300]
[12, "mixed",  -1e300]
[13, "mixed",  1e-300]
[14, "zero",   -0.0]
[15, "zero",   null]
[16, "gone",   null]
[17, "zero",   0.0]
`}
}

// values returns a table with one record for computations.
func values() sourcetest.Table {
	return sourcetest.Table{Name: "values", Key: []string{"id"}, Columns: []sourcetest.Column{id,
		{Name: "i", Is: schema.Integer}, {Name: "j", Is: schema.Integer}, {Name: "big", Is: schema.Integer}, {Name: "x", Is: schema.Double},
		{Name: "y", Is: schema.Double}, {Name: "r", Is: schema.Double}, {Name: "d", Is: schema.Decimal}, {Name: "s", Is: schema.String},
		{Name: "pad", Is: schema.String}, {Name: "e", Is: schema.String}, {Name: "num", Is: schema.String}, {Name: "b", Is: schema.Boolean}, {Name: "f", Is: schema.Boolean},
		{Name: "at", Is: schema.Date}, {Name: "day", Is: schema.Day}, {Name: "u", Is: schema.UUID}, {Name: "list", Is: schema.JSON},
		{Name: "words", Is: schema.JSON}, {Name: "obj", Is: schema.JSON}, {Name: "ni", Is: schema.Integer}, {Name: "nx", Is: schema.Double},
		{Name: "ns", Is: schema.String}, {Name: "nb", Is: schema.Boolean}, {Name: "nat", Is: schema.Date}, {Name: "nj", Is: schema.JSON}},
		Rows: `
[1, 7, -3, 9223372036854775807, 2.5, -0.75, 2.675, 1.25, "Grüße, Welt", "  ab ", "", "42", true, false, "2026-03-29T00:30:05.125Z", "2024-02-29", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", [3,1,2], ["b","a",null,"b"], {"a":{"b":5},"c":[{"k":1},{"k":2},{}],"s":"x","t":"2026-01-31T10:00:00Z","h":2.5}, null, null, null, null, null, {"$sql":null}]
`}
}

// loose returns a table with a column that contains values of any type.
func loose() sourcetest.Table {
	return sourcetest.Table{Name: "loose", Needs: sourcetest.Untyped, Key: []string{"id"}, Columns: []sourcetest.Column{id, {Name: "v", Is: schema.Any}},
		Rows: `
[1, "abc"]
[2, 5]
[3, "5"]
[4, null]
[5, 2.5]
[6, 9007199254740993]
[7, "2026-01-31T08:00:00Z"]
[8, 5]
[9, ""]
`}
}
