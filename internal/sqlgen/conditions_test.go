package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

// conditionRow is a where object, its condition and the arguments. The tables below show conditions that only one
// dialect has or writes differently.
type conditionRow struct{ where, want, args string }

func conditions(t *testing.T, d sqlgen.Dialect, fields []schema.Field, rows []conditionRow) {
	t.Helper()
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "t", Table: "t", Key: []string{"id"}, Fields: fields}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range rows {
		permit, err := p.Read(reader, &query.Count{Class: "t", Where: where(t, tt.where)})
		if err != nil {
			t.Errorf("%s: %v", tt.where, err)
			continue
		}
		st, err := sqlgen.SQL(permit, d)
		// The subquery of $select reads the same class again.
		view, got, _ := strings.Cut(st.Text, " AS v1 WHERE ")
		got = strings.ReplaceAll(got, strings.TrimPrefix(view, "SELECT count(*) FROM "), "«t»")
		if err != nil {
			got = fmt.Sprintf("refused: %s: %s", problem.CodeOf(err), problem.Of(err).Detail)
		}
		args := arguments(st.Args)
		if want := expanded(t, strings.ReplaceAll(tt.want, "«t»", "<t>"), d); got != strings.ReplaceAll(want, "<t>", "«t»") || args != tt.args {
			t.Errorf("%s\n got %s\n     %s\nwant %s\n     %s", tt.where, got, args, tt.want, tt.args)
		}
	}
}

// selected returns a condition: the value of one field is equal to the value of another field in some record.
func selected(field, key string) string {
	return fmt.Sprintf(`{%q: {"$select": {"query": {"className": "t"}, "key": %q}}}`, field, key)
}

func TestSQLiteConditions(t *testing.T) {
	conditions(t, sqlite.Dialect(), []schema.Field{
		{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true}, {Name: "s", Type: schema.String, Native: "TEXT"},
		{Name: "ci", Type: schema.String, Native: "TEXT", Unordered: true}, {Name: "ci2", Type: schema.String, Native: "TEXT", Unordered: true},
		{Name: "name", Type: schema.String, Native: "VARCHAR"}, {Name: "u", Type: schema.UUID, Native: "UUID"},
		{Name: "money", Type: schema.Any, Native: "AMOUNT"}, {Name: "bare", Type: schema.Any}, {Name: "real", Type: schema.Double, Native: "REAL"}, {Name: "floats", Type: schema.Integer, Native: "FLOATING INT"},
		{Name: "float", Type: schema.Double, Native: "float"}, {Name: "double", Type: schema.Double, Native: "DOUBLE PRECISION"},
		{Name: "numeric", Type: schema.Double, Native: "NUMERIC"}, {Name: "at", Type: schema.Date, Native: "DATETIME"},
		{Name: "day", Type: schema.Day, Native: "DATE"}, {Name: "b", Type: schema.Boolean, Native: "BOOLEAN"},
		{Name: "raw", Type: schema.Bytes, Native: "BLOB"}, {Name: "doc", Type: schema.JSON, Native: "JSON"},
	}, []conditionRow{
		// A number that isn't an integer lies between two integers. From 2^63 on there are only doubles.
		{`{"id":9007199254740992.5}`, `1=0`, ``},
		{`{"id":{"$gt":9007199254740992.5}}`, `(v1."id" > ? AND typeof(v1."id") IN ('integer', 'real'))`, `9007199254740992`},
		{`{"id":{"$gte":9007199254740992.5}}`, `(v1."id" >= ? AND typeof(v1."id") IN ('integer', 'real'))`, `9007199254740993`},
		{`{"id":{"$lt":9007199254740992.5}}`, `(v1."id" < ? AND typeof(v1."id") IN ('integer', 'real'))`, `9007199254740993`},
		{`{"id":{"$lte":9007199254740992.5}}`, `(v1."id" <= ? AND typeof(v1."id") IN ('integer', 'real'))`, `9007199254740992`},
		{`{"id":{"$gt":-9007199254740992.5}}`, `(v1."id" > ? AND typeof(v1."id") IN ('integer', 'real'))`, `-9007199254740993`},
		{`{"id":{"$lt":9223372036854775807.5}}`, `(v1."id" < ? AND typeof(v1."id") IN ('integer', 'real'))`, `9.223372036854776e+18`},
		{`{"id":{"$gt":10000000000000000000}}`, `(v1."id" > ? AND typeof(v1."id") IN ('integer', 'real'))`, `1e+19`},
		{`{"id":{"$gt":-9223372036854775808.5}}`, `(v1."id" > ? AND typeof(v1."id") IN ('integer', 'real'))`, `-9.223372036854778e+18`},
		{`{"id":{"$gt":-10000000000000000000}}`, `(v1."id" > ? AND typeof(v1."id") IN ('integer', 'real'))`, `-1e+19`},
		{`{"id":{"$in":[1,9007199254740992.5,2.0]}}`, `(v1."id" IN (?, ?))`, `1 2`},
		{`{"real":9007199254740993}`, `v1."real" = ?`, `9.007199254740992e+15`},
		{`{"float":1}`, `v1."float" = ?`, `1.0`},
		{`{"floats":1}`, `v1."floats" = ?`, `1`},
		{`{"double":1.0}`, `v1."double" = ?`, `1.0`},
		{`{"numeric":1.0}`, `v1."numeric" = ?`, `1`},
		{`{"b":false}`, `v1."b" = ?`, `0`},
		{`{"b":{"$in":[true,false]}}`, `(v1."b" = ? OR v1."b" = ?)`, `1 0`},

		// Ids match in either case. A + before text keeps SQLite from comparing by the declared numeric type.
		{`{"u":{"$in":["00000000-0000-0000-0000-00000000000a","00000000-0000-0000-0000-00000000000B"]}}`, `(v1."u" IN (?, ?, ?, ?))`,
			`'00000000-0000-0000-0000-00000000000a' '00000000-0000-0000-0000-00000000000A' '00000000-0000-0000-0000-00000000000b' '00000000-0000-0000-0000-00000000000B'`},
		{`{"u":{"$gt":"00000000-0000-0000-0000-00000000000a"}}`, `(+v1."u" > ? AND typeof(v1."u") = 'text')`, `'00000000-0000-0000-0000-00000000000a'`},
		{`{"ci":{"$in":["a","b"]}}`, `(v1."ci" COLLATE BINARY IN (?, ?))`, `'a' 'b'`},
		{`{"money":"a"}`, `+v1."money" = ?`, `'a'`},
		{`{"money":{"$in":["a","b"]}}`, `(+v1."money" IN (?, ?))`, `'a' 'b'`},
		{`{"money":{"$in":[1,2]}}`, `(v1."money" IN (?, ?))`, `1 2`},
		{`{"bare":"a"}`, `v1."bare" = ?`, `'a'`},
		{`{"day":{"$in":["2026-01-31","2026-02-01"]}}`, `(«ms v1."day"» IN (?, ?))`, `1769817600000 1769904000000`},

		// A text with a prefix sorts before the next text without it.
		{`{"s":{"$startsWith":""}}`, `(v1."s" >= ? AND typeof(v1."s") = 'text')`, `''`},
		{"{\"s\":{\"$startsWith\":\"a\uD7FF\"}}", `(v1."s" >= ? AND v1."s" < ? AND typeof(v1."s") = 'text')`, "'a\uD7FF' 'a\uE000'"},
		{"{\"s\":{\"$startsWith\":\"a\U0010FFFF\"}}", `(v1."s" >= ? AND v1."s" < ? AND typeof(v1."s") = 'text')`, "'a\U0010FFFF' 'b'"},
		{"{\"s\":{\"$startsWith\":\"a\U0010FFFE\"}}", `(v1."s" >= ? AND v1."s" < ? AND typeof(v1."s") = 'text')`, "'a\U0010FFFE' 'a\U0010FFFF'"},
		{"{\"s\":{\"$startsWith\":\"\U0010FFFF\U0010FFFF\"}}", `(v1."s" >= ? AND typeof(v1."s") = 'text')`, "'\U0010FFFF\U0010FFFF'"},
		{"{\"s\":{\"$startsWith\":\"\U0010FFFF\"}}", `(v1."s" >= ? AND typeof(v1."s") = 'text')`, "'\U0010FFFF'"},

		// JSON.
		{`{"doc":9007199254740992.5}`, `EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE ((1=0 OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE 1=0))))`, ``},
		{`{"doc":{"$in":[1,2]}}`, `(EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE (((n1.type IN ('integer', 'real') AND n1.value IN (?, ?)) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE (n2.type IN ('integer', 'real') AND n2.value IN (?, ?)))))))`, `1 2 1 2`},
		{`{"doc":{"$in":["x","y"]}}`, `(EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE (((n1.type = 'text' AND n1.value IN (?, ?)) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE (n2.type = 'text' AND n2.value IN (?, ?)))))))`, `'x' 'y' 'x' 'y'`},
		{`{"doc":{"$in":[true,{}]}}`, `(EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE ((((n1.type IN ('true', 'false') AND n1.value = ?) OR (n1.type IN ('array', 'object') AND bailiwick_json_equal(n1.value, ?))) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE ((n2.type IN ('true', 'false') AND n2.value = ?) OR (n2.type IN ('array', 'object') AND bailiwick_json_equal(n2.value, ?))))))))`, `1 '{}' 1 '{}'`},
		{`{"doc":{"$nin":["x"]}}`, `(CASE WHEN (EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE (((n1.type = 'text' AND n1.value = ?) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE (n2.type = 'text' AND n2.value = ?)))))) THEN 0 ELSE 1 END)`, `'x' 'x'`},
		{`{"doc":{"$in":[]}}`, `1=0`, ``},
		{`{"doc":{"$in":["x",null,null]}}`, `(EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE ((((n1.type = 'text' AND n1.value = ?) OR n1.type = 'null') OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE ((n2.type = 'text' AND n2.value = ?) OR n2.type = 'null'))))) OR NOT EXISTS (SELECT 1 FROM «root v1."doc" n3» WHERE (1=1)))`, `'x' 'x'`},
		{`{"doc.a":{"$exists":false}}`, `(CASE WHEN EXISTS (SELECT 1 FROM «root v1."doc" n1»«step n1 n2 n3» WHERE n2.type = 'object' AND (NOT n3.type = 'null')) THEN 0 ELSE 1 END)`, `'$."a"'`},

		// Fields with fields: the columns are compared unchanged if both have the same declared type, otherwise
		// without it.
		{selected("s", "s"), `v1."s" IN (SELECT q1."s" FROM «t» AS q1)`, ``},
		{selected("s", "name"), `+v1."s" COLLATE BINARY IN (SELECT +q1."name" COLLATE BINARY FROM «t» AS q1)`, ``},
		{selected("s", "ci"), `+v1."s" COLLATE BINARY IN (SELECT +q1."ci" COLLATE BINARY FROM «t» AS q1)`, ``},
		{selected("ci", "ci2"), `+v1."ci" COLLATE BINARY IN (SELECT +q1."ci2" COLLATE BINARY FROM «t» AS q1)`, ``},
		{selected("at", "day"), `«ms v1."at"» IN (SELECT «ms q1."day"» FROM «t» AS q1)`, ``},
		{selected("u", "u"), `lower(v1."u") IN (SELECT lower(q1."u") FROM «t» AS q1)`, ``},
		{`{"s":{"$dontSelect":{"query":{"className":"t","where":{"b":true}},"key":"s"}}}`, `(CASE WHEN v1."s" IN (SELECT q1."s" FROM «t» AS q1 WHERE q1."b" = ?) THEN 0 ELSE 1 END)`, `1`},
	})
}

func TestPostgreSQLConditions(t *testing.T) {
	conditions(t, postgres.Dialect(), []schema.Field{
		{Name: "id", Type: schema.Integer, Native: "int8", NotNull: true}, {Name: "s", Type: schema.String, Native: "text"},
		{Name: "ci", Type: schema.String, Native: "citext", Unordered: true}, {Name: "mood", Type: schema.String, Native: "enum"},
		{Name: "name", Type: schema.String, Native: "varchar"}, {Name: "u", Type: schema.UUID, Native: "uuid"}, {Name: "r", Type: schema.Double, Native: "float4"},
		{Name: "x", Type: schema.Double, Native: "float8"}, {Name: "d", Type: schema.Decimal, Native: "numeric"}, {Name: "at", Type: schema.Date, Native: "timestamptz"},
		{Name: "local", Type: schema.Date, Native: "timestamp"}, {Name: "day", Type: schema.Day, Native: "date"}, {Name: "doc", Type: schema.JSON, Native: "jsonb"},
	}, []conditionRow{
		// Single precision is compared by its text.
		{`{"r":0.1}`, `v1."r"::text::float8 = $1::float8`, `0.1`},
		{`{"r":{"$in":[0.1,2]}}`, `(v1."r"::text::float8 = ANY($1::float8[]))`, `[0.1 2]`},
		{selected("r", "x"), `v1."r"::text::float8 IN (SELECT q1."x" FROM «t» AS q1)`, ``},

		// A list is one argument, in the type of the comparison.
		{`{"d":{"$in":[1,2]}}`, `(v1."d" = ANY($1::text[]::numeric[]))`, `[1 2]`},
		{`{"d":{"$in":[1.5,2]}}`, `(v1."d" = ANY($1::text[]::numeric[]))`, `[1.5 2]`},
		{`{"u":{"$in":["00000000-0000-0000-0000-00000000000A","00000000-0000-0000-0000-00000000000b"]}}`, `(v1."u" = ANY($1::uuid[]))`,
			`[00000000-0000-0000-0000-00000000000a 00000000-0000-0000-0000-00000000000b]`},
		{`{"ci":{"$in":["a","b"]}}`, `(v1."ci"::text COLLATE "C" = ANY($1::text[]))`, `[a b]`},
		{`{"mood":{"$in":["sad","glad"]}}`, `(v1."mood"::text = ANY($1::text[]))`, `[sad glad]`},
		{`{"local":{"$in":["2026-01-31T00:00:00Z","2026-02-01T00:00:00Z"]}}`, `(v1."local" = ANY($1::text[]::timestamp[]))`, `[2026-01-31 00:00:00 2026-02-01 00:00:00]`},
		{`{"day":{"$in":["2026-01-31","2026-02-01"]}}`, `(v1."day" = ANY($1::text[]::timestamp[]))`, `[2026-01-31 00:00:00 2026-02-01 00:00:00]`},
		{`{"at":{"$in":["2026-01-31T10:00:00Z","2026-02-01T10:00:00.5Z"]}}`, `(v1."at" = ANY($1::text[]::timestamptz[]))`, `[2026-01-31 10:00:00+00 2026-02-01 10:00:00.5+00]`},
		{`{"doc":{"$in":[1,2.5]}}`, `(EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE ((CASE jsonb_typeof(n1.v) WHEN 'number' THEN (n1.v)::numeric = ANY($1::text[]::numeric[]) END OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE CASE jsonb_typeof(n2.v) WHEN 'number' THEN (n2.v)::numeric = ANY($2::text[]::numeric[]) END)))))`, `[1 2.5] [1 2.5]`},
		{`{"doc":{"$in":["x","y"]}}`, `(EXISTS (SELECT 1 FROM «root v1."doc" n1» WHERE (((«text n1.v» = ANY($1::text[])) OR EXISTS (SELECT 1 FROM «elements n1 n2» WHERE («text n2.v» = ANY($2::text[])))))))`, `[x y] [x y]`},

		// The year 1 is not a year before it.
		{`{"at":{"$lt":"0001-01-01"}}`, `v1."at" < $1::timestamptz`, `'0001-01-01 00:00:00+00'`},
		{`{"at":{"$lt":"0000-12-31"}}`, `v1."at" < $1::timestamptz`, `'0001-12-31 00:00:00+00 BC'`},

		// Text with text: in the collation of an index, unless one of the two columns has its own collation.
		{selected("s", "name"), `v1."s" IN (SELECT q1."name" FROM «t» AS q1)`, ``},
		{selected("s", "ci"), `v1."s" COLLATE "C" IN (SELECT q1."ci"::text COLLATE "C" FROM «t» AS q1)`, ``},
		{selected("mood", "s"), `v1."mood"::text IN (SELECT q1."s" FROM «t» AS q1)`, ``},
		{selected("u", "u"), `v1."u" IN (SELECT q1."u" FROM «t» AS q1)`, ``},
		{`{"mood":{"$regex":"a"}}`, `(v1."mood"::text COLLATE "C" ~ $1::text)`, `'a'`},
		{`{"u":{"$regex":"a"}}`, `(v1."u"::text COLLATE "C" ~ $1::text)`, `'a'`},
	})
}

// placeRow is a query that continues from a position, and the expected text after WHERE.
type placeRow struct {
	order string // fields in order, with - for descending
	after []value.Value
	want  string
	args  string
}

func places(t *testing.T, d sqlgen.Dialect, fields []schema.Field, rows []placeRow) {
	t.Helper()
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "t", Table: "t", Key: []string{"id"}, Fields: fields}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range rows {
		q := &query.Find{Class: "t", Limit: 1, Keys: paths("id")}
		for _, name := range strings.Fields(tt.order) {
			name, desc := strings.CutPrefix(name, "-")
			q.Order = append(q.Order, query.Sort{Path: query.Path{name}, Desc: desc})
		}
		permit, err := p.Read(reader, q)
		if err != nil {
			t.Fatal(err)
		}
		if permit, err = permit.From(policy.Position{After: tt.after}); err != nil {
			t.Fatal(err)
		}
		st, err := sqlgen.SQL(permit, d)
		if err != nil {
			t.Errorf("%s: %v", tt.order, err)
			continue
		}
		_, got, _ := strings.Cut(st.Text, " AS v1 WHERE ")
		if args := arguments(st.Args); got != expanded(t, tt.want, d) || args != tt.args {
			t.Errorf("%s %v\n got %s\n     %s\nwant %s\n     %s", tt.order, tt.after, got, args, tt.want, tt.args)
		}
	}
}

// TestPlacesOfPages shows how a page continues from positions with several kinds of values.
func TestPlacesOfPages(t *testing.T) {
	at := value.OfDate(1769846400123456)
	places(t, sqlite.Dialect(), []schema.Field{{Name: "id", Type: schema.Integer, Native: "INTEGER"}, {Name: "at", Type: schema.Date, Native: "DATETIME"}}, []placeRow{
		{"-at", []value.Value{at, value.OfInt(1)}, `((«ms v1."at"» < ? OR «ms v1."at"» IS NULL) OR («ms v1."at"» = ? AND (v1."id" > ?))) ORDER BY «ms v1."at"» DESC, v1."id" LIMIT +?`,
			`1.769846400123456e+12 1.769846400123456e+12 1 2`},
	})
	places(t, postgres.Dialect(), []schema.Field{{Name: "id", Type: schema.UUID, Native: "uuid", NotNull: true}, {Name: "at", Type: schema.Date, Native: "timestamptz", NotNull: true},
		{Name: "r", Type: schema.Double, Native: "float4"}}, []placeRow{
		{"at", []value.Value{value.OfString("infinity"), value.OfString("00000000-0000-0000-0000-00000000000a")},
			`(v1."at" > $1::timestamptz OR (v1."at" = $2::timestamptz AND (v1."id" > $3::uuid))) ORDER BY v1."at", v1."id" LIMIT $4`,
			`'infinity' 'infinity' '00000000-0000-0000-0000-00000000000a' 2`},
		{"r", []value.Value{value.OfInt(1), value.OfString("00000000-0000-0000-0000-00000000000a")},
			`(v1."r"::text::float8 > $1::float8 OR (v1."r"::text::float8 = $2::float8 AND (v1."id" > $3::uuid))) ORDER BY v1."r"::text::float8 NULLS FIRST, v1."id" LIMIT $4`,
			`1.0 1.0 '00000000-0000-0000-0000-00000000000a' 2`},
	})
}
