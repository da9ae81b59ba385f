package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
)

var dialects = []sqlgen.Dialect{sqlite.Dialect(), postgres.Dialect()}

// catalogue returns the classes of the tests as a dialect's adapter describes them.
func catalogue(d sqlgen.Dialect) []schema.Class {
	native := func(lite, pg string) string {
		if d == sqlite.Dialect() {
			return lite
		}
		return pg
	}
	decimal, array := schema.Decimal, schema.Array
	if d == sqlite.Dialect() {
		decimal, array = schema.Double, schema.JSON
	}
	return []schema.Class{
		{Source: "app", Name: "things", Table: "things", Key: []string{"id"}, Fields: []schema.Field{
			{Name: "id", Type: schema.Integer, Native: native("INTEGER", "int8"), NotNull: true},
			{Name: "s", Type: schema.String, Native: native("TEXT", "text")},
			{Name: "ci", Type: schema.String, Native: native("TEXT", "citext"), Unordered: true},
			{Name: "code", Type: schema.String, Native: native("CHAR(4)", "bpchar")},
			{Name: "n", Type: schema.Integer, Native: native("INT", "int4")},
			{Name: "x", Type: schema.Double, Native: native("REAL", "float8")},
			{Name: "d", Type: decimal, Native: native("NUMERIC", "numeric")},
			{Name: "b", Type: schema.Boolean, Native: native("BOOLEAN", "bool")},
			{Name: "at", Type: schema.Date, Native: native("DATETIME", "timestamptz")},
			{Name: "local", Type: schema.Date, Native: native("DATETIME", "timestamp")},
			{Name: "day", Type: schema.Day, Native: native("DATE", "date")},
			{Name: "u", Type: schema.UUID, Native: native("UUID", "uuid")},
			{Name: "raw", Type: schema.Bytes, Native: native("BLOB", "bytea")},
			{Name: `odd "name"; --`, Type: schema.String, Native: native("TEXT", "text")},
			{Name: "doc", Type: schema.JSON, Native: native("JSON", "jsonb")},
			{Name: "plain", Type: schema.JSON, Native: native("JSON", "json")},
			{Name: "tags", Type: array, Native: native("JSON", "text")},
		}},
		{Source: "app", Name: "orgs", Table: "orgs", Key: []string{"id"}, Fields: []schema.Field{
			{Name: "id", Type: schema.String, Native: native("TEXT", "text"), NotNull: true}, {Name: "name", Type: schema.String, Native: native("TEXT", "text")},
			{Name: "plan", Type: schema.JSON, Native: native("JSON", "jsonb")}}},
		{Source: "app", Name: "users", Space: "crm", Table: "users", Key: []string{"id"},
			Relations: []schema.Relation{{Fields: []string{"org"}, Target: "orgs", TargetFields: []string{"id"}}},
			Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: native("INTEGER", "int8"), NotNull: true},
				{Name: "name", Type: schema.String, Native: native("TEXT", "varchar")}, {Name: "org", Type: schema.String, Native: native("TEXT", "text")},
				{Name: "password_hash", Type: schema.String, Native: native("TEXT", "text")}}},
		{Source: "app", Name: "posts", Table: "posts", Key: []string{"author", "num"},
			Relations: []schema.Relation{{Fields: []string{"author"}, Target: "users", TargetFields: []string{"id"}}},
			Fields: []schema.Field{{Name: "author", Type: schema.Integer, Native: native("INTEGER", "int8"), NotNull: true},
				{Name: "num", Type: schema.Integer, Native: native("INTEGER", "int4"), NotNull: true},
				{Name: "title", Type: schema.String, Native: native("TEXT", "text")}, {Name: "at", Type: schema.Date, Native: native("DATETIME", "timestamptz")},
				{Name: "deleted", Type: schema.Boolean, Native: native("BOOLEAN", "bool")}}},
		{Source: "app", Name: "log", Table: "log", Fields: []schema.Field{
			{Name: "line", Type: schema.String, Native: native("TEXT", "text")}, {Name: "n", Type: schema.Integer, Native: native("INTEGER", "int8")}}},
		{Source: "app", Name: "staff", Table: "staff", Key: []string{"id"}, Relations: []schema.Relation{{Fields: []string{"boss"}, Target: "staff", TargetFields: []string{"id"}}},
			Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: native("INTEGER", "int8"), NotNull: true}, {Name: "boss", Type: schema.Integer, Native: native("INTEGER", "int8")}}},
	}
}

// compiled returns the statement of a query under rules.
func compiled(t *testing.T, d sqlgen.Dialect, rules map[string]policy.ClassRule, q query.Query, at *policy.Position) (sqlgen.Statement, error) {
	t.Helper()
	return sqlgen.SQL(permitted(t, d, rules, q, at), d)
}

func permitted(t *testing.T, d sqlgen.Dialect, rules map[string]policy.ClassRule, q query.Query, at *policy.Position) policy.Permit {
	t.Helper()
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: rules}, catalogue(d))
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(reader, q)
	if err != nil {
		t.Fatal(err)
	}
	if at != nil {
		if permit, err = permit.From(*at); err != nil {
			t.Fatal(err)
		}
	}
	return permit
}

// whereSQL returns the condition of a where object, after checking the rest of the statement.
func whereSQL(t *testing.T, text string, d sqlgen.Dialect) (condition, args string) {
	t.Helper()
	q := &query.Count{Class: "things", Where: where(t, text)}
	st, err := compiled(t, d, nil, q, nil)
	if err != nil {
		return "refused: " + err.Error(), ""
	}
	var fields []string
	for _, f := range catalogue(d)[0].Fields {
		fields = append(fields, `t."`+strings.ReplaceAll(f.Name, `"`, `""`)+`"`)
	}
	around := `SELECT count(*) FROM (SELECT ` + strings.Join(fields, ", ") + ` FROM "` + map[sqlgen.Dialect]string{sqlite.Dialect(): "main", postgres.Dialect(): "public"}[d] + `"."things" AS t) AS v1 WHERE `
	condition, ok := strings.CutPrefix(st.Text, around)
	if !ok || st.Columns != nil || st.Order != nil {
		t.Errorf("%s: %s\nwant it to begin with %s", text, st.Text, around)
	}
	return condition, arguments(st.Args)
}

func TestZeroPermit(t *testing.T) {
	for _, d := range dialects {
		st, err := sqlgen.SQL(policy.Permit{}, d)
		if problem.CodeOf(err) != problem.PermissionDenied || st.Text != "" {
			t.Errorf("dialect %s: %q, %v; want %s", d.Name(), st.Text, err, problem.PermissionDenied)
		}
	}
}

// TestStatements shows whole statements: views, joins, orders and positions.
func TestStatements(t *testing.T) {
	tenants := map[string]policy.ClassRule{
		"orgs":  {Tenant: &policy.TenantRule{Field: "id"}, Canonical: where(t, `{"name":{"$ne":null}}`)},
		"users": {Tenant: &policy.TenantRule{Field: "org"}},
		"posts": {Tenant: &policy.TenantRule{Through: "author"}, Canonical: where(t, `{"deleted":{"$ne":true}}`)},
	}
	for _, tt := range statementRows {
		switch q := tt.query.(type) {
		case *query.Find:
			q.Where = where(t, tt.where)
		case *query.Count:
			q.Where = where(t, tt.where)
		}
		var rules map[string]policy.ClassRule
		if tt.tenants {
			rules = tenants
		}
		for _, d := range dialects {
			st, err := compiled(t, d, rules, tt.query, tt.at)
			want, args := tt.sqlite, tt.sqliteArgs
			order, other, differs := strings.Cut(tt.order, "|")
			if d == postgres.Dialect() {
				want, args = tt.postgres, tt.postgresArgs
				if differs {
					order = other
				}
			}
			if want = expanded(t, want, d); err != nil || plain(t, st) != want || arguments(st.Args) != args || fmt.Sprint(st.Order) != order {
				t.Errorf("%s: %v\n got %s\n     %s, places %v\nwant %s\n     %s, places %s", tt.name, err, st.Text, arguments(st.Args), st.Order, want, args, order)
			}
		}
	}
}

// A statementRow is a query and its result: text and arguments in SQLite, then in PostgreSQL. The last field has the
// columns with the values of the order. If PostgreSQL's columns differ from SQLite's, they follow a |.
type statementRow struct {
	name                   string
	tenants                bool // under the rules of tenants
	where                  string
	query                  query.Query
	at                     *policy.Position
	sqlite, sqliteArgs     string
	postgres, postgresArgs string
	order                  string
}

func paths(list string) []query.Path {
	var out []query.Path
	for name := range strings.SplitSeq(list, ",") {
		out = append(out, query.ParsePath(name))
	}
	return out
}

var statementRows = []statementRow{
	{"all", false, "", &query.Find{Class: "orgs", Limit: 10}, nil,
		`SELECT +v1."id", +v1."name", +v1."plan" FROM (SELECT t."id", t."name", t."plan" FROM "main"."orgs" AS t) AS v1 ORDER BY v1."id" LIMIT +?`, `11`,
		`SELECT v1."id", v1."name", v1."plan" FROM (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v1 ORDER BY v1."id" COLLATE "C" LIMIT $1`, `11`, `[0]`},
	{"hidden fields have no name", false, "", &query.Find{Class: "users", Limit: 10, Skip: 20, Keys: paths("name")}, nil,
		`SELECT +v1."id", +v1."name" FROM (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t) AS v1 ORDER BY v1."id" LIMIT +? OFFSET ?`, `11 20`,
		`SELECT v1."id", v1."name" FROM (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t) AS v1 ORDER BY v1."id" LIMIT $1 OFFSET $2`, `11 20`, `[0]`},
	{"order", false, "", &query.Find{Class: "things", Limit: 1, Keys: paths("id"), Order: []query.Sort{{Path: query.Path{"at"}, Desc: true}, {Path: query.Path{"ci"}}}}, nil,
		`SELECT +v1."id", «ms v1."at"», +v1."ci" FROM «things» ORDER BY «ms v1."at"» DESC, v1."ci" COLLATE BINARY, v1."id" LIMIT +?`, `2`,
		`SELECT v1."id", v1."at", v1."ci"::text FROM «things» ORDER BY v1."at" DESC NULLS LAST, v1."ci"::text COLLATE "C" NULLS FIRST, v1."id" LIMIT $1`, `2`, `[1 2 0]`},
	{"after", false, "", &query.Find{Class: "things", Limit: 1, Keys: paths("id"), Order: []query.Sort{{Path: query.Path{"s"}}, {Path: query.Path{"x"}, Desc: true}}}, &policy.Position{After: []value.Value{value.OfString("it's"), value.OfFloat(1), value.OfInt(7)}},
		`SELECT +v1."id", +v1."s", +v1."x" FROM «things» WHERE (v1."s" > ? OR (v1."s" = ? AND ((v1."x" < ? OR v1."x" IS NULL) OR (v1."x" = ? AND (v1."id" > ?))))) ORDER BY v1."s", v1."x" DESC, v1."id" LIMIT +?`, `'it's' 'it's' 1.0 1.0 7 2`,
		`SELECT v1."id", v1."s", v1."x" FROM «things» WHERE (v1."s" COLLATE "C" > $1::text OR (v1."s" COLLATE "C" = $2::text AND ((v1."x" < $3::float8 OR v1."x" IS NULL) OR (v1."x" = $4::float8 AND (v1."id" > $5::int8))))) ORDER BY v1."s" COLLATE "C" NULLS FIRST, v1."x" DESC NULLS LAST, v1."id" LIMIT $6`, `'it's' 'it's' 1.0 1.0 7 2`, `[1 2 0]`},
	{"after null", false, `{"b":true}`, &query.Find{Class: "things", Limit: 1, Keys: paths("id"), Order: []query.Sort{{Path: query.Path{"n"}}, {Path: query.Path{"s"}, Desc: true}}}, &policy.Position{After: []value.Value{{}, {}, value.OfInt(7)}},
		`SELECT +v1."id", +v1."n", +v1."s" FROM «things» WHERE v1."b" = ? AND (v1."n" IS NOT NULL OR (v1."n" IS NULL AND (1=0 OR (v1."s" IS NULL AND (v1."id" > ?))))) ORDER BY v1."n", v1."s" DESC, v1."id" LIMIT +?`, `1 7 2`,
		`SELECT v1."id", v1."n", v1."s" FROM «things» WHERE v1."b" = $1::boolean AND (v1."n" IS NOT NULL OR (v1."n" IS NULL AND (1=0 OR (v1."s" COLLATE "C" IS NULL AND (v1."id" > $2::int8))))) ORDER BY v1."n" NULLS FIRST, v1."s" COLLATE "C" DESC NULLS LAST, v1."id" LIMIT $3`, `true 7 2`, `[1 2 0]`},
	{"after a date", false, "", &query.Find{Class: "things", Limit: 1, Keys: paths("id"), Order: []query.Sort{{Path: query.Path{"at"}}}}, &policy.Position{After: []value.Value{value.OfDate(1769846400123000), value.OfInt(7)}},
		`SELECT +v1."id", «ms v1."at"» FROM «things» WHERE («ms v1."at"» > ? OR («ms v1."at"» = ? AND (v1."id" > ?))) ORDER BY «ms v1."at"», v1."id" LIMIT +?`, `1769846400123 1769846400123 7 2`,
		`SELECT v1."id", v1."at" FROM «things» WHERE (v1."at" > $1::timestamptz OR (v1."at" = $2::timestamptz AND (v1."id" > $3::int8))) ORDER BY v1."at" NULLS FIRST, v1."id" LIMIT $4`, `'2026-01-31 08:00:00.123+00' '2026-01-31 08:00:00.123+00' 7 2`, `[1 0]`},
	{"part of JSON", false, "", &query.Find{Class: "things", Limit: 1, Keys: paths("doc.a.b")}, nil,
		`SELECT +v1."id", +v1."doc" FROM «things» ORDER BY v1."id" LIMIT +?`, `2`,
		`SELECT v1."id", v1."doc" FROM «things» ORDER BY v1."id" LIMIT $1`, `2`, `[0]`},
	{"array", false, "", &query.Find{Class: "things", Limit: 1, Keys: paths("tags")}, nil,
		`SELECT +v1."id", +v1."tags" FROM «things» ORDER BY v1."id" LIMIT +?`, `2`,
		`SELECT v1."id", to_jsonb(v1."tags") FROM «things» ORDER BY v1."id" LIMIT $1`, `2`, `[0]`},
	{"include", false, "", &query.Find{Class: "users", Limit: 1, Include: paths("org")}, nil,
		`SELECT +v1."id", +v1."name", +v1."org", +v2."id", +v2."name", +v2."plan" FROM (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t) AS v1 LEFT JOIN (SELECT t."id", t."name", t."plan" FROM "main"."orgs" AS t) AS v2 ON v2."id" = v1."org" ORDER BY v1."id" LIMIT +?`, `2`,
		`SELECT v1."id", v1."name", v1."org", v2."id", v2."name", v2."plan" FROM (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t) AS v1 LEFT JOIN (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v2 ON v2."id" = v1."org" ORDER BY v1."id" LIMIT $1`, `2`, `[0]`},
	{"two pointers", false, "", &query.Find{Class: "posts", Limit: 1, Keys: paths("title,author.org.name")}, nil,
		`SELECT +v1."author", +v1."num", +v1."title", +v2."id", +v2."org", +v3."id", +v3."name" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "main"."posts" AS t) AS v1 LEFT JOIN (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t) AS v2 ON v2."id" = v1."author" LEFT JOIN (SELECT t."id", t."name", t."plan" FROM "main"."orgs" AS t) AS v3 ON v3."id" = v2."org" ORDER BY v1."author", v1."num" LIMIT +?`, `2`,
		`SELECT v1."author", v1."num", v1."title", v2."id", v2."org", v3."id", v3."name" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "public"."posts" AS t) AS v1 LEFT JOIN (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t) AS v2 ON v2."id" = v1."author" LEFT JOIN (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v3 ON v3."id" = CASE WHEN v2."org" IS NOT NULL THEN v2."org" END ORDER BY v1."author", v1."num" LIMIT $1`, `2`, `[0 1]`},
	{"tenant", true, `{"$or":[{"id":1},{"id":2}]}`, &query.Find{Class: "users", Limit: 1, Keys: paths("id")}, nil,
		`SELECT +v1."id" FROM (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t WHERE t."org" = ?) AS v1 WHERE (v1."id" = ? OR v1."id" = ?) ORDER BY v1."id" LIMIT +?`, `'acme' 1 2 2`,
		`SELECT v1."id" FROM (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t WHERE t."org" = $1::text) AS v1 WHERE (v1."id" = $2::int8 OR v1."id" = $3::int8) ORDER BY v1."id" LIMIT $4`, `'acme' 1 2 2`, `[0]`},
	{"tenant through, canonical", true, "", &query.Find{Class: "posts", Limit: 1, Keys: paths("title")}, nil,
		`SELECT +v1."author", +v1."num", +v1."title" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "main"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = ?) AND (CASE WHEN t."deleted" = ? THEN 0 ELSE 1 END)) AS v1 ORDER BY v1."author", v1."num" LIMIT +?`, `'acme' 1 2`,
		`SELECT v1."author", v1."num", v1."title" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "public"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = $1::text) AND ((t."deleted" = $2::boolean) IS NOT TRUE)) AS v1 ORDER BY v1."author", v1."num" LIMIT $3`, `'acme' true 2`, `[0 1]`},
	{"include in a tenant", true, "", &query.Find{Class: "posts", Limit: 1, Keys: paths("author.name"), Raw: true}, nil,
		`SELECT +v1."author", +v1."num", +v2."id", +v2."name" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "main"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = ?)) AS v1 LEFT JOIN (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t WHERE t."org" = ?) AS v2 ON v2."id" = v1."author" ORDER BY v1."author", v1."num" LIMIT +?`, `'acme' 'acme' 2`,
		`SELECT v1."author", v1."num", v2."id", v2."name" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "public"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = $1::text)) AS v1 LEFT JOIN (SELECT t."id", t."name", t."org" FROM "crm"."users" AS t WHERE t."org" = $2::text) AS v2 ON v2."id" = v1."author" ORDER BY v1."author", v1."num" LIMIT $3`, `'acme' 'acme' 2`, `[0 1]`},
	{"count", true, `{"title":"x"}`, &query.Count{Class: "posts"}, nil,
		`SELECT count(*) FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "main"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = ?) AND (CASE WHEN t."deleted" = ? THEN 0 ELSE 1 END)) AS v1 WHERE v1."title" = ?`, `'acme' 1 'x'`,
		`SELECT count(*) FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "public"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = $1::text) AND ((t."deleted" = $2::boolean) IS NOT TRUE)) AS v1 WHERE v1."title" = $3::text`, `'acme' true 'x'`, `[]`},
	{"ids", false, "", &query.Find{Class: "orgs", Limit: 2, IDs: []string{"a", "b"}, Keys: paths("id")}, nil,
		`SELECT +v1."id" FROM (SELECT t."id", t."name", t."plan" FROM "main"."orgs" AS t) AS v1 WHERE (v1."id" IN (?, ?)) ORDER BY v1."id" LIMIT +?`, `'a' 'b' 3`,
		`SELECT v1."id" FROM (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v1 WHERE (v1."id" = ANY($1::text[])) ORDER BY v1."id" COLLATE "C" LIMIT $2`, `[a b] 3`, `[0]`},
	{"ids of two fields", true, "", &query.Find{Class: "posts", Limit: 2, IDs: []string{`["1",2]`, `["3","4"]`}, Keys: paths("num")}, nil,
		`SELECT +v1."author", +v1."num" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "main"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = ?)) AS v1 WHERE ((v1."author" = ? AND v1."num" = ?) OR (v1."author" = ? AND v1."num" = ?)) ORDER BY v1."author", v1."num" LIMIT +?`, `'acme' 1 2 3 4 3`,
		`SELECT v1."author", v1."num" FROM (SELECT t."author", t."num", t."title", t."at", t."deleted" FROM "public"."posts" AS t WHERE t."author" IN (SELECT t."id" FROM "crm"."users" AS t WHERE t."org" = $1::text)) AS v1 WHERE ((v1."author" = $2::int8 AND v1."num" = $3::int8) OR (v1."author" = $4::int8 AND v1."num" = $5::int8)) ORDER BY v1."author", v1."num" LIMIT $6`, `'acme' 1 2 3 4 3`, `[0 1]`},
	{"without a key", false, "", &query.Find{Class: "log", Limit: 5, Skip: 5, Order: []query.Sort{{Path: query.Path{"n"}, Desc: true}}}, nil,
		`SELECT +v1."line", +v1."n" FROM (SELECT t."line", t."n" FROM "main"."log" AS t) AS v1 ORDER BY v1."n" DESC, v1."line" LIMIT +? OFFSET ?`, `6 5`,
		`SELECT v1."line", v1."n" FROM (SELECT t."line", t."n" FROM "public"."log" AS t) AS v1 ORDER BY v1."n" DESC NULLS LAST, v1."line" COLLATE "C" NULLS FIRST LIMIT $1 OFFSET $2`, `6 5`, `[]`},
	{"order by a date that is read as well", false, "", &query.Find{Class: "things", Limit: 1, Keys: paths("id,day"), Order: []query.Sort{{Path: query.Path{"day"}}}}, nil,
		`SELECT +v1."id", +v1."day", «ms v1."day"» FROM «things» ORDER BY «ms v1."day"», v1."id" LIMIT +?`, `2`,
		`SELECT v1."id", v1."day" FROM «things» ORDER BY v1."day" NULLS FIRST, v1."id" LIMIT $1`, `2`, `[2 0]|[1 0]`},
	{"tenant, canonical", true, "", &query.Find{Class: "orgs", Limit: 1, Keys: paths("id")}, nil,
		`SELECT +v1."id" FROM (SELECT t."id", t."name", t."plan" FROM "main"."orgs" AS t WHERE t."id" = ? AND t."name" IS NOT NULL) AS v1 ORDER BY v1."id" LIMIT +?`, `'acme' 2`,
		`SELECT v1."id" FROM (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t WHERE t."id" = $1::text AND t."name" IS NOT NULL) AS v1 ORDER BY v1."id" COLLATE "C" LIMIT $2`, `'acme' 2`, `[0]`},
	{"a class with itself", false, "", &query.Find{Class: "staff", Limit: 1, Keys: paths("boss.id")}, nil,
		`SELECT +v1."id", +v1."boss", +v2."id" FROM (SELECT t."id", t."boss" FROM "main"."staff" AS t) AS v1 LEFT JOIN (SELECT t."id", t."boss" FROM "main"."staff" AS t) AS v2 ON v2."id" = v1."boss" ORDER BY v1."id" LIMIT +?`, `2`,
		`SELECT v1."id", v1."boss", v2."id" FROM (SELECT t."id", t."boss" FROM "public"."staff" AS t) AS v1 LEFT JOIN (SELECT t."id", t."boss" FROM "public"."staff" AS t) AS v2 ON v2."id" = v1."boss" ORDER BY v1."id" LIMIT $1`, `2`, `[0]`},
	{"sample", false, "", &query.Find{Class: "orgs", Limit: 5, Sample: true}, nil,
		`SELECT +v1."id", +v1."name", +v1."plan" FROM (SELECT t."id", t."name", t."plan" FROM "main"."orgs" AS t) AS v1 ORDER BY v1."id" DESC LIMIT +?`, `6`,
		`SELECT v1."id", v1."name", v1."plan" FROM (SELECT t."id", t."name", t."plan" FROM "public"."orgs" AS t) AS v1 ORDER BY v1."id" COLLATE "C" DESC LIMIT $1`, `6`, `[0]`},
}

// TestNoDialect checks that sqlgen fails without a dialect.
func TestNoDialect(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, []schema.Class{{Source: "app", Name: "a", Table: "a", Key: []string{"id"}, Fields: []schema.Field{{Name: "id"}}}})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(identity.Principal{Scopes: []identity.Scope{identity.Read}}, &query.Count{Class: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if st, err := sqlgen.SQL(permit, nil); problem.CodeOf(err) != problem.Internal || st.Text != "" {
		t.Errorf("no dialect: %q, %v; want %s", st.Text, err, problem.Internal)
	}
}
