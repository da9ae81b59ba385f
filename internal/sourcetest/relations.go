package sourcetest

import (
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

// users point to an org and to another user; some pointers are null, some dangle.
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

// posts have a key of two fields.
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

// comments belong to an org through their author.
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

// parts point to posts by both fields of their key, which no query can follow.
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

// visits have pointers that no source declares, one of them to a text of another type and collation.
func visits() Table {
	return Table{Name: "visits", Key: []string{"id"},
		Columns: []Column{id, {Name: "who", Is: schema.Integer, Postgres: "integer", MySQL: "integer unsigned"},
			{Name: "kind", Is: schema.String, SQLite: "CHAR(4) COLLATE NOCASE", Postgres: "char(4)", MySQL: "char(4) CHARACTER SET latin1"},
			{Name: "mood", Is: schema.String, Postgres: "text COLLATE nocase"}},
		Rows: `
[1, 1,    "k1", "K1"]
[2, 3,    "K1", "9"]
[3, null, "é",  "É"]
[4, 77,   "k3", null]
[5, 2,    null, "k1"]
`}
}

// declared are the pointers of visits, as rules declare them.
var declared = policy.ClassRule{Pointers: map[string]policy.Pointer{"who": {Class: "users"}, "kind": {Class: "kinds", Key: "id"}, "mood": {Class: "kinds"}}}
