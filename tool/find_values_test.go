package tool_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestFindValuesBounds searches a class with more records than are looked through. An index finds the exact value of
// the last, and the answer says that the other fields were cut.
func TestFindValuesBounds(t *testing.T) {
	set := overSQL(t, `CREATE TABLE parts (id INTEGER PRIMARY KEY, code TEXT NOT NULL, label TEXT NOT NULL); CREATE INDEX by_code ON parts (code);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20010) INSERT INTO parts SELECT i, 'C' || i, 'Label ' || i FROM n`)
	const cut = "of parts, the first 20000 records by key were looked through. Beyond them only fields with an index were searched, for the exact value"
	for text, want := range map[string]string{
		"C20005":      `parts.code: exact, 1 record: ["C20005"]`,
		"20005":       `parts.id: exact, 1 record: ["20005"]`,
		"c20005":      "no field that was searched holds it",
		"Label 20005": "no field that was searched holds it",
		"label  777":  `parts.label: other spelling, at least 1 record: ["Label 777"]`,
		"Label 1":     `parts.label: begins with it, at least 49 records: ["Label 10","Label 11","Label 12"]`,
	} {
		res, err := set.Call(t.Context(), agent(), tool.Request{Name: "find_values", Arguments: value.OfObject([]value.Member{{Name: "text", Value: value.OfString(text)}})})
		for again := 0; err == nil && again < 50 && strings.Contains(res.Text, "the time was over"); again++ { // on a busy machine
			res, err = set.Call(t.Context(), agent(), tool.Request{Name: "find_values", Arguments: value.OfObject([]value.Member{{Name: "text", Value: value.OfString(text)}})})
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(res.Text, want+"\n") || !strings.Contains(res.Text, cut) {
			t.Errorf("%s: want %s and the bound, got\n%s", text, want, res.Text)
		}
	}
}

// overSQL returns the tools on a new database of SQLite that statements make, of which everything is visible.
func overSQL(t *testing.T, statements string) *tool.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
	src, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: policy.Rules{Unlisted: true}, Audit: &audit.Memory{}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestFindValuesCounts checks records that hold the text in one field and another spelling of it in a second one. They
// don't cut the count of the second field short.
func TestFindValuesCounts(t *testing.T) {
	set := overSQL(t, `CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, nick TEXT);
		INSERT INTO people VALUES (1, 'Ada', 'ADA'), (2, 'Bob', 'ada'), (3, 'Cyd', 'àda')`)
	res, err := set.Call(t.Context(), agent(), tool.Request{Name: "find_values", Arguments: value.OfObject([]value.Member{{Name: "text", Value: value.OfString("Ada")}})})
	if err != nil {
		t.Fatal(err)
	}
	want := "people.name: exact, 1 record: [\"Ada\"]\npeople.nick: other spelling, 3 records: [\"ADA\",\"ada\",\"àda\"]\n"
	if !strings.HasPrefix(res.Text, want) {
		t.Errorf("got\n%s\nwant\n%s", res.Text, want)
	}
}
