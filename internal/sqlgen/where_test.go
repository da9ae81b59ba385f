package sqlgen_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
)

// fragments are abbreviations of recurring parts, with their exact texts. «step n1 n2 n3» is one step of a path from
// the node n1 through the objects n2 to the node n3.
var fragments = map[sqlgen.Dialect]map[string]string{
	sqlite.Dialect(): {
		"ms": "CASE typeof($1) WHEN 'text' THEN CASE WHEN $1 GLOB '[0-9][0-9][0-9][0-9]-*' THEN" +
			" CAST(round(unixepoch($1, 'subsec') * 1000) AS INTEGER) END" +
			" WHEN 'integer' THEN CASE WHEN $1 BETWEEN -99999999999 AND 99999999999 THEN $1 * 1000 ELSE $1 END" +
			" WHEN 'real' THEN CAST(round(($1 - 2440587.5) * 86400000) AS INTEGER) END",
		"things": things + `"main"."things" AS t) AS v1`,
		"root":   "json_each(json_array(json(CASE WHEN typeof($1) = 'blob' THEN NULL WHEN json_valid($1) THEN $1 ELSE json_quote($1) END))) AS $2",
		"node": "json_each(json_array(CASE $1.type WHEN 'array' THEN json($1.value) WHEN 'object' THEN json($1.value)" +
			" WHEN 'true' THEN json('true') WHEN 'false' THEN json('false') ELSE $1.value END)) AS $2",
		"step": ", json_each(CASE $1.type WHEN 'array' THEN $1.value WHEN 'object' THEN json_array(json($1.value)) ELSE '[]' END) AS $2" +
			", json_each(json_array(json(CASE $2.type WHEN 'object' THEN $2.value -> ? END))) AS $3",
		"elements": "json_each(CASE $1.type WHEN 'array' THEN $1.value ELSE '[]' END) AS $2",
	},
	postgres.Dialect(): {
		"things": things + `"public"."things" AS t) AS v1`,
		"root":   "(SELECT $1 AS v) AS $2",
		"step": ", LATERAL jsonb_array_elements(CASE jsonb_typeof($1.v) WHEN 'array' THEN $1.v WHEN 'object' THEN jsonb_build_array($1.v) ELSE '[]' END) AS $2(v)" +
			", LATERAL (SELECT $2.v -> $4::text AS v WHERE jsonb_typeof($2.v) = 'object') AS $3",
		"elements": "jsonb_array_elements(CASE jsonb_typeof($1.v) WHEN 'array' THEN $1.v ELSE '[]' END) AS $2(v)",
		"text":     "CASE jsonb_typeof($1) WHEN 'string' THEN $1 #>> '{}' END COLLATE \"C\"",
	},
	mariadb.Dialect(): {
		"bytes": "CONVERT($1 USING utf8mb4) COLLATE utf8mb4_nopad_bin",
		"date":  "DAYOFMONTH($1) BETWEEN 1 AND DAYOFMONTH(LAST_DAY($1))",
	},
}

const things = `(SELECT t."id", t."s", t."ci", t."code", t."n", t."x", t."d", t."b", t."at", t."local", t."day", t."u", t."raw", t."odd ""name""; --", t."doc", t."plain", t."tags" FROM `

var fragment = regexp.MustCompile(`«(\w+) ?([^»]*)»`)

func expanded(t *testing.T, text string, d sqlgen.Dialect) string {
	return fragment.ReplaceAllStringFunc(text, func(use string) string {
		m := fragment.FindStringSubmatch(use)
		body, ok := fragments[d][m[1]]
		if !ok {
			t.Fatalf("no fragment %s", use)
		}
		var pairs []string
		for i, arg := range strings.Fields(m[2]) {
			pairs = append(pairs, "$"+strconv.Itoa(i+1), arg)
		}
		return strings.NewReplacer(pairs...).Replace(body)
	})
}

func TestWhere(t *testing.T) {
	for _, tt := range whereRows {
		for _, d := range dialects {
			text, args := tt.sqlite, tt.sqliteArgs
			if d == postgres.Dialect() {
				text, args = tt.postgres, tt.postgresArgs
			}
			gotText, gotArgs := whereSQL(t, tt.where, d)
			if want := expanded(t, text, d); gotText != want || gotArgs != args {
				t.Errorf("%s\n got %s\n     %s\nwant %s\n     %s", tt.where, gotText, gotArgs, want, args)
			}
		}
	}
}

// whereRows are where objects, with the condition and the arguments in SQLite, then in PostgreSQL.
var whereRows = []struct{ where, sqlite, sqliteArgs, postgres, postgresArgs string }{
	{`{"id":1}`,
		`v1."id" = ?`, `1`,
		`v1."id" = $1::int8`, `1`},
	{`{"id":"1"}`,
		`v1."id" = ?`, `1`,
		`v1."id" = $1::int8`, `1`},
	{`{"s":"it's"}`,
		`v1."s" = ?`, `'it's'`,
		`v1."s" = $1::text`, `'it's'`},
	{`{"s":{"$ne":"x"}}`,
		`(CASE WHEN v1."s" = ? THEN 0 ELSE 1 END)`, `'x'`,
		`((v1."s" = $1::text) IS NOT TRUE)`, `'x'`},
	{`{"s":null}`,
		`v1."s" IS NULL`, ``,
		`v1."s" IS NULL`, ``},
	{`{"s":{"$ne":null}}`,
		`v1."s" IS NOT NULL`, ``,
		`v1."s" IS NOT NULL`, ``},
	{`{"s":{"$gt":"a","$lte":"b"}}`,
		`((v1."s" > ? AND typeof(v1."s") = 'text') AND (v1."s" <= ? AND typeof(v1."s") = 'text'))`, `'a' 'b'`,
		`(v1."s" COLLATE "C" > $1::text AND v1."s" COLLATE "C" <= $2::text)`, `'a' 'b'`},
	{`{"s":5}`,
		`1=0`, ``,
		`1=0`, ``},
	{`{"s":{"$ne":5}}`,
		`(CASE WHEN 1=0 THEN 0 ELSE 1 END)`, ``,
		`((1=0) IS NOT TRUE)`, ``},
	{`{"s":{"$in":["a","b",null]}}`,
		`((v1."s" IN (?, ?)) OR v1."s" IS NULL)`, `'a' 'b'`,
		`((v1."s" = ANY($1::text[])) OR v1."s" IS NULL)`, `[a b]`},
	{`{"n":{"$in":[1,2,2.0]}}`,
		`(v1."n" IN (?, ?, ?))`, `1 2 2`,
		`(v1."n" = ANY($1::text[]::numeric[]))`, `[1 2 2.0]`},
	{`{"n":{"$in":[1,2]}}`,
		`(v1."n" IN (?, ?))`, `1 2`,
		`(v1."n" = ANY($1::int8[]))`, `[1 2]`},
	{`{"x":{"$in":[1,0.1]}}`,
		`(v1."x" IN (?, ?))`, `1.0 0.1`,
		`(v1."x" = ANY($1::float8[]))`, `[1 0.1]`},
	{`{"at":{"$in":["2026-01-31T00:00:00Z","0000-01-01T00:00:00Z"]}}`,
		`(«ms v1."at"» IN (?, ?))`, `1769817600000 -62167219200000`,
		`(v1."at" = ANY($1::text[]::timestamptz[]))`, `[2026-01-31 00:00:00+00 0001-01-01 00:00:00+00 BC]`},
	{`{"s":{"$in":[]}}`,
		`1=0`, ``,
		`1=0`, ``},
	{`{"s":{"$nin":["a"]}}`,
		`(CASE WHEN v1."s" = ? THEN 0 ELSE 1 END)`, `'a'`,
		`((v1."s" = $1::text) IS NOT TRUE)`, `'a'`},
	{`{"s":{"$exists":true}}`,
		`v1."s" IS NOT NULL`, ``,
		`v1."s" IS NOT NULL`, ``},
	{`{"s":{"$exists":false}}`,
		`v1."s" IS NULL`, ``,
		`v1."s" IS NULL`, ``},
	{`{"s":{"$regex":"^a.c$","$options":"i"}}`,
		`(typeof(v1."s") = 'text' AND bailiwick_matches(?, v1."s"))`, `'(?i)^a.c$'`,
		`(v1."s" COLLATE "C" ~ $1::text)`, `'(?:\A[Aa][^\n][Cc]\Z)'`},
	{`{"s":{"$startsWith":"a%"}}`,
		`(v1."s" >= ? AND v1."s" < ? AND typeof(v1."s") = 'text')`, `'a%' 'a&'`,
		`starts_with(v1."s" COLLATE "C", $1::text)`, `'a%'`},
	{`{"s":{"$not":{"$gt":"a"}}}`,
		`(CASE WHEN (v1."s" > ? AND typeof(v1."s") = 'text') THEN 0 ELSE 1 END)`, `'a'`,
		`((v1."s" COLLATE "C" > $1::text) IS NOT TRUE)`, `'a'`},
	{`{"ci":"Abc"}`,
		`v1."ci" COLLATE BINARY = ?`, `'Abc'`,
		`v1."ci"::text COLLATE "C" = $1::text`, `'Abc'`},
	{`{"ci":{"$gt":"b"}}`,
		`(v1."ci" COLLATE BINARY > ? AND typeof(v1."ci") = 'text')`, `'b'`,
		`v1."ci"::text COLLATE "C" > $1::text`, `'b'`},
	{`{"ci":{"$startsWith":"a"}}`,
		`(v1."ci" COLLATE BINARY >= ? AND v1."ci" COLLATE BINARY < ? AND typeof(v1."ci") = 'text')`, `'a' 'b'`,
		`starts_with(v1."ci"::text COLLATE "C", $1::text)`, `'a'`},
	{`{"code":"ab"}`,
		`v1."code" = ?`, `'ab'`,
		`v1."code"::text = $1::text`, `'ab'`},
	{`{"n":7.0}`,
		`v1."n" = ?`, `7`,
		`v1."n" = $1::numeric`, `'7.0'`},
	{`{"n":{"$gt":1.5}}`,
		`(v1."n" > ? AND typeof(v1."n") IN ('integer', 'real'))`, `1.5`,
		`v1."n" > $1::numeric`, `'1.5'`},
	{`{"n":{"$gte":9007199254740992.5}}`,
		`(v1."n" >= ? AND typeof(v1."n") IN ('integer', 'real'))`, `9007199254740993`,
		`v1."n" >= $1::numeric`, `'9007199254740992.5'`},
	{`{"x":1}`,
		`v1."x" = ?`, `1.0`,
		`v1."x" = $1::float8`, `1.0`},
	{`{"x":{"$lt":0.1}}`,
		`(v1."x" < ? AND typeof(v1."x") IN ('integer', 'real'))`, `0.1`,
		`v1."x" < $1::float8`, `0.1`},
	{`{"d":{"$gte":12.50}}`,
		`(v1."d" >= ? AND typeof(v1."d") IN ('integer', 'real'))`, `12.5`,
		`v1."d" >= $1::numeric`, `'12.50'`},
	{`{"d":3}`,
		`v1."d" = ?`, `3`,
		`v1."d" = $1::int8`, `3`},
	{`{"b":true}`,
		`v1."b" = ?`, `1`,
		`v1."b" = $1::boolean`, `true`},
	{`{"b":{"$ne":true}}`,
		`(CASE WHEN v1."b" = ? THEN 0 ELSE 1 END)`, `1`,
		`((v1."b" = $1::boolean) IS NOT TRUE)`, `true`},
	{`{"at":"2026-01-31T10:00:00+01:00"}`,
		`«ms v1."at"» = ?`, `1769850000000`,
		`v1."at" = $1::timestamptz`, `'2026-01-31 09:00:00+00'`},
	{`{"at":{"$lt":"0000-01-01"}}`,
		`«ms v1."at"» < ?`, `-62167219200000`,
		`v1."at" < $1::timestamptz`, `'0001-01-01 00:00:00+00 BC'`},
	{`{"local":{"$gte":"2026-01-31T08:00:00.000001Z"}}`,
		`«ms v1."local"» >= ?`, `1.769846400000001e+12`,
		`v1."local" >= $1::timestamp`, `'2026-01-31 08:00:00.000001'`},
	{`{"day":{"$gt":"2026-01-31"}}`,
		`«ms v1."day"» > ?`, `1769817600000`,
		`v1."day" > $1::timestamp`, `'2026-01-31 00:00:00'`},
	{`{"u":"00000000-0000-0000-0000-00000000000A"}`,
		`v1."u" IN (?, ?)`, `'00000000-0000-0000-0000-00000000000a' '00000000-0000-0000-0000-00000000000A'`,
		`v1."u" = $1::uuid`, `'00000000-0000-0000-0000-00000000000a'`},
	{`{"u":{"$startsWith":"00"}}`,
		`(+v1."u" >= ? AND +v1."u" < ? AND typeof(v1."u") = 'text')`, `'00' '01'`,
		`starts_with(v1."u"::text COLLATE "C", $1::text)`, `'00'`},
	{`{"raw":"aGk="}`,
		`v1."raw" = ?`, `x'6869'`,
		`v1."raw" = $1::bytea`, `x'6869'`},
	{`{"raw":{"$lt":"aGk="}}`,
		`(v1."raw" < ? AND typeof(v1."raw") = 'blob')`, `x'6869'`,
		`v1."raw" < $1::bytea`, `x'6869'`},
	{`{"odd \"name\"; --":"'; DROP TABLE things; --"}`,
		`v1."odd ""name""; --" = ?`, `''; DROP TABLE things; --'`,
		`v1."odd ""name""; --" = $1::text`, `''; DROP TABLE things; --'`},
	{`{"$and":[{"id":1},{"s":"x"}]}`,
		`(v1."id" = ? AND v1."s" = ?)`, `1 'x'`,
		`(v1."id" = $1::int8 AND v1."s" = $2::text)`, `1 'x'`},
	{`{"$or":[{"id":1},{"$nor":[{"s":"x"},{"n":2}]}]}`,
		`(v1."id" = ? OR (CASE WHEN (v1."s" = ? OR v1."n" = ?) THEN 0 ELSE 1 END))`, `1 'x' 2`,
		`(v1."id" = $1::int8 OR (((v1."s" = $2::text OR v1."n" = $3::int8)) IS NOT TRUE))`, `1 'x' 2`},
	{`{"$not":{"id":1}}`,
		`(CASE WHEN v1."id" = ? THEN 0 ELSE 1 END)`, `1`,
		`((v1."id" = $1::int8) IS NOT TRUE)`, `1`},
	{`{"doc":{"$exists":true}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE (NOT n1.type = 'null'))`, ``,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE (NOT coalesce(jsonb_typeof(n1.v), 'null') = 'null'))`, ``},
	{`{"doc.a":1}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type IN ('integer', 'real') AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type IN ('integer', 'real') AND n4.value = ?)))))`, `'$."a"' 1 1`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((CASE jsonb_typeof(n3.v) WHEN 'number' THEN (n3.v)::numeric = $2::int8 END OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE CASE jsonb_typeof(n4.v) WHEN 'number' THEN (n4.v)::numeric = $3::int8 END))))`, `'a' 1 1`},
	{`{"doc.a":1.5}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type IN ('integer', 'real') AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type IN ('integer', 'real') AND n4.value = ?)))))`, `'$."a"' 1.5 1.5`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((CASE jsonb_typeof(n3.v) WHEN 'number' THEN (n3.v)::numeric = $2::numeric END OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE CASE jsonb_typeof(n4.v) WHEN 'number' THEN (n4.v)::numeric = $3::numeric END))))`, `'a' '1.5' '1.5'`},
	{`{"doc.a":"x"}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type = 'text' AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type = 'text' AND n4.value = ?)))))`, `'$."a"' 'x' 'x'`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE (((«text n3.v» = $2::text) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE («text n4.v» = $3::text)))))`, `'a' 'x' 'x'`},
	{`{"doc.a":true}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type IN ('true', 'false') AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type IN ('true', 'false') AND n4.value = ?)))))`, `'$."a"' 1 1`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((CASE jsonb_typeof(n3.v) WHEN 'boolean' THEN (n3.v)::boolean = $2::boolean END OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE CASE jsonb_typeof(n4.v) WHEN 'boolean' THEN (n4.v)::boolean = $3::boolean END))))`, `'a' true true`},
	{`{"doc.a":{"b":[1]}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type IN ('array', 'object') AND bailiwick_json_equal(n3.value, ?)) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type IN ('array', 'object') AND bailiwick_json_equal(n4.value, ?))))))`, `'$."a"' '{"b":[1]}' '{"b":[1]}'`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((n3.v = $2::jsonb OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE n4.v = $3::jsonb))))`, `'a' '{"b":[1]}' '{"b":[1]}'`},
	{`{"doc.a":null}`,
		`(EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND ((n3.type = 'null' OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE n4.type = 'null')))) OR NOT EXISTS (SELECT 1 FROM «root v1."doc" n5»«step n5 n6 n7» WHERE n6.type = 'object' AND (1=1)))`, `'$."a"' '$."a"'`,
		`(EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((coalesce(jsonb_typeof(n3.v), 'null') = 'null' OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE coalesce(jsonb_typeof(n4.v), 'null') = 'null')))) OR NOT EXISTS (SELECT 1 FROM «root v1."doc" n5»«step n5 n6 n7 $2» WHERE (1=1)))`, `'a' 'a'`},
	{`{"doc.a":{"$ne":1}}`,
		`(CASE WHEN EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type IN ('integer', 'real') AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type IN ('integer', 'real') AND n4.value = ?))))) THEN 0 ELSE 1 END)`, `'$."a"' 1 1`,
		`((EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((CASE jsonb_typeof(n3.v) WHEN 'number' THEN (n3.v)::numeric = $2::int8 END OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE CASE jsonb_typeof(n4.v) WHEN 'number' THEN (n4.v)::numeric = $3::int8 END))))) IS NOT TRUE)`, `'a' 1 1`},
	{`{"doc.a.it's":{"$gt":2}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3»«step n3 n4 n5» WHERE n2.type = 'object' AND n4.type = 'object' AND (((n5.type IN ('integer', 'real') AND n5.value > ?) OR EXISTS (SELECT 1 FROM «elements n5 n6» WHERE (n6.type IN ('integer', 'real') AND n6.value > ?)))))`, `'$."a"' '$."it's"' 2 2`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1»«step n3 n4 n5 $2» WHERE ((CASE jsonb_typeof(n5.v) WHEN 'number' THEN (n5.v)::numeric > $3::int8 END OR EXISTS (SELECT 1 FROM «elements n5 n6» WHERE CASE jsonb_typeof(n6.v) WHEN 'number' THEN (n6.v)::numeric > $4::int8 END))))`, `'a' 'it's' 2 2`},
	{`{"doc.a":{"$in":["x",null]}}`,
		`(EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND ((((n3.type = 'text' AND n3.value = ?) OR n3.type = 'null') OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE ((n4.type = 'text' AND n4.value = ?) OR n4.type = 'null'))))) OR NOT EXISTS (SELECT 1 FROM «root v1."doc" n5»«step n5 n6 n7» WHERE n6.type = 'object' AND (1=1)))`, `'$."a"' 'x' 'x' '$."a"'`,
		`(EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((((«text n3.v» = $2::text) OR coalesce(jsonb_typeof(n3.v), 'null') = 'null') OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE ((«text n4.v» = $3::text) OR coalesce(jsonb_typeof(n4.v), 'null') = 'null'))))) OR NOT EXISTS (SELECT 1 FROM «root v1."doc" n5»«step n5 n6 n7 $4» WHERE (1=1)))`, `'a' 'x' 'x' 'a'`},
	{`{"doc.a":{"$regex":"^x"}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type = 'text' AND bailiwick_matches(?, n3.value)) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type = 'text' AND bailiwick_matches(?, n4.value))))))`, `'$."a"' '^x' '^x'`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE (((«text n3.v» ~ $2::text) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE («text n4.v» ~ $3::text)))))`, `'a' '(?:\Ax)' '(?:\Ax)'`},
	{`{"doc.a":{"$startsWith":"x"}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.value >= ? AND n3.value < ? AND n3.type = 'text') OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.value >= ? AND n4.value < ? AND n4.type = 'text')))))`, `'$."a"' 'x' 'y' 'x' 'y'`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((starts_with(«text n3.v», $2::text) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE starts_with(«text n4.v», $3::text)))))`, `'a' 'x' 'x'`},
	{`{"doc.a":{"$size":2}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (CASE n3.type WHEN 'array' THEN json_array_length(n3.value) END = ?))`, `'$."a"' 2`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE (CASE jsonb_typeof(n3.v) WHEN 'array' THEN jsonb_array_length(n3.v) END = $2::int8))`, `'a' 2`},
	{`{"doc.a":{"$elemMatch":{"b":1}}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (EXISTS (SELECT 1 FROM «elements n3 n4» WHERE EXISTS (SELECT 1 FROM «node n4 n5»«step n5 n6 n7» WHERE n6.type = 'object' AND (((n7.type IN ('integer', 'real') AND n7.value = ?) OR EXISTS (SELECT 1 FROM «elements n7 n8» WHERE (n8.type IN ('integer', 'real') AND n8.value = ?))))))))`, `'$."a"' '$."b"' 1 1`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE (EXISTS (SELECT 1 FROM «elements n3 n4» WHERE EXISTS (SELECT 1 FROM «root n4.v n5»«step n5 n6 n7 $2» WHERE ((CASE jsonb_typeof(n7.v) WHEN 'number' THEN (n7.v)::numeric = $3::int8 END OR EXISTS (SELECT 1 FROM «elements n7 n8» WHERE CASE jsonb_typeof(n8.v) WHEN 'number' THEN (n8.v)::numeric = $4::int8 END)))))))`, `'a' 'b' 1 1`},
	{`{"doc.a":{"$elemMatch":{"$gte":1}}}`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (EXISTS (SELECT 1 FROM «elements n3 n4» WHERE EXISTS (SELECT 1 FROM «node n4 n5» WHERE (((n5.type IN ('integer', 'real') AND n5.value >= ?) OR EXISTS (SELECT 1 FROM «elements n5 n6» WHERE (n6.type IN ('integer', 'real') AND n6.value >= ?))))))))`, `'$."a"' 1 1`,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE (EXISTS (SELECT 1 FROM «elements n3 n4» WHERE EXISTS (SELECT 1 FROM «root n4.v n5» WHERE ((CASE jsonb_typeof(n5.v) WHEN 'number' THEN (n5.v)::numeric >= $2::int8 END OR EXISTS (SELECT 1 FROM «elements n5 n6» WHERE CASE jsonb_typeof(n6.v) WHEN 'number' THEN (n6.v)::numeric >= $3::int8 END)))))))`, `'a' 1 1`},
	{`{"plain.a":1}`,
		`EXISTS (SELECT 1 FROM «root v1."plain" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (((n3.type IN ('integer', 'real') AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type IN ('integer', 'real') AND n4.value = ?)))))`, `'$."a"' 1 1`,
		`EXISTS (SELECT 1 FROM (SELECT CASE WHEN regexp_replace(v1."plain"::text, '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}', '', 'g') ~ '\\u(0000|[dD][89a-fA-F])|[0-9][eE][+-]?[0-9]{4}' THEN NULL ELSE v1."plain"::jsonb END AS v) AS n1«step n1 n2 n3 $1» WHERE ((CASE jsonb_typeof(n3.v) WHEN 'number' THEN (n3.v)::numeric = $2::int8 END OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE CASE jsonb_typeof(n4.v) WHEN 'number' THEN (n4.v)::numeric = $3::int8 END))))`, `'a' 1 1`},
	{`{"tags":"a"}`,
		`EXISTS (SELECT 1 FROM «root v1."tags" n1» WHERE (((n1.type = 'text' AND n1.value = ?) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE (n2.type = 'text' AND n2.value = ?)))))`, `'a' 'a'`,
		`EXISTS (SELECT 1 FROM (SELECT to_jsonb(v1."tags") AS v) AS n1 WHERE (((«text n1.v» = $1::text) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE («text n2.v» = $2::text)))))`, `'a' 'a'`},
	{`{"tags":{"$all":["a","b"]}}`,
		`(EXISTS (SELECT 1 FROM «root v1."tags" n1» WHERE (((n1.type = 'text' AND n1.value = ?) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE (n2.type = 'text' AND n2.value = ?))))) AND EXISTS (SELECT 1 FROM «root v1."tags" n3» WHERE (((n3.type = 'text' AND n3.value = ?) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE (n4.type = 'text' AND n4.value = ?))))))`, `'a' 'a' 'b' 'b'`,
		`(EXISTS (SELECT 1 FROM (SELECT to_jsonb(v1."tags") AS v) AS n1 WHERE (((«text n1.v» = $1::text) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE («text n2.v» = $2::text))))) AND EXISTS (SELECT 1 FROM (SELECT to_jsonb(v1."tags") AS v) AS n3 WHERE (((«text n3.v» = $3::text) OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE («text n4.v» = $4::text))))))`, `'a' 'a' 'b' 'b'`},
	{`{"doc.a\"b":1}`,
		`refused: unsupported_by_source: "a\"b": a JSON key with a quote or a backslash can't be filtered in SQLite`, ``,
		`EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3 $1» WHERE ((CASE jsonb_typeof(n3.v) WHEN 'number' THEN (n3.v)::numeric = $2::int8 END OR EXISTS (SELECT 1 FROM «elements n3 n4» WHERE CASE jsonb_typeof(n4.v) WHEN 'number' THEN (n4.v)::numeric = $3::int8 END))))`, `'a"b' 1 1`},
	{`{"s":{"$regex":"a{300}"}}`,
		`(typeof(v1."s") = 'text' AND bailiwick_matches(?, v1."s"))`, `'a{300}'`,
		`refused: unsupported_by_source: PostgreSQL repeats at most 255 times in a regular expression`, ``},
}
