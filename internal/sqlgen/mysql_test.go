package sqlgen_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/value"
)

// mariadbFields are fields as MariaDB's adapter describes them. As usual in MariaDB, text has its own collation. Only
// bin doesn't.
var mariadbFields = []schema.Field{
	{Name: "id", Type: schema.Integer, Native: "int", NotNull: true}, {Name: "s", Type: schema.String, Native: "varchar", Unordered: true},
	{Name: "bin", Type: schema.String, Native: "varchar"}, {Name: "d", Type: schema.Decimal, Native: "decimal"}, {Name: "x", Type: schema.Double, Native: "double"},
	{Name: "at", Type: schema.Date, Native: "datetime", NotNull: true}, {Name: "seen", Type: schema.Date, Native: "datetime"},
	{Name: "day", Type: schema.Day, Native: "date", NotNull: true}, {Name: "raw", Type: schema.Bytes, Native: "blob"},
	{Name: "b", Type: schema.Boolean, Native: "tinyint", NotNull: true}, {Name: "bits", Type: schema.Integer, Native: "bit"},
	{Name: "u", Type: schema.UUID, Native: "uuid"}, {Name: "doc", Type: schema.JSON, Native: "longtext"},
	{Name: "place", Type: schema.Opaque, Native: "geometry"}, {Name: "span", Type: schema.Opaque, Native: "time"},
}

// TestMySQLUnicode shows that text in the connection's character set is compared by bytes without a conversion.
func TestMySQLUnicode(t *testing.T) {
	fields := []schema.Field{{Name: "id", Type: schema.Integer, Native: "int", NotNull: true}, {Name: "s", Type: schema.String, Native: "varchar", Unordered: true, Unicode: true}}
	conditions(t, mariadb.Dialect(), fields, []conditionRow{
		{`{"s":"a"}`, "(v1.`s` = ? AND v1.`s` COLLATE utf8mb4_nopad_bin = ?)", `'a' 'a'`},
		{`{"s":{"$gt":"a"}}`, "v1.`s` COLLATE utf8mb4_nopad_bin > ?", `'a'`},
		{`{"s":{"$ne":"é"}}`, "((v1.`s` COLLATE utf8mb4_nopad_bin = ?) IS NOT TRUE)", `'é'`},
	})
}

// TestMySQLConditions shows conditions for MariaDB.
func TestMySQLConditions(t *testing.T) {
	conditions(t, mariadb.Dialect(), mariadbFields, []conditionRow{
		// Text compares by its bytes. The index finds texts that are equal in the column's collation, if the column's
		// character set contains the value.
		{`{"s":"a"}`, "(v1.`s` = ? AND «bytes v1.`s`» = ?)", `'a' 'a'`},
		{"{\"s\":\"\x7f\"}", "(v1.`s` = ? AND «bytes v1.`s`» = ?)", "'\x7f' '\x7f'"},
		{`{"s":"é"}`, "«bytes v1.`s`» = ?", `'é'`},
		{`{"s":{"$gt":"a"}}`, "«bytes v1.`s`» > ?", `'a'`},
		{`{"s":{"$in":["a","é"]}}`, "((v1.`s` = ? AND «bytes v1.`s`» = ?) OR «bytes v1.`s`» = ?)", `'a' 'a' 'é'`},
		{`{"bin":{"$ne":"a"}}`, "((v1.`bin` = ?) IS NOT TRUE)", `'a'`},
		{`{"bin":{"$startsWith":"az"}}`, "(v1.`bin` >= ? AND v1.`bin` < ?)", `'az' 'a{'`},
		{"{\"bin\":{\"$startsWith\":\"\U0010FFFF\"}}", "(v1.`bin` >= ?)", "'\U0010FFFF'"},
		{`{"bin":{"$regex":"^a.$","$options":"i"}}`, "(v1.`bin` REGEXP ?)", `'(?:\A[Aa][^\n]\z)'`},
		{`{"s":{"$regex":"\\pL{900}"}}`, "refused: unsupported_by_source: the regular expression grows too large for MariaDB. Write it shorter", ``},
		{`{"u":"00000000-0000-0000-0000-00000000000A"}`, "v1.`u` = ?", `'00000000-0000-0000-0000-00000000000a'`},
		{`{"u":{"$lt":"00000000-0000-0000-0000-00000000000A"}}`, "«bytes v1.`u`» < ?", `'00000000-0000-0000-0000-00000000000a'`},

		// Decimals with the same number of digits: 38, 30 and no digits after the point. A number with more digits lies
		// between two such decimals.
		{`{"d":3}`, "v1.`d` = ?", `3`},
		{`{"d":{"$lt":1.5}}`, "v1.`d` < CAST(? AS DECIMAL(65,38))", `'1.5'`},
		{`{"d":{"$lt":-100.0}}`, "v1.`d` < CAST(? AS DECIMAL(65,38))", `'-100'`},
		{`{"d":123456789012345678901234567.5}`, "v1.`d` = CAST(? AS DECIMAL(65,38))", `'123456789012345678901234567.5'`},
		{`{"d":1234567890123456789012345678.5}`, "v1.`d` = CAST(? AS DECIMAL(65,30))", `'1234567890123456789012345678.5'`},
		{`{"d":12345678901234567890123456789012345.5}`, "v1.`d` = CAST(? AS DECIMAL(65,30))", `'12345678901234567890123456789012345.5'`},
		{`{"d":123456789012345678901234567890123456}`, "v1.`d` = CAST(? AS DECIMAL(65,0))", `'123456789012345678901234567890123456'`},
		{`{"d":1e64}`, "v1.`d` = CAST(? AS DECIMAL(65,0))", `'10000000000000000000000000000000000000000000000000000000000000000'`},
		{`{"d":1e-40}`, "1=0", ``},
		{`{"d":{"$lt":1e-40}}`, "v1.`d` <= CAST(? AS DECIMAL(65,38))", `'0'`},
		{`{"d":{"$lte":1e-40}}`, "v1.`d` <= CAST(? AS DECIMAL(65,38))", `'0'`},
		{`{"d":{"$gt":1e-40}}`, "v1.`d` > CAST(? AS DECIMAL(65,38))", `'0'`},
		{`{"d":{"$gte":1e-40}}`, "v1.`d` > CAST(? AS DECIMAL(65,38))", `'0'`},
		{`{"d":{"$gt":1e70}}`, "1=0", ``},
		{`{"d":{"$lte":1e70}}`, "v1.`d` IS NOT NULL", ``},
		{`{"d":{"$gte":-1e70}}`, "v1.`d` IS NOT NULL", ``},
		{`{"d":{"$lt":-1e70}}`, "1=0", ``},
		{`{"d":1e70}`, "1=0", ``},
		{`{"d":-1e70}`, "1=0", ``},
		{`{"x":0.1}`, "v1.`x` = ?", `0.1`},
		{`{"x":3}`, "v1.`x` = ?", `3.0`},
		{`{"bits":5}`, "(v1.`bits` + 0) = ?", `5`},

		// An invalid date is never equal to a date. 0000-00-00 isn't null.
		{`{"at":null}`, "1=0", ``},
		{`{"day":null}`, "1=0", ``},
		{`{"seen":null}`, "v1.`seen` IS NULL", ``},
		{`{"b":null}`, "v1.`b` IS NULL", ``},
		{`{"at":"2026-01-31T00:00:00Z"}`, "(v1.`at` = CAST(? AS DATETIME(6)))", `'2026-01-31 00:00:00.000000'`},
		{`{"at":{"$gte":"2026-01-31"}}`, "(v1.`at` >= CAST(? AS DATETIME(6)) AND «date v1.`at`»)", `'2026-01-31 00:00:00.000000'`},
		{`{"at":{"$gte":"0000-01-01"}}`, "(v1.`at` >= CAST(? AS DATETIME(6)) AND «date v1.`at`»)", `'0000-01-01 00:00:00.000000'`},
		{`{"at":{"$lt":"9999-12-31"}}`, "(v1.`at` < CAST(? AS DATETIME(6)) AND «date v1.`at`»)", `'9999-12-31 00:00:00.000000'`},

		// Bytes and booleans. A tinyint may contain values other than 0 and 1.
		{`{"raw":"aGk="}`, "v1.`raw` = UNHEX(?)", `'6869'`},
		{`{"b":true}`, "(v1.`b` = ? AND v1.`b` IN (0, 1))", `1`},
		{`{"b":false}`, "(v1.`b` = ? AND v1.`b` IN (0, 1))", `0`},

		// Fields with fields: text is compared by its bytes, unless neither field has its own collation.
		{selected("bin", "bin"), "v1.`bin` IN (SELECT q1.`bin` FROM «t» AS q1)", ``},
		{selected("s", "bin"), "«bytes v1.`s`» IN (SELECT «bytes q1.`bin`» FROM «t» AS q1)", ``},
		{selected("bin", "s"), "«bytes v1.`bin`» IN (SELECT «bytes q1.`s`» FROM «t» AS q1)", ``},
		{selected("bits", "id"), "(v1.`bits` + 0) IN (SELECT q1.`id` FROM «t» AS q1)", ``},
	})
}

// TestMySQLJSON shows conditions on JSON for MariaDB. A node is an expression. In the test, has(c) is the condition
// that c is true for doc, or for an element if doc is a list.
func TestMySQLJSON(t *testing.T) {
	const doc = "CASE WHEN JSON_VALID(v1.`doc`) THEN v1.`doc` ELSE JSON_QUOTE(v1.`doc`) END"
	text := func(x string) string {
		return "CASE JSON_TYPE(" + x + ") WHEN 'STRING' THEN CONVERT(JSON_UNQUOTE(" + x + ") USING utf8mb4) COLLATE utf8mb4_nopad_bin END"
	}
	element := func(x, n string) string { return "JSON_EXTRACT(" + x + ", CONCAT('$[', " + n + ".o - 1, ']'))" }
	anyElement := func(x, n string, holds func(string) string) string {
		return "EXISTS (SELECT 1 FROM JSON_TABLE(CASE JSON_TYPE(" + x + ") WHEN 'ARRAY' THEN " + x + " ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS " + n +
			" WHERE " + holds(element(x, n)) + ")"
	}
	orElement := func(x, n string, holds func(string) string) string {
		return "((" + holds(x) + " OR " + anyElement(x, n, holds) + "))"
	}
	has := func(holds func(string) string) string {
		return "EXISTS (SELECT 1 FROM DUAL WHERE " + orElement(doc, "n1", holds) + ")"
	}
	null := func(x string) string { return "coalesce(JSON_TYPE(" + x + "), 'NULL') = 'NULL'" }
	is := func(x string) string { return "(" + text(x) + " = ?)" }
	boolean := func(x string) string {
		return "CASE JSON_TYPE(" + x + ") WHEN 'BOOLEAN' THEN (CONVERT(JSON_UNQUOTE(" + x + ") USING utf8mb4) COLLATE utf8mb4_nopad_bin = 'true') = ? END"
	}
	// Numbers compare as decimals. If the decimals are equal, they compare as doubles.
	number := func(x string) string {
		return "CASE WHEN JSON_TYPE(" + x + ") IN ('INTEGER', 'DOUBLE') THEN CAST(JSON_UNQUOTE(" + x + ") AS DECIMAL(65,30)) = CAST(? AS DECIMAL(65,30))" +
			" AND CAST(JSON_UNQUOTE(" + x + ") AS DOUBLE) = CAST(? AS DOUBLE) END"
	}
	atLeast := func(x string) string {
		return "CASE WHEN JSON_TYPE(" + x + ") IN ('INTEGER', 'DOUBLE') THEN CAST(JSON_UNQUOTE(" + x + ") AS DECIMAL(65,30)) > CAST(? AS DECIMAL(65,30))" +
			" OR CAST(JSON_UNQUOTE(" + x + ") AS DECIMAL(65,30)) = CAST(? AS DECIMAL(65,30)) AND CAST(JSON_UNQUOTE(" + x + ") AS DOUBLE) >= CAST(? AS DOUBLE) END"
	}
	member := func(x, p string) string { return "JSON_EXTRACT(" + x + ", CONCAT('$', " + p + "))" }
	// A path is a table of names. One step goes through each object of a list, or through a single object.
	step := func(x, p, n string) (from, object, next string) {
		return "JSON_TABLE(?, '$' COLUMNS (k0 LONGTEXT PATH '$[0]')) AS " + p + ", JSON_TABLE(CASE JSON_TYPE(" + x + ") WHEN 'ARRAY' THEN " + x +
				" WHEN 'OBJECT' THEN '[0]' ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS " + n,
			"JSON_TYPE(JSON_EXTRACT(" + x + ", CONCAT('$', '[', " + n + ".o - 1, ']'))) = 'OBJECT'",
			"JSON_EXTRACT(" + x + ", CONCAT('$', '[', " + n + ".o - 1, ']', " + p + ".k0))"
	}
	from, object, a := step(doc, "p1", "n2")
	size := "CASE JSON_TYPE(" + a + ") WHEN 'ARRAY' THEN JSON_LENGTH(" + a + ") END = ?"
	inner, innerObject, b := step(element(doc, "n1"), "p2", "n3")
	conditions(t, mariadb.Dialect(), mariadbFields, []conditionRow{
		{`{"doc":"x"}`, has(is), `'x' 'x'`},
		{`{"doc":{"$gt":"x"}}`, has(func(x string) string { return "(" + text(x) + " > ?)" }), `'x' 'x'`},
		{`{"doc":true}`, has(boolean), `1 1`},
		{`{"doc":false}`, has(boolean), `0 0`},
		{`{"doc":3}`, has(number), `'3' '3' '3' '3'`},
		{`{"doc":{"$gte":1.50}}`, has(atLeast), `'1.50' '1.50' '1.50' '1.50' '1.50' '1.50'`},
		{`{"doc":null}`, "(" + has(null) + " OR NOT EXISTS (SELECT 1 FROM DUAL WHERE (1=1)))", ``},
		{`{"doc":{"$in":["x","y"]}}`, "(" + has(func(x string) string { return "(" + is(x) + " OR " + is(x) + ")" }) + ")", `'x' 'y' 'x' 'y'`},
		{`{"doc":{"$regex":"^x"}}`, has(func(x string) string { return "(" + text(x) + " REGEXP ?)" }), `'(?:\Ax)' '(?:\Ax)'`},
		{`{"doc":{"$startsWith":"x"}}`, has(func(x string) string { return "(" + text(x) + " >= ? AND " + text(x) + " < ?)" }), `'x' 'y' 'x' 'y'`},
		{`{"doc":{}}`, has(func(x string) string { return "(JSON_TYPE(" + x + ") = 'OBJECT' AND JSON_LENGTH(" + x + ") = 0)" }), ``},
		{`{"doc":{"$eq":["x",null]}}`, has(func(x string) string {
			return "(JSON_TYPE(" + x + ") = 'ARRAY' AND JSON_LENGTH(" + x + ") = 2 AND " + is("JSON_EXTRACT("+x+", '$[0]')") +
				" AND coalesce(JSON_TYPE(JSON_EXTRACT(" + x + ", '$[1]')) = 'NULL', FALSE))"
		}), `'x' 'x'`},
		{`{"doc":{"a":"x","b":3}}`, "EXISTS (SELECT 1 FROM DUAL WHERE ((" + object2(doc, "p1", is, number, member) + " OR " +
			anyElement(doc, "n2", func(x string) string { return object2(x, "p3", is, number, member) }) + ")))",
			`'[".\"a\"",".\"b\""]' 'x' '3' '3' '[".\"a\"",".\"b\""]' 'x' '3' '3'`},
		{`{"doc.a":{"$size":2}}`, "EXISTS (SELECT 1 FROM " + from + " WHERE " + object + " AND (" + size + "))", `'[".\"a\""]' 2`},
		{`{"doc.a\"\\":{"$exists":true}}`, "EXISTS (SELECT 1 FROM " + from + " WHERE " + object + " AND (NOT " + null(a) + "))", `'[".\"a\\\"\\\\\""]'`},
		{`{"doc":{"$elemMatch":{"b":"x"}}}`, "EXISTS (SELECT 1 FROM DUAL WHERE (EXISTS (SELECT 1 FROM JSON_TABLE(CASE JSON_TYPE(" + doc + ") WHEN 'ARRAY' THEN " + doc +
			" ELSE '[]' END, '$[*]' COLUMNS (o FOR ORDINALITY)) AS n1 WHERE EXISTS (SELECT 1 FROM " + inner + " WHERE " + innerObject + " AND " + orElement(b, "n4", is) + "))))",
			`'[".\"b\""]' 'x' 'x'`},
	})
}

// object2 returns the condition that x is an object of two members.
func object2(x, p string, first, second func(string) string, member func(x, p string) string) string {
	return "(JSON_TYPE(" + x + ") = 'OBJECT' AND JSON_LENGTH(" + x + ") = 2 AND EXISTS (SELECT 1 FROM JSON_TABLE(?, '$' COLUMNS (k0 LONGTEXT PATH '$[0]', k1 LONGTEXT PATH '$[1]')) AS " + p +
		" WHERE " + first(member(x, p+".k0")) + " AND " + second(member(x, p+".k1")) + "))"
}

// TestMySQLFarDates shows comparisons with dates outside of MariaDB's range, which have no text.
func TestMySQLFarDates(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "t", Table: "t", Key: []string{"id"}, Fields: mariadbFields}})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reader, &query.Count{Class: "t"})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	micros := func(year int) value.Value {
		return value.OfDate(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	}
	for _, tt := range []struct {
		op   query.Op
		year int
		want string
	}{
		{query.Lt, 10000, "(v1.`seen` IS NOT NULL AND «date v1.`seen`»)"}, {query.Gte, 10000, "(1=0 AND «date v1.`seen`»)"}, {query.Eq, 10000, "(1=0 AND «date v1.`seen`»)"},
		{query.Gt, -1, "(v1.`seen` IS NOT NULL AND «date v1.`seen`»)"}, {query.Lte, -1, "(1=0 AND «date v1.`seen`»)"}, {query.Eq, -1, "(1=0 AND «date v1.`seen`»)"},
		{query.Eq, 9999, "(v1.`seen` = CAST(? AS DATETIME(6)))"}, {query.Eq, 0, "(v1.`seen` = CAST(? AS DATETIME(6)))"},
	} {
		plan.Where = query.Compare{Path: query.Path{"seen"}, Op: tt.op, Value: micros(tt.year)}
		st, err := sqlgen.Planned(plan, mariadb.Dialect())
		if _, got, _ := strings.Cut(st.Text, " AS v1 WHERE "); err != nil || got != expanded(t, tt.want, mariadb.Dialect()) {
			t.Errorf("%v %d: %v\n got %s\nwant %s", tt.op, tt.year, err, got, tt.want)
		}
	}
}

// TestMySQLPlaces shows how MariaDB continues from a position. Each value of a column has a position, even an invalid
// date.
func TestMySQLPlaces(t *testing.T) {
	one := value.OfInt(1)
	places(t, mariadb.Dialect(), mariadbFields, []placeRow{
		{"id", []value.Value{one}, "(v1.`id` > ?) ORDER BY v1.`id` LIMIT ?", `1 2`},
		{"x -id", []value.Value{one, one}, "(v1.`x` > ? OR (v1.`x` = ? AND ((v1.`id` < ? OR v1.`id` IS NULL)))) ORDER BY v1.`x`, v1.`id` DESC LIMIT ?", `1.0 1.0 1 2`},
		{"x", []value.Value{value.OfFloat(0.5), one}, "(v1.`x` > ? OR (v1.`x` = ? AND (v1.`id` > ?))) ORDER BY v1.`x`, v1.`id` LIMIT ?", `0.5 0.5 1 2`},
		{"x", []value.Value{value.OfDecimal("0.1"), one}, "(v1.`x` > ? OR (v1.`x` = ? AND (v1.`id` > ?))) ORDER BY v1.`x`, v1.`id` LIMIT ?", `0.1 0.1 1 2`},
		{"d", []value.Value{value.OfDecimal("1.5"), one},
			"(v1.`d` > CAST(? AS DECIMAL(65,38)) OR (v1.`d` = CAST(? AS DECIMAL(65,38)) AND (v1.`id` > ?))) ORDER BY v1.`d`, v1.`id` LIMIT ?", `'1.5' '1.5' 1 2`},
		{"b", []value.Value{value.OfBool(true), one}, "(v1.`b` > ? OR (v1.`b` = ? AND (v1.`id` > ?))) ORDER BY v1.`b`, v1.`id` LIMIT ?", `1 1 1 2`},
		{"b", []value.Value{value.OfBool(false), one}, "(v1.`b` > ? OR (v1.`b` = ? AND (v1.`id` > ?))) ORDER BY v1.`b`, v1.`id` LIMIT ?", `0 0 1 2`},
		{"s", []value.Value{value.OfString("a"), one},
			"(«bytes v1.`s`» > ? OR («bytes v1.`s`» = ? AND (v1.`id` > ?))) ORDER BY «bytes v1.`s`», v1.`id` LIMIT ?", `'a' 'a' 1 2`},
		{"raw", []value.Value{value.OfBytes("hi"), one}, "(v1.`raw` > UNHEX(?) OR (v1.`raw` = UNHEX(?) AND (v1.`id` > ?))) ORDER BY v1.`raw`, v1.`id` LIMIT ?", `'6869' '6869' 1 2`},
		{"-at", []value.Value{value.OfDate(0), one},
			"((v1.`at` < CAST(? AS DATETIME(6)) OR 1=0) OR (v1.`at` = CAST(? AS DATETIME(6)) AND (v1.`id` > ?))) ORDER BY v1.`at` DESC, v1.`id` LIMIT ?",
			`'1970-01-01 00:00:00.000000' '1970-01-01 00:00:00.000000' 1 2`},
		{"at", []value.Value{value.OfString("0000-00-00 00:00:00"), one},
			"(v1.`at` > CAST(? AS DATETIME(6)) OR (v1.`at` = CAST(? AS DATETIME(6)) AND (v1.`id` > ?))) ORDER BY v1.`at`, v1.`id` LIMIT ?", `'0000-00-00 00:00:00' '0000-00-00 00:00:00' 1 2`},
		{"day", []value.Value{value.OfString("2026-02-31"), one},
			"(v1.`day` > CAST(? AS DATETIME(6)) OR (v1.`day` = CAST(? AS DATETIME(6)) AND (v1.`id` > ?))) ORDER BY v1.`day`, v1.`id` LIMIT ?", `'2026-02-31' '2026-02-31' 1 2`},
	})
}

// TestMySQLStatements shows which columns a statement reads and how it joins classes.
func TestMySQLStatements(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{
		{Source: "app", Name: "t", Table: "t", Key: []string{"id"}, Fields: mariadbFields},
		{Source: "app", Name: "orgs", Space: "crm", Table: "odd `orgs`", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.String, Native: "varchar"}, {Name: "name", Type: schema.String, Native: "varchar"}}},
		{Source: "app", Name: "users", Table: "users", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "int"},
			{Name: "org", Type: schema.String, Native: "varchar", Unordered: true}, {Name: "home", Type: schema.String, Native: "varchar"}, {Name: "number", Type: schema.Integer, Native: "int"},
			{Name: "boss", Type: schema.Integer, Native: "int"}, {Name: "twin", Type: schema.Decimal, Native: "decimal"}},
			Relations: []schema.Relation{{Fields: []string{"org"}, Target: "orgs", TargetFields: []string{"id"}}, {Fields: []string{"home"}, Target: "orgs", TargetFields: []string{"id"}},
				{Fields: []string{"number"}, Target: "orgs", TargetFields: []string{"id"}}, {Fields: []string{"boss"}, Target: "users", TargetFields: []string{"id"}},
				{Fields: []string{"twin"}, Target: "users", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "posts", Table: "posts", Key: []string{"num"}, Fields: []schema.Field{{Name: "num", Type: schema.Integer, Native: "int"}, {Name: "author", Type: schema.Integer, Native: "int"}},
			Relations: []schema.Relation{{Fields: []string{"author"}, Target: "users", TargetFields: []string{"id"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const users = "(SELECT t.`id`, t.`org`, t.`home`, t.`number`, t.`boss`, t.`twin` FROM `users` AS t)"
	const orgs = "(SELECT t.`id`, t.`name` FROM `crm`.`odd ``orgs``` AS t)"
	for _, tt := range []struct{ class, keys, want string }{
		{"t", "at,bits,u,d,place,span", "SELECT v1.`id`, v1.`at`, (v1.`bits` + 0), CAST(v1.`u` AS CHAR), CAST(v1.`d` AS CHAR), ST_AsText(v1.`place`), CAST(v1.`span` AS CHAR) FROM " +
			"(SELECT t.`id`, t.`s`, t.`bin`, t.`d`, t.`x`, t.`at`, t.`seen`, t.`day`, t.`raw`, t.`b`, t.`bits`, t.`u`, t.`doc`, t.`place`, t.`span` FROM `t` AS t) AS v1 ORDER BY v1.`id` LIMIT ?"},
		{"users", "org.name", "SELECT v1.`id`, v1.`org`, v2.`id`, v2.`name` FROM " + users + " AS v1 LEFT JOIN " + orgs + " AS v2 ON «bytes v2.`id`» = «bytes v1.`org`» ORDER BY v1.`id` LIMIT ?"},
		{"users", "home.name", "SELECT v1.`id`, v1.`home`, v2.`id`, v2.`name` FROM " + users + " AS v1 LEFT JOIN " + orgs + " AS v2 ON v2.`id` = v1.`home` ORDER BY v1.`id` LIMIT ?"},
		{"users", "number.name", "SELECT v1.`id`, v1.`number`, v2.`id`, v2.`name` FROM " + users + " AS v1 LEFT JOIN " + orgs + " AS v2 ON «bytes v2.`id`» = «bytes v1.`number`» ORDER BY v1.`id` LIMIT ?"},
		{"users", "twin.number", "SELECT v1.`id`, CAST(v1.`twin` AS CHAR), v2.`id`, v2.`number` FROM " + users + " AS v1 LEFT JOIN " + users + " AS v2 ON «bytes v2.`id`» = «bytes v1.`twin`» ORDER BY v1.`id` LIMIT ?"},
		{"users", "boss.org.name", "SELECT v1.`id`, v1.`boss`, v2.`id`, v2.`org`, v3.`id`, v3.`name` FROM " + users + " AS v1 LEFT JOIN " + users + " AS v2 ON v2.`id` = v1.`boss` LEFT JOIN " + orgs +
			" AS v3 ON «bytes v3.`id`» = «bytes v2.`org`» ORDER BY v1.`id` LIMIT ?"},
		{"posts", "author.home.name", "SELECT v1.`num`, v1.`author`, v2.`id`, v2.`home`, v3.`id`, v3.`name` FROM (SELECT t.`num`, t.`author` FROM `posts` AS t) AS v1 LEFT JOIN " + users +
			" AS v2 ON v2.`id` = v1.`author` LEFT JOIN " + orgs + " AS v3 ON v3.`id` = v2.`home` ORDER BY v1.`num` LIMIT ?"},
	} {
		permit, err := p.Read(reader, &query.Find{Class: tt.class, Keys: paths(tt.keys), Limit: 1})
		if err != nil {
			t.Errorf("%s: %v", tt.keys, err)
			continue
		}
		st, err := sqlgen.SQL(permit, mariadb.Dialect())
		if want := expanded(t, tt.want, mariadb.Dialect()); err != nil || plain(t, st) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.keys, err, st.Text, want)
		}
	}
}
