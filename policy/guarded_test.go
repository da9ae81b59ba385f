package policy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// guarded is a class with a guard, and one that points to it.
func guarded(g *schema.Guard) []schema.Class {
	fields := func() []schema.Field {
		return []schema.Field{{Name: "id", Type: schema.String, NotNull: true}, {Name: "title", Type: schema.String}, {Name: "cost", Type: schema.Double},
			{Name: "owner", Type: schema.String}, {Name: "fans", Type: schema.Array}, {Name: "_rperm", Type: schema.Array}}
	}
	return []schema.Class{{Source: "app", Name: "posts", Table: "posts", Key: []string{"id"}, Fields: fields(), Guard: g},
		{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: fields(), Guard: &schema.Guard{},
			Relations: []schema.Relation{{Fields: []string{"owner"}, Target: "posts", TargetFields: []string{"id"}}}}}
}

// TestGuarded checks which operations, fields and layers are left of a class for a member of some groups.
func TestGuarded(t *testing.T) {
	support := schema.Grant{Groups: []string{"role:support"}}
	alice := policy.Groups{Names: []string{"*", "u1", "role:customer"}, User: "u1", Users: "_User"}
	for _, tt := range []struct {
		name   string
		guard  schema.Guard
		groups policy.Groups
		want   string // the fields and layers of a find, or the refusal. Then the answers to get and count
	}{
		{"open", schema.Guard{}, alice, "[id title cost owner fans] 0; ok; ok"},
		{"nobody", schema.Guard{}, policy.Groups{}, "not_found; not_found; not_found"},
		{"master", schema.Guard{Readers: "_rperm", Grants: map[schema.Operation]schema.Grant{schema.Find: {}}}, policy.Groups{All: true}, "[id title cost owner fans] 0; ok; ok"},
		{"access list", schema.Guard{Readers: "_rperm"}, alice, "[id title cost owner fans] 1; ok; ok"},
		{"a role that it has not", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: support, schema.Get: support, schema.Count: support}}, alice, "not_found; not_found; not_found"},
		{"get alone", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: support, schema.Count: support}}, alice, "permission_denied; ok; permission_denied"},
		{"find alone", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Get: support, schema.Count: support}}, alice, "[id title cost owner fans] 0; permission_denied; permission_denied"},
		{"users alone", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: {Authenticated: true}}}, alice, "[id title cost owner fans] 0; ok; ok"},
		{"users alone, of the public", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: {Authenticated: true}, schema.Get: {}, schema.Count: {}}},
			policy.Groups{Names: []string{"*"}}, "not_found; not_found; not_found"},
		{"the owner", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: {Users: []string{"owner", "fans"}}}}, alice, "[id title cost owner fans] 1; ok; ok"},
		{"the owner, of a role", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: {Users: []string{"owner"}}, schema.Get: {}, schema.Count: {}}},
			policy.Groups{Names: []string{"*", "role:a"}}, "not_found; not_found; not_found"},
		{"protected", schema.Guard{Protected: map[string][]string{"*": {"cost", "title"}}}, alice, "[id owner fans] 0; ok; ok"},
		{"protected but for a group", schema.Guard{Protected: map[string][]string{"*": {"cost", "title"}, "role:customer": {"cost"}, "authenticated": {"cost", "owner"}}}, alice, "[id title owner fans] 0; ok; ok"},
		{"protected but for another", schema.Guard{Protected: map[string][]string{"*": {"cost"}, "role:support": {}}}, alice, "[id title owner fans] 0; ok; ok"},
		{"protected but on the own records", schema.Guard{Protected: map[string][]string{"*": {"cost", "title"}}, Named: map[string][]string{"owner": {"cost"}}}, alice, "[id title owner fans] 0; ok; ok"},
		{"own records of a role", schema.Guard{Protected: map[string][]string{"*": {"cost"}}, Named: map[string][]string{"owner": {}}}, policy.Groups{Names: []string{"*", "role:a"}}, "[id title owner fans] 0; ok; ok"},
		{"own records, nothing protected", schema.Guard{Named: map[string][]string{"owner": {"cost"}}}, alice, "[id title cost owner fans] 0; ok; ok"},
		{"all protected", schema.Guard{Protected: map[string][]string{"*": {"id", "title", "cost", "owner", "fans"}}}, alice, "not_found; not_found; not_found"},
	} {
		p, err := policy.New(policy.Rules{Unlisted: true}, guarded(&tt.guard))
		if err != nil {
			t.Fatal(err)
		}
		p = p.Under(func(identity.Principal, string) (policy.Groups, error) { return tt.groups, nil })
		who := identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}
		found := "ok"
		permit, err := p.Read(who, &query.Find{Class: "posts", Limit: 1})
		if err == nil {
			plan, _ := permit.Plan()
			var names []string
			for _, f := range plan.View.Fields() {
				names = append(names, f.Name)
			}
			found = fmt.Sprint(names, len(plan.View.Layers()))
		} else {
			found = string(problem.CodeOf(err))
		}
		code := func(q query.Query) string {
			if _, err := p.Read(who, q); err != nil {
				return string(problem.CodeOf(err))
			}
			return "ok"
		}
		got := found + "; " + code(&query.Find{Class: "posts", IDs: []string{"x"}, Limit: 1}) + "; " + code(&query.Count{Class: "posts"})
		if got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
		// A pointer is followed only to a class that can be listed.
		_, err = p.Read(who, &query.Find{Class: "notes", Limit: 1, Include: []query.Path{{"owner"}}})
		if leads := err == nil; tt.groups.Names != nil && leads != (found[0] == '[') {
			t.Errorf("%s: a pointer to the class: %v", tt.name, err)
		}
	}
}

// TestGuardedWithoutGroups checks that classes are hidden, in the same bytes as those that don't exist, if it isn't known
// who asks.
func TestGuardedWithoutGroups(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, guarded(&schema.Guard{}))
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}
	down := errors.New("down")
	for _, p := range []*policy.Policy{p, p.Under(func(identity.Principal, string) (policy.Groups, error) { return policy.Groups{}, down })} {
		_, hidden := p.View(who, "posts", "", false)
		_, absent := p.View(who, "pasta", "", false)
		if hidden == nil || len(p.Views(who)) > 0 {
			t.Errorf("%v, %v", hidden, p.Views(who))
		}
		if h, a := fmt.Sprintf("%q", hidden), fmt.Sprintf("%q", absent); len(h) != len(a) {
			t.Errorf("%s; %s", h, a)
		}
	}
}

// TestGuardedDerived checks that a sub-principal sees what both it and its origin may.
func TestGuardedDerived(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, guarded(&schema.Guard{Readers: "_rperm", Protected: map[string][]string{"u1": {"cost"}, "u2": {"title"}}}))
	if err != nil {
		t.Fatal(err)
	}
	p = p.Under(func(p identity.Principal, _ string) (policy.Groups, error) {
		return policy.Groups{Names: []string{"*", p.ID}, User: p.ID}, nil
	})
	above := identity.Principal{ID: "u1", Scopes: []identity.Scope{identity.Read}}
	v, err := p.View(identity.Principal{ID: "u2", Scopes: []identity.Scope{identity.Read}, Above: &above}, "posts", "", false)
	if err != nil || len(v.Layers()) != 2 || v.Field("cost") != nil || v.Field("title") != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// TestGuardedDerivedNamed checks that a sub-principal which acts as another user isn't shown fields that show only on
// that user's records.
func TestGuardedDerivedNamed(t *testing.T) {
	p, err := policy.New(policy.Rules{Unlisted: true}, guarded(&schema.Guard{Protected: map[string][]string{"*": {"cost"}}, Named: map[string][]string{"owner": {}}}))
	if err != nil {
		t.Fatal(err)
	}
	p = p.Under(func(p identity.Principal, _ string) (policy.Groups, error) {
		return policy.Groups{Names: []string{"*", p.Owner}, User: p.Owner}, nil
	})
	for owner, shown := range map[string]bool{"u1": true, "u2": false} {
		above := identity.Principal{ID: "a", Owner: "u1", Scopes: []identity.Scope{identity.Read}}
		v, err := p.View(identity.Principal{ID: "b", Owner: owner, Scopes: []identity.Scope{identity.Read}, Above: &above}, "posts", "", false)
		if err != nil || (v.Field("cost") != nil) != shown {
			t.Errorf("%s below u1: %v, %v", owner, v, err)
		}
	}
}

// TestPointerShapes checks which forms of a pointer a condition takes, and what is said of them.
func TestPointerShapes(t *testing.T) {
	for _, tt := range []struct{ where, lenient, strict string }{
		{`{"owner":"p1"}`, "", ""},
		{`{"owner":{"$in":["p1","p2"]}}`, "", ""},
		{`{"owner":null}`, "", ""},
		{`{"owner":{"$ne":{"__type":"Pointer","className":"posts","objectId":"p1"}}}`, "", ""},
		{`{"owner":"posts$p1"}`, `/where/owner: posts$p1 is taken as the id "p1", as which a pointer is written`, "pointer_shape"},
		{`{"owner":"fans$p1"}`, "", "pointer_shape"},
		{`{"owner":{"$in":["p1","posts$p2"]}}`, `/where/owner/$in: posts$p2 is taken as the id "p2", as which a pointer is written`, "pointer_shape"},
		{`{"owner":{"objectId":"p1"}}`, "", "pointer_shape"},
		{`{"owner":{"__type":"Pointer","className":"fans","objectId":"p1"}}`, `/where/owner: owner holds the ids of records of posts, and this is none; a field of these is asked for as "owner.field"`, "pointer_shape"},
		{`{"title":"posts$p1"}`, "", ""},
	} {
		for _, strict := range []bool{false, true} {
			p, err := policy.New(policy.Rules{Unlisted: true, Pointers: strict}, guarded(nil))
			if err != nil {
				t.Fatal(err)
			}
			p = p.AtMost()
			v, err := value.Read([]byte(tt.where), 0)
			if err != nil {
				t.Fatal(err)
			}
			where, err := query.ParseWhere(v, "/where")
			if err != nil {
				t.Fatal(err)
			}
			got, want := "", tt.lenient
			permit, err := p.Read(identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}, &query.Count{Class: "notes", Where: where})
			if err != nil {
				got = problem.Of(err).Kind
			} else if plan, err := permit.Plan(); err == nil {
				got = strings.Join(plan.Notes, "; ")
			}
			if strict {
				want = tt.strict
			}
			if got != want {
				t.Errorf("%s, strict %v: %s; want %s", tt.where, strict, got, want)
			}
		}
	}
}

// TestGuardedThrough checks that a class is hidden with one that its guard leads through, and that its records are those
// that lead to records of the view.
func TestGuardedThrough(t *testing.T) {
	for _, tt := range []struct {
		name  string
		posts schema.Guard
		rule  policy.ClassRule
		want  string // the layers of a find of notes, or the refusal
	}{
		{"open", schema.Guard{}, policy.ClassRule{}, "[source through posts of 0 layers]"},
		{"access list", schema.Guard{Readers: "_rperm"}, policy.ClassRule{}, "[source through posts of 1 layers]"},
		{"not granted", schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: {}}}, policy.ClassRule{}, "not_found"},
		{"hidden by a rule", schema.Guard{}, policy.ClassRule{Hidden: true}, "not_found"},
	} {
		classes := guarded(&tt.posts)
		classes[1].Guard = &schema.Guard{Through: []string{"owner"}}
		p, err := policy.New(policy.Rules{Unlisted: true, Classes: map[string]policy.ClassRule{"posts": tt.rule}}, classes)
		if err != nil {
			t.Fatal(err)
		}
		p = p.Under(func(identity.Principal, string) (policy.Groups, error) {
			return policy.Groups{Names: []string{"*"}}, nil
		})
		permit, err := p.Read(identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}, &query.Find{Class: "notes", Limit: 1})
		got := string(problem.CodeOf(err))
		if err == nil {
			plan, _ := permit.Plan()
			var layers []string
			for _, l := range plan.View.Layers() {
				layers = append(layers, fmt.Sprintf("%s through %s of %d layers", l.Name, l.Through.View.Class().Name, len(l.Through.View.Layers())))
			}
			got = fmt.Sprint(layers)
		}
		if got != tt.want {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
}
