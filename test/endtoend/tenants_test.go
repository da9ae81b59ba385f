package endtoend

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// TestSecondTenant reads all data of one tenant in the demo with every tool. The arguments contain ids of the other
// tenant. No answer may contain data of the other tenant.
func TestSecondTenant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracker.db")
	if err := demo.Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	canaries, ids := ofAcme(t, path)
	src, err := sqlite.Open(t.Context(), "tracker", path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	c, err := config.Parse("demo", []byte(demo.Config), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"tracker": src}, Rules: c.Rules, Audit: forgetful{},
		Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}, Budget: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(g, tool.Data(tool.Options{})...)
	if err != nil {
		t.Fatal(err)
	}
	globex := identity.Principal{ID: "b", Owner: "bob", Tenant: demo.Globex, Scopes: []identity.Scope{identity.Read}}
	records := 0
	call := func(name string, args any) value.Value {
		t.Helper()
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := value.Read(b, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, next := answer(set, globex, tool.Request{Name: name, Arguments: doc})
		if strings.HasPrefix(got, "FAILED") {
			t.Fatalf("%s %s: %s", name, b, got)
		}
		for _, canary := range canaries {
			if strings.Contains(got, canary) && !strings.Contains(string(b), canary) {
				t.Fatalf("%s %s tells %q of the other tenant", name, b, canary)
			}
		}
		records += strings.Count(got, `"id":`)
		return next
	}
	type m = map[string]any
	for _, class := range []string{"issues", "comments", "users", "projects", "labels", "issue_labels", "organisations", "api_keys"} {
		for args := any(m{"class_name": class, "limit": 1000, "apply_canonical_filter": false}); ; {
			next := call("query_class", args)
			if next.IsNull() {
				break
			}
			args = json.RawMessage(next.AppendJSON(nil))
		}
		call("get_schema", m{"class_name": class})
		call("get_sample_objects", m{"class_name": class, "limit": 20})
		for _, id := range ids {
			call("get_object", m{"class_name": class, "object_id": id})
		}
		call("get_objects", m{"class_name": class, "ids": ids})
		call("query_class", m{"class_name": class, "where": m{"$or": []m{{"org_id": demo.Acme}, {"id": m{"$in": ids}}}}})
		call("count_objects", m{"class_name": class, "where": m{"org_id": demo.Acme}})
	}
	call("query_class", m{"class_name": "comments", "include": []string{"issue_id", "author_id", "issue_id.assignee_id", "issue_id.parent_id"}, "limit": 1000})
	call("query_class", m{"class_name": "issues", "include": []string{"assignee_id", "reporter_id", "parent_id", "project_id", "org_id"}, "limit": 1000})
	if records < 10_000 {
		t.Errorf("only %d records were looked at", records)
	}
}

// ofAcme returns texts that only acme's data contains, including all its ids. It also returns some of the ids for
// requests.
func ofAcme(t *testing.T, path string) (canaries, ids []string) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"SELECT id FROM users WHERE org_id = 'acme'", "SELECT id FROM projects WHERE org_id = 'acme'",
		"SELECT id FROM issues WHERE org_id = 'acme' ORDER BY id LIMIT 400", "SELECT name FROM organisations WHERE id = 'acme'",
		"SELECT password_hash FROM users", "SELECT name FROM users WHERE org_id = 'acme' AND name NOT IN (SELECT name FROM users WHERE org_id <> 'acme')",
	} {
		rows, err := db.Query(q)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			var s any
			if err := rows.Scan(&s); err != nil {
				t.Fatal(err)
			}
			canaries = append(canaries, fmt.Sprint(s))
			if n++; strings.HasPrefix(q, "SELECT id") && n <= 3 {
				ids = append(ids, fmt.Sprint(s))
			}
		}
		if err := rows.Err(); err != nil || n == 0 {
			t.Fatal(q, n, err)
		}
		rows.Close()
	}
	return canaries, ids
}
