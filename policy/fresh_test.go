package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// described returns a class without records with these fields.
func described(name string, fields ...string) schema.Class {
	c := schema.Class{Source: "org", Name: name, Recordless: true}
	for _, f := range fields {
		c.Fields = append(c.Fields, schema.Field{Name: f, Type: schema.String})
	}
	return c
}

// TestRecordless checks, by rules and principal, the visible descriptions, including those newer than the rules.
func TestRecordless(t *testing.T) {
	catalogue := append(catalogue(), described("Account", "Name", "Secret", "Api_Key"), described("Stub"))
	only := func(names ...string) identity.Principal {
		principal := agent()
		principal.Classes.Only = names
		return principal
	}
	filtered := agent()
	filtered.Filters = map[string]query.Filter{"default": query.Compare{Path: query.Path{"org_id"}, Op: query.Eq, Value: value.OfInt(7)}}
	for _, tt := range []struct {
		name  string
		rules map[string]ClassRule
		who   identity.Principal
		views string
		fresh string // of Account, Stub, New, with the fields Name, Secret, Added
	}{
		{"no rule", nil, agent(), "Account[Name Secret Api_Key] Stub[]", "Account[Name Secret Added] Stub[] New[Name Secret Added]"},
		{"hidden", map[string]ClassRule{"Account": {Hidden: true}}, agent(), "Stub[]", "Stub[] New[Name Secret Added]"},
		{"hidden but for a scope", map[string]ClassRule{"Account": {Hidden: true, HiddenBut: identity.Read}}, agent(), "Account[Name Secret Api_Key] Stub[]", "Account[Name Secret Added] Stub[] New[Name Secret Added]"},
		{"denied", map[string]ClassRule{"org.Account": {Denied: []string{"Secret"}}}, agent(), "Account[Name Api_Key] Stub[]", "Account[Name Added] Stub[] New[Name Secret Added]"},
		{"visible", map[string]ClassRule{"org.Account": {Visible: []string{"Name"}}}, agent(), "Account[Name] Stub[]", "Account[Name] Stub[] New[Name Secret Added]"},
		{"nothing visible", map[string]ClassRule{"org.Account": {Visible: []string{}}}, agent(), "Stub[]", "Stub[] New[Name Secret Added]"},
		{"all denied that was there", map[string]ClassRule{"org.Account": {Denied: []string{"Name", "Secret", "Api_Key"}}}, agent(), "Stub[]", "Stub[] New[Name Secret Added]"},
		{"a list of classes", nil, only("org.Account", "issues"), "Account[Name Secret Api_Key]", "Account[Name Secret Added]"},
		{"a list of others", nil, only("issues"), "", ""},
		{"a filter over records", nil, filtered, "Account[Name Secret Api_Key] Stub[]", "Account[Name Secret Added] Stub[] New[Name Secret Added]"},
	} {
		p, err := New(Rules{Classes: tt.rules}, catalogue)
		if err != nil {
			t.Fatal(err)
		}
		var views, fresh []string
		for _, v := range p.Views(tt.who) {
			views = append(views, v.Name()+fmt.Sprint(namesOf(v.Fields())))
		}
		for _, c := range []schema.Class{described("Account", "Name", "Secret", "Added"), described("Stub"), described("New", "Name", "Secret", "Added")} {
			if v := p.Fresh(tt.who, &c); v != nil {
				fresh = append(fresh, v.Name()+fmt.Sprint(namesOf(v.Fields())))
			}
		}
		if got := strings.Join(views, " "); got != tt.views {
			t.Errorf("%s: views %s, want %s", tt.name, got, tt.views)
		}
		if got := strings.Join(fresh, " "); got != tt.fresh {
			t.Errorf("%s: fresh %s, want %s", tt.name, got, tt.fresh)
		}
	}
	p, err := New(Rules{Unlisted: true}, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if v := p.Fresh(agent(), &schema.Class{Source: "app", Name: "issues", Fields: []schema.Field{{Name: "id"}}}); v != nil {
		t.Error("a class with records has a fresh view")
	}
}

// TestRecordlessReads checks that every query of a description is refused, after any other refusal.
func TestRecordlessReads(t *testing.T) {
	p, err := New(Rules{Classes: map[string]ClassRule{"Hidden": {Hidden: true}}}, []schema.Class{described("Account", "Name"), described("Hidden", "Name")})
	if err != nil {
		t.Fatal(err)
	}
	for class, want := range map[string]string{
		"Account": "unsupported_by_source: Account is a description without records: nothing can be read from it",
		"Hidden":  `not_found: there is no class "Hidden"`,
		"Nothing": `not_found: there is no class "Nothing"`,
	} {
		for _, q := range []query.Query{&query.Find{Class: class}, &query.Find{Class: class, IDs: []string{"1"}}, &query.Count{Class: class}, &query.Pipeline{Class: class}} {
			_, err := p.Read(agent(), q)
			if got := fmt.Sprint(err); got != want {
				t.Errorf("%T of %s: %s, want %s", q, class, got, want)
			}
			if _, err := p.Access(agent(), q); err == nil {
				t.Errorf("%T of %s tells of access", q, class)
			}
		}
	}
	for _, rule := range []ClassRule{{Tenant: &TenantRule{Field: "Name"}}, {Canonical: query.Compare{Path: query.Path{"Name"}, Op: query.Eq, Value: value.OfString("a")}}} {
		_, err := New(Rules{Classes: map[string]ClassRule{"org.Account": rule}}, []schema.Class{described("Account", "Name")})
		if want := "classes.org.Account: the class has no records that tenant or canonical could choose from. Take them out"; fmt.Sprint(err) != want {
			t.Errorf("%v", err)
		}
	}
}

func namesOf(fields []*schema.Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}
