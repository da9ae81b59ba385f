package bench_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// A curve is the cost of a call at several sizes of something. most is the largest exponent allowed: 0 if the cost doesn't
// depend on the size, 1 if it is proportional to it. An exponent of 0.3 leaves room for logarithms, and for a busy machine
// on which a call takes twice its processor time.
type curve struct {
	of, call string
	sizes    []int
	most     float64
	at       func(t testing.TB, size int) (call func())
}

// spent returns the processor time of this process so far.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// cost returns the processor time of one call: the least of five series that take 20 ms or more each.
func cost(t testing.TB, call func()) time.Duration {
	t.Helper()
	call()
	runtime.GC()
	for idle := 0; idle < 3; { // what building the world left behind
		from := spent(t)
		time.Sleep(10 * time.Millisecond)
		if idle++; spent(t)-from > time.Millisecond {
			idle = 0
		}
	}
	least := time.Duration(math.MaxInt64)
	for range 5 {
		n, from := 0, spent(t)
		for ; n < 3 || spent(t)-from < 20*time.Millisecond; n++ {
			call()
		}
		least = min(least, (spent(t)-from)/time.Duration(n))
	}
	return least
}

// exponent returns the slope of the line through the points (log size, log cost), by least squares.
func exponent(sizes []int, costs []time.Duration) float64 {
	var x, y, xx, xy, n float64
	for i := range sizes {
		a, b := math.Log(float64(sizes[i])), math.Log(float64(costs[i]))
		x, y, xx, xy, n = x+a, y+b, xx+a*a, xy+a*b, n+1
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// TestGrowth measures what a call costs when there is more of what others have, and bounds the exponent of each curve. It
// bounds no time, so a slow machine passes as well. BAILIWICK_GROWTH is a file into which it writes the curves as a table,
// such as docs/limits.md. Without it, each curve lacks its largest size.
func TestGrowth(t *testing.T) {
	into := os.Getenv("BAILIWICK_GROWTH")
	var lines []string
	for _, c := range growthCurves() {
		t.Run(c.of+"/"+c.call, func(t *testing.T) {
			sizes := c.sizes
			if into == "" {
				sizes = sizes[:len(sizes)-1]
			}
			costs, texts := make([]time.Duration, len(sizes)), make([]string, len(sizes))
			for i, size := range sizes {
				costs[i] = cost(t, c.at(t, size))
				texts[i] = fmt.Sprintf("%d: %.2f", size, costs[i].Seconds()*1000)
			}
			e := exponent(sizes, costs)
			t.Logf("%s: %s ms, exponent %.2f (at most %.2f)", c.of, strings.Join(texts, ", "), e, c.most)
			if e > c.most {
				t.Errorf("exponent %.2f, want at most %.2f", e, c.most)
			}
			lines = append(lines, fmt.Sprintf("| %s | %s | %s | %.2f |", c.call, c.of, strings.Join(texts, ", "), max(e, 0)))
		})
	}
	if into != "" && !t.Failed() {
		writeGrowth(t, into, lines)
	}
}

// writeGrowth replaces the table between <!-- growth --> and <!-- /growth --> in a file.
func writeGrowth(t *testing.T, file string, lines []string) {
	const begin, end = "<!-- growth -->\n", "<!-- /growth -->"
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table: %s", file, begin)
	}
	table := "| call | size | processor time in ms, by size | exponent |\n|---|---|---|---|\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func growthCurves() []curve {
	var out []curve
	for _, c := range []struct {
		name, tool, arguments string
		most                  float64
	}{
		{"query_class", "query_class", `{"class_name":"t7"}`, 0.3},
		{"query_sql", "query_sql", `{"sql":"SELECT id FROM t7 LIMIT 1"}`, 0.3},
		{"get_schema", "get_schema", `{"class_name":"t7"}`, 0.3},
		{"a wrong name", "get_schema", `{"class_name":"tt"}`, 0.6},
		{"columns of a table", "query_sql", `{"sql":"SELECT column_name FROM information_schema.columns WHERE table_name = 't7'"}`, 0.3},
		{"get_all_schemas", "get_all_schemas", `{}`, 1.1},
	} {
		out = append(out, curve{of: "classes", call: c.name, sizes: []int{10, 100, 1000, 5000}, most: c.most, at: func(t testing.TB, n int) func() {
			set := manyClasses(t, n)
			return func() { must(t, set, c.tool, c.arguments) }
		}})
	}
	for _, c := range []struct{ call, tool, arguments string }{
		{"a record behind three pointers", "get_object", `{"class_name":"comments","object_id":"6"}`},
		{"a page behind three pointers", "query_class", `{"class_name":"comments","limit":50}`},
	} {
		out = append(out, curve{of: "records", call: c.call, sizes: []int{1_000, 10_000, 100_000, 1_000_000}, most: 0.3, at: func(t testing.TB, n int) func() {
			set := manyComments(t, n)
			return func() { must(t, set, c.tool, c.arguments) }
		}})
	}
	out = append(out, curve{of: "agents that wait", call: "propose", sizes: []int{1, 20, 500, 1000}, most: 0.3, at: func(t testing.TB, n int) func() {
		o := newOffice(t, "sqlite", "sqlite")
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		t.Cleanup(func() { cancel(); waiting.Wait() })
		for range n {
			id, _, err := o.propose(ctx)
			if err != nil {
				t.Fatal(err)
			}
			waiting.Go(func() {
				o.plant.Gateway.Do(ctx, o.agent, bailiwick.CallSpec{Tool: "wait_for_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
					_, err := c.WaitForChange(ctx, id, time.Hour)
					return 0, err
				})
			})
		}
		return func() {
			if _, _, err := o.propose(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}})
	return append(append(out, keptCurves()...), tokenCurves()...)
}

// manyClasses returns the tools over n classes. Each points to the one before it.
func manyClasses(t testing.TB, n int) *tool.Set {
	t.Helper()
	var classes atOnce
	rules := policy.Rules{Classes: map[string]policy.ClassRule{}}
	for i := range n {
		c := schema.Class{Source: "tracker", Name: fmt.Sprint("t", i), Table: fmt.Sprint("t", i), Key: []string{"id"}}
		for _, name := range []string{"id", "org_id", "name", "parent_id", "status", "email"} {
			c.Fields = append(c.Fields, schema.Field{Name: name, Type: schema.String})
		}
		c.Relations = []schema.Relation{{Fields: []string{"parent_id"}, Target: fmt.Sprint("t", max(0, i-1)), TargetFields: []string{"id"}}}
		classes = append(classes, c)
		rules.Classes["tracker."+c.Name] = policy.ClassRule{Tenant: &policy.TenantRule{Field: "org_id"}}
	}
	return benchTools(t, gateway(t, classes, rules, &sealed{}))
}

// must calls a tool. A class that doesn't exist is an answer as well.
func must(t testing.TB, set *tool.Set, name, arguments string) {
	t.Helper()
	if _, err := set.Call(t.Context(), agent(), request(t, name, arguments)); err != nil && problem.CodeOf(err) != problem.NotFound {
		t.Fatal(err)
	}
}

// manyComments returns the tools over n comments in SQLite. Three pointers lead from a comment to its tenant, to which half
// of the comments belong.
func manyComments(t testing.TB, n int) *tool.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		`CREATE TABLE orgs (id TEXT PRIMARY KEY)`, `INSERT INTO orgs VALUES ('` + demo.Acme + `'), ('other')`,
		`CREATE TABLE projects (id INTEGER PRIMARY KEY, org TEXT REFERENCES orgs)`,
		`INSERT INTO projects WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i, iif(i % 2, '` + demo.Acme + `', 'other') FROM n`,
		`CREATE TABLE issues (id INTEGER PRIMARY KEY, project INTEGER REFERENCES projects)`,
		`INSERT INTO issues WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) SELECT i, 1 + i % 100 FROM n`,
		`CREATE TABLE comments (id INTEGER PRIMARY KEY, issue INTEGER REFERENCES issues, body TEXT)`,
		fmt.Sprintf(`INSERT INTO comments WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 1 + i %% 10000, 'text' FROM n`, n),
		`CREATE INDEX of_issue ON comments (issue)`, `CREATE INDEX of_project ON issues (project)`, `CREATE INDEX of_org ON projects (org)`, `ANALYZE`,
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	rules := policy.Rules{Classes: map[string]policy.ClassRule{"tracker.orgs": {Tenant: &policy.TenantRule{Field: "id"}}}}
	for class, field := range map[string]string{"projects": "org", "issues": "project", "comments": "issue"} {
		rules.Classes["tracker."+class] = policy.ClassRule{Tenant: &policy.TenantRule{Through: field}}
	}
	return benchTools(t, gateway(t, sqliteSource(t, path), rules, &sealed{}))
}
