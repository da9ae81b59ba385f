package postgres

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/services"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/value"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, ddl string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(context.Background(), ddl).ReadAll(); err != nil {
		t.Fatalf("%v in\n%s", err, ddl)
	}
}

func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		name, ddl string
		want      []schema.Class
		warnings  []string
	}{{
		name: "types",
		ddl: `CREATE EXTENSION citext; CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
			CREATE TYPE pair AS (a int, b int); CREATE TYPE "json" AS (a int);
			CREATE TABLE t (a int2, b int4, c int8, d numeric(10,2), e money, f float4, g float8, h bool, i text, j varchar(20),
				k char(3), l name, m citext, n text COLLATE ci, o uuid, p date, q timestamp, r timestamptz, s json, t jsonb,
				u int4[], v bytea, w time, x interval, y inet, z int4range, aa tsvector, ab point, ac pair, ad xml,
				ae public.json, af citext[], ag oidvector, ah varchar)`,
		want: []schema.Class{{Source: "db", Name: "t", Table: "t", Fields: []schema.Field{
			{Name: "a", Type: schema.Integer, Native: "int2"},
			{Name: "b", Type: schema.Integer, Native: "int4"},
			{Name: "c", Type: schema.Integer, Native: "int8"},
			{Name: "d", Type: schema.Decimal, Native: "numeric", Digits: 10, Scaled: true, Scale: 2},
			{Name: "e", Type: schema.Decimal, Native: "money", Digits: 18, Scaled: true, Scale: 2},
			{Name: "f", Type: schema.Double, Native: "float4"},
			{Name: "g", Type: schema.Double, Native: "float8"},
			{Name: "h", Type: schema.Boolean, Native: "bool"},
			{Name: "i", Type: schema.String, Native: "text"},
			{Name: "j", Type: schema.String, Native: "varchar", Length: 20},
			{Name: "k", Type: schema.String, Native: "bpchar", Length: 3},
			{Name: "l", Type: schema.String, Native: "name"},
			{Name: "m", Type: schema.String, Native: "citext", Unordered: true},
			{Name: "n", Type: schema.String, Native: "text", Unordered: true},
			{Name: "o", Type: schema.UUID, Native: "uuid"},
			{Name: "p", Type: schema.Day, Native: "date"},
			{Name: "q", Type: schema.Date, Native: "timestamp"},
			{Name: "r", Type: schema.Date, Native: "timestamptz"},
			{Name: "s", Type: schema.JSON, Native: "json"},
			{Name: "t", Type: schema.JSON, Native: "jsonb"},
			{Name: "u", Type: schema.Array, Native: "_int4"},
			{Name: "v", Type: schema.Bytes, Native: "bytea"},
			{Name: "w", Type: schema.String, Native: "time", Form: "a time of day: 13:05:00 or 13:05:00.25"},
			{Name: "x", Type: schema.Opaque, Native: "interval", Form: "a duration in ISO 8601: P1DT2H30M"},
			{Name: "y", Type: schema.Opaque, Native: "inet", Form: "an IP address, with the length of its network if it has one: 10.0.0.1 or 10.0.0.7/8"},
			{Name: "z", Type: schema.Opaque, Native: "int4range", Form: "a range, with [ or ( before its first and ] or ) behind its last value, which may be missing: [1,10) or (,5]"},
			{Name: "aa", Type: schema.Opaque, Native: "tsvector"},
			{Name: "ab", Type: schema.Opaque, Native: "point", Form: "a point: (1.5,2)", Point: true},
			{Name: "ac", Type: schema.Opaque, Native: "public.pair", Form: "a text in the form in which answers show it"},
			{Name: "ad", Type: schema.Opaque, Native: "xml", Form: "a text in the form in which answers show it"},
			{Name: "ae", Type: schema.Opaque, Native: "public.json", Form: "a text in the form in which answers show it"},
			{Name: "af", Type: schema.Array, Native: "public._citext"},
			{Name: "ag", Type: schema.Opaque, Native: "oidvector", Form: "a text in the form in which answers show it"},
			{Name: "ah", Type: schema.String, Native: "varchar"},
		}}},
	}, {
		name: "enums, domains and checks",
		ddl: `CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
			CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'Glad');
			CREATE DOMAIN code AS varchar(8) NOT NULL DEFAULT 'a' CHECK (VALUE IN ('a', 'b', 'c'));
			CREATE DOMAIN code2 AS code CHECK (VALUE IN ('c', 'b', 'x')); CREATE DOMAIN feel AS mood;
			CREATE DOMAIN plain AS int NOT NULL;
			CREATE TABLE t (a mood, b code, c code2, d feel, e plain, f text CHECK (f IN ('x', 'it''s', 'b\\s')),
				g varchar(9) CHECK (g IN ('x', 'y')), h int CHECK (h IN (1, -2)), i text CHECK (i = 'one'), j int CHECK (j >= 1),
				k text CHECK (k IN ('x', NULL)), l text CHECK (l IN ('x') OR j = 1), m text CHECK (m IS NULL OR m IN ('p', 'q')),
				n char(1) CHECK (n IN ('Y', 'N')), o char(2) CHECK (o IN ('Y', 'N')), p numeric CHECK (p IN (1.5, -2)),
				q text, r text, "S t" text CHECK ("S t" IN ('x')), u text CHECK (u NOT IN ('x')), v text CHECK (lower(v) IN ('x')),
				w float8 CHECK (w IN (1, 2.5)), x smallint CHECK (x IN (3)), y text CHECK (y LIKE 'x' AND y IN ('x', 'z')),
				z real CHECK (z IN (0.1)), aa int CHECK (aa::text IN ('01')), ab text COLLATE ci CHECK (ab IN ('x')),
				"CURRENT_USER" text CHECK (CURRENT_USER = 'x'),
				CONSTRAINT both_ CHECK (q IN ('m') AND j < 9 AND h <> j));
			ALTER TABLE t ADD CHECK (r IN ('x')) NOT VALID`,
		want: []schema.Class{{Source: "db", Name: "t", Table: "t", Fields: []schema.Field{
			{Name: "a", Type: schema.String, Native: "enum", Values: database.Values(value.OfString, "sad", "it's ok", "Glad")},
			{Name: "b", Type: schema.String, Native: "varchar", Length: 8, Default: "'a'::character varying", Values: database.Values(value.OfString, "a", "b", "c")},
			{Name: "c", Type: schema.String, Native: "varchar", Length: 8, Default: "'a'::character varying", Values: database.Values(value.OfString, "b", "c")},
			{Name: "d", Type: schema.String, Native: "enum", Values: database.Values(value.OfString, "sad", "it's ok", "Glad")},
			{Name: "e", Type: schema.Integer, Native: "int4", Required: true},
			{Name: "f", Type: schema.String, Native: "text", Values: database.Values(value.OfString, "x", "it's", `b\\s`)},
			{Name: "g", Type: schema.String, Native: "varchar", Length: 9, Values: database.Values(value.OfString, "x", "y")},
			{Name: "h", Type: schema.Integer, Native: "int4", Values: database.Values(value.OfInt, 1, -2), Bounds: []schema.Bound{{Op: "<>", Field: "j"}}},
			{Name: "i", Type: schema.String, Native: "text", Values: database.Values(value.OfString, "one")},
			{Name: "j", Type: schema.Integer, Native: "int4", Bounds: []schema.Bound{{Op: "<", Value: value.OfInt(9)}, {Op: ">=", Value: value.OfInt(1)}}},
			{Name: "k", Type: schema.String, Native: "text"},
			{Name: "l", Type: schema.String, Native: "text"},
			{Name: "m", Type: schema.String, Native: "text", Values: database.Values(value.OfString, "p", "q")},
			{Name: "n", Type: schema.String, Native: "bpchar", Length: 1, Values: database.Values(value.OfString, "Y", "N")},
			{Name: "o", Type: schema.String, Native: "bpchar", Length: 2},
			{Name: "p", Type: schema.Decimal, Native: "numeric", Values: database.Values(value.OfDecimal, "1.5", "-2")},
			{Name: "q", Type: schema.String, Native: "text", Values: database.Values(value.OfString, "m")},
			{Name: "r", Type: schema.String, Native: "text"},
			{Name: "S t", Type: schema.String, Native: "text", Values: database.Values(value.OfString, "x")},
			{Name: "u", Type: schema.String, Native: "text"},
			{Name: "v", Type: schema.String, Native: "text"},
			{Name: "w", Type: schema.Double, Native: "float8", Values: database.Values(value.OfFloat, 1, 2.5)},
			{Name: "x", Type: schema.Integer, Native: "int2", Values: database.Values(value.OfInt, 3)},
			{Name: "y", Type: schema.String, Native: "text", Values: database.Values(value.OfString, "x", "z")},
			{Name: "z", Type: schema.Double, Native: "float4"},
			{Name: "aa", Type: schema.Integer, Native: "int4"},
			{Name: "ab", Type: schema.String, Native: "text", Unordered: true},
			{Name: "CURRENT_USER", Type: schema.String, Native: "text"},
		}}},
	}, {
		name: "keys, defaults, generated columns and comments",
		ddl: `CREATE TABLE a (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, s serial, n text NOT NULL, d text NOT NULL DEFAULT 'x',
				g int GENERATED ALWAYS AS (1 + 1) STORED);
			COMMENT ON TABLE a IS 'An a.'; COMMENT ON COLUMN a.n IS 'Its n''s name.';
			CREATE TABLE b (y int, x text, PRIMARY KEY (x, y)); CREATE TABLE c (u text UNIQUE, v text NOT NULL);
			CREATE UNIQUE INDEX ci ON c (v); CREATE UNIQUE INDEX aa ON c (v) WHERE v <> ''; CREATE TABLE d (u text UNIQUE)`,
		want: []schema.Class{
			{Source: "db", Name: "a", Table: "a", Description: "An a.", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "int4", NotNull: true, Generated: true},
				{Name: "s", Type: schema.Integer, Native: "int4", NotNull: true, Default: "nextval('a_s_seq'::regclass)"},
				{Name: "n", Type: schema.String, Native: "text", NotNull: true, Required: true, Description: "Its n's name."},
				{Name: "d", Type: schema.String, Native: "text", NotNull: true, Default: "'x'::text"},
				{Name: "g", Type: schema.Integer, Native: "int4", Generated: true},
			}, Indexes: []schema.Index{{Name: "a_pkey", Fields: []string{"id"}, Unique: true}}},
			{Source: "db", Name: "b", Table: "b", Key: []string{"x", "y"}, Fields: []schema.Field{
				{Name: "y", Type: schema.Integer, Native: "int4", NotNull: true, Required: true},
				{Name: "x", Type: schema.String, Native: "text", NotNull: true, Required: true},
			}, Indexes: []schema.Index{{Name: "b_pkey", Fields: []string{"x", "y"}, Unique: true}}},
			{Source: "db", Name: "c", Table: "c", Key: []string{"v"}, Fields: []schema.Field{
				{Name: "u", Type: schema.String, Native: "text"},
				{Name: "v", Type: schema.String, Native: "text", NotNull: true, Required: true},
			}, Indexes: []schema.Index{
				{Name: "aa", Fields: []string{"v"}, More: true},
				{Name: "c_u_key", Fields: []string{"u"}, Unique: true},
				{Name: "ci", Fields: []string{"v"}, Unique: true},
			}},
			{Source: "db", Name: "d", Table: "d", Fields: []schema.Field{{Name: "u", Type: schema.String, Native: "text"}},
				Indexes: []schema.Index{{Name: "d_u_key", Fields: []string{"u"}, Unique: true}}},
		},
	}, {
		name: "foreign keys and indexes",
		ddl: `CREATE TABLE p (x int, y int, z int UNIQUE, PRIMARY KEY (x, y));
			CREATE TABLE c (a int, b int, up int REFERENCES p (z), z text, FOREIGN KEY (b, a) REFERENCES p (y, x));
			CREATE INDEX i1 ON c (a, (b + 1), up); CREATE INDEX i2 ON c ((b + 1)); CREATE UNIQUE INDEX i3 ON c (a) INCLUDE (b);
			CREATE INDEX i4 ON c USING hash (z); CREATE INDEX i5 ON c USING brin (b)`,
		want: []schema.Class{
			{Source: "db", Name: "c", Table: "c", Fields: []schema.Field{
				{Name: "a", Type: schema.Integer, Native: "int4"}, {Name: "b", Type: schema.Integer, Native: "int4"},
				{Name: "up", Type: schema.Integer, Native: "int4"}, {Name: "z", Type: schema.String, Native: "text"},
			}, Relations: []schema.Relation{
				{Fields: []string{"b", "a"}, Target: "p", TargetFields: []string{"y", "x"}},
				{Fields: []string{"up"}, Target: "p", TargetFields: []string{"z"}},
			}, Indexes: []schema.Index{
				{Name: "i1", Fields: []string{"a"}, More: true},
				{Name: "i3", Fields: []string{"a"}, More: true, Unique: true},
				{Name: "i4", Fields: []string{"z"}},
			}},
			{Source: "db", Name: "p", Table: "p", Key: []string{"x", "y"}, Fields: []schema.Field{
				{Name: "x", Type: schema.Integer, Native: "int4", NotNull: true, Required: true},
				{Name: "y", Type: schema.Integer, Native: "int4", NotNull: true, Required: true},
				{Name: "z", Type: schema.Integer, Native: "int4"},
			}, Indexes: []schema.Index{
				{Name: "p_pkey", Fields: []string{"x", "y"}, Unique: true},
				{Name: "p_z_key", Fields: []string{"z"}, Unique: true},
			}},
		},
	}, {
		name: "partitions, inheritance, views and what is no class",
		ddl: `CREATE TABLE part (id int PRIMARY KEY) PARTITION BY RANGE (id);
			CREATE TABLE part1 PARTITION OF part FOR VALUES FROM (0) TO (9); CREATE TABLE ref (id int REFERENCES part);
			CREATE TABLE old (id int PRIMARY KEY, k text CHECK (k IN ('x')) NO INHERIT); CREATE TABLE young (extra int) INHERITS (old);
			CREATE VIEW v AS SELECT id FROM ref; CREATE MATERIALIZED VIEW m AS SELECT id FROM ref; COMMENT ON VIEW v IS 'A v.';
			CREATE EXTENSION postgres_fdw; CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw;
			CREATE FOREIGN TABLE far (id int NOT NULL, k text CHECK (k IN ('x'))) SERVER s; CREATE EXTENSION pg_stat_statements;
			CREATE TABLE bailiwick_audit (x int); CREATE TEMP TABLE tmp (x int); CREATE TABLE bare ()`,
		want: []schema.Class{
			{Source: "db", Name: "far", Table: "far", Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "int4", Required: true}, {Name: "k", Type: schema.String, Native: "text"}}},
			{Source: "db", Name: "m", Table: "m", View: true, Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "int4"}}},
			{Source: "db", Name: "old", Table: "old", Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "int4", Required: true}, {Name: "k", Type: schema.String, Native: "text"},
			}, Indexes: []schema.Index{{Name: "old_pkey", Fields: []string{"id"}}}},
			{Source: "db", Name: "part", Table: "part", Key: []string{"id"},
				Fields:  []schema.Field{{Name: "id", Type: schema.Integer, Native: "int4", NotNull: true, Required: true}},
				Indexes: []schema.Index{{Name: "part_pkey", Fields: []string{"id"}, Unique: true}}},
			{Source: "db", Name: "ref", Table: "ref", Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "int4"}},
				Relations: []schema.Relation{{Fields: []string{"id"}, Target: "part", TargetFields: []string{"id"}}}},
			{Source: "db", Name: "v", Table: "v", View: true, Description: "A v.", Fields: []schema.Field{{Name: "id", Type: schema.Integer, Native: "int4"}}},
			{Source: "db", Name: "young", Table: "young", Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "int4", NotNull: true, Required: true}, {Name: "k", Type: schema.String, Native: "text"},
				{Name: "extra", Type: schema.Integer, Native: "int4"}}},
		},
		warnings: []string{`class "old" has no key`, `class "bare" left out`},
	}, {
		name: "full-text indexes",
		ddl: `CREATE SCHEMA s; CREATE TABLE s.docs ("T 1" varchar, b text, n int);
			CREATE INDEX one ON s.docs USING gin (to_tsvector('english', "T 1"), to_tsvector('simple', coalesce(b, '')));
			CREATE INDEX part ON s.docs USING gin (to_tsvector('english', b)) WHERE n > 0;
			CREATE INDEX two ON s.docs USING gin (to_tsvector('english', "T 1" || b));
			CREATE INDEX num ON s.docs USING gin (to_tsvector('english', n::text)); CREATE INDEX tree ON s.docs (to_tsvector('english', b));
			ALTER TABLE s.docs ADD w tsvector GENERATED ALWAYS AS (setweight(to_tsvector('english', coalesce("T 1", '')), 'A') || to_tsvector('english', b)) STORED,
				ADD own tsvector, ADD kept_by tsvector, ADD num tsvector GENERATED ALWAYS AS (to_tsvector('english', n::text)) STORED;
			CREATE INDEX kept ON s.docs USING gist (w); CREATE INDEX own ON s.docs USING gin (own); CREATE INDEX z_kept_by ON s.docs USING gin (kept_by);
			CREATE TRIGGER keep BEFORE INSERT OR UPDATE ON s.docs FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(kept_by, 'pg_catalog.simple', 'T 1', b);
			CREATE TRIGGER now_and_then BEFORE INSERT ON s.docs FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(own, 'pg_catalog.simple', b); CREATE INDEX kept_num ON s.docs USING gin (num);
			CREATE TABLE old (t text); CREATE INDEX on_old ON old USING gin (to_tsvector('english', t)); CREATE TABLE young () INHERITS (old);
			CREATE TABLE part (t text) PARTITION BY LIST (t); CREATE TABLE part1 PARTITION OF part DEFAULT;
			CREATE INDEX on_part ON part USING gist (to_tsvector('english', t))`,
		want: []schema.Class{
			{Source: "db", Name: "old", Table: "old", Fields: []schema.Field{{Name: "t", Type: schema.String, Native: "text"}}},
			{Source: "db", Name: "part", Table: "part", Fields: []schema.Field{{Name: "t", Type: schema.String, Native: "text"}},
				Text: []schema.TextIndex{{Name: "on_part", Config: "english", Fields: []string{"t"}}}},
			{Source: "db", Name: "s_docs", Space: "s", Table: "docs", Fields: []schema.Field{{Name: "T 1", Type: schema.String, Native: "varchar"},
				{Name: "b", Type: schema.String, Native: "text"}, {Name: "n", Type: schema.Integer, Native: "int4"},
				{Name: "w", Type: schema.Opaque, Native: "tsvector", Generated: true, From: []string{"T 1", "b"}}, {Name: "own", Type: schema.Opaque, Native: "tsvector"}, {Name: "kept_by", Type: schema.Opaque, Native: "tsvector", From: []string{"T 1", "b"}},
				{Name: "num", Type: schema.Opaque, Native: "tsvector", Generated: true, From: []string{"n"}}},
				Text: []schema.TextIndex{{Name: "kept", Config: "english", Fields: []string{"T 1", "b"}, Column: "w"},
					{Name: "one", Config: "english", Fields: []string{"T 1"}}, {Name: "one", Config: "simple", Fields: []string{"b"}, NoNulls: true},
					{Name: "z_kept_by", Config: "pg_catalog.simple", Fields: []string{"T 1", "b"}, Column: "kept_by", Kept: true}}},
			{Source: "db", Name: "young", Table: "young", Fields: []schema.Field{{Name: "t", Type: schema.String, Native: "text"}}},
		},
		warnings: []string{`class "old" has no key`},
	}, {
		name: "schemas and odd names",
		ddl: `CREATE SCHEMA "My App"; CREATE TABLE "My App"."T ""x"".y" ("Ä b" int PRIMARY KEY, "c.d" text, "$e" text, "group" text);
			CREATE TABLE "PG_x" (a int REFERENCES "My App"."T ""x"".y")`,
		want: []schema.Class{
			{Source: "db", Name: `My App_T "x".y`, Space: "My App", Table: `T "x".y`, Key: []string{"Ä b"}, Fields: []schema.Field{
				{Name: "Ä b", Type: schema.Integer, Native: "int4", NotNull: true, Required: true}, {Name: "group", Type: schema.String, Native: "text"},
			}, Indexes: []schema.Index{{Name: `T "x".y_pkey`, Fields: []string{"Ä b"}, Unique: true}}},
			{Source: "db", Name: "PG_x", Table: "PG_x", Fields: []schema.Field{{Name: "a", Type: schema.Integer, Native: "int4"}},
				Relations: []schema.Relation{{Fields: []string{"a"}, Target: `My App_T "x".y`, TargetFields: []string{"Ä b"}}}},
		},
		warnings: []string{`field "c.d"`, `field "$e"`},
	}} {
		t.Run(test.name, func(t *testing.T) {
			conn := connect(t, services.Postgres(t))
			run(t, conn, test.ddl)
			got, warnings, err := describe(context.Background(), conn, "db", nil)
			if err != nil {
				t.Fatal(err)
			}
			database.CheckCatalogue(t, got, test.want, warnings, test.warnings)
		})
	}
}

// TestDescribeRole checks that a role sees only the columns that it may select.
func TestDescribeRole(t *testing.T) {
	server := services.Postgres(t)
	owner := connect(t, server)
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	role := "r" + strings.TrimPrefix(u.Path, "/test_") // roles belong to the whole server
	t.Cleanup(func() {
		run(t, owner, "DROP OWNED BY "+role+"; DROP ROLE "+role)
	})
	run(t, owner, `CREATE ROLE `+role+` LOGIN PASSWORD 'x'; CREATE SCHEMA shut;
		CREATE TABLE whole (id int PRIMARY KEY); CREATE TABLE hidden (id int PRIMARY KEY); CREATE TABLE shut.t (id int);
		CREATE TABLE part (id int PRIMARY KEY, secret text NOT NULL, shown text NOT NULL UNIQUE, h int REFERENCES hidden, w int REFERENCES whole, UNIQUE (w, secret));
		CREATE TABLE ref (id int REFERENCES part, s text REFERENCES part (shown));
		GRANT SELECT ON whole, ref, shut.t TO `+role+`; GRANT SELECT (shown, h, w) ON part TO `+role+`; GRANT INSERT ON hidden TO `+role)
	u.User = url.UserPassword(role, "x")
	got, warnings, err := describe(context.Background(), connect(t, u.String()), "db", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.Class{
		{Source: "db", Name: "part", Table: "part", Key: []string{"shown"}, Fields: []schema.Field{
			{Name: "shown", Type: schema.String, Native: "text", NotNull: true, Required: true},
			{Name: "h", Type: schema.Integer, Native: "int4"}, {Name: "w", Type: schema.Integer, Native: "int4"},
		}, Relations: []schema.Relation{{Fields: []string{"w"}, Target: "whole", TargetFields: []string{"id"}}},
			Indexes: []schema.Index{
				{Name: "part_shown_key", Fields: []string{"shown"}, Unique: true},
				{Name: "part_w_secret_key", Fields: []string{"w"}, More: true},
			}},
		{Source: "db", Name: "ref", Table: "ref", Fields: []schema.Field{
			{Name: "id", Type: schema.Integer, Native: "int4"}, {Name: "s", Type: schema.String, Native: "text"},
		}, Relations: []schema.Relation{{Fields: []string{"s"}, Target: "part", TargetFields: []string{"shown"}}}},
		{Source: "db", Name: "whole", Table: "whole", Key: []string{"id"},
			Fields:  []schema.Field{{Name: "id", Type: schema.Integer, Native: "int4", NotNull: true, Required: true}},
			Indexes: []schema.Index{{Name: "whole_pkey", Fields: []string{"id"}, Unique: true}}},
	}
	database.CheckCatalogue(t, got, want, warnings, nil)
}

// TestDescribeClash checks that tables which would have the same name are omitted, unless a choice gives them
// different names.
func TestDescribeClash(t *testing.T) {
	conn := connect(t, services.Postgres(t))
	run(t, conn, `CREATE SCHEMA a; CREATE SCHEMA a_b; CREATE TABLE a.b_c (x int); CREATE TABLE a_b.c (x int); CREATE TABLE a_x (x int); CREATE TABLE a.x (x int);
		CREATE TABLE "A_x" (x int, "X" int)`)
	names := func(choice schema.Choice) (string, string) {
		t.Helper()
		classes, warnings, err := describe(context.Background(), conn, "db", choice)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range classes {
			out = append(out, c.Name+"="+c.Space+"."+c.Table)
		}
		return strings.Join(out, " "), strings.Join(warnings, "\n")
	}
	got, warned := names(nil)
	if want := "A_x=.A_x a_x=.a_x"; got != want {
		t.Errorf("classes %s, want %s", got, want)
	}
	want := `class "a"."b_c" left out: it would be the class "a_b_c", as "a_b"."c" would be, too. Give it another name: rename: {a.b_c: a_b_c_2}
class "a"."x" left out: it would be the class "a_x", as "a_x" is. Give it another name: rename: {a.x: a_x_2}
class "a_b"."c" left out: it would be the class "a_b_c", as "a"."b_c" would be, too. Give it another name: rename: {a_b.c: a_b_c_3}
classes "A_x" and "a_x" differ only in case: queries must write them exactly. The key rename gives one of them another name
fields "x" and "X" of "A_x" differ only in case: queries must write them exactly`
	if warned != want {
		t.Errorf("warnings\n%s\nwant\n%s", warned, want)
	}
	got, warned = names(func(space, table string) (string, bool) {
		switch {
		case space == "a" && table == "x":
			return "eu", true
		case space == "a_b", table == "A_x":
			return "", false
		}
		return schema.DefaultName(space, table), false
	})
	if want := "a_b_c=a.b_c a_x=.a_x eu=a.x"; got != want || warned != "" {
		t.Errorf("chosen: classes %s, warnings %q; want %s", got, warned, want)
	}
}
