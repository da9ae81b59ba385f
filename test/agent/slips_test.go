package agent

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A schema is an application, with values for the names that slips.txt leaves open.
type schema struct {
	set   *tool.Set
	names *strings.Replacer
}

const shop = `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), state TEXT NOT NULL CHECK (state IN ('open', 'paid')), total REAL, placed_at TIMESTAMP, note TEXT, deleted_at TIMESTAMP);
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Bob');
INSERT INTO orders VALUES (10, 1, 'open', 4.5, '2026-06-30T10:00:00Z', 'a', NULL), (11, 2, 'paid', 12, '2026-07-01T00:00:00Z', 'b', NULL), (12, NULL, 'open', 8, '2025-12-31T23:00:00Z', NULL, NULL),
	(13, 1, 'paid', 1, '2026-06-29T00:00:00Z', 'gone', '2026-07-02T00:00:00Z');`

const blog = `CREATE TABLE authors (handle TEXT NOT NULL PRIMARY KEY, full_name TEXT);
CREATE TABLE posts (slug TEXT NOT NULL PRIMARY KEY, author TEXT REFERENCES authors (handle), kind TEXT NOT NULL, words INTEGER, at TIMESTAMP, title TEXT);
INSERT INTO authors VALUES ('ann', 'Ann A'), ('ben', 'Ben B');
INSERT INTO posts VALUES ('1', 'ann', 'news', 400, '2026-06-30T00:00:00Z', 'a'), ('2', 'ben', 'essay', 3, '2026-06-29T12:00:00Z', 'b a'), ('3', NULL, 'news', 7, '2026-07-02T00:00:00Z', 'c');`

func schemas(t *testing.T) map[string]schema {
	t.Helper()
	made := func(name, ddl string, rules policy.Rules) *tool.Set {
		path := filepath.Join(t.TempDir(), name+".db")
		db, err := sql.Open("sqlite", path)
		if err == nil {
			_, err = db.Exec(ddl)
		}
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
		set, _ := served(t, name, path, rules)
		return set
	}
	issues, db := tracker(t)
	one := truth(t, db, "SELECT id, assignee_id FROM issues WHERE org_id='acme' AND deleted_at IS NULL AND assignee_id IS NOT NULL ORDER BY id LIMIT 1")
	issue, them, _ := strings.Cut(one, " | ")
	shops, _ := application(t, "music")
	visits, _ := application(t, "clinic")
	live := query.Compare{Path: query.Path{"deleted_at"}, Op: query.Eq}
	return map[string]schema{
		"tracker": {issues, strings.NewReplacer("<class>", "issues", "<id>", "id", "<one>", issue, "<date>", "created_at", "<enum>", "status", "<value>", "Todo",
			"<number>", "estimate", "<text>", "title", "<pointer>", "assignee_id", "<target>", "users", "<key>", "id", "<name>", "name", "<them>", them,
			"<person>", truth(t, db, "SELECT name FROM users WHERE id='"+them+"'"))},
		"shop": {made("shop", shop, policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{"orders": {Canonical: live}, "customers": {}}}),
			strings.NewReplacer("<class>", "orders", "<id>", "id", "<one>", "10", "<date>", "placed_at", "<enum>", "state", "<value>", "open", "<number>", "total", "<text>", "note",
				"<pointer>", "customer_id", "<target>", "customers", "<key>", "id", "<name>", "name", "<them>", "1", "<person>", "Ada")},
		"blog": {made("blog", blog, policy.Rules{Version: "1", Unlisted: true}),
			strings.NewReplacer("<class>", "posts", "<id>", "slug", "<one>", "1", "<date>", "at", "<enum>", "kind", "<value>", "news", "<number>", "words", "<text>", "title",
				"<pointer>", "author", "<target>", "authors", "<key>", "handle", "<name>", "full_name", "<them>", "ann", "<person>", "Ann A")},
		"music": {shops, strings.NewReplacer("<class>", "invoices", "<id>", "id", "<one>", "1", "<date>", "invoiced_at", "<enum>", "status", "<value>", "paid", "<number>", "total",
			"<text>", "billing_city", "<pointer>", "customer_id", "<target>", "customers", "<key>", "id", "<name>", "first_name", "<them>", "25", "<person>", "Lena")},
		"clinic": {visits, strings.NewReplacer("<class>", "visits", "<id>", "id", "<one>", "1", "<date>", "starts_at", "<enum>", "state", "<value>", "done", "<number>", "minutes", "<text>", "kind",
			"<pointer>", "doctor_id", "<target>", "doctors", "<key>", "id", "<name>", "name", "<them>", "D5", "<person>", "Dr. Chiamaka Obi")},
	}
}

// TestSlips makes each call of slips.txt over five schemas. Its answer is that of the call that it means. If it is
// refused, the refusal suggests a next call, and that call is answered.
func TestSlips(t *testing.T) {
	text, err := os.ReadFile("testdata/slips.txt")
	if err != nil {
		t.Fatal(err)
	}
	calls, first, second := 0, 0, 0
	for name, s := range schemas(t) {
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(s.names.Replace(line)); line == "" || line[0] == '#' {
				continue
			}
			says := ""
			if rest, refused := strings.CutPrefix(line, "! "); refused {
				says, line, _ = strings.Cut(rest, " ;; ")
			}
			as, means, _ := strings.Cut(line, " == ")
			calls++
			got, err := s.answer(t, as)
			want, wrong := s.answer(t, means)
			switch {
			case wrong != nil:
				t.Errorf("%s: %s\n %v", name, means, wrong)
			case says == "" && err == nil && got == want:
				first++
				second++
			case says == "" || err == nil:
				t.Errorf("%s: %s\n got %s %v\nwant %s", name, as, got, err, want)
			case !strings.Contains(helps(err), says):
				t.Errorf("%s: %s\n refused with %s, which doesn't say %q", name, as, helps(err), says)
			default:
				second++
			}
		}
	}
	t.Logf("%d calls: %d answered at once, %d after what the refusal says", calls, first, second)
	if calls < 400 || first*100 < 85*calls || second*100 < 98*calls {
		t.Errorf("%d calls, %d answered at once, %d in the end; want 400, 85%% and 98%%", calls, first, second)
	}
}

// answer returns the answer of a call without hints and the next call, which repeat what was written.
func (s schema) answer(t *testing.T, line string) (string, error) {
	res, err := s.set.Call(t.Context(), reader(), request(t, line))
	if err != nil {
		return "", err
	}
	doc, err := value.Read(res.Structured, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kept []value.Member
	for _, m := range doc.Members() {
		if m.Name != "hints" && m.Name != "next_call" {
			kept = append(kept, m)
		}
	}
	return value.OfObject(kept).String(), nil
}

// helps returns what a refusal suggests.
func helps(err error) string {
	p := problem.Of(err)
	return p.Detail + problem.DidYouMean(p.Near) + "; " + p.Suggestion
}
