package sourcetest

import (
	"maps"
	"slices"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/schema"
)

func to(field, target, key string) schema.Relation {
	return schema.Relation{Fields: []string{field}, Target: target, TargetFields: []string{key}}
}

func orgs() Table {
	return Table{Name: "orgs", Key: []string{"id"},
		Columns: []Column{{Name: "id", Is: schema.String, Required: true}, {Name: "name", Is: schema.String}, {Name: "settings", Is: schema.JSON}},
		Rows: `
["acme",   "Acme",  {"plan":{"name":"pro"},"flags":[{"on":true},{"on":false},3]}]
["globex", "Globex", null]
["ACME",   "Other", {"plan":"none"}]
`}
}

// users returns a table whose records point to an org and to another user. Some pointers are null, and some point to
// missing records.
func users() Table {
	return Table{Name: "users", Key: []string{"id"}, Foreign: []schema.Relation{to("boss", "users", "id"), to("org", "orgs", "id")},
		Columns: []Column{id, {Name: "name", Is: schema.String}, {Name: "org", Is: schema.String}, {Name: "boss", Is: schema.Integer}},
		Rows: `
[1, "Ann",  "acme",   null]
[2, "Bob",  "acme",   1]
[3, "Cat",  "globex", 2]
[4, "Dan",  null,     1]
[5, "Eve",  "gone",   99]
[9007199254740993, "Big", "ACME", 9007199254740993]
`}
}

// posts returns a table with a key of two fields.
func posts() Table {
	return Table{Name: "posts", Key: []string{"org", "num"}, Foreign: []schema.Relation{to("author", "users", "id"), to("org", "orgs", "id")},
		Columns: []Column{{Name: "org", Is: schema.String, Required: true}, {Name: "num", Is: schema.Integer, Required: true},
			{Name: "title", Is: schema.String}, {Name: "author", Is: schema.Integer}, {Name: "deleted", Is: schema.Boolean}, {Name: "meta", Is: schema.JSON}},
		Rows: `
["acme",   1, "First",  1,    false, {"tags":["x","y"],"n":1}]
["acme",   2, "Second", 2,    true,  {"tags":[],"n":2}]
["acme",   3, "Third",  null, null,  null]
["globex", 1, "First",  3,    false, {"tags":["x"]}]
["globex", 2, "Other",  77,   null,  {"n":null}]
["ACME",   1, "Case",   9007199254740993, false, {"n":[{"k":1},{"k":2},5]}]
`}
}

// comments returns a table whose records belong to an org through their author.
func comments() Table {
	return Table{Name: "comments", Key: []string{"id"}, Foreign: []schema.Relation{to("author", "users", "id")},
		Columns: []Column{id, {Name: "author", Is: schema.Integer}, {Name: "body", Is: schema.String}, {Name: "stars", Is: schema.Integer}, {Name: "hidden", Is: schema.Boolean}},
		Rows: `
[1, 1,    "one",   5,    false]
[2, 2,    "two",   5,    true]
[3, 3,    "three", 3,    false]
[4, 4,    "four",  3,    null]
[5, 5,    "five",  1,    false]
[6, null, "six",   null, false]
[7, 99,   "seven", 2,    false]
[8, 1,    "eight", 1,    null]
[9, 9007199254740993, "nine", 5, false]
`}
}

// parts returns a table whose records point to posts by both key fields. No query can follow this pointer.
func parts() Table {
	return Table{Name: "parts", Key: []string{"id"},
		Foreign: []schema.Relation{{Fields: []string{"org", "num"}, Target: "posts", TargetFields: []string{"org", "num"}}},
		Columns: []Column{id, {Name: "org", Is: schema.String}, {Name: "num", Is: schema.Integer}},
		Rows: `
[1, "acme",   1]
[2, "acme",   1]
[3, "globex", 9]
[4, null,     1]
`}
}

// visits returns a table with pointers that no source declares. One of them points to a text of another type and
// collation.
func visits() Table {
	return Table{Name: "visits", Key: []string{"id"},
		Columns: []Column{id, {Name: "who", Is: schema.Integer, Postgres: "integer", MySQL: "integer unsigned"},
			{Name: "kind", Is: schema.String, SQLite: "CHAR(4) COLLATE NOCASE", Postgres: "char(4)", MySQL: "char(4) CHARACTER SET latin1"},
			{Name: "mood", Is: schema.String, Postgres: "text COLLATE nocase"},
			{Name: "party", Is: schema.JSON}, {Name: "sorts", Is: schema.Array}},
		Rows: `
[1, 1,    "k1", "K1", [1, 2],                    ["k1", "K1"]]
[2, 3,    "K1", "9",  [3, 3, 77, null],          ["é", "nothing", null]]
[3, null, "é",  "É",  [],                        []]
[4, 77,   "k3", null, null,                      null]
[5, 2,    null, "k1", ["1", {"id": 2}, 2.5, true, 4],      ["10", "9", "10"]]
`}
}

// heldOther returns a table with fields whose types no source declares. Each field has another form, and some values
// have no valid form.
func heldOther() Table {
	return Table{Name: "held", Needs: Conversions, Key: []string{"id"},
		Columns: []Column{id, {Name: "ms", Is: schema.Integer}, {Name: "s", Is: schema.Integer}, {Name: "at", Is: schema.String}, {Name: "meta", Is: schema.String},
			{Name: "price", Is: schema.String}, {Name: "n", Is: schema.String}, {Name: "rate", Is: schema.String}, {Name: "cost", Is: schema.Double}, {Name: "on", Is: schema.Integer}, {Name: "day", Is: schema.Date}},
		Rows: `
[1,  0,                   0,                   "2026-01-31T08:00:00Z",      "{\"a\":1,\"tags\":[\"x\",null]}", "0.5",    "1",                   "0.5",  0.5,  1, "2026-01-31T00:00:00Z"]
[2,  1769846400000,       1769846400,          "2026-01-31T10:00:00+02:00", "{\"a\":{\"b\":\"it's\"}}",        "0.50",   "007",                 "5e-1", 2.25, 0, "2026-01-31T08:00:00Z"]
[3,  1769846400001,       1769846401,          "2026-01-31",                " [1, [2, {\"k\":[]}]] ",          "-3",     "-3",                  "-3",   -3,   -1, "2026-01-31T00:00:00.001Z"]
[4,  -1,                  -1,                  "1969-12-31T23:59:59.999Z",  "null",                            "",       "",                    "",     0,    2, "1969-12-31T00:00:00Z"]
[5,  null,                null,                null,                        null,                              null,     null,                  null,   null, null, null]
[6,  253402300799999,     253402300799,        "yesterday",                 "{'a':1}",                         "12,50",  "1.5",                 "a",    1e15, 1, "2026-02-01T00:00:00Z"]
[7,  253402300800000,     253402300800,        "2026-02-30",                "",                                "1.0.0",  "9223372036854775808", "1e400",7,    0, null]
[8,  -62135596800000,     -62135596800,        "2026-13-01T00:00:00Z",      "[1,]",                            "+4",     "9223372036854775807", "+4",   4,    0, "2026-01-31T00:00:00Z"]
[9,  -62135596800001,     -62135596801,        "0000-00-00",                "{\"a\":01}",                      " 5",     " 5",                  " 5",   null, 1, "1970-01-01T00:00:00Z"]
[10, 9223372036854775807, 9223372036854775807, "",                          "\"plain\"",                       "1e3",    "+5",                  "1e3",  1000, 1, "1960-02-29T12:00:00Z"]
[11, 1738310400000,       1738310400,          "2025-01-31T08:00:00.5Z",    "{\"a\" 1}",                       "NaN",    "0x1",                 "NaN",  3,    0, "1960-02-29T00:00:00Z"]
[12, 5000,                5,                   "2026-01-31 08:00:00Z",      "{\"a\":true,\"b\":-0.5,\"t\":\"\\\\x\\n\"}", "7",  "-0",    "Infinity", 5, 1, null]
[13, -9223372036854775808,-9223372036854775808,"x",                         "tru",                             "--1",    "--1",                 "--1",  9,    1, "9999-12-31T00:00:00Z"]
`}
}

// DeclaredRules returns rules that declare the pointers of visits and the types of held, which the classes don't
// declare.
func DeclaredRules(classes []schema.Class) map[string]policy.ClassRule {
	rules := map[string]policy.ClassRule{
		"visits": {Pointers: map[string]policy.Pointer{"who": {Class: "users"}, "kind": {Class: "kinds", Key: "id"}, "mood": {Class: "kinds"},
			"party": {Class: "users"}, "sorts": {Class: "kinds"}}},
		"held": {Types: map[string]schema.Form{"ms": schema.EpochMillis, "s": schema.EpochSeconds, "at": schema.DateText, "meta": schema.JSONText, "price": schema.DecimalForm,
			"n": schema.IntegerText, "rate": schema.DoubleText, "cost": schema.DecimalForm, "on": schema.Truth, "day": schema.Midnight}},
	}
	maps.DeleteFunc(rules, func(name string, _ policy.ClassRule) bool {
		return !slices.ContainsFunc(classes, func(c schema.Class) bool { return c.Name == name })
	})
	return rules
}
