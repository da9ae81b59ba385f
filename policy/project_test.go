package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// guild returns a policy of teams and people. People lead teams, and lists of pointers name people.
func guild(t *testing.T) *Policy {
	t.Helper()
	to := func(field, target string) schema.Relation {
		return schema.Relation{Fields: []string{field}, Target: target, TargetFields: []string{"id"}}
	}
	number := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.Integer} }
	p, err := New(Rules{Unlisted: true, Version: "v1", Classes: map[string]ClassRule{
		"teams":  {Pointers: map[string]Pointer{"members": {Class: "people"}}},
		"people": {Large: []string{"bio"}, Pointers: map[string]Pointer{"friends": {Class: "people"}}}}}, []schema.Class{
		{Source: "app", Name: "teams", Table: "teams", Key: []string{"id"}, Relations: []schema.Relation{to("lead", "people"), to("deputy", "people")},
			Fields: []schema.Field{number("id"), {Name: "name", Type: schema.String}, number("lead"), number("deputy"), {Name: "members", Type: schema.JSON}}},
		{Source: "app", Name: "people", Table: "people", Key: []string{"id"}, Relations: []schema.Relation{to("home", "teams"), to("boss", "people")},
			Fields: []schema.Field{number("id"), {Name: "name", Type: schema.String}, {Name: "bio", Type: schema.String}, number("home"), number("boss"), {Name: "friends", Type: schema.JSON}}},
		{Source: "app", Name: "profiles", Table: "profiles", Key: []string{"person"}, Relations: []schema.Relation{to("person", "people")}, Fields: []schema.Field{number("person")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// pathsOf parses dotted paths, apart by spaces.
func pathsOf(text string) (out []query.Path) {
	for _, s := range strings.Fields(text) {
		out = append(out, query.ParsePath(s))
	}
	return out
}

// projected formats a permit, or the refusal. It writes the columns (~ if it wasn't asked for, @ its join, > the join
// that it leads to) and the lists. It also writes the fields that are left out of included records.
func projected(permit Permit, err error) string {
	if err != nil {
		e := problem.Of(err)
		return e.Pointer + ": " + e.Detail
	}
	var out []string
	for _, c := range permit.plan.Columns {
		text := c.Path.String()
		if c.Implied {
			text = "~" + text
		}
		if c.Join >= 0 {
			text += fmt.Sprint("@", c.Join)
		}
		if c.Leads >= 0 {
			text += fmt.Sprint(">", c.Leads)
		}
		out = append(out, text)
	}
	for _, l := range permit.plan.Lists {
		out = append(out, fmt.Sprintf("| %s %d of %s by %s: %v %v", l.Path, l.Column, l.Class, l.Key, l.Keys, l.Include))
	}
	if permit.plan.Truncated != nil {
		out = append(out, fmt.Sprint(permit.plan.Truncated))
	}
	return strings.Join(out, " ")
}

// TestProjections checks which columns a find returns, which of them were not asked for, and what is read behind lists of pointers.
func TestProjections(t *testing.T) {
	p := guild(t)
	for _, tt := range []struct{ class, keys, include, want string }{
		{"teams", "lead.name", "", "id ~lead>0 ~lead.id@0 lead.name@0"},
		{"teams", "lead.name lead", "", "id lead>0 ~lead.id@0 lead.name@0"},
		{"teams", "lead lead.name", "", "id lead>0 ~lead.id@0 lead.name@0"},
		{"teams", "lead.id deputy.name", "", "id lead>0 lead.id@0 ~deputy>1 ~deputy.id@1 deputy.name@1"},
		{"teams", "lead.boss.id", "", "id ~lead>0 ~lead.id@0 lead.boss@0>1 lead.boss.id@1"},
		{"teams", "_id lead._id", "", "id lead>0 lead.id@0"},
		{"profiles", "_id.name", "", "person>0 ~person.id@0 person.name@0"},
		{"teams", "lead.name", "lead", "id ~lead>0 ~lead.id@0 lead.name@0"},
		{"teams", "name", "lead", "id name lead>0 lead.id@0 lead.name@0 lead.home@0 lead.boss@0 lead.friends@0 map[lead:[bio]]"},
		{"people", "id", "boss.boss", "id ~boss>0 ~boss.id@0 boss.boss@0>1 boss.boss.id@1 boss.boss.name@1 boss.boss.home@1 boss.boss.boss@1 boss.boss.friends@1 map[boss.boss:[bio]]"},

		{"teams", "members", "", "id members"},
		{"teams", "members.name", "", "id members | members 1 of app.people by id: [id name] []"},
		{"teams", "members.name name members.bio", "", "id members name | members 1 of app.people by id: [id name bio] []"},
		{"teams", "name", "members", "id name members | members 2 of app.people by id: [id id name home boss friends] [] map[members:[bio]]"},
		{"teams", "members.name", "members", "id members | members 1 of app.people by id: [id name] []"},
		{"teams", "name", "members.home", "id name members | members 2 of app.people by id: [id] [home]"},
		{"teams", "name", "members.friends.boss members", "id name members | members 2 of app.people by id: [id id name home boss friends] [friends.boss] map[members:[bio]]"},
		{"teams", "name", "lead.friends", "id name ~lead>0 ~lead.id@0 lead.friends@0 | lead.friends 4 of app.people by id: [id id name home boss friends] [] map[lead.friends:[bio]]"},
		{"teams", "lead.friends.name deputy.friends.name", "", "id ~lead>0 ~lead.id@0 lead.friends@0 ~deputy>1 ~deputy.id@1 deputy.friends@1 | lead.friends 3 of app.people by id: [id name] [] | deputy.friends 6 of app.people by id: [id name] []"},
		{"teams", "lead.home.lead.friends.name", "", "id ~lead>0 ~lead.id@0 ~lead.home@0>1 ~lead.home.id@1 ~lead.home.lead@1>2 ~lead.home.lead.id@2 lead.home.lead.friends@2 | lead.home.lead.friends 7 of app.people by id: [id name] []"},
		{"teams", "lead.home.lead.home.members.name", "", "/keys/0: a path follows at most 4 pointers"},
		{"teams", "name", "lead.home.lead.home.members.home", "/include/0: a path follows at most 4 pointers"},
		{"teams", "name", "name.x", "/include/0: name of teams is not a pointer"},
	} {
		keys := pathsOf(tt.keys)
		got := projected(p.Read(agent(), &query.Find{Class: tt.class, Keys: keys, Include: pathsOf(tt.include), Limit: 1}))
		if got != tt.want {
			t.Errorf("%s %s, %s\n got %s\nwant %s", tt.class, tt.keys, tt.include, got, tt.want)
		}
		if after := fmt.Sprint(keys); after != fmt.Sprint(pathsOf(tt.keys)) {
			t.Errorf("%s: the caller's keys are %s now", tt.keys, after)
		}
	}
}

// TestListLimits checks that the pointers on the way to a list count as any others.
func TestListLimits(t *testing.T) {
	wide := schema.Class{Source: "app", Name: "wide", Table: "wide", Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}, {Name: "all", Type: schema.JSON}}}
	var keys []query.Path
	for i := range MaxJoins + 1 {
		name := fmt.Sprintf("f%d", i)
		wide.Fields = append(wide.Fields, schema.Field{Name: name, Type: schema.Integer})
		wide.Relations = append(wide.Relations, schema.Relation{Fields: []string{name}, Target: "wide", TargetFields: []string{"id"}})
		keys = append(keys, query.Path{name, "all", "id"})
	}
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"wide": {Pointers: map[string]Pointer{"all": {Class: "wide"}}}}}, []schema.Class{wide})
	if err != nil {
		t.Fatal(err)
	}
	permit, err := p.Read(agent(), &query.Find{Class: "wide", Keys: keys[:MaxJoins], Limit: 1})
	if err != nil || len(permit.plan.Lists) != MaxJoins {
		t.Error(err)
	}
	if got := projected(p.Read(agent(), &query.Find{Class: "wide", Keys: keys, Limit: 1})); got != "/keys/40: a query follows at most 40 pointers in all" {
		t.Error(got)
	}
}

// TestListsAreNoPointers checks that a list of pointers is not an id of one record, and no way to a tenant.
func TestListsAreNoPointers(t *testing.T) {
	p := guild(t)
	v := viewOf(t, p, "teams")
	if v.ID("members") || !v.ID("lead") || !v.ID("id") || v.pointer("members") != nil || v.list("lead") != nil || v.Behind("name") != nil || v.Behind("members").Name() != "people" {
		t.Error("a list of pointers is taken for a pointer, or for none")
	}
	rules := p.Rules()
	of := rules.Classes["teams"]
	of.Tenant, of.Large = &TenantRule{Through: "members"}, []string{"members"}
	rules.Classes = map[string]ClassRule{"teams": of, "people": {Tenant: &TenantRule{Field: "home"}}}
	if _, err := New(rules, p.Catalogue()); fmt.Sprint(err) != "classes.teams: tenant.through: members is not a pointer to another class" {
		t.Error(err)
	}
}

// TestListUses checks that the fields read behind a list, and of a piece, are recorded.
func TestListUses(t *testing.T) {
	p := guild(t)
	for want, q := range map[string]query.Query{
		"app.people app.teams app.teams.members":  &query.Find{Class: "teams", Include: pathsOf("members"), Limit: 1},
		"app.people app.people.bio app.people.id": &query.Find{Class: "people", IDs: []string{"1"}, Part: &query.Part{Field: "bio", Length: 5}},
	} {
		var u Uses
		noting := p.Noting(&u)
		if _, err := noting.Read(agent(), q); err != nil {
			t.Error(err)
		}
		if got := strings.Join(u.List(noting), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestPathsBehindPointers checks conditions and orders that lead through pointers.
func TestPathsBehindPointers(t *testing.T) {
	p := guild(t)
	for _, tt := range []struct{ class, where, order, want string }{
		{"teams", `{"nope.x": 1}`, "", `/nope.x: unknown field "nope" of teams`},
		{"people", `{"boss.boss.boss.boss.boss.name": "x"}`, "", "/boss.boss.boss.boss.boss.name: a path follows at most 4 pointers"},
		{"people", `{"boss.boss.boss.boss.name": "x"}`, "", "-1.id"},
		{"people", `{}`, "boss.boss.boss.boss.boss.name", "/order: a path follows at most 4 pointers"},
		{"people", `{}`, "name.x", "/order: name.x can't be ordered by: its type is string"},
		{"people", `{}`, "friends", "/order: friends is a list of pointers: $unwind it first, in a pipeline"},
		{"people", `{}`, "boss.name name boss.boss.name boss.name", "0.name -1.name 1.name -1.id"},
	} {
		find := &query.Find{Class: tt.class, Keys: pathsOf("id"), Where: rule(t, tt.where), Limit: 1}
		for _, path := range pathsOf(tt.order) {
			find.Order = append(find.Order, query.Sort{Path: path})
		}
		permit, err := p.Read(agent(), find)
		var got []string
		if err != nil {
			got = []string{projected(permit, err)}
		} else {
			for _, o := range permit.plan.Order {
				got = append(got, fmt.Sprintf("%d.%s", o.Join, o.Field.Name))
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s %s %s\n got %s\nwant %s", tt.class, tt.where, tt.order, got, tt.want)
		}
	}
}

// TestReachScope checks the refusals of conditions on a field behind a pointer, and of one that doesn't exist.
func TestReachScope(t *testing.T) {
	permit, err := guild(t).Read(agent(), &query.Find{Class: "people", Limit: 1, Where: rule(t, `{"boss.name": "x", "boss.boss.name": "y", "boss.home": 1}`)})
	if err != nil {
		t.Fatal(err)
	}
	plan := permit.plan
	s := reachScope{viewScope{plan.View}, newProjection(plan, false)}
	for key, want := range map[string]string{"id": "true  ", "name": "false  ", "boss": "true people id", "boss.id": "true  ", "boss.name": "false  ", "boss.home": "true teams id", "boss.boss": "true people id", "nope.x": "false  "} {
		class, field := s.Pointer(key)
		if got := fmt.Sprint(s.ID(key), " ", class, " ", field); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if f, key, n, err := s.Field(query.Path{"name"}, ""); f != plan.View.Field("name") || key != "name" || n != 1 || err != nil {
		t.Errorf("a copy of the field of the class itself: %v %s %d %v", f, key, n, err)
	}
	for key, want := range map[string]string{"boss.boss.name": "1", "boss.name": "0", "zzz.boss.name": "-1"} {
		if join, _ := plan.Column(key); fmt.Sprint(join) != want {
			t.Errorf("%s is of join %d, want %s", key, join, want)
		}
	}
}
