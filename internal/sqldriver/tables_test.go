package sqldriver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/sqldriver"
	"github.com/bailiwick-dev/bailiwick/internal/sqlgen"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/mariadb"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestTables checks the statements about whole tables.
func TestTables(t *testing.T) {
	for i, d := range dialects {
		c := pairs(d)
		name := [...]string{`"crm"."pairs"`, `"crm"."pairs"`, "`crm`.`pairs`"}[i]
		lock := [...]string{"|", "LOCK TABLE " + name + " IN ACCESS EXCLUSIVE MODE |", "LOCK TABLES " + name + " WRITE |"}[i]
		there := [...]string{"SELECT c.name FROM main.sqlite_schema AS s LEFT JOIN pragma_table_info(s.name, 'main') AS c WHERE lower(s.name) = lower(?) ORDER BY c.cid | 'n'",
			"SELECT a.attname::text FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid" +
				" AND a.attnum > 0 AND NOT a.attisdropped WHERE n.nspname = 'public' AND c.relname = $1 ORDER BY a.attnum | 'n'",
			"SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION | 'n'"}[i]
		table := [...]string{`"main"."bailiwick_applied"`, `"public"."bailiwick_applied"`, "`bailiwick_applied`"}[i]
		begun := "UPDATE " + table + [...]string{" SET digest = ?, fence = ? WHERE change_id = ? | 'x' 3 'c1'",
			" SET digest = $1, fence = $2 WHERE change_id = $3 | 'x' 3 'c1'", " SET digest = ?, fence = ? WHERE change_id = ? | 'x' 3 'c1'"}[i]
		for _, tt := range []struct{ got, want string }{
			{shown(sqldriver.LockTable(d, &c)), lock}, {shown(sqldriver.TableExists(d, "n")), there}, {shown(sqldriver.BegunStatement(d, "c1", "x", 3)), begun},
			{shown(sqldriver.AnyRecordStatement(d, &c)), "SELECT 1 FROM " + name + " LIMIT 1 |"}, {shown(sqldriver.DropTable(d, &c)), "DROP TABLE " + name + " |"},
			{strings.Fields(sqldriver.MarkerTable(d))[5], table}, {fmt.Sprint(strings.Contains(sqldriver.MarkerTable(d), "InnoDB"), strings.Contains(sqldriver.MarkerTable(d), "timestamptz")), fmt.Sprint(d == maria, d == pg)},
		} {
			if tt.got != tt.want {
				t.Errorf("dialect %s\n got %s\nwant %s", d.Name(), tt.got, tt.want)
			}
		}
	}
}

// TestRefused checks that every statement rejects a value that can't be written.
func TestRefused(t *testing.T) {
	c, v, id := pairs(pg), view(t, pg, "crm_pairs"), []value.Value{value.OfInt(1), value.OfString("a")}
	wrong := []writes.Set{{Field: c.Field("note"), Value: value.OfInt(5)}}
	keyless, odd := c, c
	keyless.Key, odd.Key = nil, []string{"thing", "other"}
	quoted := view(t, lite, "things", query.Exists{Path: query.Path{"doc", `"`}, Want: true}) // a layer that SQLite can't express
	for _, tt := range []struct{ got, want string }{
		{shown(sqldriver.InsertStatement(pg, &c, wrong, nil)), "invalid_argument: note must be a text"}, {shown(sqldriver.UpdateStatement(pg, &c, id, wrong, nil)), "invalid_argument: note must be a text"},
		{shown(sqldriver.WouldStatement(pg, v, id, wrong, nil)), "invalid_argument: note must be a text"},
		{shown(sqldriver.WouldStatement(pg, v, id[:1], nil, nil)), "unsupported_by_source: records of crm_pairs have no key, so none can be named to be written"},
		{shown(sqldriver.DeleteStatement(pg, &keyless, nil)), "unsupported_by_source: records of crm_pairs have no key, so none can be named to be written"},
		{shown(sqldriver.DeleteStatement(pg, &odd, id)), "internal_error: no value for other, which is part of a key"},
		{shown(sqldriver.UpdateStatement(pg, &c, id[:1], []writes.Set{{Field: c.Field("note")}}, nil)), "unsupported_by_source: records of crm_pairs have no key, so none can be named to be written"},
		{shown(sqldriver.SampleStatement(pg, &c, "other")), "internal_error: no field other in what is written"},
		{shown(sqldriver.InsertStatement(pg, class(pg), []writes.Set{{Field: class(pg).Field("id"), Value: id[0]}}, nil)), `INSERT INTO "public"."things" ("id") OVERRIDING SYSTEM VALUE VALUES ($1) RETURNING "id" | '1'`},
		{shown(sqldriver.InsertStatement(maria, class(maria), []writes.Set{{Field: class(maria).Field("id"), Value: id[0]}}, nil)), "INSERT INTO `things` (`id`) VALUES (?) RETURNING `id` | 1"},
		{shown(sqldriver.DeleteStatement(pg, &c, []value.Value{value.OfArray(nil), id[1]})), "unsupported_by_source: sqlgen.Document can't be compared with a column of type integer"},
		{shown(sqldriver.RecordStatement(lite, quoted, id[:1], true)), `unsupported_by_source: "\"": a JSON key with a quote or a backslash can't be filtered in SQLite`},
		{shown(sqldriver.WouldStatement(lite, quoted, nil, nil, nil)), `unsupported_by_source: "\"": a JSON key with a quote or a backslash can't be filtered in SQLite`},
	} {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

// named returns a field of a new class.
func named(name string, more ...value.Member) value.Value {
	return value.OfObject(append([]value.Member{{Name: "name", Value: value.OfString(name)}, {Name: "type", Value: value.OfString("string")}}, more...))
}

// TestLimitsOfTables creates classes at each limit, and one beyond it.
func TestLimitsOfTables(t *testing.T) {
	fields := func(n int) (all []value.Value) {
		for i := range n {
			all = append(all, named(fmt.Sprint("f", i)))
		}
		return all
	}
	values := func(n, length int) []value.Value {
		all := make([]value.Value, n)
		for i := range all {
			all[i] = value.OfString(strings.Repeat("x", length))
		}
		return []value.Value{named("a", value.Member{Name: "values", Value: value.OfArray(all)})}
	}
	with := func(name string, v value.Value) []value.Value {
		return []value.Value{named("a", value.Member{Name: name, Value: v})}
	}
	long := strings.Repeat("n", 63)
	for _, tt := range []struct {
		name   string
		class  string
		fields []value.Value
		want   string // the error, or ""
	}{
		{"100 fields", "n", fields(100), ""}, {"101 fields", "n", fields(101), "a class has 1 to 100 fields, not 101"},
		{"a long name", long, fields(1), ""}, {"a longer name", long + "n", fields(1), "a class is named"}, {"a name of SQLite", "SQLite_x", fields(1), "a class is named"}, {"a name of PostgreSQL", "pg_x", fields(1), "a class is named"},
		{"a long field", "n", []value.Value{named(long)}, ""}, {"a longer field", "n", []value.Value{named(long + "n")}, "a field is named"},
		{"a field of no name", "n", []value.Value{value.OfObject(nil)}, "a field is named"},
		{"a name that is bytes", "n", []value.Value{value.OfObject([]value.Member{{Name: "name", Value: value.OfBytes("a")}})}, "a field is named"},
		{"a type that is bytes", "n", []value.Value{value.OfObject([]value.Member{{Name: "name", Value: value.OfString("a")}, {Name: "type", Value: value.OfBytes("string")}})}, "the type of a must be one of"},
		{"required is null", "n", with("required", value.Value{}), ""}, {"not required", "n", with("required", value.OfBool(false)), ""},
		{"values are null", "n", with("values", value.Value{}), ""}, {"values are a text", "n", with("values", value.OfString("x")), "values of a must be a list"},
		{"no values", "n", values(0, 1), "values of a must be a list"}, {"100 values", "n", values(100, 1), ""}, {"101 values", "n", values(101, 1), "values of a must be a list"},
		{"a value of 100", "n", values(1, 100), ""}, {"a value of 101", "n", values(1, 101), "values of a are words"},
		{"a value that is bytes", "n", with("values", value.OfArray([]value.Value{value.OfBytes("x")})), "values of a are words"},
	} {
		_, names, err := sqldriver.CreateTable(pg, &write.CreateClass{Source: "app", Class: tt.class, Fields: value.OfArray(tt.fields)})
		switch {
		case tt.want == "" && (err != nil || len(names) != len(tt.fields)+1 || names[0] != "id"):
			t.Errorf("%s: %v, %v", tt.name, names, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

func tracker(name string) *schema.Class {
	return &schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}}
}

// TestPathsOfCascades counts the records that are deleted through many references. They are at most four references
// away from the record, over at most 64 paths, and never in another space.
func TestPathsOfCascades(t *testing.T) {
	id := []value.Value{value.OfInt(7)}
	ref := func(table, to string, rule schema.Rule) schema.Reference {
		return schema.Reference{Table: table, Fields: []string{"r"}, To: to, Targets: []string{"id"}, Delete: rule, Changed: rule}
	}
	mixed := func(table string, deleted, changed schema.Rule) schema.Reference {
		r := ref(table, "a", deleted)
		r.Changed = changed
		return r
	}
	chain := []schema.Reference{ref("b", "a", schema.Cascade), ref("c", "b", schema.Cascade), ref("d", "c", schema.Cascade), ref("e", "d", schema.Cascade), ref("f", "e", schema.Cascade)}
	away := ref("z", "a", schema.Cascade)
	away.ToSpace = "crm"
	further := ref("y", "b", schema.Cascade)
	further.ToSpace = "crm"
	var many []schema.Reference
	for i := range 70 {
		many = append(many, ref(fmt.Sprint("m", i), "b", schema.SetNull))
	}
	spaced := ref("a", "a", schema.SetNull)
	spaced.Space = "crm"
	counts := func(fields []string, refs ...schema.Reference) string {
		all, err := sqldriver.CascadeCounts(lite, tracker("a"), id, fields, refs)
		if err != nil {
			return err.Error()
		}
		var out []string
		for _, n := range all {
			out = append(out, strings.TrimPrefix(n.Space+"."+n.Table, ".")+" "+n.Effect)
		}
		return strings.Join(out, ", ")
	}
	for _, tt := range []struct{ name, got, want string }{
		{"a chain", counts(nil, chain...), "b delete, c delete, d delete, e delete"}, {"another space", counts(nil, away, chain[0], further), "b delete"},
		{"nulls end a chain", counts(nil, ref("b", "a", schema.SetNull), chain[1]), "b set_null"}, {"refused", counts(nil, ref("b", "a", schema.Refuse)), ""},
		{"refused further on", counts(nil, chain[0], ref("c", "b", schema.Refuse)), "b delete"}, {"both", counts(nil, ref("b", "a", schema.SetNull), chain[0]), "b delete, b set_null"},
		{"changed", counts([]string{"id"}, chain[0], ref("c", "a", schema.SetNull), ref("d", "a", schema.Refuse), chain[1]), "b update, c set_null"},
		{"changed elsewhere", counts([]string{"id"}, away), ""}, {"in order", counts(nil, ref("d", "a", schema.Cascade), ref("c", "a", schema.Cascade), spaced, ref("a", "a", schema.Cascade)), "a delete, c delete, d delete, crm.a set_null"},
		{"changed to null", counts([]string{"id"}, mixed("b", schema.Cascade, schema.SetNull), mixed("c", schema.SetNull, schema.Cascade)), "b set_null, c update"},
		{"deleted with both", counts(nil, mixed("b", schema.Cascade, schema.SetNull), mixed("c", schema.SetNull, schema.Cascade)), "b delete, c set_null"},
		{"changed, else refused", counts([]string{"id"}, mixed("b", schema.Refuse, schema.Cascade), mixed("c", schema.Cascade, schema.Refuse)), "b update"},
		{"many", fmt.Sprint(strings.Count(counts(nil, append([]schema.Reference{chain[0]}, many...)...), "set_null")), "63"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	both, err := sqldriver.CascadeCounts(lite, tracker("a"), id, nil, []schema.Reference{ref("a", "a", schema.SetNull), spaced})
	if err != nil || len(both) != 2 || !strings.Contains(both[0].Statement.Text, `1=1 AND r0."id" = ?`) || strings.Contains(both[1].Statement.Text, "1=1") {
		t.Errorf("%v, %v", both, err)
	}
	// A record that is deleted along another path isn't changed.
	const set = `SELECT count(*) FROM (SELECT 1 AS n FROM "main"."b" AS r0 WHERE (r0."s" IN (SELECT r1."id" FROM "main"."a" AS r1 WHERE r1."id" = ?)) AND ` +
		`(CASE WHEN r0."r" IN (SELECT r1."id" FROM "main"."a" AS r1 WHERE r1."id" = ?) THEN 0 ELSE 1 END) LIMIT 1000000) AS c | 7 7`
	const gone = `SELECT count(*) FROM (SELECT 1 AS n FROM "main"."b" AS r0 WHERE (r0."r" IN (SELECT r1."id" FROM "main"."a" AS r1 WHERE r1."id" = ?)) LIMIT 1000000) AS c | 7`
	second := ref("b", "a", schema.SetNull)
	second.Fields = []string{"s"}
	both, err = sqldriver.CascadeCounts(lite, tracker("a"), id, nil, []schema.Reference{second, chain[0]})
	if err != nil || len(both) != 2 || shown(both[0].Statement, nil) != gone || shown(both[1].Statement, nil) != set {
		t.Errorf("%v, %v", both, err)
	}
	for _, refs := range [][]schema.Reference{{chain[0]}, {chain[0], ref("b", "a", schema.SetNull)}, {chain[0], chain[1]}, {ref("a", "a", schema.Cascade)}} {
		if all, err := sqldriver.CascadeCounts(lite, tracker("a"), nil, nil, refs); err == nil {
			t.Errorf("a record without a key: %v", all)
		}
	}
}

// TestOwnedParts checks which parts of an owner's statement are skipped, in each dialect.
func TestOwnedParts(t *testing.T) {
	parameters := value.OfObject([]value.Member{{Name: "n", Value: value.OfInt(2)}, {Name: "n1", Value: value.OfFloat(0.5)}, {Name: "_x", Value: value.OfObject(nil)}, {Name: "Zz", Value: value.OfBool(false)}, {Name: "az", Value: value.OfString("s")},
		{Name: "n0", Value: value.OfInt(10)}, {Name: "n9", Value: value.OfInt(19)}})
	for _, tt := range []struct {
		text string
		want [3]string // the arguments, or "one" if the statement is rejected
	}{
		{"SELECT `a:n`, :n", [3]string{"2", "'2' '2'", "2"}}, {"SELECT `a\\`:n", [3]string{"2", "'2'", "2"}}, {"SELECT \"\\\" :n \", :n", [3]string{"2", "'2'", "2"}}, {`SELECT 'it''s :n' || :n`, [3]string{"2", "'2'", "2"}},
		{"SELECT 1 # :n\n, :az", [3]string{"2 's'", "'2' 's'", "'s'"}}, {"SELECT 1 -- :n\n, :az", [3]string{"'s'", "'s'", "'s'"}}, {"SELECT 1 -- :n", [3]string{"", "", ""}}, {"SELECT /*/ :n */ :az", [3]string{"'s'", "'s'", "'s'"}}, {"SELECT 1 /* :n", [3]string{"", "", ""}},
		{"SELECT :n0, :n9, :n{", [3]string{"10 19 2", "'10' '19' '2'", "10 19 2"}},
		{"SELECT 'a :n", [3]string{"", "", ""}}, {"SELECT 'a''", [3]string{"", "", ""}}, {"SELECT $$ :n $$, :az", [3]string{"2 's'", "'s'", "2 's'"}}, {"SELECT $1 :n", [3]string{"2", "'2'", "2"}}, {"SELECT $a$ :n $b$ :n $a$, :az", [3]string{"2 2 's'", "'s'", "2 2 's'"}},
		{"SELECT :n1, :_x, :Zz, :az", [3]string{"0.5 '{}' 0 's'", "'0.5' '{}' 'false' 's'", "0.5 '{}' 0 's'"}}, {"SELECT a1:n", [3]string{"2", "'2'", "2"}}, {"SELECT x[1:2], :n", [3]string{"2", "'2'", "2"}},
		{"SELECT /**/ :az", [3]string{"'s'", "'s'", "'s'"}}, {"SELECT $$$$, :az", [3]string{"'s'", "'s'", "'s'"}}, {"SELECT a$x$, b9$x$, :az", [3]string{"'s'", "'s'", "'s'"}},
		{"SELECT é$x$, :az, Zß_9$x$", [3]string{"'s'", "'s'", "'s'"}}, {"SELECT 1$x$ :n $x$, :az", [3]string{"2 's'", "'s'", "2 's'"}}, {"SELECT \x7f$x$ :n $x$, :az", [3]string{"2 's'", "'s'", "2 's'"}},
		{"SELECT \x80$x$, :az, $x$", [3]string{"'s'", "'s'", "'s'"}},
		{`SELECT E'\'' || :n || 'x'`, [3]string{"", "'2'", "2"}}, {`SELECT me'\' || :n`, [3]string{"2", "'2'", ""}}, {"SELECT /* /* */ :n /* */ */ :az", [3]string{"2 's'", "'s'", "2 's'"}}, {"SELECT /* /* */ :n", [3]string{"2", "", "2"}},
		{"SELECT 1--:n", [3]string{"", "", "2"}}, {"SELECT 1--:n\n, :az", [3]string{"'s'", "'s'", "2 's'"}}, {"SELECT 1--\n, :az--", [3]string{"'s'", "'s'", "'s'"}}, {"SELECT /*+ hint :n */ :az, '/*!' || :n", [3]string{"'s' 2", "'s' '2'", "'s' 2"}},
		{"SELECT 1 :", [3]string{"", "", ""}}, {"SELECT :1", [3]string{"", "", ""}}, {"SELECT 1;\n; ", [3]string{"", "", ""}},
		{"SELECT x::n", [3]string{"", "", ""}}, {"SELECT 1;SELECT 2", [3]string{"one", "one", "one"}}, {"", [3]string{"", "", ""}}, {"SELECT '\x00:n'", [3]string{"", "", ""}},
	} {
		for i, d := range dialects {
			_, got, _ := strings.Cut(shown(sqldriver.OwnedStatement(d, nil, tt.text, parameters))+" ", " | ")
			if _, err := sqldriver.OwnedStatement(d, nil, tt.text, parameters); err != nil {
				got = "one"
			}
			if got = strings.TrimSpace(got); got != tt.want[i] {
				t.Errorf("%q, dialect %s: %s, want %s", tt.text, d.Name(), got, tt.want[i])
			}
		}
	}
}

// TestOwnedComments checks that a comment whose content MariaDB runs is refused, with its place.
func TestOwnedComments(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1 /*!50100 , password */ FROM users":          `the database runs the content of the comment "/*!50100 , password */" of line 1. Write it without the comment, or remove it`,
		"SELECT 1\n -- a\n /*M!100100\n DELETE */ FROM users": `the database runs the content of the comment "/*M!100100" of line 3. Write it without the comment, or remove it`,
		"/*! INSERT INTO log VALUES (1) */":                   `the database runs the content of the comment "/*! INSERT INTO log VALUES (1) */" of line 1. Write it without the comment, or remove it`,
		"SELECT 1 /*!":                                        `the database runs the content of the comment "/*!" of line 1. Write it without the comment, or remove it`,
		"SELECT 1 /* !50100 */, '/*!', /**/ 2 # /*!":          "",
	} {
		for _, d := range dialects {
			_, err := sqldriver.OwnedStatement(d, nil, text, value.Value{})
			got := ""
			if p, ok := errors.AsType[*problem.Error](err); ok {
				got = strings.TrimPrefix(p.Err.Error(), "the statement of an action: ")
			}
			_, err = sqlgen.ReadNative(d, text)
			native := ""
			if err != nil && strings.HasPrefix(text, "SELECT") {
				native = err.Error()
			}
			runs := want
			if d.Name() != mariadb.Dialect().Name() {
				runs = ""
			}
			if got != runs || strings.HasPrefix(text, "SELECT") && native != runs {
				t.Errorf("%q, dialect %s:\n%s\n%s, want\n%s", text, d.Name(), got, native, runs)
			}
		}
	}
}

// TestOnlyReads checks which statements of an owner surely change nothing. A function that the gateway doesn't know can
// write.
func TestOnlyReads(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT id, total FROM orders WHERE id = :id": true, "-- all\n select count(*) FROM orders WHERE a IN (1, 2)": true, "( SELECT 1 )": true, "TABLE orders": true, "SHOW TABLES": true,
		"WITH x AS (SELECT 1) SELECT * FROM x": true, "EXPLAIN SELECT 1": true, "SELECT 'update', \"insert\" FROM t /* delete */": true, "VALUES (1)": true,
		"SELECT DISTINCT (a) FROM t WHERE NOT EXISTS (SELECT 1 FROM u)": true, "SELECT sum(n) OVER (ORDER BY n) FROM t;": true,
		"UPDATE t SET n = 1": false, "SELECT close_order(:id)": false, "SELECT app.count(:id)": false, `SELECT "count"(:id)`: false, "SELECT * INTO copy FROM t": false, "CALL f()": false,
		"WITH x AS (DELETE FROM t RETURNING n) SELECT * FROM x": false, "EXPLAIN ANALYZE DELETE FROM t": false, "": false, "PRAGMA user_version = 1": false, "SELECT nextval ('s')": false,
		"'SELECT 1'": false, "selects": false,
	} {
		for _, d := range dialects {
			if got, err := sqlgen.OnlyReads(d, text); err != nil || got != want {
				t.Errorf("%q, dialect %s: %v, %v", text, d.Name(), got, err)
			}
		}
	}
}

// TestColumns checks the columns of statements.
func TestColumns(t *testing.T) {
	c, id := pairs(pg), []value.Value{value.OfInt(1), value.OfString("a")}
	for _, tt := range []struct {
		name string
		make func() (sqlgen.Statement, error)
		want string // the names and types of the columns
	}{
		{"record", func() (sqlgen.Statement, error) {
			return sqldriver.RecordStatement(pg, view(t, pg, "crm_pairs"), id, true)
		}, "thing integer, code string, org string, note string,  integer"},
		{"insert", func() (sqlgen.Statement, error) {
			return sqldriver.InsertStatement(pg, &c, []writes.Set{{Field: c.Field("note"), Value: id[1]}}, nil)
		}, "thing integer, code string"},
		{"delete", func() (sqlgen.Statement, error) { return sqldriver.DeleteStatement(pg, &c, id) }, ""},
	} {
		st, err := tt.make()
		var got []string
		for _, column := range st.Columns {
			got = append(got, fmt.Sprintf("%s %s", column.Field.Name, column.Field.Type))
		}
		if strings.Join(got, ", ") != tt.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", tt.name, strings.Join(got, ", "), err, tt.want)
		}
	}
}
