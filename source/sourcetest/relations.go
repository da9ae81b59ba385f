package sourcetest

import "github.com/bailiwick-dev/bailiwick/schema"

func to(field, target, key string) schema.Relation {
	return schema.Relation{Fields: []string{field}, Target: target, TargetFields: []string{key}}
}

func orgs() table {
	return table{name: "orgs", key: []string{"id"},
		columns: []column{{name: "id", is: schema.String, required: true}, {name: "name", is: schema.String}, {name: "settings", is: schema.JSON}},
		rows: `
["acme",   "Acme",  {"plan":{"name":"pro"},"flags":[{"on":true},{"on":false},3]}]
["globex", "Globex", null]
["ACME",   "Other", {"plan":"none"}]
`}
}

// users point to an org and to another user; some pointers are null, some dangle.
func users() table {
	return table{name: "users", key: []string{"id"}, foreign: []schema.Relation{to("boss", "users", "id"), to("org", "orgs", "id")},
		columns: []column{id, {name: "name", is: schema.String}, {name: "org", is: schema.String}, {name: "boss", is: schema.Integer}},
		rows: `
[1, "Ann",  "acme",   null]
[2, "Bob",  "acme",   1]
[3, "Cat",  "globex", 2]
[4, "Dan",  null,     1]
[5, "Eve",  "gone",   99]
[9007199254740993, "Big", "ACME", 9007199254740993]
`}
}

// posts have a key of two fields.
func posts() table {
	return table{name: "posts", key: []string{"org", "num"}, foreign: []schema.Relation{to("author", "users", "id"), to("org", "orgs", "id")},
		columns: []column{{name: "org", is: schema.String, required: true}, {name: "num", is: schema.Integer, required: true},
			{name: "title", is: schema.String}, {name: "author", is: schema.Integer}, {name: "deleted", is: schema.Boolean}, {name: "meta", is: schema.JSON}},
		rows: `
["acme",   1, "First",  1,    false, {"tags":["x","y"],"n":1}]
["acme",   2, "Second", 2,    true,  {"tags":[],"n":2}]
["acme",   3, "Third",  null, null,  null]
["globex", 1, "First",  3,    false, {"tags":["x"]}]
["globex", 2, "Other",  77,   null,  {"n":null}]
["ACME",   1, "Case",   9007199254740993, false, {"n":[{"k":1},{"k":2},5]}]
`}
}

// comments belong to an org through their author.
func comments() table {
	return table{name: "comments", key: []string{"id"}, foreign: []schema.Relation{to("author", "users", "id")},
		columns: []column{id, {name: "author", is: schema.Integer}, {name: "body", is: schema.String}, {name: "stars", is: schema.Integer}, {name: "hidden", is: schema.Boolean}},
		rows: `
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

// parts point to posts by both fields of their key, which no query follows.
func parts() table {
	return table{name: "parts", key: []string{"id"},
		foreign: []schema.Relation{{Fields: []string{"org", "num"}, Target: "posts", TargetFields: []string{"org", "num"}}},
		columns: []column{id, {name: "org", is: schema.String}, {name: "num", is: schema.Integer}},
		rows: `
[1, "acme",   1]
[2, "acme",   1]
[3, "globex", 9]
[4, null,     1]
`}
}
