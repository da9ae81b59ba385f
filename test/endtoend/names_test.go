package endtoend_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestNamesOfOneSource queries two sources with the same classes. A class name within a query means the class of the
// query's own source. This must also hold if the source adds a schema to the names of its classes.
func TestNamesOfOneSource(t *testing.T) {
	ddl := func(mark string) []string {
		return []string{
			"CREATE TABLE users (id integer primary key, name varchar(20), boss_id integer references users (id))",
			"CREATE TABLE orders (id integer primary key, title varchar(20), user_id integer references users (id), loose_id integer)",
			"INSERT INTO users VALUES (1, '" + mark + "-ann', NULL)", "INSERT INTO users VALUES (2, '" + mark + "-bob', 1)",
			"INSERT INTO orders VALUES (1, '" + mark + "-x', 1, 2)", "INSERT INTO orders VALUES (2, '" + mark + "-y', 2, 1)"}
	}
	sources := map[string]source.Source{}
	for _, name := range []string{"one", "two"} {
		path := filepath.Join(t.TempDir(), name+".db")
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, statement := range ddl(name) {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(statement, err)
			}
		}
		opened, err := sqlite.Open(t.Context(), name, path)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		sources[name] = opened
	}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: sources, Audit: &audit.Memory{},
		Rules: policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"two.orders": {Pointers: map[string]policy.Pointer{"loose_id": {Class: "users"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "agent", Scopes: []identity.Scope{identity.Read}}
	for _, tt := range []struct{ tool, args, want string }{
		{"query_class", `{"class_name": "two.orders", "where": {"user_id": {"$inQuery": {"className": "users", "where": {"name": "two-ann"}}}}, "keys": ["title"]}`, `"two-x"`},
		{"query_class", `{"class_name": "two.orders", "keys": ["loose_id.name"], "where": {"id": 1}}`, `"two-bob"`},
		{"aggregate", `{"class_name": "two.orders", "pipeline": [{"$lookup": {"from": "users", "localField": "user_id", "foreignField": "id", "as": "u"}}, {"$unwind": "$u"}, {"$project": {"n": "$u.name"}}]}`, `"two-bob"`},
		{"aggregate", `{"class_name": "two.users", "pipeline": [{"$graphLookup": {"from": "users", "startWith": "$boss_id", "connectFromField": "boss_id", "connectToField": "id", "as": "b"}}, {"$project": {"b": 1}}]}`, `two-ann`},
		{"aggregate", `{"class_name": "two.users", "pipeline": [{"$unionWith": "orders"}, {"$project": {"title": 1}}]}`, `"two-y"`},
		{"query_sql", `{"sql": "SELECT u.name FROM orders AS o JOIN two.users AS u ON u.id = o.user_id"}`, `"two-ann"`},
		{"query_sql", `{"sql": "SELECT name FROM two.users WHERE id IN (SELECT user_id FROM orders)"}`, `"two-ann"`},
		{"query_sql", `{"sql": "SELECT name FROM one.users WHERE id IN (SELECT user_id FROM orders)"}`, `"one-ann"`},
		{"query_sql", `{"sql": "SELECT o.title FROM one.orders AS o JOIN two.users AS u ON u.id = o.user_id"}`, "two.users is in another source than one.orders"},
		{"query_class", `{"class_name": "two.orders", "where": {"user_id": {"__type": "Pointer", "className": "users", "objectId": "1"}}}`, `"two-x"`},
		{"query_class", `{"class_name": "two.orders", "where": {"user_id": {"__type": "Pointer", "className": "two.users", "objectId": "1"}}}`, `"two-x"`},
		{"query_class", `{"class_name": "two.orders", "where": {"user_id": {"__type": "Pointer", "className": "one.users", "objectId": "1"}}}`, "holds the ids of records of two.users, and this is none"},
		{"aggregate", `{"class_name": "two.orders", "pipeline": [{"$match": {"user_id": "users$2"}}, {"$project": {"title": 1}}]}`, `"two-y"`},
		{"query_class", `{"class_name": "orders"}`, `several sources have a class "orders"`},
	} {
		args, err := value.Read([]byte(tt.args), 0)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if res, err := set.Call(t.Context(), who, tool.Request{Name: tt.tool, Arguments: args}); err != nil {
			got = err.Error()
		} else {
			got = res.Text
		}
		if other := map[bool]string{true: "one-", false: "two-"}[strings.Contains(tt.want, "two-")]; !strings.Contains(got, tt.want) || strings.Contains(got, other) {
			t.Errorf("%s %s:\n%s\nwant %s", tt.tool, tt.args, got, tt.want)
		}
	}
}
