package demo_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/internal/demo"
)

// create creates a tracker and returns its path.
func create(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tracker.db")
	if err := demo.Create(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw&_pragma=foreign_keys(on)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// text returns the rows of a query. Values are joined with "|" and rows with newlines.
func text(t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.ReplaceAll(strings.Trim(fmt.Sprint(values), "[]"), " ", "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// TestData checks the data with queries. A query for invalid data must return no rows.
func TestData(t *testing.T) {
	db := open(t, create(t))
	for _, c := range []struct{ asks, statement, want string }{
		{"integrity", "PRAGMA integrity_check", "ok"},
		{"foreign keys", "PRAGMA foreign_key_check", ""},
		{"organisations", "SELECT id FROM organisations ORDER BY 1", "acme\nglobex"},
		{"counts", "SELECT (SELECT count(*) FROM issues), (SELECT count(*) FROM comments), (SELECT count(*) FROM users), (SELECT count(*) FROM projects)," +
			"(SELECT count(*) FROM labels), (SELECT count(*) FROM api_keys)", fmt.Sprintf("%d|%d|40|9|36|10", demo.Issues, demo.Comments)},
		{"issues by organisation", "SELECT org_id, count(*) FROM issues GROUP BY 1 ORDER BY 1", "acme|3100\nglobex|1900"},
		{"types", "SELECT group_concat(type) FROM (SELECT DISTINCT type FROM issues ORDER BY type)", "Bug,Epic,Story,Task"},
		{"statuses", "SELECT count(DISTINCT status), count(DISTINCT priority) FROM issues", "6|4"},
		{"parents of tasks and bugs", "SELECT i.id FROM issues i LEFT JOIN issues p ON p.id = i.parent_id WHERE i.type IN ('Task', 'Bug')" +
			" AND (p.id IS NULL OR p.type NOT IN ('Story', 'Epic') OR p.project_id <> i.project_id)", ""},
		{"parents of stories", "SELECT i.id FROM issues i JOIN issues p ON p.id = i.parent_id WHERE i.type = 'Story' AND p.type <> 'Epic'", ""},
		{"parents of epics", "SELECT id FROM issues WHERE type = 'Epic' AND parent_id IS NOT NULL", ""},
		{"both have some", "SELECT count(*) > 200, count(parent_id) > 100 FROM issues WHERE type IN ('Epic', 'Story')", "1|1"},
		{"tenants agree", "SELECT i.id FROM issues i JOIN projects p ON p.id = i.project_id JOIN users r ON r.id = i.reporter_id" +
			" LEFT JOIN users a ON a.id = i.assignee_id WHERE p.org_id <> i.org_id OR r.org_id <> i.org_id OR a.org_id <> i.org_id", ""},
		{"authors' tenants", "SELECT c.id FROM comments c JOIN issues i ON i.id = c.issue_id JOIN users u ON u.id = c.author_id WHERE u.org_id <> i.org_id", ""},
		{"labels' tenants", "SELECT 1 FROM issue_labels il JOIN issues i ON i.id = il.issue_id JOIN labels l ON l.id = il.label_id WHERE l.org_id <> i.org_id", ""},
		{"numbers have no gaps", "SELECT project_id FROM issues GROUP BY 1 HAVING count(*) <> max(number)", ""},
		{"nothing is later than the clock", "SELECT id FROM issues WHERE max(created_at, updated_at, coalesce(deleted_at, '')) > '2026-10-30T17:00:00Z'" +
			" UNION ALL SELECT id FROM comments WHERE created_at > '2026-10-30T17:00:00Z'", ""},
		{"comments follow their issue", "SELECT c.id FROM comments c JOIN issues i ON i.id = c.issue_id WHERE c.created_at < i.created_at", ""},
		{"some are deleted, most not", "SELECT count(deleted_at) BETWEEN 100 AND 500 FROM issues", "1"},
		{"big integers", "SELECT min(legacy_id), count(legacy_id) > 1000 FROM issues", "9007199254740993|1"},
		{"no legacy id fits a double", "SELECT id FROM issues WHERE legacy_id % 2 = 0", ""},
		{"custom is an object", "SELECT DISTINCT json_type(custom) FROM issues", "object"},
		{"custom nests", "SELECT count(*) > 500 FROM issues WHERE custom ->> '$.customer.tier' = 'gold'", "1"},
		{"custom has arrays", "SELECT count(*) > 500 FROM issues WHERE json_array_length(custom, '$.tags') = 2", "1"},
		{"secrets are there to be hidden", "SELECT count(password_hash), count(session_token) > 10, count(mfa_secret) > 10 FROM users", "40|1|1"},
		{"bodies", "SELECT min(length(body)) >= 250, max(length(body)) > 8000, avg(length(body)) > 500 FROM issues", "1|1|1"},
		{"titles differ", "SELECT count(DISTINCT title) > 2000 FROM issues", "1"},
		{"no template is left", "SELECT id FROM issues WHERE title || body || coalesce(internal_note, '') GLOB '*{[a-zA-Z]*'" +
			" UNION ALL SELECT id FROM comments WHERE body GLOB '*{[a-zA-Z]*'", ""},
		{"articles", "SELECT title FROM issues WHERE title || body GLOB '* a [aeiou]*'", ""},
		{"addresses", "SELECT email FROM users WHERE email GLOB '*[^a-z.@]*'", ""},
	} {
		if got := text(t, db, c.statement); got != c.want {
			t.Errorf("%s: got\n%.400s\nwant\n%s", c.asks, got, c.want)
		}
	}
}

// TestRules checks that the schema refuses invalid data.
func TestRules(t *testing.T) {
	db := open(t, create(t))
	const a = "(SELECT id FROM issues WHERE type = 'Task' ORDER BY id LIMIT 1)"
	for statement, want := range map[string]string{
		"UPDATE issues SET status = 'Doing' WHERE id = " + a:                                                              "CHECK constraint failed",
		"UPDATE issues SET title = '' WHERE id = " + a:                                                                    "CHECK constraint failed",
		"UPDATE issues SET estimate = -1 WHERE id = " + a:                                                                 "CHECK constraint failed",
		"UPDATE issues SET custom = '{' WHERE id = " + a:                                                                  "CHECK constraint failed",
		"UPDATE issues SET parent_id = NULL WHERE id = " + a:                                                              "CHECK constraint failed",
		"UPDATE issues SET parent_id = " + a + " WHERE number = 1":                                                        "a Story stands under an Epic",
		"UPDATE issues SET reporter_id = 'nobody' WHERE id = " + a:                                                        "FOREIGN KEY constraint failed",
		"UPDATE users SET email = (SELECT max(email) FROM users) WHERE name = 'Aoife Byrne'":                              "UNIQUE constraint failed",
		"UPDATE labels SET colour = 'red'":                                                                                "CHECK constraint failed",
		"INSERT INTO comments (issue_id, author_id, body, created_at) SELECT id, reporter_id, '', created_at FROM issues": "CHECK constraint failed",
	} {
		if _, err := db.Exec(statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}

// TestSameBytes checks that two runs create the same file, with the expected digest.
func TestSameBytes(t *testing.T) {
	one, err := os.ReadFile(create(t))
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(create(t))
	if err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(one) != sha256.Sum256(two) {
		t.Error("two runs wrote different files")
	}
	db := open(t, create(t))
	sum := sha256.New()
	for _, table := range []string{"organisations", "users", "projects", "labels", "issues", "comments", "issue_labels", "api_keys"} {
		fmt.Fprintf(sum, "%s\n%s\n", table, text(t, db, "SELECT * FROM "+table+" ORDER BY 1, 2"))
	}
	const want = "c294e11eddffacc79f7c1b428886c09711fe15392ecc356d0919375fc76274a5"
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != want {
		t.Errorf("the data has the digest %s, want %s: when the change is meant, write the new one here", got, want)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "tracker.db")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := demo.Create(context.Background(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v, want fs.ErrExist", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
		t.Errorf("the file holds %q, %v; want it as it was", b, err)
	}
	if err := demo.Create(context.Background(), filepath.Join(dir, "none", "tracker.db")); err == nil {
		t.Error("in a folder that is not there: no error")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := demo.Create(ended, filepath.Join(dir, "other.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, want context.Canceled", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v; want only tracker.db", left, err)
	}
}

func BenchmarkCreate(b *testing.B) {
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "tracker.db")
		if err := demo.Create(context.Background(), path); err != nil {
			b.Fatal(err)
		}
	}
}
