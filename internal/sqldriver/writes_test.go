package sqldriver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/source/postgres"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

var dialects = []sqlgen.Dialect{sqlite.Dialect(), postgres.Dialect(), mariadb.Dialect()}

// natives contains the native types of the test fields, in the order of dialects.
var natives = map[string][3]string{
	"s": {"TEXT", "text", "longtext"}, "short": {"CHAR(4)", "varchar", "varchar"}, "state": {"TEXT", "enum", "enum"},
	"n": {"INT", "int4", "int"}, "big": {"INT", "int8", "bigint"}, "x": {"REAL", "float8", "double"}, "single": {"REAL", "float4", "float"},
	"d": {"NUMERIC", "numeric", "decimal"}, "b": {"BOOLEAN", "bool", "tinyint"}, "at": {"DATETIME", "timestamptz", "datetime"},
	"local": {"DATETIME", "timestamp", "datetime"}, "day": {"DATE", "date", "date"}, "u": {"UUID", "uuid", "uuid"}, "raw": {"BLOB", "bytea", "longblob"},
	"doc": {"JSON", "jsonb", "longtext"}, "tags": {"JSON", "_text", "longtext"}, "any": {"", "text", "longtext"},
}

// class returns the class things of the tests in a dialect.
func class(d sqlgen.Dialect) *schema.Class {
	native := func(name string) string { return natives[name][slices.Index(dialects, d)] }
	decimal, array, anything := schema.Decimal, schema.Array, schema.String
	switch d {
	case sqlite.Dialect():
		decimal, array, anything = schema.Double, schema.JSON, schema.Any
	case mariadb.Dialect():
		array = schema.JSON
	}
	field := func(name string, typ schema.Type) schema.Field {
		return schema.Field{Name: name, Type: typ, Native: native(name)}
	}
	c := &schema.Class{Source: "app", Name: "things", Table: "things", Key: []string{"id"}, Fields: []schema.Field{
		{Name: "id", Type: schema.Integer, Native: [...]string{"INTEGER", "int8", "bigint"}[slices.Index(dialects, d)], NotNull: true, Generated: true},
		field("s", schema.String), field("short", schema.String), field("state", schema.String), field("n", schema.Integer), field("big", schema.Integer),
		field("x", schema.Double), field("single", schema.Double), field("d", decimal), field("b", schema.Boolean), field("at", schema.Date), field("local", schema.Date),
		field("day", schema.Day), field("u", schema.UUID), field("raw", schema.Bytes), field("doc", schema.JSON), field("tags", array), field("any", anything),
		{Name: `odd "name"; --`, Type: schema.String, Native: [...]string{"TEXT", "text", "longtext"}[slices.Index(dialects, d)]},
	}}
	c.Field("s").NotNull = true
	c.Field("short").Length = 4
	c.Field("state").Values = []value.Value{value.OfString("new"), value.OfString("done")}
	if d != sqlite.Dialect() {
		c.Field("d").Digits, c.Field("d").Scaled, c.Field("d").Scale = 10, true, 2
		c.Field("local").Scaled, c.Field("local").Scale = true, 0
	}
	return c
}

// pairs returns a class in a space, with a key of two fields, whose records belong to a tenant.
func pairs(d sqlgen.Dialect) schema.Class {
	text := [...]string{"TEXT", "text", "varchar"}[slices.Index(dialects, d)]
	return schema.Class{Source: "app", Name: "crm_pairs", Space: "crm", Table: "pairs", Key: []string{"thing", "code"}, Fields: []schema.Field{
		{Name: "thing", Type: schema.Integer, Native: [...]string{"INTEGER", "int8", "bigint"}[slices.Index(dialects, d)], NotNull: true}, {Name: "code", Type: schema.String, Native: text, NotNull: true},
		{Name: "org", Type: schema.String, Native: text}, {Name: "note", Type: schema.String, Native: text}, {Name: "secret", Type: schema.String, Native: text}}}
}

// view returns the view of a class for a principal of the tenant acme. live restricts the records of things.
func view(t *testing.T, d sqlgen.Dialect, name string, live ...query.Filter) *policy.View {
	t.Helper()
	things := policy.ClassRule{}
	for _, f := range live {
		things.Canonical = f
	}
	p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"crm_pairs": {Tenant: &policy.TenantRule{Field: "org"}}, "things": things}},
		[]schema.Class{*class(d), pairs(d)})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.View(identity.Principal{ID: "test", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, name, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shown returns the text of a statement with its arguments, in a form that shows their types.
func shown(st sqlgen.Statement, err error) string {
	if err != nil {
		return err.Error()
	}
	var args []string
	for _, a := range st.Args {
		switch a := a.(type) {
		case string:
			args = append(args, "'"+a+"'")
		case []byte:
			args = append(args, fmt.Sprintf("x'%x'", a))
		case float64:
			args = append(args, fmt.Sprintf("%#v", a))
		default:
			args = append(args, fmt.Sprint(a))
		}
	}
	return strings.TrimSpace(st.Text + " | " + strings.Join(args, " "))
}

func TestStatements(t *testing.T) {
	key := []value.Value{value.OfInt(7), value.OfString("a")}
	set := func(c *schema.Class, name, text string) writes.Set {
		return writes.Set{Field: c.Field(name), Value: value.OfString(text)}
	}
	for _, test := range []struct {
		name string
		make func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error)
		want [3]string
	}{
		{"record", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.RecordStatement(d, view(t, d, "crm_pairs"), key, true)
		}, [3]string{
			`SELECT +t."thing", CASE WHEN octet_length(t."code") <= 2097152 THEN +t."code" END, CASE WHEN octet_length(t."org") <= 2097152 THEN +t."org" END, CASE WHEN octet_length(t."note") <= 2097152 THEN +t."note" END, 4294967296 - 4294967296 + coalesce(octet_length(t."code"), 0) + coalesce(octet_length(t."org"), 0) + coalesce(octet_length(t."note"), 0) FROM "crm"."pairs" AS t WHERE t."org" = ? AND t."thing" = ? AND t."code" = ? | 'acme' 7 'a'`,
			`SELECT t."thing", CASE WHEN octet_length(t."code") <= 2097152 THEN t."code" END, CASE WHEN octet_length(t."org") <= 2097152 THEN t."org" END, CASE WHEN octet_length(t."note") <= 2097152 THEN t."note" END, 4294967296 - 4294967296 + coalesce(octet_length(t."code"), 0) + coalesce(octet_length(t."org"), 0) + coalesce(octet_length(t."note"), 0) FROM "crm"."pairs" AS t WHERE t."org" = $1::text AND t."thing" = $2::int8 AND t."code" = $3::text FOR UPDATE OF t | 'acme' 7 'a'`,
			"SELECT t.`thing`, CASE WHEN octet_length(t.`code`) <= 2097152 THEN t.`code` END, CASE WHEN octet_length(t.`org`) <= 2097152 THEN t.`org` END, CASE WHEN octet_length(t.`note`) <= 2097152 THEN t.`note` END, 4294967296 - 4294967296 + coalesce(octet_length(t.`code`), 0) + coalesce(octet_length(t.`org`), 0) + coalesce(octet_length(t.`note`), 0) FROM `crm`.`pairs` AS t WHERE t.`org` = ? AND t.`thing` = ? AND t.`code` = ? FOR UPDATE | 'acme' 7 'a'",
		}},
		{"record, unlocked", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.RecordStatement(d, view(t, d, "things"), key[:1], false)
		}, [3]string{
			`SELECT +t."id", CASE WHEN octet_length(t."s") <= 2097152 THEN +t."s" END, CASE WHEN octet_length(t."short") <= 2097152 THEN +t."short" END, CASE WHEN octet_length(t."state") <= 2097152 THEN +t."state" END, +t."n", +t."big", +t."x", +t."single", +t."d", +t."b", +t."at", +t."local", +t."day", +t."u", CASE WHEN octet_length(t."raw") <= 2097152 THEN +t."raw" END, CASE WHEN octet_length(t."doc") <= 2097152 THEN +t."doc" END, CASE WHEN octet_length(t."tags") <= 2097152 THEN +t."tags" END, CASE WHEN octet_length(t."any") <= 2097152 THEN +t."any" END, CASE WHEN octet_length(t."odd ""name""; --") <= 2097152 THEN +t."odd ""name""; --" END, 4294967296 - 4294967296 + coalesce(octet_length(t."s"), 0) + coalesce(octet_length(t."short"), 0) + coalesce(octet_length(t."state"), 0) + coalesce(octet_length(t."raw"), 0) + coalesce(octet_length(t."doc"), 0) + coalesce(octet_length(t."tags"), 0) + coalesce(octet_length(t."any"), 0) + coalesce(octet_length(t."odd ""name""; --"), 0) FROM "main"."things" AS t WHERE t."id" = ? | 7`,
			`SELECT t."id", CASE WHEN octet_length(t."s") <= 2097152 THEN t."s" END, t."short", CASE WHEN octet_length(t."state"::text) <= 2097152 THEN t."state"::text END, t."n", t."big", t."x", t."single", t."d", t."b", t."at", t."local", t."day", t."u", CASE WHEN octet_length(t."raw") <= 2097152 THEN t."raw" END, CASE WHEN octet_length(t."doc"::text) <= 2097152 THEN t."doc" END, CASE WHEN octet_length(to_jsonb(t."tags")::text) <= 2097152 THEN to_jsonb(t."tags") END, CASE WHEN octet_length(t."any") <= 2097152 THEN t."any" END, CASE WHEN octet_length(t."odd ""name""; --") <= 2097152 THEN t."odd ""name""; --" END, 4294967296 - 4294967296 + coalesce(octet_length(t."s"), 0) + coalesce(octet_length(t."state"::text), 0) + coalesce(octet_length(t."raw"), 0) + coalesce(octet_length(t."doc"::text), 0) + coalesce(octet_length(to_jsonb(t."tags")::text), 0) + coalesce(octet_length(t."any"), 0) + coalesce(octet_length(t."odd ""name""; --"), 0) FROM "public"."things" AS t WHERE t."id" = $1::int8 | 7`,
			"SELECT t.`id`, CASE WHEN octet_length(t.`s`) <= 2097152 THEN t.`s` END, t.`short`, CASE WHEN octet_length(t.`state`) <= 2097152 THEN t.`state` END, t.`n`, t.`big`, t.`x`, t.`single`, CAST(t.`d` AS CHAR), t.`b`, t.`at`, t.`local`, t.`day`, CAST(t.`u` AS CHAR), CASE WHEN octet_length(t.`raw`) <= 2097152 THEN t.`raw` END, CASE WHEN octet_length(t.`doc`) <= 2097152 THEN t.`doc` END, CASE WHEN octet_length(t.`tags`) <= 2097152 THEN t.`tags` END, CASE WHEN octet_length(t.`any`) <= 2097152 THEN t.`any` END, CASE WHEN octet_length(t.`odd \"name\"; --`) <= 2097152 THEN t.`odd \"name\"; --` END, 4294967296 - 4294967296 + coalesce(octet_length(t.`s`), 0) + coalesce(octet_length(t.`state`), 0) + coalesce(octet_length(t.`raw`), 0) + coalesce(octet_length(t.`doc`), 0) + coalesce(octet_length(t.`tags`), 0) + coalesce(octet_length(t.`any`), 0) + coalesce(octet_length(t.`odd \"name\"; --`), 0) FROM `things` AS t WHERE t.`id` = ? | 7",
		}},
		{"record, half a key", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.RecordStatement(d, view(t, d, "crm_pairs"), key[:1], true)
		}, [3]string{
			`unsupported_by_source: records of crm_pairs have no key, so none can be named to be written`,
			`unsupported_by_source: records of crm_pairs have no key, so none can be named to be written`,
			`unsupported_by_source: records of crm_pairs have no key, so none can be named to be written`,
		}},
		{"insert", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.InsertStatement(d, &c, []writes.Set{{Field: c.Field("thing"), Value: key[0]}, set(&c, "code", "a"), set(&c, "note", `x'"; --`)}, nil)
		}, [3]string{
			`INSERT INTO "crm"."pairs" ("thing", "code", "note") VALUES (?, ?, ?) RETURNING +"thing", +"code" | 7 'a' 'x'"; --'`,
			`INSERT INTO "crm"."pairs" ("thing", "code", "note") VALUES ($1, $2, $3) RETURNING "thing", "code" | '7' 'a' 'x'"; --'`,
			"INSERT INTO `crm`.`pairs` (`thing`, `code`, `note`) VALUES (?, ?, ?) RETURNING `thing`, `code` | 7 'a' 'x'\"; --'",
		}},
		{"insert, nothing", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.InsertStatement(d, class(d), nil, nil)
		}, [3]string{
			`INSERT INTO "main"."things" DEFAULT VALUES RETURNING +"id" |`,
			`INSERT INTO "public"."things" DEFAULT VALUES RETURNING "id" |`,
			"INSERT INTO `things` () VALUES () RETURNING `id` |",
		}},
		{"insert, no key", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			c.Key = nil
			return sqldriver.InsertStatement(d, &c, nil, nil)
		}, [3]string{
			`unsupported_by_source: records of crm_pairs have no key, so a new one can't be told from others`,
			`unsupported_by_source: records of crm_pairs have no key, so a new one can't be told from others`,
			`unsupported_by_source: records of crm_pairs have no key, so a new one can't be told from others`,
		}},
		{"update", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.UpdateStatement(d, &c, key, []writes.Set{set(&c, "org", "b"), {Field: c.Field("note")}}, nil)
		}, [3]string{
			`UPDATE "crm"."pairs" SET "org" = ?, "note" = ? WHERE "thing" = ? AND "code" = ? | 'b' <nil> 7 'a'`,
			`UPDATE "crm"."pairs" SET "org" = $1, "note" = $2 WHERE "thing" = $3::int8 AND "code" = $4::text | 'b' <nil> 7 'a'`,
			"UPDATE `crm`.`pairs` SET `org` = ?, `note` = ? WHERE `thing` = ? AND `code` = ? | 'b' <nil> 7 'a'",
		}},
		{"update, an odd name", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			c := class(d)
			return sqldriver.UpdateStatement(d, c, key[:1], []writes.Set{set(c, `odd "name"; --`, "b")}, nil)
		}, [3]string{
			`UPDATE "main"."things" SET "odd ""name""; --" = ? WHERE "id" = ? | 'b' 7`,
			`UPDATE "public"."things" SET "odd ""name""; --" = $1 WHERE "id" = $2::int8 | 'b' 7`,
			"UPDATE `things` SET `odd \"name\"; --` = ? WHERE `id` = ? | 'b' 7",
		}},
		{"update, nothing", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.UpdateStatement(d, &c, key, nil, nil)
		}, [3]string{
			`invalid_argument: an update sets no field`,
			`invalid_argument: an update sets no field`,
			`invalid_argument: an update sets no field`,
		}},
		{"delete", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.DeleteStatement(d, &c, key)
		}, [3]string{
			`DELETE FROM "crm"."pairs" WHERE "thing" = ? AND "code" = ? | 7 'a'`,
			`DELETE FROM "crm"."pairs" WHERE "thing" = $1::int8 AND "code" = $2::text | 7 'a'`,
			"DELETE FROM `crm`.`pairs` WHERE `thing` = ? AND `code` = ? | 7 'a'",
		}},
		{"delete, null in the key", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.DeleteStatement(d, &c, []value.Value{{}, {}})
		}, [3]string{
			`internal_error: no value for thing, which is part of a key`,
			`internal_error: no value for thing, which is part of a key`,
			`internal_error: no value for thing, which is part of a key`,
		}},
		{"would, a new one", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.WouldStatement(d, view(t, d, "crm_pairs"), nil, []writes.Set{set(&c, "code", "a"), set(&c, "org", "b")}, nil)
		}, [3]string{
			`SELECT 1 FROM (SELECT r."thing" AS "thing", CASE WHEN 1=1 THEN ? ELSE r."code" END AS "code", CASE WHEN 1=1 THEN ? ELSE r."org" END AS "org", r."note" AS "note", r."secret" AS "secret" FROM (SELECT 1 AS one) AS o LEFT JOIN "crm"."pairs" AS r ON 1=0) AS w WHERE w."org" = ? | 'a' 'b' 'acme'`,
			`SELECT 1 FROM (SELECT r."thing" AS "thing", CASE WHEN 1=1 THEN $1 ELSE r."code" END AS "code", CASE WHEN 1=1 THEN $2 ELSE r."org" END AS "org", r."note" AS "note", r."secret" AS "secret" FROM (SELECT 1 AS one) AS o LEFT JOIN "crm"."pairs" AS r ON 1=0) AS w WHERE w."org" = $3::text | 'a' 'b' 'acme'`,
			"SELECT 1 FROM (SELECT r.`thing` AS `thing`, CASE WHEN 1=1 THEN ? ELSE r.`code` END AS `code`, CASE WHEN 1=1 THEN ? ELSE r.`org` END AS `org`, r.`note` AS `note`, r.`secret` AS `secret` FROM (SELECT 1 AS one) AS o LEFT JOIN `crm`.`pairs` AS r ON 1=0) AS w WHERE w.`org` = ? | 'a' 'b' 'acme'",
		}},
		{"would, one that is there", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.WouldStatement(d, view(t, d, "crm_pairs"), key, []writes.Set{set(&c, "org", "b")}, nil)
		}, [3]string{
			`SELECT 1 FROM (SELECT r."thing" AS "thing", r."code" AS "code", CASE WHEN 1=1 THEN ? ELSE r."org" END AS "org", r."note" AS "note", r."secret" AS "secret" FROM (SELECT 1 AS one) AS o LEFT JOIN "crm"."pairs" AS r ON 1=1 AND r."thing" = ? AND r."code" = ?) AS w WHERE w."org" = ? | 'b' 7 'a' 'acme'`,
			`SELECT 1 FROM (SELECT r."thing" AS "thing", r."code" AS "code", CASE WHEN 1=1 THEN $1 ELSE r."org" END AS "org", r."note" AS "note", r."secret" AS "secret" FROM (SELECT 1 AS one) AS o LEFT JOIN "crm"."pairs" AS r ON 1=1 AND r."thing" = $2::int8 AND r."code" = $3::text) AS w WHERE w."org" = $4::text | 'b' 7 'a' 'acme'`,
			"SELECT 1 FROM (SELECT r.`thing` AS `thing`, r.`code` AS `code`, CASE WHEN 1=1 THEN ? ELSE r.`org` END AS `org`, r.`note` AS `note`, r.`secret` AS `secret` FROM (SELECT 1 AS one) AS o LEFT JOIN `crm`.`pairs` AS r ON 1=1 AND r.`thing` = ? AND r.`code` = ?) AS w WHERE w.`org` = ? | 'b' 7 'a' 'acme'",
		}},
		{"sample", func(d sqlgen.Dialect, c schema.Class) (sqlgen.Statement, error) {
			return sqldriver.SampleStatement(d, &c, "note")
		}, [3]string{
			`SELECT +"note" FROM "crm"."pairs" WHERE "note" IS NOT NULL LIMIT 1 |`,
			`SELECT "note" FROM "crm"."pairs" WHERE "note" IS NOT NULL LIMIT 1 |`,
			"SELECT `note` FROM `crm`.`pairs` WHERE `note` IS NOT NULL LIMIT 1 |",
		}},
		{"claim", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.ClaimStatement(d, "c1", "abc", 3)
		}, [3]string{
			`INSERT INTO "main"."bailiwick_applied" (change_id, digest, fence) VALUES (?, ?, ?) ON CONFLICT (change_id) DO NOTHING | 'c1' 'abc' 3`,
			`INSERT INTO "public"."bailiwick_applied" (change_id, digest, fence) VALUES ($1, $2, $3) ON CONFLICT (change_id) DO NOTHING | 'c1' 'abc' 3`,
			"INSERT INTO `bailiwick_applied` (change_id, digest, fence) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE change_id = bailiwick_applied.change_id | 'c1' 'abc' 3",
		}},
		{"marker", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.MarkerStatement(d, "c1")
		}, [3]string{
			`SELECT digest, fence, receipt FROM "main"."bailiwick_applied" WHERE change_id = ? | 'c1'`,
			`SELECT digest, fence, receipt FROM "public"."bailiwick_applied" WHERE change_id = $1 FOR UPDATE | 'c1'`,
			"SELECT digest, fence, receipt FROM `bailiwick_applied` WHERE change_id = ? FOR UPDATE | 'c1'",
		}},
		{"raise", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.RaiseStatement(d, "c1", 4)
		}, [3]string{
			`UPDATE "main"."bailiwick_applied" SET fence = ? WHERE change_id = ? | 4 'c1'`,
			`UPDATE "public"."bailiwick_applied" SET fence = $1 WHERE change_id = $2 | 4 'c1'`,
			"UPDATE `bailiwick_applied` SET fence = ? WHERE change_id = ? | 4 'c1'",
		}},
		{"applied", func(d sqlgen.Dialect, _ schema.Class) (sqlgen.Statement, error) {
			return sqldriver.AppliedStatement(d, "c1", "abc", 3, "{}")
		}, [3]string{
			`UPDATE "main"."bailiwick_applied" SET digest = ?, fence = ?, receipt = ?, applied_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE change_id = ? AND receipt IS NULL | 'abc' 3 '{}' 'c1'`,
			`UPDATE "public"."bailiwick_applied" SET digest = $1, fence = $2, receipt = $3, applied_at = clock_timestamp() WHERE change_id = $4 AND receipt IS NULL | 'abc' 3 '{}' 'c1'`,
			"UPDATE `bailiwick_applied` SET digest = ?, fence = ?, receipt = ?, applied_at = UTC_TIMESTAMP(6) WHERE change_id = ? AND receipt IS NULL | 'abc' 3 '{}' 'c1'",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, d := range dialects {
				if got := shown(test.make(d, pairs(d))); got != test.want[i] {
					t.Errorf("dialect %s\n got %s\nwant %s", d.Name(), got, test.want[i])
				}
			}
		})
	}
}

// TestValues writes one value into one field. It expects the argument for each dialect, or the reason to reject the
// value.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		field, value string
		want         [3]string // SQLite, PostgreSQL, MariaDB
	}{
		{"s", `"x"`, [3]string{`'x'`, `'x'`, `'x'`}},
		{"s", `"Zoë 日本 👩‍🚀 \u0041"`, [3]string{`'Zoë 日本 👩‍🚀 A'`, `'Zoë 日本 👩‍🚀 A'`, `'Zoë 日本 👩‍🚀 A'`}},
		{"s", `null`, [3]string{`can't be null`, `can't be null`, `can't be null`}},
		{"s", `5`, [3]string{`must be a text`, `must be a text`, `must be a text`}},
		{"short", `"four"`, [3]string{`'four'`, `'four'`, `'four'`}},
		{"short", `"five!"`, [3]string{`must have at most 4 characters`, `must have at most 4 characters`, `must have at most 4 characters`}},
		{"short", `"日本語字"`, [3]string{`'日本語字'`, `'日本語字'`, `'日本語字'`}},
		{"state", `"new"`, [3]string{`'new'`, `'new'`, `'new'`}},
		{"state", `"gone"`, [3]string{`can't hold gone; it holds one of new, done`, `can't hold gone; it holds one of new, done`, `can't hold gone; it holds one of new, done`}},
		{"n", `2147483647`, [3]string{`2147483647`, `'2147483647'`, `2147483647`}},
		{"n", `2147483648`, [3]string{`2147483648`, `holds integers from -2147483648 to 2147483647`, `2147483648`}},
		{"n", `1.0`, [3]string{`1`, `'1'`, `1`}},
		{"n", `1.5`, [3]string{`must be an integer of 64 bits`, `must be an integer of 64 bits`, `must be an integer of 64 bits`}},
		{"n", `"1"`, [3]string{`must be an integer of 64 bits`, `must be an integer of 64 bits`, `must be an integer of 64 bits`}},
		{"n", `null`, [3]string{`<nil>`, `<nil>`, `<nil>`}},
		{"big", `9223372036854775807`, [3]string{`9223372036854775807`, `'9223372036854775807'`, `9223372036854775807`}},
		{"big", `9223372036854775808`, [3]string{`must be an integer of 64 bits`, `must be an integer of 64 bits`, `must be an integer of 64 bits`}},
		{"x", `0.1`, [3]string{`0.1`, `'0.1'`, `0.1`}},
		{"x", `1e300`, [3]string{`1e+300`, `'1e+300'`, `1e+300`}},
		{"x", `0.10000000000000000555`, [3]string{`can't hold all digits of 0.10000000000000000555`, `can't hold all digits of 0.10000000000000000555`, `can't hold all digits of 0.10000000000000000555`}},
		{"x", `9007199254740993`, [3]string{`can't hold all digits of 9007199254740993`, `can't hold all digits of 9007199254740993`, `can't hold all digits of 9007199254740993`}},
		{"x", `"NaN"`, [3]string{`must be a number`, `must be a number`, `must be a number`}},
		{"single", `0.1`, [3]string{`0.1`, `'0.1'`, `0.1`}},
		{"single", `16777217`, [3]string{`1.6777217e+07`, `can't hold all digits of 16777217`, `can't hold all digits of 16777217`}},
		{"d", `12345678.25`, [3]string{`1.234567825e+07`, `'12345678.25'`, `'12345678.25'`}},
		{"d", `0.125`, [3]string{`0.125`, `holds 2 digits behind the point`, `holds 2 digits behind the point`}},
		{"d", `123456789`, [3]string{`123456789`, `holds 8 digits before the point`, `holds 8 digits before the point`}},
		{"d", `1e2`, [3]string{`100`, `'100.00'`, `'100.00'`}},
		{"d", `9007199254740993`, [3]string{`9007199254740993`, `holds 8 digits before the point`, `holds 8 digits before the point`}},
		{"d", `1e999999999`, [3]string{`can't hold all digits of 1e999999999`, `can't hold so large a number`, `can't hold so large a number`}},
		{"b", `true`, [3]string{`1`, `'true'`, `1`}},
		{"b", `1`, [3]string{`must be true or false`, `must be true or false`, `must be true or false`}},
		{"at", `"2026-01-31T10:20:30.123456+02:00"`, [3]string{`'2026-01-31T08:20:30.123456Z'`, `'2026-01-31 08:20:30.123456+00'`, `'2026-01-31 08:20:30.123456'`}},
		{"at", `"2026-01-31"`, [3]string{`'2026-01-31T00:00:00Z'`, `'2026-01-31 00:00:00+00'`, `'2026-01-31 00:00:00'`}},
		{"at", `"soon"`, [3]string{`must be a date in ISO 8601`, `must be a date in ISO 8601`, `must be a date in ISO 8601`}},
		{"at", `1700000000`, [3]string{`must be a date in ISO 8601`, `must be a date in ISO 8601`, `must be a date in ISO 8601`}},
		{"at", `"0000-01-01T00:00:00Z"`, [3]string{`holds years from 1 to 9999`, `holds years from 1 to 9999`, `holds years from 1 to 9999`}},
		{"local", `"2026-01-31T10:20:30Z"`, [3]string{`'2026-01-31T10:20:30Z'`, `'2026-01-31 10:20:30'`, `'2026-01-31 10:20:30'`}},
		{"local", `"2026-01-31T10:20:30.5Z"`, [3]string{`'2026-01-31T10:20:30.5Z'`, `holds 0 digits of a second`, `holds 0 digits of a second`}},
		{"day", `"2026-01-31"`, [3]string{`'2026-01-31'`, `'2026-01-31'`, `'2026-01-31'`}},
		{"day", `"2026-01-31T10:00:00Z"`, [3]string{`holds a day without a time`, `holds a day without a time`, `holds a day without a time`}},
		{"u", `"6F9619FF-8B86-D011-B42D-00C04FC964FF"`, [3]string{`'6f9619ff-8b86-d011-b42d-00c04fc964ff'`, `'6f9619ff-8b86-d011-b42d-00c04fc964ff'`, `'6f9619ff-8b86-d011-b42d-00c04fc964ff'`}},
		{"u", `"6F96"`, [3]string{`must be a UUID`, `must be a UUID`, `must be a UUID`}},
		{"raw", `"aGkA/w=="`, [3]string{`x'686900ff'`, `'\x686900ff'`, `'686900ff'`}},
		{"raw", `"a*"`, [3]string{`must be bytes in base64`, `must be bytes in base64`, `must be bytes in base64`}},
		{"doc", `{"a":[1,18446744073709551616,0.10],"b":null}`, [3]string{`'{"a":[1,18446744073709551616,0.10],"b":null}'`, `'{"a":[1,18446744073709551616,0.10],"b":null}'`, `'{"a":[1,18446744073709551616,0.10],"b":null}'`}},
		{"doc", `"x"`, [3]string{`'"x"'`, `'"x"'`, `'"x"'`}},
		{"tags", `["a","b\"c\\d",null,"NULL",""]`, [3]string{`'["a","b\"c\\d",null,"NULL",""]'`, `'{"a","b\"c\\d",NULL,"NULL",""}'`, `'["a","b\"c\\d",null,"NULL",""]'`}},
		{"tags", `[[1,2],[3,{"a":"}"}]]`, [3]string{`'[[1,2],[3,{"a":"}"}]]'`, `'{{"1","2"},{"3","{\"a\":\"}\"}"}}'`, `'[[1,2],[3,{"a":"}"}]]'`}},
		{"tags", `[]`, [3]string{`'[]'`, `'{}'`, `'[]'`}},
		{"any", `18446744073709551615`, [3]string{`can't hold all digits of 18446744073709551615`, `must be a text`, `must be a text`}},
		{"any", `"x"`, [3]string{`'x'`, `'x'`, `'x'`}},
		{"any", `true`, [3]string{`1`, `must be a text`, `must be a text`}},
		{"any", `[1]`, [3]string{`can't hold array`, `must be a text`, `must be a text`}},
	} {
		var v value.Value
		if err := v.UnmarshalJSON([]byte(test.value)); err != nil {
			t.Fatal(test.value, err)
		}
		for i, d := range dialects {
			c := class(d)
			st, err := sqldriver.UpdateStatement(d, c, []value.Value{value.OfInt(7)}, []writes.Set{{Field: c.Field(test.field), Value: v}}, nil)
			got := shown(st, err)
			if err == nil {
				_, got, _ = strings.Cut(got, " | ")
				got = strings.TrimSuffix(got, " 7")
			} else if p := problem.Of(err); p.Code != problem.InvalidArgument || !strings.HasPrefix(p.Detail, test.field+" ") {
				t.Errorf("%s %s: %v", test.field, test.value, err)
			}
			if got = strings.TrimPrefix(got, "invalid_argument: "+test.field+" "); got != test.want[i] {
				t.Errorf("%s %s, dialect %s\n got %s\nwant %s", test.field, test.value, d.Name(), got, test.want[i])
			}
		}
	}
}

// TestForms writes dates into columns of SQLite. They must get the form of the column's other values.
func TestForms(t *testing.T) {
	c := class(sqlite.Dialect())
	for _, test := range []struct {
		value string
		form  sqldriver.WriteForm
		want  string
	}{
		{"2026-01-31T10:20:30Z", nil, `'2026-01-31T10:20:30Z'`},
		{"2026-01-31T10:20:30.5Z", "2025-01-01 00:00:00", `'2026-01-31 10:20:30.5'`},
		{"2026-01-31T10:20:30Z", "2025-01-01T00:00:00Z", `'2026-01-31T10:20:30Z'`},
		{"2026-01-31T10:20:30Z", "2025-01-01 00:00:00.123456+01:00", `'2026-01-31 10:20:30+00:00'`},
		{"2026-01-31T10:20:30Z", "2025-01-01 00:00:00.5", `'2026-01-31 10:20:30'`},
		{"2026-01-31T10:20:30Z", "soon", `'2026-01-31T10:20:30Z'`},
		{"2026-01-31T10:20:30Z", int64(1700000000), `1769854830`},
		{"2026-01-31T10:20:30.5Z", int64(1700000000), `1769854830500`},
		{"2026-01-31T10:20:30.5Z", int64(1700000000000), `1769854830500`},
		{"2026-01-31T10:20:30.123456Z", int64(1700000000000), `'2026-01-31T10:20:30.123456Z'`},
		{"1970-01-02T00:00:00.5Z", int64(1700000000000), `'1970-01-02T00:00:00.5Z'`},
		{"2026-01-31T12:00:00.000001Z", 2461000.5, `'2026-01-31T12:00:00.000001Z'`},
		{"2026-01-31T12:00:00Z", 2461000.5, `2.461072e+06`},
	} {
		v, ok := value.OfDateText(test.value)
		if !ok {
			t.Fatal(test.value)
		}
		st, err := sqldriver.UpdateStatement(sqlite.Dialect(), c, []value.Value{value.OfInt(7)}, []writes.Set{{Field: c.Field("at"), Value: v}}, map[string]sqldriver.WriteForm{"at": test.form})
		got := shown(st, err)
		if err == nil {
			_, got, _ = strings.Cut(got, " | ")
			got = strings.TrimSuffix(got, " 7")
		}
		if got != test.want {
			t.Errorf("%s like %v\n got %s\nwant %s", test.value, test.form, got, test.want)
		}
	}
}

// references are the references of a small tracker. Issues belong to projects, comments and child issues to issues,
// and votes to comments. The author of an issue may be deleted.
var references = []schema.Reference{
	{Table: "issues", Fields: []string{"project"}, To: "projects", Targets: []string{"id"}, Delete: schema.Cascade, Changed: schema.Cascade},
	{Table: "issues", Fields: []string{"parent"}, To: "issues", Targets: []string{"id"}, Delete: schema.Cascade},
	{Table: "issues", Fields: []string{"maker"}, To: "users", Targets: []string{"id"}, Delete: schema.SetNull},
	{Table: "comments", Fields: []string{"issue"}, To: "issues", Targets: []string{"id"}, Delete: schema.Cascade},
	{Table: "links", Fields: []string{"a", "b"}, To: "comments", Targets: []string{"x", "y"}, Delete: schema.SetNull},
	{Table: "bills", Fields: []string{"project"}, To: "projects", Targets: []string{"id"}},
}

func TestCascades(t *testing.T) {
	named := func(name string) *schema.Class {
		return &schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}}
	}
	for _, test := range []struct {
		class  string
		fields []string
		want   string
	}{
		{"projects", nil, `delete comments: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."comments" AS r0 WHERE (r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."project" IN (SELECT r2."id" FROM "main"."projects" AS r2 WHERE r2."id" = ?)) OR r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."project" IN (SELECT r3."id" FROM "main"."projects" AS r3 WHERE r3."id" = ?))) OR r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."project" IN (SELECT r4."id" FROM "main"."projects" AS r4 WHERE r4."id" = ?))))) LIMIT 1000000) AS c | 7 7 7
delete issues: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."issues" AS r0 WHERE (r0."project" IN (SELECT r1."id" FROM "main"."projects" AS r1 WHERE r1."id" = ?) OR r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."project" IN (SELECT r2."id" FROM "main"."projects" AS r2 WHERE r2."id" = ?)) OR r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."project" IN (SELECT r3."id" FROM "main"."projects" AS r3 WHERE r3."id" = ?))) OR r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."project" IN (SELECT r4."id" FROM "main"."projects" AS r4 WHERE r4."id" = ?))))) LIMIT 1000000) AS c | 7 7 7 7
set_null links: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."links" AS r0 WHERE ((r0."a", r0."b") IN (SELECT r1."x", r1."y" FROM "main"."comments" AS r1 WHERE r1."issue" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."project" IN (SELECT r3."id" FROM "main"."projects" AS r3 WHERE r3."id" = ?))) OR (r0."a", r0."b") IN (SELECT r1."x", r1."y" FROM "main"."comments" AS r1 WHERE r1."issue" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."project" IN (SELECT r4."id" FROM "main"."projects" AS r4 WHERE r4."id" = ?))))) LIMIT 1000000) AS c | 7 7
`},
		{"issues", nil, `delete comments: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."comments" AS r0 WHERE (r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."id" = ?) OR r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."id" = ?)) OR r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."id" = ?))) OR r0."issue" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."parent" IN (SELECT r4."id" FROM "main"."issues" AS r4 WHERE r4."id" = ?))))) LIMIT 1000000) AS c | 7 7 7 7
delete issues: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."issues" AS r0 WHERE (r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."id" = ?) OR r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."id" = ?)) OR r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."id" = ?))) OR r0."parent" IN (SELECT r1."id" FROM "main"."issues" AS r1 WHERE r1."parent" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."parent" IN (SELECT r4."id" FROM "main"."issues" AS r4 WHERE r4."id" = ?))))) AND (CASE WHEN 1=1 AND r0."id" = ? THEN 0 ELSE 1 END) LIMIT 1000000) AS c | 7 7 7 7 7
set_null links: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."links" AS r0 WHERE ((r0."a", r0."b") IN (SELECT r1."x", r1."y" FROM "main"."comments" AS r1 WHERE r1."issue" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."id" = ?)) OR (r0."a", r0."b") IN (SELECT r1."x", r1."y" FROM "main"."comments" AS r1 WHERE r1."issue" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."id" = ?))) OR (r0."a", r0."b") IN (SELECT r1."x", r1."y" FROM "main"."comments" AS r1 WHERE r1."issue" IN (SELECT r2."id" FROM "main"."issues" AS r2 WHERE r2."parent" IN (SELECT r3."id" FROM "main"."issues" AS r3 WHERE r3."parent" IN (SELECT r4."id" FROM "main"."issues" AS r4 WHERE r4."id" = ?))))) LIMIT 1000000) AS c | 7 7 7
`},
		{"users", nil, `set_null issues: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."issues" AS r0 WHERE (r0."maker" IN (SELECT r1."id" FROM "main"."users" AS r1 WHERE r1."id" = ?)) LIMIT 1000000) AS c | 7
`},
		{"comments", nil, `set_null links: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."links" AS r0 WHERE ((r0."a", r0."b") IN (SELECT r1."x", r1."y" FROM "main"."comments" AS r1 WHERE r1."id" = ?)) LIMIT 1000000) AS c | 7
`},
		{"projects", []string{"id"}, `update issues: SELECT count(*) FROM (SELECT 1 AS n FROM "main"."issues" AS r0 WHERE (r0."project" IN (SELECT r1."id" FROM "main"."projects" AS r1 WHERE r1."id" = ?)) LIMIT 1000000) AS c | 7
`},
		{"projects", []string{"name"}, ""},
		{"bills", nil, ""},
	} {
		counts, err := sqldriver.CascadeCounts(sqlite.Dialect(), named(test.class), []value.Value{value.OfInt(7)}, test.fields, references)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, n := range counts {
			fmt.Fprintf(&got, "%s %s: %s\n", n.Effect, n.Table, shown(n.Statement, nil))
		}
		if got.String() != test.want {
			t.Errorf("%s %v\n got %s\nwant %s", test.class, test.fields, got.String(), test.want)
		}
	}
}

func TestCreateTable(t *testing.T) {
	for _, test := range []struct {
		class, fields string
		want          [3]string // one error for all dialects if they reject the class
	}{
		{"notes", `[{"name":"text","type":"string","required":true},{"name":"state","type":"string","values":["new","in work"]}]`, [3]string{
			`CREATE TABLE "main"."notes" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "text" TEXT NOT NULL, "state" TEXT CHECK ("state" IN ('new', 'in work'))) |`,
			`CREATE TABLE "public"."notes" ("id" bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, "text" text NOT NULL, "state" text CHECK ("state" IN ('new', 'in work'))) |`,
			"CREATE TABLE IF NOT EXISTS `notes` (`id` bigint AUTO_INCREMENT PRIMARY KEY, `text` longtext NOT NULL, `state` longtext CHECK (`state` IN ('new', 'in work')))" +
				" ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 |"}},
		{"n", `[{"name":"ID","type":"uuid"},{"name":"at","type":"date","required":false}]`, [3]string{
			`CREATE TABLE "main"."n" ("ID" UUID NOT NULL PRIMARY KEY, "at" DATETIME) |`,
			`CREATE TABLE "public"."n" ("ID" uuid NOT NULL PRIMARY KEY, "at" timestamptz) |`,
			"CREATE TABLE IF NOT EXISTS `n` (`ID` uuid NOT NULL PRIMARY KEY, `at` datetime(6)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 |"}},
		{`a"; DROP TABLE b; --`, `[{"name":"a","type":"string"}]`,
			[3]string{`invalid_argument: a class is named with letters, digits and _, a letter first, at most 63, not "a\"; DROP TABLE b; --"`}},
		{"bailiwick_x", `[{"name":"a","type":"string"}]`, [3]string{`invalid_argument: a class is named with letters, digits and _, a letter first, at most 63, not "bailiwick_x"`}},
		{"n", `[]`, [3]string{`invalid_argument: a class has 1 to 100 fields, not 0`}},
		{"n", `["a"]`, [3]string{`invalid_argument: a field is an object with name and type`}},
		{"n", `[{"name":"a b","type":"string"}]`, [3]string{`invalid_argument: a field is named with letters, digits and _, a letter first, at most 63, not "a b"`}},
		{"n", `[{"name":"a","type":"serial"}]`,
			[3]string{`invalid_argument: the type of a must be one of boolean, bytes, date, day, decimal, double, integer, json, string, uuid`}},
		{"n", `[{"name":"id","type":"json"}]`, [3]string{`invalid_argument: the type of id must be one of integer, string, uuid`}},
		{"n", `[{"name":"a"}]`, [3]string{`invalid_argument: the type of a must be one of boolean, bytes, date, day, decimal, double, integer, json, string, uuid`}},
		{"n", `[{"name":"a","type":"string"},{"name":"A","type":"string"}]`, [3]string{`invalid_argument: two fields are called A`}},
		{"n", `[{"name":"a","type":"string","requierd":true}]`, [3]string{`invalid_argument: a field has no "requierd". Did you mean required?`}},
		{"n", `[{"name":"a","type":"string","required":1}]`, [3]string{`invalid_argument: required of a must be true or false`}},
		{"n", `[{"name":"a","type":"string","values":["it's"]}]`,
			[3]string{`invalid_argument: values of a are words of letters, digits and _.+/-, at most 100 characters, not it's`}},
		{"n", `[{"name":"a","type":"string","values":["a\\"]}]`,
			[3]string{`invalid_argument: values of a are words of letters, digits and _.+/-, at most 100 characters, not a\`}},
		{"n", `[{"name":"a","type":"integer","values":["1"]}]`, [3]string{`invalid_argument: values of a must be a list of 1 to 100 texts, for a field of the type string`}},
	} {
		var fields value.Value
		if err := fields.UnmarshalJSON([]byte(test.fields)); err != nil {
			t.Fatal(err)
		}
		for i, d := range dialects {
			st, _, err := sqldriver.CreateTable(d, &write.CreateClass{Source: "app", Class: test.class, Fields: fields})
			want := test.want[i]
			if test.want[1] == "" {
				want = test.want[0]
			}
			if got := shown(st, err); got != want {
				t.Errorf("%s %s\n got %s\nwant %s", test.class, test.fields, got, want)
			}
		}
	}
}

func TestOwned(t *testing.T) {
	parameters := value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(2)}, {Name: "who", Value: value.OfString("x'; --")}, {Name: "on", Value: value.OfBool(true)},
		{Name: "price", Value: value.OfDecimal("0.10")}, {Name: "doc", Value: value.OfArray([]value.Value{value.OfInt(1)})}, {Name: "none"}})
	for _, test := range []struct {
		text string
		want [3]string
	}{
		{"UPDATE t SET n = n + :n, who = :who WHERE on = :on;\n", [3]string{
			"UPDATE t SET n = n + ?, who = ? WHERE on = ? | 2 'x'; --' 1", "UPDATE t SET n = n + $1, who = $2 WHERE on = $3 | '2' 'x'; --' 'true'",
			"UPDATE t SET n = n + ?, who = ? WHERE on = ? | 2 'x'; --' 1"}},
		{"SELECT f(:price, :doc, :none, :n, :n)", [3]string{
			"SELECT f(?, ?, ?, ?, ?) | 0.1 '[1]' <nil> 2 2", "SELECT f($1, $2, $3, $4, $5) | '0.10' '[1]' <nil> '2' '2'", "SELECT f(?, ?, ?, ?, ?) | '0.10' '[1]' <nil> 2 2"}},
		{"SELECT ':n', ':n''; :n' /* :n; */, :n -- ; :n", [3]string{
			"SELECT ':n', ':n''; :n' /* :n; */, ? -- ; :n | 2", "SELECT ':n', ':n''; :n' /* :n; */, $1 -- ; :n | '2'", "SELECT ':n', ':n''; :n' /* :n; */, ? -- ; :n | 2"}},
		{`SELECT a::text, $x$ :n; $x$, "a:n", x[1:2] = :n`, [3]string{
			`one`, `SELECT a::text, $x$ :n; $x$, "a:n", x[1:2] = $1 | '2'`, `one`}},
		{`SELECT '\' :n; x', :n`, [3]string{`one`, `one`, `SELECT '\' :n; x', ? | 2`}},
		{"DELETE FROM a; DELETE FROM b", [3]string{"one", "one", "one"}},
		{"SELECT :other", [3]string{"one", "one", "one"}},
	} {
		for i, d := range dialects {
			st, err := sqldriver.OwnedStatement(d, nil, test.text, parameters)
			got := shown(st, err)
			if err != nil {
				got = "one"
			}
			if got != test.want[i] {
				t.Errorf("%s\n got %s\nwant %s", test.text, got, test.want[i])
			}
		}
	}
}

// TestWritesComplete checks that each dialect describes its writes completely. A dialect for reading only must be
// rejected.
func TestWritesComplete(t *testing.T) {
	for _, d := range dialects {
		if missing := d.Writes().Missing(); missing != nil {
			t.Errorf("%s does not say %s", d.Name(), strings.Join(missing, ", "))
		}
	}
	if got := (sqlgen.Writes{}).Missing(); len(got) < 10 {
		t.Errorf("the zero Writes misses only %v", got)
	}
	for _, tt := range []struct {
		d    sqlgen.Dialect
		want string
	}{{nil, "internal_error: a statement is written in no dialect"}, {readOnly{pg}, "unsupported_by_source: statements that write are not supported by postgresql"}} {
		st, err := sqldriver.DropTable(tt.d, class(pg))
		if got := shown(st, err); got != tt.want {
			t.Errorf("got %s\nwant %s", got, tt.want)
		}
	}
}

// readOnly is the dialect of a database without writes.
type readOnly struct{ sqlgen.Dialect }

func (readOnly) Writes() sqlgen.Writes { return sqlgen.Writes{} }
