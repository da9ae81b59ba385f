package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
)

// TestAddress checks, by rules and principal, the names of all views, and the result of a bare name shared by two
// classes.
func TestAddress(t *testing.T) {
	only := func(names ...string) identity.Principal {
		principal := agent()
		principal.Classes.Only = names
		return principal
	}
	scoped := &TenantRule{Field: "id", Is: "principal.claims.x"}
	for _, tt := range []struct {
		name  string
		rules map[string]ClassRule
		who   identity.Principal
		views string
		users string // the full name, or the refusal
	}{
		{"both", nil, agent(), "comments issues nodes app.users other.users", `several sources have a class "users": write source.Class [app.users other.users]`},
		{"one hidden", map[string]ClassRule{"app.users": {Hidden: true}}, agent(), "comments issues nodes users", "other.users"},
		{"one scoped away", map[string]ClassRule{"other.users": {Tenant: scoped}}, agent(), "comments issues nodes users", "app.users"},
		{"neither", map[string]ClassRule{"other.users": {Tenant: scoped}, "app.users": {Hidden: true}}, agent(), "comments issues nodes", `there is no class "users" []`},
		{"one of the list", nil, only("other.users", "nodes"), "nodes users", "other.users"},
	} {
		p, err := New(Rules{Unlisted: true, Classes: tt.rules}, catalogue())
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range p.Views(tt.who) {
			names = append(names, v.Name())
		}
		if got := strings.Join(names, " "); got != tt.views {
			t.Errorf("%s: views %s, want %s", tt.name, got, tt.views)
		}
		v, err := p.View(tt.who, "users", "", false)
		got := ""
		if err != nil {
			got = fmt.Sprint(problem.Of(err).Detail, " ", problem.Of(err).Near)
		} else {
			got = v.Class().FullName()
		}
		if got != tt.users {
			t.Errorf("%s: users is %s, want %s", tt.name, got, tt.users)
		}
	}
}

// TestHidden checks, by rule and scopes, whether the class is visible.
func TestHidden(t *testing.T) {
	for _, tt := range []struct {
		rule   ClassRule
		scopes []identity.Scope
		want   bool
	}{
		{ClassRule{}, []identity.Scope{identity.Read}, true},
		{ClassRule{Hidden: true}, []identity.Scope{identity.Read, identity.Operator}, false},
		{ClassRule{Hidden: true}, []identity.Scope{identity.Read, ""}, false},
		{ClassRule{Hidden: true, HiddenBut: identity.Operator}, []identity.Scope{identity.Read}, false},
		{ClassRule{Hidden: true, HiddenBut: identity.Operator}, []identity.Scope{identity.Read, identity.Operator}, true},
	} {
		p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"issues": tt.rule}}, catalogue())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.View(identity.Principal{Scopes: tt.scopes}, "issues", "", false); (err == nil) != tt.want {
			t.Errorf("%+v by %v: %v", tt.rule, tt.scopes, err)
		}
	}
}

// TestSeesAll checks, by rules, whether a principal sees all of app.
func TestSeesAll(t *testing.T) {
	for _, tt := range []struct {
		name  string
		class string
		rule  ClassRule
		want  bool
	}{
		{"all", "nodes", ClassRule{}, true},
		{"but another source", "other.users", ClassRule{Hidden: true}, true},
		{"a class is hidden", "nodes", ClassRule{Hidden: true}, false},
		{"a field is", "nodes", ClassRule{Denied: []string{"parent"}}, false},
		{"a field is masked", "issues", ClassRule{Mask: map[string]Mask{"title": Null}}, false},
		{"records are", "nodes", ClassRule{Canonical: rule(t, `{"parent": 1}`)}, false},
		{"records of a tenant", "issues", ClassRule{Tenant: &TenantRule{Field: "org"}}, false},
		{"records of no tenant", "issues", ClassRule{Tenant: &TenantRule{Field: "org", Is: "principal.claims.x"}}, false},
	} {
		classes := catalogue()
		classes[0].Fields = classes[0].Fields[:3] // those after it are never visible
		p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{tt.class: tt.rule}}, classes)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.SeesAll(agent(), "app"); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"issues": {Denied: []string{"owner"}}}}, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.View(agent(), "issues", "", false)
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := v.Pointer("title"); ok || len(v.Relations()) > 0 {
		t.Errorf("a hidden pointer is followed: %v %v", r, v.Relations())
	}
}

// TestRuleFilters checks a canonical filter as sent to the source, and the fields that it names.
func TestRuleFilters(t *testing.T) {
	for _, tt := range []struct{ class, filter, want, fields string }{
		{"app.users", `{"id": "5"}`, `{"id":{"$eq":5}}`, "id"},
		{"app.users", `{"org": "5"}`, `{"$never":true}`, "org"},
		{"issues", `{"owner": {"__type": "Pointer", "className": "users", "objectId": "5"}}`, `{"owner":{"$eq":5}}`, "owner"},
		{"issues", `{"owner": {"__type": "Pointer", "className": "comments", "objectId": "5"}}`, `{"$never":true}`, "owner"},
		{"issues", `{"title": {"__type": "Pointer", "className": "users", "objectId": "5"}}`, `{"$never":true}`, "title"},
		{"issues", `{"title": {"$in": ["a"]}}`, `{"title":{"$in":["a"]}}`, "title"},
		{"issues", `{"title": {"$exists": true}}`, `{"title":{"$exists":true}}`, "title"},
		{"issues", `{"title": {"$regex": "a"}}`, `{"title":{"$regex":"a"}}`, "title"},
		{"issues", `{"title": {"$startsWith": "a"}}`, `{"title":{"$startsWith":"a"}}`, "title"},
		{"issues", `{"meta": {"$size": 1}}`, `{"meta":{"$size":1}}`, "meta"},
		{"issues", `{"meta": {"$elemMatch": {"a": 1}}}`, `{"meta":{"$elemMatch":{"a":{"$eq":1}}}}`, "meta"},
		{"issues", `{"title": {"$cel": "principal.id"}}`, `{"title":{"$eq":"a"}}`, "title"},
		{"issues", `{"$or": [{"title": "a"}, {"$nor": [{"org": 1}]}], "deleted": true}`, `{"$and":[{"$or":[{"title":{"$eq":"a"}},{"$nor":[{"org":{"$eq":1}}]}]},{"deleted":{"$eq":true}}]}`, "title org deleted"},
	} {
		f := rule(t, tt.filter)
		var fields []string
		FilterFields(f, func(n string) { fields = append(fields, n) })
		if got := strings.Join(fields, " "); got != tt.fields {
			t.Errorf("%s names %s, want %s", tt.filter, got, tt.fields)
		}
		p, err := New(Rules{Classes: map[string]ClassRule{tt.class: {Canonical: f}}}, catalogue())
		if err != nil {
			t.Errorf("%s: %v", tt.filter, err)
			continue
		}
		if got := viewed(p, agent(), tt.class); got != "canonical "+tt.want {
			t.Errorf("%s: %s, want %s", tt.filter, got, tt.want)
		}
	}
}

// TestToldCanonical checks the canonical filter shown if it differs between a sub-principal and its parent.
func TestToldCanonical(t *testing.T) {
	for cel, want := range map[string]string{
		"principal.depth":             `{"$and":[{"org":{"$lt":2}},{"org":{"$lt":1}},{"org":{"$lt":0}}]}`,
		"principal.depth > 0 ? 1 : 0": `{"$and":[{"org":{"$lt":1}},{"org":{"$lt":0}}]}`,
		"int(principal.tenant)":       `{"org":{"$lt":7}}`,
	} {
		f := query.Deferred{Path: query.Path{"org"}, Op: query.Lt, CEL: cel}
		p, err := New(Rules{Classes: map[string]ClassRule{"issues": {Canonical: f}}}, catalogue())
		if err != nil {
			t.Fatal(err)
		}
		principal := agent()
		for range 2 {
			if principal, err = identity.Derive(principal, identity.Derivation{Name: "c"}); err != nil {
				t.Fatal(err)
			}
		}
		v, err := p.View(principal, "issues", "", false)
		if err != nil {
			t.Fatal(err)
		}
		if got := query.Print(v.Canonical()).String(); got != want {
			t.Errorf("%s: %s, want %s", cel, got, want)
		}
	}
}

// TestExceptions checks, by exceptions from masks and scopes, the fields that stay masked.
func TestExceptions(t *testing.T) {
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"people": {Mask: map[string]Mask{"email": Hash, "name": Partial},
		MaskBut: map[string]identity.Scope{"email": identity.Operator, "name": identity.Explain}}}}, staff())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		scopes []identity.Scope
		want   string // nil if nothing is masked
	}{
		{[]identity.Scope{identity.Read}, "email name"},
		{[]identity.Scope{identity.Read, identity.Operator}, "name"},
		{[]identity.Scope{identity.Read, identity.Explain}, "email"},
		{[]identity.Scope{identity.Read, identity.Explain, identity.Operator}, ""},
	} {
		v, err := p.View(identity.Principal{Scopes: tt.scopes}, "people", "", false)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range []string{"email", "name"} {
			if v.Mask(f) != nil {
				got = append(got, f)
			}
		}
		if strings.Join(got, " ") != tt.want || (v.masks == nil) != (tt.want == "") {
			t.Errorf("%v: %v of %v, want %s", tt.scopes, got, v.masks, tt.want)
		}
	}
}
