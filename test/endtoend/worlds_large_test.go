package endtoend

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// largeSide returns a database whose hidden records contain texts of 44 MB. That is more than SQLite may use for one
// connection. If hidden is false, it has no hidden records.
func largeSide(t *testing.T, hidden bool) side {
	path := filepath.Join(t.TempDir(), fmt.Sprint("large", hidden, ".db"))
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(0)&_pragma=journal_mode(off)&_pragma=cache_size(-100000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	text := "k2" + strings.Repeat("0", 42<<20)
	exec := func(statement string, args ...any) {
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE plain (id INTEGER PRIMARY KEY, org TEXT, body TEXT); CREATE VIRTUAL TABLE words USING fts5(body, content='plain', content_rowid='id');
		CREATE TABLE indexed (id INTEGER PRIMARY KEY, org TEXT, body TEXT); CREATE INDEX by_body ON indexed (body, org);
		CREATE TABLE keyed (name TEXT PRIMARY KEY, org TEXT, body TEXT) WITHOUT ROWID;
		CREATE TABLE filtered (id INTEGER PRIMARY KEY, org TEXT, body TEXT, data JSON);
		CREATE TABLE tenants (id INTEGER PRIMARY KEY, org TEXT, body TEXT)`)
	for i := range 40 {
		n := []any{i + 1, fmt.Sprint("text ", i%5)}
		exec(`INSERT INTO plain VALUES (?, 'acme', ?)`, n...)
		exec(`INSERT INTO indexed SELECT * FROM plain WHERE id = ?`, n[0])
		exec(`INSERT INTO tenants SELECT * FROM plain WHERE id = ?`, n[0])
		exec(`INSERT INTO keyed SELECT 'k' || id, org, body FROM plain WHERE id = ?`, n[0])
		exec(`INSERT INTO filtered SELECT id, org, body, '{"a": 1}' FROM plain WHERE id = ?`, n[0])
	}
	if hidden {
		exec(`INSERT INTO plain VALUES (101, 'other', ?)`, text)
		exec(`INSERT INTO indexed VALUES (101, 'other', ?)`, text)
		exec(`INSERT INTO keyed VALUES ('k23a', 'other', ?)`, text)
		exec(`INSERT INTO filtered VALUES (101, 'acme', 'text', '"' || ? || '"')`, text)
		exec(`INSERT INTO filtered VALUES (102, 'acme', ?, '{}')`, text)
		exec(`INSERT INTO tenants VALUES (101, ?, 'text 1')`, text)
	}
	exec(`INSERT INTO words (words) VALUES ('rebuild')`)
	src, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	out := side{source: src}
	rule := policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}
	err = out.puts(t, policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{"plain": rule, "indexed": rule, "keyed": rule, "filtered": rule, "tenants": rule}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestNonInterferenceLarge checks hidden values that need more memory than a statement on SQLite may use. They must
// not change any answer. Statements that read them to find the visible records must not be refused for their size.
func TestNonInterferenceLarge(t *testing.T) {
	t.Parallel()
	with, without := largeSide(t, true), largeSide(t, false)
	p := identity.Principal{ID: "token:1", Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	p.Filters = map[string]query.Filter{"filtered": query.And{query.StartsWith{Path: query.Path{"body"}, Prefix: "text"}, query.Exists{Path: query.Path{"data", "a"}, Want: true}}}
	for _, class := range []string{"plain", "indexed", "keyed", "filtered", "tenants"} {
		for _, c := range []string{
			`query_class {"class_name": CLASS}`,
			`query_class {"class_name": CLASS, "where": {"body": "text 1"}}`,
			`query_class {"class_name": CLASS, "where": {"body": {"$gt": "text 1"}}, "order": "-body"}`,
			`query_class {"class_name": CLASS, "where": {"body": {"$lt": "z"}}, "order": "body", "limit": 2}`,
			`query_class {"class_name": CLASS, "where": {"body": {"$regex": "^text"}}}`,
			`query_class {"class_name": CLASS, "where": {"$not": {"body": {"$regex": "5$"}}}}`,
			`query_class {"class_name": CLASS, "where": {"body": {"$in": ["text 1", "text 9"]}}}`,
			`query_class {"class_name": CLASS, "where": {"org": {"$gt": "a"}}, "order": "org"}`,
			`count_objects {"class_name": CLASS}`,
			`count_objects {"class_name": CLASS, "where": {"body": {"$gt": "text 2"}}}`,
			`count_objects {"class_name": CLASS, "where": {"body": {"$gt": "k"}, "org": "acme"}}`,
			`distinct {"class_name": CLASS, "field": "body"}`,
			`group_by {"class_name": CLASS, "field": "body"}`,
			`aggregate {"class_name": CLASS, "pipeline": [{"$sort": {"body": -1}}, {"$limit": 3}]}`,
			`aggregate {"class_name": CLASS, "pipeline": [{"$group": {"_id": "$body", "n": {"$sum": 1}, "m": {"$max": "$body"}}}]}`,
			`aggregate {"class_name": CLASS, "pipeline": [{"$group": {"_id": null, "m": {"$max": "$body"}, "l": {"$min": "$org"}}}]}`,
			`aggregate {"class_name": CLASS, "pipeline": [{"$match": {"$expr": {"$gt": [{"$strLenCP": "$body"}, 3]}}}, {"$count": "n"}]}`,
			`aggregate {"class_name": "plain", "pipeline": [{"$limit": 4}, {"$lookup": {"from": CLASS, "localField": "body", "foreignField": "body", "as": "l"}}, {"$project": {"n": {"$size": "$l"}}}]}`,
			`aggregate {"class_name": "plain", "pipeline": [{"$limit": 4}, {"$lookup": {"from": CLASS, "localField": "org", "foreignField": "org", "as": "l"}}, {"$project": {"n": {"$size": "$l"}}}]}`,
			`query_sql {"sql": "SELECT a.body, count(*) AS n FROM CLASS AS a JOIN plain AS b ON a.body = b.body GROUP BY a.body ORDER BY 1"}`,
			`query_sql {"sql": "SELECT body FROM CLASS WHERE body LIKE 'text%' ORDER BY body LIMIT 4"}`,
			`query_sql {"sql": "SELECT max(body) AS m, min(body) AS l FROM CLASS"}`,
			`get_objects {"class_name": CLASS, "ids": ["1", "2", "k1", "k2", "101"]}`,
			`get_object {"class_name": CLASS, "object_id": "k22"}`,
			`get_object {"class_name": CLASS, "object_id": "2"}`,
			`get_object {"class_name": CLASS, "object_id": "k2"}`,
			`text_search {"class_name": CLASS, "query": "text"}`,
			`get_sample_objects {"class_name": CLASS}`,
			`export_data {"class_name": CLASS}`,
		} {
			name, args, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(c, "FROM CLASS", "FROM "+class), "CLASS", `"`+class+`"`), " ")
			doc, err := value.Read([]byte(args), 0)
			if err != nil {
				t.Fatal(args, err)
			}
			want, _ := answer(without.set, p, tool.Request{Name: name, Arguments: doc})
			if got, _ := answer(with.set, p, tool.Request{Name: name, Arguments: doc}); got != want {
				t.Errorf("%s %s:\n%.200s\n%.200s", name, args, got, want)
			}
		}
	}
}
