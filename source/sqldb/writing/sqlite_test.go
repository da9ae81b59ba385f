package writing_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/policy/writes"
	"github.com/bailiwick-dev/bailiwick/source/sqldb"
	"github.com/bailiwick-dev/bailiwick/source/sqldb/writing"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestSQLite shows previews and what is applied of them, one after the other.
func TestSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		`CREATE TABLE projects (id INTEGER PRIMARY KEY, org TEXT NOT NULL, name TEXT UNIQUE)`,
		`CREATE TABLE issues (id INTEGER PRIMARY KEY, project INTEGER NOT NULL REFERENCES projects ON DELETE CASCADE, title TEXT NOT NULL DEFAULT 'new', due DATETIME, n INT CHECK (n > 0))`,
		`INSERT INTO projects VALUES (1, 'acme', 'one'), (2, 'other', 'two')`,
		`INSERT INTO issues VALUES (1, 1, 'a', '2026-01-02 03:04:05', 1), (2, 1, 'b', NULL, 2), (3, 2, 'c', NULL, 3)`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err, s)
		}
	}
	s, err := sqldb.OpenSQLite(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Writable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	classes, _, err := w.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{Unlisted: true, Gates: policy.Gates{Writes: policy.On, RawWrites: policy.On},
		Classes: map[string]policy.ClassRule{"projects": {Tenant: &policy.TenantRule{Field: "org"}}, "issues": {Tenant: &policy.TenantRule{Through: "project"}}}}, classes)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "a", Tenant: "acme", Scopes: []identity.Scope{identity.Read, identity.Write, identity.Delete}}
	for _, test := range []struct{ write, want string }{
		{`{"op":"update","class":"issues","id":"1","data":{"title":"x","due":"2026-05-05T00:00:00Z"}}`, `{"id":1,"project":1,"title":"a","due":"2026-01-02T03:04:05Z","n":1} → {"id":1,"project":1,"title":"x","due":"2026-05-05T00:00:00Z","n":1} []; [1] [{"id":1,"project":1,"title":"x","due":"2026-05-05T00:00:00Z","n":1}] <nil>`},
		{`{"op":"update","class":"issues","id":"1","data":{"n":-1}}`, `{"id":1,"project":1,"title":"x","due":"2026-05-05T00:00:00Z","n":1} → {"id":1,"project":1,"title":"x","due":"2026-05-05T00:00:00Z","n":-1} []a constraint on the record doesn't hold; [] [] conflict: a constraint on the record doesn't hold`},
		{`{"op":"create","class":"issues","data":{"project":"1"}}`, ` → {"id":4,"project":1,"title":"new","due":null,"n":null} []; [4] [{"id":4,"project":1,"title":"new","due":null,"n":null}] <nil>`},
		{`{"op":"create","class":"issues","data":{"project":"7"}}`, ` → {"id":null,"project":7,"title":null,"due":null,"n":null} []a field leads to no record; [] [] conflict: a field leads to no record`},
		{`{"op":"create","class":"issues","data":{"project":"2"}}`, `not_found: there is no record "" in issues`},
		{`{"op":"create","class":"projects","data":{"name":"two"}}`, ` → {"id":null,"org":"acme","name":"two"} []another record has the same name; [] [] conflict: another record has the same name`},
		{`{"op":"delete","class":"projects","id":"2"}`, `not_found: there is no record "2" in projects`},
		{`{"op":"update","class":"issues","id":"3","data":{"title":"x"}}`, `not_found: there is no record "3" in issues`},
		{`{"op":"delete","class":"projects","id":"1"}`, `{"id":1,"org":"acme","name":"one"} →  [{app.issues delete 3}]; [1] [] <nil>`},
	} {
		if got := told(t, w, p, who, test.write); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.write, got, test.want)
		}
	}
}

// told proposes, previews and applies a write, and says what came of it. The previews and changes of a table follow each other.
func told(t *testing.T, w *sqldb.WritableSQLite, p *policy.Policy, who identity.Principal, text string) string {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := write.Parse(v, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := writes.Propose(p, who, write.Request{Writes: []write.Write{asked}})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := w.Preview(t.Context(), d)
	if err != nil {
		return err.Error()
	}
	plan, err := d.Plan()
	if err != nil {
		t.Fatal(err)
	}
	e := seen.Effects[0]
	plan.Change, plan.Digest, plan.Fence = text, "digest", 1
	plan.Items[0].Before = e.Before
	plan.Items[0].Concerned = e.Asked
	r, err := writing.ApplyPlan(t.Context(), w.Writer, plan)
	again, twice := writing.ApplyPlan(t.Context(), w.Writer, plan)
	if err == nil && (twice != nil || !again.Again) || err != nil && (twice == nil || twice.Error() != err.Error()) {
		t.Errorf("%s\nonce %v, twice %v %v", text, err, again, twice)
	}
	return fmt.Sprintf("%v → %v %v%s; %v %v %v", e.Before, e.After, seen.Cascades, seen.Refusal, r.Keys, r.After, err)
}
