package endtoend

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/memory"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// claimRules are the rules of the following tests. The tenant and the regions come from claims, and staff sees all
// tenants.
const claimRules = `sources: {app: {url: "sqlite:app.db"}}
classes:
  issues:
    tenant: {field: org, is: principal.claims.org, bypass: '"operator" in principal.scopes || principal.claims.staff'}
    canonical: {region: {$in: {$cel: principal.claims.regions}}}
    denied: [secret]
  comments: {tenant: {through: issue_id}}
  vaults: {hidden: true}
`

// claimSources returns the same data in SQLite and in memory.
func claimSources(t *testing.T) map[string]source.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE issues (id INTEGER PRIMARY KEY, org TEXT, region TEXT, level INTEGER, secret TEXT);
		CREATE TABLE comments (id INTEGER PRIMARY KEY, issue_id INTEGER REFERENCES issues (id));
		CREATE TABLE vaults (id INTEGER PRIMARY KEY);
		INSERT INTO issues VALUES (1, 'acme', 'eu', 1, 's'), (2, 'acme', 'us', 2, 's'), (3, 'globex', 'eu', 3, 's'), (4, 'globex', 'us', 4, 's'), (5, 'acme', NULL, 5, 's');
		INSERT INTO comments VALUES (11, 1), (12, 2), (13, 3), (14, 4), (15, 5), (16, NULL)`); err != nil {
		t.Fatal(err)
	}
	lite, err := sqlite.Open(t.Context(), "app", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lite.Close() })
	classes, _, err := lite.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	null, text, n := value.Value{}, value.OfString, value.OfInt
	rows := map[string][]value.Row{
		"issues": {{n(1), text("acme"), text("eu"), n(1), text("s")}, {n(2), text("acme"), text("us"), n(2), text("s")}, {n(3), text("globex"), text("eu"), n(3), text("s")},
			{n(4), text("globex"), text("us"), n(4), text("s")}, {n(5), text("acme"), null, n(5), text("s")}},
		"comments": {{n(11), n(1)}, {n(12), n(2)}, {n(13), n(3)}, {n(14), n(4)}, {n(15), n(5)}, {n(16), null}},
	}
	return map[string]source.Source{"sqlite": lite, "memory": memory.New(classes, rows)}
}

func claimSets(t *testing.T, rules string) map[string]*tool.Set {
	t.Helper()
	c, err := config.Parse("bailiwick.yaml", []byte(rules), nil)
	if err != nil {
		t.Fatal(err)
	}
	sets := map[string]*tool.Set{}
	for name, src := range claimSources(t) {
		g, _, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": src}, Rules: c.Rules, Audit: forgetful{}, Limits: limit.Options{PerMinute: 1e9, Burst: 1e9}})
		if err != nil {
			t.Fatal(err)
		}
		if sets[name], err = tool.NewSet(g, tool.Data(tool.Options{})...); err != nil {
			t.Fatal(err)
		}
	}
	return sets
}

func claimDocument(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var shownID = regexp.MustCompile(`"id":"?(\d+)`)

// claimed returns the ids in the answer for p, or the refusal.
func claimed(t *testing.T, set *tool.Set, p identity.Principal, name, args string) string {
	res, err := set.Call(t.Context(), p, tool.Request{Name: name, Arguments: claimDocument(t, args)})
	if err != nil {
		return problem.Of(err).Error()
	}
	var ids []string
	for _, m := range shownID.FindAllStringSubmatch(string(res.Structured), -1) {
		ids = append(ids, m[1])
	}
	return strings.Join(ids, " ")
}

// TestClaims checks rules that use claims. A row has a principal, a call, and the ids in the answer or the refusal.
func TestClaims(t *testing.T) {
	const issues, comments = `{"class_name": "issues"}`, `{"class_name": "comments"}`
	const rawIssues, rawComments = `{"class_name": "issues", "apply_canonical_filter": false}`, `{"class_name": "comments", "apply_canonical_filter": false}`
	const none = `not_found: there is no class "issues"`
	sets := claimSets(t, claimRules)
	level := map[string]string{"issues": `{"level": {"$lte": {"$cel": "principal.claims.level"}}}`}
	for _, tt := range []struct {
		claims, scopes   string
		filters          map[string]string
		tool, args, want string
	}{
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", issues, "1"},
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", comments, "11"},
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", rawIssues, "1 2 5"},
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", rawComments, "11 12 15"},
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "get_object", `{"class_name": "issues", "object_id": "2"}`, "2"}, // requested by its id
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "get_object", `{"class_name": "issues", "object_id": "3"}`, `not_found: issues has no record "3"`},
		{`{"org": "acme", "regions": ["eu", "us"]}`, "", nil, "query_class", issues, "1 2"},
		{`{"org": "globex", "regions": ["eu", "us", "x"]}`, "", nil, "query_class", issues, "3 4"},
		{`{"org": "globex", "regions": ["eu"]}`, "", nil, "aggregate", `{"class_name": "comments", "pipeline": [{"$lookup": {"from": "issues", "localField": "issue_id", "foreignField": "id", "as": "i"}}, {"$project": {"id": 1}}]}`, "13"},
		{`{"org": "initech", "regions": ["eu"]}`, "", nil, "query_class", issues, ""},

		{`{"org": "acme", "regions": ["eu"], "staff": true}`, "", nil, "query_class", issues, "1 3"},
		{`{"org": "acme", "regions": ["eu"], "staff": true}`, "", nil, "query_class", comments, "11 13"},
		{`{"org": "acme", "regions": ["eu"], "staff": true}`, "", nil, "query_class", rawIssues, "1 2 3 4 5"},
		{`{"org": "acme", "regions": ["eu"], "staff": true}`, "", nil, "query_class", rawComments, "11 12 13 14 15"},
		{`{"regions": ["us"]}`, "operator", nil, "query_class", issues, "2 4"},
		{`{"org": "acme", "regions": ["eu"], "staff": "yes"}`, "", nil, "query_class", issues, "1"},
		{`{"org": "acme", "regions": ["eu"], "staff": false}`, "", nil, "query_class", issues, "1"},

		{`{"org": "acme"}`, "", nil, "query_class", issues, none},
		{`{"org": "acme"}`, "", nil, "query_class", rawIssues, none},
		{`{"org": "acme"}`, "", nil, "get_object", `{"class_name": "issues", "object_id": "1"}`, none},
		{`{"org": "acme"}`, "", nil, "query_class", comments, `not_found: there is no class "comments"`},
		{`{"org": "acme", "regions": []}`, "", nil, "query_class", issues, none},
		{`{"org": "acme", "regions": "eu"}`, "", nil, "query_class", issues, none},
		{`{"org": "acme", "regions": ["eu", null]}`, "", nil, "query_class", issues, none},
		{`{"org": "acme", "regions": ["eu", 7]}`, "", nil, "query_class", issues, none},
		{`{"org": ["acme"], "regions": ["eu"]}`, "", nil, "query_class", issues, none},
		{`{"org": {"name": "acme"}, "regions": ["eu"]}`, "", nil, "query_class", issues, none},
		{`{"regions": ["eu"]}`, "", nil, "query_class", issues, none},
		{"null", "", nil, "query_class", issues, none},

		{`{"org": "acme", "regions": ["eu", "us"], "level": 1}`, "", level, "query_class", issues, "1"},
		{`{"org": "acme", "regions": ["eu", "us"], "level": 2}`, "", level, "query_class", comments, "11 12"},
		{`{"org": "acme", "regions": ["eu", "us"], "level": "2"}`, "", level, "query_class", issues, none},
		{`{"org": "acme", "regions": ["eu", "us"]}`, "", level, "query_class", comments, `not_found: there is no class "comments"`},

		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", `{"class_name": "issues", "where": {"region": {"$cel": "principal.claims.regions"}}}`, `invalid_query: unknown operator "$cel"`},
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", `{"class_name": "issues", "where": {"secret": "s"}}`, `invalid_query: unknown field "secret" of issues`},
		{`{"org": "acme", "regions": ["eu"]}`, "", nil, "query_class", `{"class_name": "vaults"}`, `not_found: there is no class "vaults"`},
	} {
		p := identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read, identity.Scope(tt.scopes)}, Claims: claimDocument(t, tt.claims)}
		for class, text := range tt.filters {
			f, err := query.ParseRule(claimDocument(t, text), "")
			if err != nil {
				t.Fatal(err)
			}
			p.Filters = map[string]query.Filter{class: f}
		}
		for name, set := range sets {
			if got := claimed(t, set, p, tt.tool, tt.args); got != tt.want {
				t.Errorf("%s: %s %s %s %s:\n got %s\nwant %s", name, tt.claims, tt.scopes, tt.tool, tt.args, got, tt.want)
			}
		}
	}
}

// TestToldFilter checks that agents see a canonical filter in a form that they could send. It contains the values of
// their claims.
func TestToldFilter(t *testing.T) {
	p := identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read}, Claims: claimDocument(t, `{"org": "acme", "regions": ["eu", "x"]}`)}
	for name, set := range claimSets(t, claimRules) {
		res, err := set.Call(t.Context(), p, tool.Request{Name: "get_schema", Arguments: claimDocument(t, `{"class_name": "issues"}`)})
		if err != nil {
			t.Fatal(err)
		}
		told, _ := claimDocument(t, string(res.Structured)).Get("canonical_filter")
		if got, want := told.String(), `{"region":{"$in":["eu","x"]}}`; got != want {
			t.Errorf("%s: told %s, want %s", name, got, want)
		}
		if got := claimed(t, set, p, "query_class", `{"class_name": "issues", "apply_canonical_filter": false, "where": `+told.String()+`}`); got != "1" {
			t.Errorf("%s: it finds %s", name, got)
		}
	}
}

// TestDisclosed checks the refusals of rules that disclose what they hide. A record outside the view must still be
// not found, because no rule discloses it.
func TestDisclosed(t *testing.T) {
	sets := claimSets(t, claimRules+"policy: {disclose: true}\n")
	for _, tt := range []struct{ claims, tool, args, want string }{
		{`{"org": "acme", "regions": ["eu"]}`, "query_class", `{"class_name": "issues", "where": {"secret": "s"}}`, `access_denied: the rules keep the field "secret" of issues from you`},
		{`{"org": "acme", "regions": ["eu"]}`, "get_schema", `{"class_name": "vaults"}`, `access_denied: the rules keep the class "vaults" from you: it is hidden`},
		{`{"org": "acme", "regions": ["eu"]}`, "count_objects", `{"class_name": "valts"}`, `not_found: there is no class "valts"`},
		{`{"org": "acme"}`, "query_class", `{"class_name": "issues"}`, `access_denied: the rules keep the class "issues" from you: a rule of it needs what your credential doesn't say`},
		{`{"regions": ["eu"]}`, "query_class", `{"class_name": "comments"}`, `access_denied: the rules keep the class "comments" from you: its records belong to tenants, and you come without one`},
		{`{"org": "acme", "regions": ["eu"]}`, "get_object", `{"class_name": "issues", "object_id": "3"}`, `not_found: issues has no record "3"`},
		{`{"org": "acme", "regions": ["eu"]}`, "get_object", `{"class_name": "issues", "object_id": "99"}`, `not_found: issues has no record "99"`},
	} {
		p := identity.Principal{ID: "token:1", Owner: "ann", Scopes: []identity.Scope{identity.Read}, Claims: claimDocument(t, tt.claims)}
		for name, set := range sets {
			if got := claimed(t, set, p, tt.tool, tt.args); got != tt.want {
				t.Errorf("%s: %s %s %s:\n got %s\nwant %s", name, tt.claims, tt.tool, tt.args, got, tt.want)
			}
		}
	}
}
