package sourcetest

import "github.com/bailiwick-dev/bailiwick/schema"

var id = Column{Name: "id", Is: schema.Integer, Required: true}

// Tables returns the tables of the suite.
func Tables() []Table {
	return []Table{texts(), numbers(), times(), kinds(), docs(), lists(), odd(), events(), untypedTable(), floats(), micros(),
		orgs(), users(), posts(), comments(), parts(), visits(), heldOther(), places()}
}

func texts() Table {
	return Table{Name: "texts", Key: []string{"id"},
		Columns: []Column{id, {Name: "s", Is: schema.String, Postgres: `text COLLATE "en-x-icu"`, MySQL: "varchar(150) COLLATE utf8mb4_unicode_ci"},
			{Name: "ci", Is: schema.String, SQLite: "TEXT COLLATE NOCASE", Postgres: "text COLLATE nocase",
				MySQL: "varchar(150) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci"},
			{Name: "code", Is: schema.String, SQLite: "CHAR(4)", Postgres: "char(4)", MySQL: "char(4) CHARACTER SET latin1"},
			{Name: "mood", Is: schema.String, Postgres: "mood", MySQL: "enum('sad', 'ok', 'happy')", DuckDB: "ENUM('sad', 'ok', 'happy')"}},
		Rows: `
[1,  "apple",            "abc",   "ab",   "sad"]
[2,  "Apple",            "ABC",   "AB",   "ok"]
[3,  "",                 "",      "",     "happy"]
[4,  null,               null,    null,   null]
[5,  "İstanbul",         "Abc",   "abcd", "sad"]
[6,  "istanbul",         "abd",   null,   null]
[7,  "straße",           "ß",     null,   null]
[8,  "STRASSE",          "SS",    null,   null]
[9,  "\u00e9tude",       null,    null,   "ok"]
[10, "e\u0301tude",      null,    null,   "ok"]
[11, "𝒳 marks",          null,    null,   null]
[12, "｡halfwidth",       null,    null,   null]
[13, "100%_sure",        "a%c",   "%",    null]
[14, "it's \"q\" \\ b",  "a_c",   "'",    null]
[15, "line1\nline2",     null,    null,   null]
[16, "apple pie",        "abcd",  null,   "happy"]
[17, "ſtop \u212a",      null,    null,   null]
[18, "null",             null,    null,   null]
[19, "42",               "42",    "42",   null]
[20, " apple",           " abc",  null,   null]
[21, "ΣΑΣ",              null,    null,   null]
[22, "σας",              null,    null,   null]
`}
}

func numbers() Table {
	return Table{Name: "numbers", Key: []string{"id"},
		Columns: []Column{id, {Name: "n", Is: schema.Integer}, {Name: "x", Is: schema.Double}, {Name: "d", Is: schema.Decimal, DuckDB: "DECIMAL(38,9)"},
			{Name: "small", Is: schema.Integer, Postgres: "smallint", MySQL: "smallint", DuckDB: "SMALLINT"}},
		Rows: `
[1,  0,                    0,           0,                               0]
[2,  1,                    1,           1.5,                             1]
[3,  -1,                   -1,          -3.25,                           -1]
[4,  null,                 null,        null,                            null]
[5,  9007199254740992,     9007199254740992, 9007199254740992,           32767]
[6,  9007199254740993,     9007199254740994, 9007199254740993,           -32768]
[7,  9223372036854775807,  1.5,         0.1,                             1]
[8,  -9223372036854775808, 0.1,         0.25,                            1]
[9,  42,                   "Infinity",  12345678901234567890123456789,   42]
[10, 1,                    "-Infinity", 123456789012345678.901234567,    null]
[11, 7,                    5e-324,      123456789012345678.901234568,    7]
[12, 7,                    1e300,       0.000000001,                     7]
`}
}

func times() Table {
	return Table{Name: "times", Key: []string{"id"},
		Columns: []Column{id, {Name: "at", Is: schema.Date}, {Name: "local", Is: schema.Date, Postgres: "timestamp", MySQL: "datetime(3)", DuckDB: "TIMESTAMP"}, {Name: "day", Is: schema.Day}},
		Rows: `
[1,  "2026-01-31T08:00:00Z",          "2026-01-31T08:00:00",     "2026-01-31"]
[2,  "2026-01-31T09:00:00+01:00",     "2026-01-31 08:00:00",     "2026-01-31"]
[3,  "2026-01-31T08:00:00.123Z",      "2026-01-31T08:00:00.123", "2026-02-01"]
[4,  null,                            null,                      null]
[5,  "1969-12-31T23:59:59.999Z",      "1969-12-31 23:59:59.999", "1969-12-31"]
[6,  "1970-01-01T00:00:00Z",          "1970-01-01T00:00:00",     "1970-01-01"]
[7,  "0001-01-01T00:00:00Z",          "0001-01-01T00:00:00",     "0001-01-01"]
[8,  "9999-12-31T23:59:59.999Z",      "9999-12-31T23:59:59.999", "9999-12-31"]
[9,  "2026-01-31 08:00:00.5-11:30",   "2026-01-31T08:00",        "2024-02-29"]
[10, "2026-01-30T23:59:59.999Z",      "2026-01-30T23:59:59.999", "2026-01-30"]
[11, "2026-01-31",                    "2026-01-31",              "2026-01-31"]
`}
}

// kinds returns a table with a text key.
func kinds() Table {
	return Table{Name: "kinds", Key: []string{"id"},
		Columns: []Column{{Name: "id", Is: schema.String, Required: true}, {Name: "b", Is: schema.Boolean}, {Name: "u", Is: schema.UUID}, {Name: "raw", Is: schema.Bytes}},
		Rows: `
["k1", true,  "00000000-0000-0000-0000-000000000001", "aGVsbG8="]
["K1", false, "ffffffff-ffff-4fff-bfff-ffffffffffff", "AAEC/w=="]
["k2", null,  null,                                   null]
["é",  true,  "6ba7b810-9dad-11d1-80b4-00c04fd430c8", ""]
["10", false, "6ba7b811-9dad-11d1-80b4-00c04fd430c8", "aGVsbG8h"]
["9",  true,  "00000000-0000-0000-0000-000000000001", "aGVsbG8="]
`}
}

func docs() Table {
	return Table{Name: "docs", Key: []string{"id"},
		Columns: []Column{id, {Name: "doc", Is: schema.JSON}, {Name: "plain", Is: schema.JSON, Postgres: "json"}},
		Rows: `
[1,  {"a":1,"b":{"c":"x"}},                                 {"a":1}]
[2,  {"a":null},                                            {"a":null}]
[3,  {"a":[1,2,3]},                                         {"a":[1,2]}]
[4,  {"a":[{"b":1},{"b":2},{"c":3}]},                       {"a":[{"b":1},{"c":3}]}]
[5,  {"a":{"b":[1,[2,3],null]}},                            {"a":{"b":"\u00fc"}}]
[6,  {},                                                    {}]
[7,  {"$sql":null},                                         {"$sql":null}]
[8,  null,                                                  null]
[9,  [],                                                    []]
[10, [1,"x",{"a":5}],                                       [1]]
[11, "scalar",                                              "scalar"]
[12, 42,                                                    42]
[13, true,                                                  false]
[14, {"a":9007199254740993,"big":9223372036854775807},      {"a":9007199254740993}]
[15, {"a":1.5},                                             {"a":1.5}]
[16, {"a":"1"},                                             {"a":"1"}]
[17, {"a":true},                                            {"a":true}]
[18, {"a":false},                                           {"a":"tab\tquote\""}]
[19, {"naïve":{"日本":"語"},"emoji😀":1},                    {"naïve":{"日本":"語"}}]
[20, {"a":[]},                                              {"a":[]}]
[21, {"a":{}},                                              {"a":{}}]
[22, {"a":[[1,2],[3]]},                                     {"a":[[1]]}]
[23, {"a":[{"b":{"c":1}},{"b":[{"c":2},{"c":null}]}]},      {"a":[{"b":{"c":1}}]}]
[24, {"a":{"x":1,"y":2}},                                   {"a":{"y":2,"x":1}}]
[25, {"a":[null]},                                          {"a":[null]}]
[26, {"a":"İ","t":["ß","x"]},                               {"a":"İ"}]
[27, {"q\"k":1,"b\\s":2,"it's":3},                          {"it's":3}]
[28, {"a":[1,"1",true,null,{"b":1},[1]]},                   {"a":[{"b":null}]}]
[29, {"0":"zero","a":{"0":"z"}},                            {"0":"zero"}]
[30, {"a":"","a.b":7,"":1},                                 {"a":""}]
[31, {"a":-0.5,"t":["xy","X"]},                             {"a":-0.5}]
[32, {"a":123456789012345678901234567890},                  {"a":1}]
`}
}

func lists() Table {
	return Table{Name: "lists", Key: []string{"id"},
		Columns: []Column{id, {Name: "tags", Is: schema.Array}, {Name: "nums", Is: schema.Array, Postgres: "bigint[]", DuckDB: "BIGINT[]"}},
		Rows: `
[1, ["a","b"],                       [1,2,3]]
[2, [],                              []]
[3, null,                            null]
[4, ["a",null],                      [null]]
[5, ["with,comma","q\"uote","b\\s"], [9007199254740993]]
[6, ["ß","İ","{x}"],                 [9007199254740992,-1]]
[7, ["1","null"],                    [1]]
`}
}

// odd returns a table whose names must always be quoted.
func odd() Table {
	return Table{Name: `odd "table"`, Needs: OddNames, Key: []string{`key "one"`, "select"},
		Columns: []Column{{Name: `key "one"`, Is: schema.String, Required: true}, {Name: "select", Is: schema.Integer, Required: true},
			{Name: "größe", Is: schema.Integer}, {Name: "a b", Is: schema.String}, {Name: "it's", Is: schema.String}, {Name: "Case", Is: schema.String}},
		Rows: `
["x",    1, 10,   "p", "q",  "r"]
["x",    2, 20,   "p", null, "R"]
["y\"y", 1, null, "'", "''", null]
["[\"",  3, 30,   "",  "?",  "$1"]
`}
}

// events returns a table without a key.
func events() Table {
	return Table{Name: "events",
		Columns: []Column{{Name: "kind", Is: schema.String, MySQL: "text COLLATE utf8mb4_general_ci"}, {Name: "n", Is: schema.Integer}, {Name: "at", Is: schema.Date}},
		Rows: `
["click", 1,    "2026-01-01T00:00:00Z"]
["click", 1,    "2026-01-01T00:00:00Z"]
["click", 2,    "2026-01-01T00:00:00Z"]
["view",  null, null]
[null,    3,    "2025-01-01T00:00:00Z"]
["view",  null, null]
["Click", 1,    "2026-01-02T00:00:00Z"]
`}
}

// untypedTable returns a table with columns in which SQLite stores any value, whatever type is declared.
func untypedTable() Table {
	return Table{Name: "untyped", Needs: Untyped, Key: []string{"id"},
		Columns: []Column{id, {Name: "v", Is: schema.Any}, {Name: "m", Is: schema.Any, SQLite: "AMOUNT"}, {Name: "at", Is: schema.Date}},
		Rows: `
[1, "abc",            "5 euro", "2026-01-31T08:00:00Z"]
[2, 5,                5,        1769846400]
[3, "5",              7,        1769846400123]
[4, null,             null,     null]
[5, 2.5,              2.5,      "soon"]
[6, 9007199254740993, "abc",    -1]
`}
}

// floats returns a table of floats that SQLite can't store.
func floats() Table {
	return Table{Name: "floats", Needs: NaN, Key: []string{"id"},
		Columns: []Column{id, {Name: "x", Is: schema.Double}},
		Rows: `
[1, "NaN"]
[2, "Infinity"]
[3, 1]
[4, null]
`}
}

// micros returns a table of dates that differ by less than the resolution of SQLite's functions.
func micros() Table {
	return Table{Name: "micros", Needs: Microseconds, Key: []string{"id"},
		Columns: []Column{id, {Name: "at", Is: schema.Date}, {Name: "local", Is: schema.Date, Postgres: "timestamp"}},
		Rows: `
[1, "2026-01-31T08:00:00.000001Z", "2026-01-31T08:00:00.000001"]
[2, "2026-01-31T08:00:00.000002Z", "2026-01-31T08:00:00.000002"]
[3, "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999"]
`}
}

// places returns a table with points in each form, and with values that are not points.
func places() Table {
	return Table{Name: "places", Key: []string{"id"},
		Columns: []Column{id, {Name: "at", Is: schema.JSON}},
		Rows: `
[1,  {"type":"Point","coordinates":[10.7522,59.9139]}]
[2,  {"type":"Point","coordinates":[5.3221,60.3913,12]}]
[3,  {"latitude":55.6761,"longitude":12.5683}]
[4,  {"lng":-179.9,"lat":0.5}]
[5,  {"p":[10,60]}]
[6,  {"p":[{"lon":10.5,"lat":60},[5,60]]}]
[7,  {"type":"Polygon","coordinates":[10.7522,59.9139]}]
[8,  {"type":"Point","coordinates":["10.7522","59.9139"]}]
[9,  {"p":[60,100]}]
[10, {"p":"10,60"}]
[11, null]
[12, {"p":[20,10]}]
[13, {"p":{"lat":10,"lng":22}}]
[14, {"p":{"type":"Point","coordinates":[21,10]}}]
[15, {"r":[180.1,1]}]
[16, {"r":[1,-90.1]}]
[17, {"r":[0,0]}]
[18, {"r":{"lat":0,"lng":180}}]
[19, {"r":{"latitude":null,"longitude":1,"lat":1,"lng":1}}]
[20, {"r":{"type":"Point","coordinates":{"0":1,"1":1},"lat":1,"lng":1}}]
[21, {"r":{"type":["Point"],"lat":-90,"lng":-180}}]
[22, {"r":{"type":"Point","coordinates":[1,2,3,4]}}]
[23, {"r":[true,1]}]
[24, {"r":[[1,2],[3]]}]
[25, {"r":[123456789012345678901234567890,1]}]
[26, {"r":[0.12345678901234567890123456789,-0.98765432109876543210987654321]}]
[27, {"r":[]}]
[28, {"r":"[1,2]"}]
`}
}
