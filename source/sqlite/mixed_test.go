package sqlite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/test/sourcetest"
	"github.com/bailiwick-dev/bailiwick/value"
	"pgregory.net/rapid"
)

// The tables with values of all types. The tables with loose values have any value in a column. The others have only
// values of the column's type and null.
const mixedTables = `CREATE TABLE clean (id INTEGER PRIMARY KEY, n INTEGER, m INT, s TEXT, v VARCHAR(9), r TEXT COLLATE NOCASE);
CREATE TABLE loose (id INTEGER PRIMARY KEY, n INTEGER, m INT, s TEXT, v VARCHAR(9), r TEXT COLLATE NOCASE);
CREATE TABLE firm (id INTEGER PRIMARY KEY, n INTEGER, m INT, s TEXT, v TEXT, r TEXT COLLATE NOCASE) STRICT;
CREATE TABLE wide (id INT PRIMARY KEY, n INTEGER, m INT, s TEXT, v VARCHAR(9), r TEXT COLLATE NOCASE) WITHOUT ROWID;
CREATE VIEW seen AS SELECT id, n, m, s, v, r FROM loose;
CREATE TABLE anything (id INTEGER PRIMARY KEY, x)`

var (
	mixedNumbers = []string{"0", "1", "1", "2", "-3", "9223372036854775807", "-9223372036854775808", "NULL"}
	mixedTexts   = []string{"'a'", "'A'", "'b'", "'1'", "''", "'é'", "NULL"}
	mixedOthers  = []string{"1.0", "1.5", "1e300", "'a'", "'1x'", "x'61'", "x'31'", "9.3e18", "-0.0", "'1'", "1"}
)

// mixed fills the tables. It returns a function that runs a query on the source and on the oracle. In the oracle,
// values of another type than their field's are null.
func mixed(t *testing.T) func(q query.Query) (got, want string) {
	draw := uint32(7)
	pick := func(from ...[]string) string {
		draw = draw*1664525 + 1013904223
		all := from[int(draw>>8)%len(from)]
		return all[int(draw>>16)%len(all)]
	}
	statements := strings.Split(mixedTables, ";\n")
	for i := range 40 {
		n, s := mixedNumbers, mixedTexts
		statements = append(statements, fmt.Sprintf("INSERT INTO clean VALUES (%d, %s, %s, %s, %s, %s)", i, pick(n), pick(n), pick(s), pick(s), pick(s)),
			fmt.Sprintf("INSERT INTO firm VALUES (%d, %s, %s, %s, %s, %s)", i-3, pick(n), pick(n), pick(s), pick(s), pick(s)),
			fmt.Sprintf("INSERT INTO wide VALUES (%d, %s, %s, %s, %s, %s)", i, pick(n), pick(n), pick(s), pick(s), pick(s)))
		if o := mixedOthers; i < 24 {
			statements = append(statements, fmt.Sprintf("INSERT INTO loose VALUES (%d, %s, %s, %s, %s, %s)", i, pick(n, o), pick(n, o, n), pick(s, s, o), pick(s, o), pick(s, o)),
				fmt.Sprintf("INSERT INTO anything VALUES (%d, %s)", i, pick(n, s, o)))
		}
	}
	src := suite.OpenWith(t, statements...)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true}, classes)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}}
	rows := map[string][]value.Row{}
	for _, c := range classes {
		permit, err := p.Read(who, &query.Find{Class: c.Name, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if rows[c.Name], err = sourcetest.Collect(t.Context(), src, permit); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows[c.Name] {
			row = row[:len(c.Fields)]
			for j, v := range row {
				if is := c.Fields[j].Type; is == schema.Integer && v.Kind() != value.Int || is == schema.String && v.Kind() != value.String {
					row[j] = value.Value{}
				}
			}
			rows[c.Name][i] = row
		}
	}
	oracle := memory.New(classes, rows)
	return func(q query.Query) (got, want string) {
		permit, err := p.Read(who, q)
		if err != nil {
			return "", "" // the fields can't be compared
		}
		found, err := sourcetest.Collect(t.Context(), src, permit)
		right, wrong := sourcetest.Collect(t.Context(), oracle, permit)
		return fmt.Sprint(found, err), fmt.Sprint(right, wrong)
	}
}

// TestMixed groups, sums and joins columns with values of other types than the column's, which count as null. The
// first form of such a statement can't answer. A statement that was inconclusive before must skip it.
func TestMixed(t *testing.T) {
	sourcetest.Rounds(t, 500)
	ask := mixed(t)
	names := []string{"loose", "clean", "firm", "loose", "wide", "seen"}
	fields := []string{"n", "m", "s", "v", "r", "id"}
	rapid.Check(t, func(t *rapid.T) {
		from := func(all ...string) string { return rapid.SampledFrom(all).Draw(t, "one") }
		group := func(prefix string) string {
			key := `"$` + prefix + from(fields...) + `"`
			switch from("one", "one", "two", "none") {
			case "two":
				key = `{"a": ` + key + `, "b": "$` + prefix + from(fields...) + `"}`
			case "none":
				key = "null"
			}
			out := `{"$group": {"_id": ` + key
			for i := range rapid.IntRange(1, 4).Draw(t, "accumulators") {
				switch x := `"$` + prefix + from(fields...) + `"`; from("sum", "count", "other", "values") {
				case "sum":
					out += fmt.Sprintf(`, "a%d": {"$sum": "$%s%s"}`, i, prefix, from("n", "m", "id"))
				case "count":
					out += fmt.Sprintf(`, "a%d": {"$sum": 1}`, i)
				case "values":
					out += fmt.Sprintf(`, "a%d": {"$avg": "$%s%s"}`, i, prefix, from("n", "m"))
				default:
					out += fmt.Sprintf(`, "a%d": {"$%s": %s}`, i, from("min", "max", "first", "last"), x)
				}
			}
			return out + "}}"
		}
		stages := []string{group("")}
		switch from("group", "top", "join", "join", "facet", "twice") {
		case "top":
			stages = append(stages, `{"$sort": {"a0": -1}}`, `{"$limit": 3}`)
		case "join":
			stages = []string{fmt.Sprintf(`{"$lookup": {"from": %q, "localField": %q, "foreignField": %q, "as": "c"}}`, from(names...), from(fields...), from(fields...)), `{"$unwind": "$c"}`,
				group(from("", "c."))}
		case "facet":
			stages = []string{`{"$facet": {"x": [` + group("") + `], "y": [` + group("") + `]}}`}
		case "twice":
			stages = append(stages, `{"$group": {"_id": "$a0", "n": {"$sum": 1}}}`)
		}
		text := "[" + strings.Join(stages, ", ") + "]"
		v, err := value.Read([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := query.ParsePipeline(v, "/pipeline")
		if err != nil {
			t.Fatal(err, text)
		}
		q := &query.Pipeline{Class: from(names...), Stages: parsed, Limit: 1000}
		for range 2 {
			if got, want := ask(q); got != want {
				t.Fatalf("%s %s\ngot  %s\nwant %s", q.Class, text, got, want)
			}
		}
	})
}

// TestTyping checks which columns certainly hold values of their type. Tables convert values to it if possible.
// STRICT tables and the rowid reject other values. Views and virtual tables do neither.
func TestTyping(t *testing.T) {
	src := suite.OpenWith(t, append(strings.Split(mixedTables, ";\n"), `CREATE VIRTUAL TABLE box USING rtree(id, a, b)`, `CREATE TABLE sheet (id INTEGER PRIMARY KEY DESC, d REAL, b BLOB, j JSON)`,
		`CREATE TABLE hard (a ANY, i INT, d REAL, b BLOB, t TEXT) STRICT`)...)
	classes, _, err := src.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range classes {
		text := c.Name
		for _, f := range c.Fields {
			text += fmt.Sprint(" ", f.Name, f.Typing)
		}
		got = append(got, text)
	}
	want := []string{"anything id2 x0", "box id0 a0 b0", "clean id2 n1 m1 s1 v1 r1", "firm id2 n2 m2 s2 v2 r2", "hard a0 i2 d2 b2 t2", "loose id2 n1 m1 s1 v1 r1",
		"seen id0 n0 m0 s0 v0 r0", "sheet id1 d0 b0 j0", "wide id1 n1 m1 s1 v1 r1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}
