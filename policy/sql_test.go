package policy

import (
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// TestStatements checks where a statement runs, and how many records it returns: as many as it says itself, within bounds.
func TestStatements(t *testing.T) {
	p := trade(t)
	nobody := agent()
	nobody.Classes.Only = []string{"nothing"}
	for _, tt := range []struct {
		text, source string
		who          identity.Principal
		most, skip   int
		want         string // the class that it starts from, the limit, whether that is the default one, and the records passed over
	}{
		{"SELECT id FROM shops", "", agent(), 0, 0, "app.shops 5 true"},
		{"SELECT id FROM shops", "crm", agent(), 7, 0, "shops is in the source app, not in crm"},
		{"SELECT id FROM shops", "app", agent(), 7, 0, "app.shops 5 true"},
		{"SELECT s.id FROM shops AS s JOIN people AS p ON p.id = s.boss", "", agent(), 0, 0, "app.shops 5 true"},
		{"SELECT count(*) FROM shops", "", agent(), 7, 0, "app.shops 1 false"},
		{"SELECT id FROM shops LIMIT 7", "", agent(), 0, 0, "app.shops 7 false"},
		{"SELECT id FROM shops LIMIT 7", "", agent(), 7, 0, "app.shops 7 false"},
		{"SELECT id FROM shops LIMIT 8", "", agent(), 7, 0, "app.shops 7 true"},
		{"SELECT id FROM shops LIMIT 0", "", agent(), 7, 0, "app.shops 1 false"},
		{"SELECT id FROM shops LIMIT 0", "", agent(), 0, 0, "app.shops 1 false"},
		{"SELECT id FROM shops", "", agent(), 0, 3, "app.shops 5 true past 3"},
		{"SELECT id FROM shops", "", agent(), 0, 1, "app.shops 5 true past 1"},
		{"SELECT 1 AS one", "", agent(), 0, 0, "app.keys 1 false"},
		{"SELECT 1 AS one", "crm", agent(), 0, 0, "crm.leads 1 false"},
		{"SELECT 1 AS one", "", nobody, 0, 0, "there is nothing that you may read"},
		{"SELECT id FROM shops", "", nobody, 0, 0, `line 1, column 16: the rules keep the class "shops" from you: the list of classes that you are for leaves it out`},
	} {
		q, err := query.ParseSQL(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		q.Source, q.Limit, q.Most, q.Skip = tt.source, 5, tt.most, tt.skip
		permit, err := p.Read(tt.who, q)
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		} else {
			got = fmt.Sprintf("%s %d %t", permit.plan.View.Class().FullName(), permit.plan.Limit, permit.plan.Auto)
			if s, ok := permit.plan.Program.Stages[max(0, len(permit.plan.Program.Stages)-1)].(*plan.Slice); ok && s.Limit < 0 {
				got += fmt.Sprint(" past ", s.Skip)
			}
		}
		if got != tt.want {
			t.Errorf("%s most %d:\n got %s\nwant %s", tt.text, tt.most, got, tt.want)
		}
	}
}

// TestTables checks which views a statement can describe: those with records, of the source that it runs in.
func TestTables(t *testing.T) {
	p, err := New(Rules{Unlisted: true, Version: "v1"}, append(market(), described("Account", "Name"), schema.Class{Source: "app", Name: "stub", Recordless: true}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ first, source, want string }{
		{"", "", "[app.keys app.logs app.orders app.people app.shops app.teams crm.leads]"},
		{"", "app", "[app.keys app.logs app.orders app.people app.shops app.teams]"},
		{"", "crm", "[crm.leads]"},
		{"", "org", "[]"},
		{"leads", "", "[crm.leads]"},
		{"leads", "crm", "[crm.leads]"},
	} {
		made := &Plan{Version: "v1"}
		all := &tables{relations{plan: made}, p, agent(), tt.source}
		if tt.first != "" {
			if _, err := all.Open(tt.first, ""); err != nil {
				t.Fatal(err)
			}
		}
		names := []string{}
		every := func(string) bool { return true }
		for v := range all.views(every, nil) {
			names = append(names, v.Class().FullName())
		}
		if got := fmt.Sprint(names); got != tt.want || len(all.All(every, nil)) != len(names) {
			t.Errorf("%q %q: %s, want %s", tt.first, tt.source, got, tt.want)
		}
	}
	q, err := query.ParseSQL("SELECT Name FROM Account")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(agent(), q); problem.Of(err) == nil || problem.Of(err).Kind != "recordless_class" {
		t.Errorf("a statement over a description: %v", err)
	}
}

// TestStatementSource checks which of several classes with one name a statement means.
func TestStatementSource(t *testing.T) {
	class := func(source, name string) schema.Class {
		return schema.Class{Source: source, Name: name, Table: name, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}}
	}
	p, err := New(Rules{Unlisted: true}, []schema.Class{class("a", "t"), class("a", "u"), class("b", "t"), class("c", "t")})
	if err != nil {
		t.Fatal(err)
	}
	p = p.AtMost()
	but := agent()
	but.Classes.Except = []string{"c.t"}
	for _, tt := range []struct {
		text, source string
		who          identity.Principal
		want         string
	}{
		{"SELECT id FROM t", "", agent(), `line 1, column 16: several sources have a class "t": write source.Class`},
		{"SELECT id FROM t", "b", agent(), "b.t"},
		{"SELECT id FROM a.t", "a", agent(), "a.t"},
		{"SELECT id FROM a.t", "b", agent(), "a.t is in the source a, not in b"},
		{"SELECT t.id FROM u JOIN t ON t.id = u.id", "", agent(), "a.u"},
		{"SELECT t.id FROM t JOIN u ON t.id = u.id", "", agent(), "a.t"},
		{"SELECT t.id FROM t JOIN b.t AS x ON t.id = x.id", "", agent(), "b.t"},
		{"SELECT t.id FROM t JOIN a.u ON t.id = u.id JOIN b.t AS x ON t.id = x.id", "", agent(), `line 1, column 18: several sources have a class "t": write source.Class`},
		{"SELECT id FROM t WHERE id IN (SELECT id FROM c.t)", "", agent(), "c.t"},
		{"SELECT id FROM t WHERE id IN (SELECT id FROM c.t)", "", but, `line 1, column 16: several sources have a class "t": write source.Class`},
		{"SELECT id FROM T", "b", agent(), "b.t"},
		{"SELECT id FROM t", "c", but, `line 1, column 16: there is no class "c.t"`},
		{"SELECT id FROM t", "none", agent(), `line 1, column 16: there is no class "none.t"`},
		{"SELECT id FROM u", "none", agent(), "u is in the source a, not in none"},
	} {
		q, err := query.ParseSQL(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		q.Source = tt.source
		got := ""
		if permit, err := p.Read(tt.who, q); err != nil {
			got = problem.Of(err).Detail
		} else if plan, err := permit.Plan(); err == nil {
			got = plan.View.Class().FullName()
		}
		if got != tt.want {
			t.Errorf("%s in %q: %s, want %s", tt.text, tt.source, got, tt.want)
		}
	}
}
