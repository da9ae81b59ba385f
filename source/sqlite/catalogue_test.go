package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest/database"
	"github.com/bailiwick-dev/bailiwick/value"
)

func openSQLite(t *testing.T, ddl string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // an attached database belongs to its connection
	if _, err := db.Exec(ddl); err != nil {
		t.Fatalf("%v in\n%s", err, ddl)
	}
	return db
}

func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		name, ddl string
		want      []schema.Class
		warnings  []string // parts, in order
	}{{
		name: "declared types",
		ddl: `CREATE TABLE t (a INTEGER, b BIGINT, c VARCHAR(20), d TEXT, e BLOB, f REAL, g DOUBLE PRECISION,
			h DECIMAL(10,2), i NUMERIC, j BOOLEAN, k DATE, l DATETIME, m TIMESTAMP, n JSON, o UUID, p, q ANY, r MONEY,
			s BIT, t BIT(8), u ENUM, v TIME, w YEAR, x INTERVAL, y POINT)`,
		want: []schema.Class{{Source: "db", Name: "t", Table: "t", Fields: []schema.Field{
			{Name: "a", Type: schema.Integer, Native: "INTEGER"},
			{Name: "b", Type: schema.Integer, Native: "BIGINT"},
			{Name: "c", Type: schema.String, Native: "VARCHAR(20)", Length: 20},
			{Name: "d", Type: schema.String, Native: "TEXT"},
			{Name: "e", Type: schema.Bytes, Native: "BLOB"},
			{Name: "f", Type: schema.Double, Native: "REAL"},
			{Name: "g", Type: schema.Double, Native: "DOUBLE PRECISION"},
			{Name: "h", Type: schema.Double, Native: "DECIMAL(10,2)"},
			{Name: "i", Type: schema.Double, Native: "NUMERIC"},
			{Name: "j", Type: schema.Boolean, Native: "BOOLEAN"},
			{Name: "k", Type: schema.Day, Native: "DATE"},
			{Name: "l", Type: schema.Date, Native: "DATETIME"},
			{Name: "m", Type: schema.Date, Native: "TIMESTAMP"},
			{Name: "n", Type: schema.JSON, Native: "JSON"},
			{Name: "o", Type: schema.UUID, Native: "UUID"},
			{Name: "p", Type: schema.Any, Atomic: true},
			{Name: "q", Type: schema.Any, Atomic: true, Native: "ANY"},
			{Name: "r", Type: schema.Double, Native: "MONEY"},
			{Name: "s", Type: schema.Boolean, Native: "BIT"},
			{Name: "t", Type: schema.Integer, Native: "BIT(8)"},
			{Name: "u", Type: schema.String, Native: "ENUM"},
			{Name: "v", Type: schema.String, Native: "TIME"},
			{Name: "w", Type: schema.Integer, Native: "YEAR"},
			{Name: "x", Type: schema.Any, Atomic: true, Native: "INTERVAL"},
			{Name: "y", Type: schema.Any, Atomic: true, Native: "POINT"},
		}}},
	}, {
		name: "keys, defaults and generated columns",
		ddl: `CREATE TABLE a (id INTEGER PRIMARY KEY, n TEXT NOT NULL, d TEXT NOT NULL DEFAULT 'x', g INT AS (id * 2) STORED, h TEXT GENERATED ALWAYS AS (n || CAST(g AS d)));
			CREATE TABLE b (y INT, x TEXT, PRIMARY KEY (x, y)) WITHOUT ROWID;
			CREATE TABLE c (u TEXT UNIQUE, v TEXT NOT NULL UNIQUE);
			CREATE TABLE d (id INTEGER PRIMARY KEY DESC);
			CREATE TABLE e (u TEXT UNIQUE);
			CREATE TABLE f (k TEXT PRIMARY KEY, a ANY) STRICT`,
		want: []schema.Class{
			{Source: "db", Name: "a", Table: "a", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
				{Name: "n", Type: schema.String, Native: "TEXT", NotNull: true, Required: true},
				{Name: "d", Type: schema.String, Native: "TEXT", NotNull: true, Default: "'x'"},
				{Name: "g", Type: schema.Integer, Native: "INT", Generated: true, From: []string{"id"}},
				{Name: "h", Type: schema.String, Native: "TEXT", Generated: true, From: []string{"n", "g", "id"}},
			}},
			{Source: "db", Name: "b", Table: "b", Key: []string{"x", "y"}, Fields: []schema.Field{
				{Name: "y", Type: schema.Integer, Native: "INT", NotNull: true, Required: true},
				{Name: "x", Type: schema.String, Native: "TEXT", NotNull: true, Required: true},
			}, Indexes: []schema.Index{{Name: "sqlite_autoindex_b_1", Fields: []string{"x", "y"}, Unique: true}}},
			{Source: "db", Name: "c", Table: "c", Key: []string{"v"}, Fields: []schema.Field{
				{Name: "u", Type: schema.String, Native: "TEXT"},
				{Name: "v", Type: schema.String, Native: "TEXT", NotNull: true, Required: true},
			}, Indexes: []schema.Index{
				{Name: "sqlite_autoindex_c_1", Fields: []string{"u"}, Unique: true},
				{Name: "sqlite_autoindex_c_2", Fields: []string{"v"}, Unique: true},
			}},
			{Source: "db", Name: "d", Table: "d", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER"},
			}, Indexes: []schema.Index{{Name: "sqlite_autoindex_d_1", Fields: []string{"id"}, Unique: true}}},
			{Source: "db", Name: "e", Table: "e", Fields: []schema.Field{
				{Name: "u", Type: schema.String, Native: "TEXT"},
			}, Indexes: []schema.Index{{Name: "sqlite_autoindex_e_1", Fields: []string{"u"}, Unique: true}}},
			{Source: "db", Name: "f", Table: "f", Key: []string{"k"}, Fields: []schema.Field{
				{Name: "k", Type: schema.String, Native: "TEXT", NotNull: true, Required: true},
				{Name: "a", Type: schema.Any, Atomic: true, Native: "ANY"},
			}, Indexes: []schema.Index{{Name: "sqlite_autoindex_f_1", Fields: []string{"k"}, Unique: true}}},
		},
	}, {
		name: "check constraints",
		ddl: `CREATE TABLE t (
			a TEXT CHECK (a IN ('x', 'it''s')), b INTEGER CHECK (b IN (0,1)), c TEXT CHECK (json_valid(c)),
			d TEXT, e TEXT CHECK (e IS NULL OR e IN ('p')), f TEXT CHECK (f IN ('x', NULL)),
			g TEXT CHECK (g IN ('x') OR a = 'y'), h TEXT COLLATE NOCASE CHECK (h IN ('x')), i INTEGER CHECK (i IN ('1')),
			j INT CHECK (j >= 1), k TEXT CHECK (NOT k IN ('x')), l INT CHECK (a BETWEEN 1 AND l IN (1, 2)),
			m TEXT CHECK (CASE WHEN a = 'x' THEN 1 AND m IN ('x') AND 1 END), n TEXT CHECK (a IS NULL OR n IN ('x')),
			o TEXT CHECK (o <> '' AND length(o) <= 9), p INT CHECK (p BETWEEN -1 AND 5), q REAL CHECK (0.5 < q AND q <> 7), r INT CHECK (r > s), s INT CHECK (s + 0 > 1),
			t NUMERIC CHECK (t IS NULL OR t >= 0), u TEXT CHECK (length(u) >= 3), v INT CHECK (v > 1 OR s > 1), w INT CHECK (abs(w) < 3), x INT CHECK (x BETWEEN 1 AND 2 OR x = 7),
			CONSTRAINT "both" CHECK ((d IN ('m', 'n')) AND j IN (-1, 2)) /* d IN ('z') */)`,
		want: []schema.Class{{Source: "db", Name: "t", Table: "t", Fields: []schema.Field{
			{Name: "a", Type: schema.String, Native: "TEXT", Values: database.Values(value.OfString, "x", "it's")},
			{Name: "b", Type: schema.Integer, Native: "INTEGER", Values: database.Values(value.OfInt, 0, 1)},
			{Name: "c", Type: schema.JSON, Native: "TEXT"},
			{Name: "d", Type: schema.String, Native: "TEXT", Values: database.Values(value.OfString, "m", "n")},
			{Name: "e", Type: schema.String, Native: "TEXT", Values: database.Values(value.OfString, "p")},
			{Name: "f", Type: schema.String, Native: "TEXT"},
			{Name: "g", Type: schema.String, Native: "TEXT"},
			{Name: "h", Type: schema.String, Native: "TEXT", Unordered: true},
			{Name: "i", Type: schema.Integer, Native: "INTEGER"},
			{Name: "j", Type: schema.Integer, Native: "INT", Values: database.Values(value.OfInt, -1, 2), Bounds: []schema.Bound{{Op: ">=", Value: value.OfInt(1)}}},
			{Name: "k", Type: schema.String, Native: "TEXT"},
			{Name: "l", Type: schema.Integer, Native: "INT"},
			{Name: "m", Type: schema.String, Native: "TEXT"},
			{Name: "n", Type: schema.String, Native: "TEXT"},
			{Name: "o", Type: schema.String, Native: "TEXT", Least: 1, Length: 9},
			{Name: "p", Type: schema.Integer, Native: "INT", Bounds: []schema.Bound{{Op: ">=", Value: value.OfInt(-1)}, {Op: "<=", Value: value.OfInt(5)}}},
			{Name: "q", Type: schema.Double, Native: "REAL", Bounds: []schema.Bound{{Op: ">", Value: value.OfDecimal("0.5")}, {Op: "<>", Value: value.OfInt(7)}}},
			{Name: "r", Type: schema.Integer, Native: "INT", Bounds: []schema.Bound{{Op: ">", Field: "s"}}},
			{Name: "s", Type: schema.Integer, Native: "INT"},
			{Name: "t", Type: schema.Double, Native: "NUMERIC", Bounds: []schema.Bound{{Op: ">=", Value: value.OfInt(0)}}},
			{Name: "u", Type: schema.String, Native: "TEXT"},
			{Name: "v", Type: schema.Integer, Native: "INT"},
			{Name: "w", Type: schema.Integer, Native: "INT"},
			{Name: "x", Type: schema.Integer, Native: "INT"},
		}}},
	}, {
		name: "foreign keys",
		ddl: `CREATE TABLE Parent (x INT, y INT, z INT, PRIMARY KEY (x, y));
			CREATE UNIQUE INDEX part ON Parent (z) WHERE z > 0;
			CREATE TABLE child (id INTEGER PRIMARY KEY, p INT, q INT, up INT REFERENCES CHILD,
				lost INT REFERENCES nowhere (id), partial INT REFERENCES parent (z), half INT REFERENCES parent (x),
				FOREIGN KEY (p, q) REFERENCES parent (X, Y))`,
		want: []schema.Class{
			{Source: "db", Name: "Parent", Table: "Parent", Key: []string{"x", "y"}, Fields: []schema.Field{
				{Name: "x", Type: schema.Integer, Native: "INT"}, {Name: "y", Type: schema.Integer, Native: "INT"},
				{Name: "z", Type: schema.Integer, Native: "INT"},
			}, Indexes: []schema.Index{
				{Name: "part", Fields: []string{"z"}, More: true},
				{Name: "sqlite_autoindex_Parent_1", Fields: []string{"x", "y"}, Unique: true},
			}},
			{Source: "db", Name: "child", Table: "child", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
				{Name: "p", Type: schema.Integer, Native: "INT"}, {Name: "q", Type: schema.Integer, Native: "INT"},
				{Name: "up", Type: schema.Integer, Native: "INT"}, {Name: "lost", Type: schema.Integer, Native: "INT"},
				{Name: "partial", Type: schema.Integer, Native: "INT"}, {Name: "half", Type: schema.Integer, Native: "INT"},
			}, Relations: []schema.Relation{
				{Fields: []string{"p", "q"}, Target: "Parent", TargetFields: []string{"x", "y"}},
				{Fields: []string{"up"}, Target: "child", TargetFields: []string{"id"}},
			}},
		},
	}, {
		name: "indexes and collations",
		ddl: `CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT COLLATE RTRIM, d TEXT COLLATE binary);
			CREATE UNIQUE INDEX i1 ON t (a, lower(b));
			CREATE INDEX i2 ON t (lower(a));
			CREATE INDEX i3 ON t (b COLLATE NOCASE);
			CREATE UNIQUE INDEX i4 ON t (d, id)`,
		want: []schema.Class{{Source: "db", Name: "t", Table: "t", Key: []string{"id"}, Fields: []schema.Field{
			{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
			{Name: "a", Type: schema.String, Native: "TEXT"},
			{Name: "b", Type: schema.String, Native: "TEXT", Unordered: true},
			{Name: "c", Type: schema.String, Native: "TEXT", Unordered: true},
			{Name: "d", Type: schema.String, Native: "TEXT"},
		}, Indexes: []schema.Index{
			{Name: "i1", Fields: []string{"a"}, More: true},
			{Name: "i3", Fields: []string{"b"}},
			{Name: "i4", Fields: []string{"d", "id"}, Unique: true},
		}}},
	}, {
		name: "odd names",
		ddl: `CREATE TABLE "we ""ird"".t" ("A b" TEXT CHECK ("A b" IN ('x')), 'ä' TEXT, [c d] TEXT COLLATE NOCASE, ` + "`e``f`" + ` INT,
			"a.b" INT REFERENCES p, "$x" TEXT, "x$" TEXT, "group" INT, "check" TEXT);
			CREATE TABLE p (id INTEGER PRIMARY KEY, bad INT REFERENCES "` + "\xff" + `" (u)); CREATE TABLE "` + "\xff" + `" (u INT UNIQUE)`,
		want: []schema.Class{{Source: "db", Name: "p", Table: "p", Key: []string{"id"}, Fields: []schema.Field{
			{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
			{Name: "bad", Type: schema.Integer, Native: "INT"},
		}}, {Source: "db", Name: `we "ird".t`, Table: `we "ird".t`, Fields: []schema.Field{
			{Name: "A b", Type: schema.String, Native: "TEXT", Values: database.Values(value.OfString, "x")},
			{Name: "ä", Type: schema.String, Native: "TEXT"},
			{Name: "c d", Type: schema.String, Native: "TEXT", Unordered: true},
			{Name: "e`f", Type: schema.Integer, Native: "INT"},
			{Name: "x$", Type: schema.String, Native: "TEXT"},
			{Name: "group", Type: schema.Integer, Native: "INT"},
			{Name: "check", Type: schema.String, Native: "TEXT"},
		}}},
		warnings: []string{`field "a.b"`, `field "$x"`, `class "\xff" left out: its name is not UTF-8`},
	}, {
		name: "views, virtual tables and what is no class",
		ddl: `CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE);
			CREATE VIEW v AS SELECT id, a, a || 'x' AS b FROM t;
			CREATE VIEW a AS SELECT 1 AS "x.y", 2 AS z;
			CREATE TABLE gone (z); CREATE VIEW broken AS SELECT z FROM gone; DROP TABLE gone;
			CREATE VIRTUAL TABLE f USING fts5 (body); CREATE VIRTUAL TABLE words USING fts5vocab (f, row);
			CREATE TABLE bailiwick_audit (x); CREATE TEMP TABLE tmp (x); CREATE TABLE seq (id INTEGER PRIMARY KEY AUTOINCREMENT)`,
		want: []schema.Class{
			{Source: "db", Name: "a", Table: "a", View: true, Fields: []schema.Field{{Name: "z", Type: schema.Any, Atomic: true, Unordered: true}}},
			{Source: "db", Name: "seq", Table: "seq", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true}}},
			{Source: "db", Name: "t", Table: "t", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
				{Name: "a", Type: schema.String, Native: "TEXT", Unordered: true}}},
			{Source: "db", Name: "v", Table: "v", View: true, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", Unordered: true},
				{Name: "a", Type: schema.String, Native: "TEXT", Unordered: true},
				{Name: "b", Type: schema.Any, Atomic: true, Unordered: true}}},
		},
		warnings: []string{`field "x.y" of "a"`, `class "broken" left out`},
	}, {
		name: "full-text indexes",
		ddl: `CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT, body TEXT, n INT);
			CREATE VIRTUAL TABLE notes_fts USING fts5(title, "body", content='notes', content_rowid='id', tokenize = 'porter unicode61');
			CREATE VIRTUAL TABLE b USING fts5 ( Body , title UNINDEXED, n, content=[Notes]);
			CREATE VIRTUAL TABLE thin USING fts5(body, content=notes, detail=none);
			CREATE VIRTUAL TABLE own USING fts5(title, body);
			CREATE VIRTUAL TABLE contentless USING fts5(title, content='');
			CREATE VIRTUAL TABLE other USING fts5(title, content='notes', content_rowid='n');
			CREATE TABLE coded (code TEXT PRIMARY KEY, t TEXT);
			CREATE VIRTUAL TABLE coded_fts USING fts5(t, content='coded');
			CREATE VIEW shown AS SELECT id, title FROM notes;
			CREATE VIRTUAL TABLE shown_fts USING fts5(title, content='shown', content_rowid='id')`,
		want: []schema.Class{
			{Source: "db", Name: "coded", Table: "coded", Key: []string{"code"}, Fields: []schema.Field{
				{Name: "code", Type: schema.String, Native: "TEXT"}, {Name: "t", Type: schema.String, Native: "TEXT"}},
				Indexes: []schema.Index{{Name: "sqlite_autoindex_coded_1", Fields: []string{"code"}, Unique: true}}},
			{Source: "db", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
				{Name: "title", Type: schema.String, Native: "TEXT"}, {Name: "body", Type: schema.String, Native: "TEXT"},
				{Name: "n", Type: schema.Integer, Native: "INT"}},
				Text: []schema.TextIndex{{Name: "b", Fields: []string{"body"}, Key: "id"}, {Name: "notes_fts", Fields: []string{"title", "body"}, Key: "id"}}},
			{Source: "db", Name: "shown", Table: "shown", View: true, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER"}, {Name: "title", Type: schema.String, Native: "TEXT"}}},
		},
	}, {
		name: "an attached database",
		ddl:  `ATTACH ':memory:' AS "o x"; CREATE TABLE t (a INT); CREATE TABLE "o x".t (id INTEGER PRIMARY KEY, up INT REFERENCES t)`,
		want: []schema.Class{
			{Source: "db", Name: "o x_t", Space: "o x", Table: "t", Key: []string{"id"}, Fields: []schema.Field{
				{Name: "id", Type: schema.Integer, Native: "INTEGER", NotNull: true, Generated: true},
				{Name: "up", Type: schema.Integer, Native: "INT"},
			}, Relations: []schema.Relation{{Fields: []string{"up"}, Target: "o x_t", TargetFields: []string{"id"}}}},
			{Source: "db", Name: "t", Table: "t", Fields: []schema.Field{{Name: "a", Type: schema.Integer, Native: "INT"}}},
		},
	}} {
		t.Run(test.name, func(t *testing.T) {
			got, warnings, err := describe(context.Background(), openSQLite(t, test.ddl), "db", nil)
			if err != nil {
				t.Fatal(err)
			}
			database.CheckCatalogue(t, got, test.want, warnings, test.warnings)
		})
	}
}

// TestDescribeClash checks that the table of an attached file is omitted if its name is already used.
func TestDescribeClash(t *testing.T) {
	db := openSQLite(t, `ATTACH ':memory:' AS o; CREATE TABLE o_t (a); CREATE TABLE o.t (b)`)
	classes, warnings, err := describe(context.Background(), db, "db", nil)
	if err != nil || len(classes) != 1 || classes[0].Table != "o_t" || len(warnings) != 1 || !strings.Contains(warnings[0], `"o"."t" left out`) {
		t.Error(classes, warnings, err)
	}
}
