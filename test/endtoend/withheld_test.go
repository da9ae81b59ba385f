package endtoend_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
)

// credentialsInTables returns statements that fill the table plain with credentials in columns with harmless names.
func credentialsInTables() []string {
	var out []string
	for i := range 30 {
		out = append(out, fmt.Sprintf("INSERT INTO plain VALUES (%d, 'note %d', '$2b$12$KIXQ4b0eC1Jq8Qh3nV5o3uO9u5Hq0m1s3b8i7o6y5t4r3e2w1q%03d', '%s', 'plain words of people about the issue %d')",
			i+1, i, i, []string{`{"a": {"b": [{"client_secret": "x9K2mQ7pL4vT8nR3wY6z"}]}}`, "{}"}[i%2], i))
	}
	return out
}

// TestWithheld writes rules for empty tables and later fills them with credentials. The columns must be hidden at the
// next start, at the next scan, and when rules are replaced or columns are added, until a rule lifts them. The
// refusal of a hidden column must have the same bytes as that of a missing column.
func TestWithheld(t *testing.T) {
	ddl := []string{"CREATE TABLE plain (id integer primary key, title varchar(40), vouch varchar(80), extra text, said text)"}
	hidden, all := []string{"id", "title", "said"}, []string{"id", "title", "vouch", "extra", "said"}
	who := identity.Principal{ID: "x", Owner: "o", Kind: identity.Agent, Scopes: []identity.Scope{identity.Read}}
	for name, open := range map[string]func(*testing.T, []string) changing{"sqlite": changingSQLite, "postgres": changingPostgres, "mariadb": changingMariaDB} {
		t.Run(name, func(t *testing.T) {
			db := open(t, ddl)
			if name == "sqlite" { // a scan may be reading
				db.begin(t, []string{"PRAGMA busy_timeout = 10000"})
			}
			var logged bytes.Buffer
			records := &audit.Memory{}
			begin := func(s bailiwick.Sampling, rules policy.Rules) (*bailiwick.Gateway, string) {
				t.Helper()
				g, warnings, err := bailiwick.New(t.Context(), bailiwick.Options{Sources: map[string]source.Source{"app": db.source}, Rules: rules, Audit: records,
					Sampling: s, Log: slog.New(slog.NewTextHandler(&logged, nil))})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = g.Close(t.Context()) })
				return g, strings.Join(warnings, "\n")
			}
			fields := func(g *bailiwick.Gateway) []string {
				t.Helper()
				var out []string
				for _, v := range g.Views(who) {
					for _, f := range v.Fields() {
						out = append(out, f.Name)
					}
				}
				return out
			}
			expect := func(when string, g *bailiwick.Gateway, want []string) {
				t.Helper()
				if got := fields(g); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %v can be seen, want %v", when, got, want)
				}
			}
			refusal := func(g *bailiwick.Gateway, field string) string {
				_, err := g.Read(t.Context(), who, &query.Find{Class: "plain", Keys: []query.Path{{field}}, Limit: 1})
				p := problem.Of(err)
				return strings.ReplaceAll(fmt.Sprintf("%s %s %v %s", p.Code, p.Detail, p.Near, p.Suggestion), field, "FIELD")
			}
			rules := policy.Rules{Classes: map[string]policy.ClassRule{"plain": {Visible: all}}}
			g, _ := begin(bailiwick.Sampling{}, rules)
			expect("empty tables", g, all)
			ticking, _ := begin(bailiwick.Sampling{Every: 100 * time.Millisecond}, rules)
			db.begin(t, credentialsInTables())
			for end := time.Now().Add(10 * time.Second); len(ticking.WithheldFields()) < 2 && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			expect("a tick", ticking, hidden)
			if err := ticking.Close(t.Context()); err != nil {
				t.Error(err)
			}
			expect("before a look", g, all)
			if err := g.Resample(t.Context()); err != nil {
				t.Fatal(err)
			}
			expect("a look", g, hidden)
			if !strings.Contains(logged.String(), "field=app.plain.vouch") || !strings.Contains(logged.String(), `lift="lift: [vouch]"`) || strings.Contains(logged.String(), "KIXQ") {
				t.Error(logged.String())
			}
			again, warned := begin(bailiwick.Sampling{}, rules)
			expect("a restart", again, hidden)
			if !strings.Contains(warned, "app.plain.vouch is hidden: 30 of 30 sampled values look like credentials") || !strings.Contains(warned, "app.plain.extra") {
				t.Error(warned)
			}
			if got, want := refusal(again, "vouch"), refusal(again, "vauxx"); got != want {
				t.Errorf("hidden: %s\nabsent: %s", got, want)
			}
			recorded := map[string]int{} // one record for each field, however often it is found
			if err := records.Records(t.Context(), audit.First, func(r audit.Record) bool {
				if r.Tool == "fields/withheld" {
					recorded[fmt.Sprint(r.Principal, " ", r.Class, " ", r.Kind, " ", r.Uses)]++
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(recorded); got != "map[gateway app.plain withheld [app.plain.extra]:1 gateway app.plain withheld [app.plain.vouch]:1]" {
				t.Error(got)
			}
			off, _ := begin(bailiwick.Sampling{Off: true}, rules)
			expect("it is off", off, all)

			lifted := policy.Rules{Version: "2", Classes: map[string]policy.ClassRule{"plain": {Visible: all, Lift: []string{"vouch"}}}}
			if err := again.SetRules(t.Context(), lifted, nil); err != nil {
				t.Fatal(err)
			}
			expect("lifted", again, []string{"id", "title", "vouch", "said"})
			if w := again.WithheldFields(); len(w) != 1 || w[0].Field != "extra" {
				t.Error(w)
			}
			if err := again.SetRules(t.Context(), rules, nil); err != nil {
				t.Fatal(err)
			}
			expect("no longer lifted", again, hidden)

			// A new column is scanned before it becomes visible.
			open := policy.Rules{Version: "3", Unlisted: true}
			if err := again.SetRules(t.Context(), open, nil); err != nil {
				t.Fatal(err)
			}
			db.begin(t, []string{"ALTER TABLE plain ADD COLUMN more varchar(80)", "UPDATE plain SET more = 'postgres://app:hunter2@db:5432/app'"})
			drift(t, again)
			expect("a column comes", again, hidden)
			db.begin(t, []string{"ALTER TABLE plain ADD COLUMN tame varchar(80)", "UPDATE plain SET tame = 'a word'"})
			drift(t, again)
			expect("a harmless column comes", again, []string{"id", "title", "said", "tame"})
		})
	}
}
