package policy

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// granting returns a policy of classes with guards: posts of two sources, and notes that lead to posts.
func granting(t *testing.T, posts, notes *schema.Guard) *Policy {
	t.Helper()
	fields := []schema.Field{{Name: "id", Type: schema.String, NotNull: true}, {Name: "title", Type: schema.String}, {Name: "owner", Type: schema.String}, {Name: "_rperm", Type: schema.Array}}
	to := []schema.Relation{{Fields: []string{"owner"}, Target: "posts", TargetFields: []string{"id"}}}
	p, err := New(Rules{Unlisted: true}, []schema.Class{
		{Source: "app", Name: "posts", Table: "posts", Key: []string{"id"}, Fields: fields, Guard: posts},
		{Source: "app", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: fields, Relations: to, Guard: notes},
		{Source: "crm", Name: "leads", Table: "leads", Key: []string{"id"}, Fields: fields, Guard: &schema.Guard{}},
		{Source: "web", Name: "pages", Table: "pages", Key: []string{"id"}, Fields: fields}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDirectoryFails checks that a class isn't refused as absent while the grants of one of the sources are unknown.
// Groups that come with an error grant nothing.
func TestDirectoryFails(t *testing.T) {
	p := granting(t, &schema.Guard{}, &schema.Guard{})
	if got := fmt.Sprint(p.guarded); got != "[app crm]" {
		t.Error(got)
	}
	down := errors.New("down")
	for _, failing := range []string{"app", "crm", ""} {
		under := p.Under(func(_ identity.Principal, source string) (Groups, error) {
			if source == failing {
				return Groups{All: true}, down
			}
			return Groups{All: true}, nil
		})
		if _, err := under.View(agent(), "nothing", "", false); errors.Is(err, down) != (failing != "") || err == nil {
			t.Errorf("%s fails: %v", failing, err)
		}
		var names []string
		for _, v := range under.Views(agent()) {
			names = append(names, v.Name())
		}
		want := map[string]string{"app": "[leads pages]", "crm": "[notes posts pages]", "": "[notes posts leads pages]"}[failing]
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%s fails: %s, want %s", failing, got, want)
		}
	}
	if _, err := p.View(agent(), "nothing", "", false); problem.CodeOf(err) != problem.NotFound {
		t.Error(err)
	}
	open := trade(t)
	if open.AtMost() != open {
		t.Error("a copy of what no source grants anything of")
	}
}

// TestGrants checks what is left of a class whose guard leads through another, and of a class whose records can be read
// only by id.
func TestGrants(t *testing.T) {
	some := Groups{Names: []string{"*"}}
	of := func(p *Policy) *Policy {
		return p.Under(func(identity.Principal, string) (Groups, error) { return some, nil })
	}
	for _, tt := range []struct {
		name  string
		notes schema.Guard
		want  string
	}{
		{"the way there, and its own list", schema.Guard{Through: []string{"owner"}, Readers: "_rperm"}, "2 layers"},
		{"a way that isn't there", schema.Guard{Through: []string{"title"}}, `there is no class "notes"`},
		{"one that is, and one that isn't", schema.Guard{Through: []string{"owner", "title"}}, `there is no class "notes"`},
		{"nothing that it grants itself", schema.Guard{Through: []string{"owner"}, Grants: map[schema.Operation]schema.Grant{schema.Find: {}, schema.Get: {}, schema.Count: {}}}, `there is no class "notes"`},
	} {
		v, err := of(granting(t, &schema.Guard{}, &tt.notes)).View(agent(), "notes", "", false)
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
		} else {
			got = fmt.Sprint(len(v.layers), " layers")
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	p := of(granting(t, &schema.Guard{Grants: map[schema.Operation]schema.Grant{schema.Find: {}, schema.Count: {}}}, &schema.Guard{}))
	lookup, err := query.ParsePipeline(claims(t, `[{"$lookup": {"from": "posts", "localField": "owner", "foreignField": "id", "as": "x"}}]`), "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	statement, err := query.ParseSQL("SELECT id FROM posts")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []query.Query{&query.Pipeline{Class: "notes", Stages: lookup, Limit: 1}, statement, &query.Find{Class: "posts", Limit: 1}} {
		if _, err := p.Read(agent(), q); problem.CodeOf(err) != problem.PermissionDenied {
			t.Errorf("%T of a class that can be had by id alone: %v", q, err)
		}
	}
	v, err := of(granting(t, &schema.Guard{Protected: map[string][]string{"*": {"title"}}}, &schema.Guard{})).View(agent(), "posts", "", false)
	if err != nil || v.Label() != "" {
		t.Errorf("a protected field is the label: %v", err)
	}
	if v := viewOf(t, p, "notes"); v.Label() != "title" {
		t.Errorf("the label of notes is %q", v.Label())
	}
}

// TestServed checks which orders and rules an index serves.
func TestServed(t *testing.T) {
	number := func(name string) schema.Field {
		return schema.Field{Name: name, Type: schema.Integer, NotNull: true}
	}
	classes := []schema.Class{
		{Source: "s", Name: "orgs", Table: "orgs", Key: []string{"id"}, Fields: []schema.Field{number("id"), {Name: "name", Type: schema.String}}},
		{Source: "s", Name: "notes", Table: "notes", Key: []string{"id"}, Fields: []schema.Field{number("id"), number("org"), {Name: "created_at", Type: schema.Date}},
			Relations: []schema.Relation{{Fields: []string{"org"}, Target: "orgs", TargetFields: []string{"id"}}}, Indexes: []schema.Index{{Fields: []string{"org"}}}}}
	within := ClassRule{Tenant: &TenantRule{Through: "org"}}
	for _, tt := range []struct {
		name string
		rule ClassRule
		q    query.Query
		want string
	}{
		{"a tenant behind a pointer with an index", within, &query.Count{Class: "notes"}, ""},
		{"none", ClassRule{}, &query.Count{Class: "notes"}, "scan"},
		{"a page", ClassRule{}, &query.Find{Class: "notes", Limit: 2000}, "by id"},
		{"one more", ClassRule{}, &query.Find{Class: "notes", Limit: 2001}, "scan"},
		{"a late page", ClassRule{}, &query.Find{Class: "notes", Limit: 1000, Skip: 1001}, "scan"},
		{"an order behind a pointer", ClassRule{}, &query.Find{Class: "notes", Limit: 5, Order: []query.Sort{{Path: query.ParsePath("org.id")}}}, "scan"},
		{"a sample", ClassRule{}, &query.Find{Class: "notes", Limit: 5, Sample: true}, "by id"},
		{"a sample of what may be scanned", ClassRule{AllowScan: true}, &query.Find{Class: "notes", Limit: 5, Sample: true}, "by created_at id"},
	} {
		p, err := New(Rules{RefuseScans: true, Unlisted: true, Classes: map[string]ClassRule{"notes": tt.rule, "orgs": {Tenant: &TenantRule{Field: "id"}}}}, classes)
		if err != nil {
			t.Fatal(err)
		}
		permit, err := p.Read(agent(), tt.q)
		got := ""
		if err != nil {
			got = problem.Of(err).Kind
		} else {
			for i, o := range permit.plan.Order {
				got += map[bool]string{true: "by ", false: " "}[i == 0] + o.Field.Name
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestOfNames checks by which names fields are found, which values and labels are shown, and what has no fields to show.
func TestOfNames(t *testing.T) {
	text := func(name string) schema.Field { return schema.Field{Name: name, Type: schema.String} }
	p, err := New(Rules{Unlisted: true, Classes: map[string]ClassRule{"posts": {Permitted: []string{}, Pointers: map[string]Pointer{"title": {Class: "tags"}, "name": {Class: "tags"}},
		Fields: map[string]FieldRule{"state": {Values: []FieldValue{{Value: "open"}, {Value: "done"}}}}}}}, []schema.Class{
		{Source: "app", Name: "posts", Table: "posts", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("objectId"), text("title"), text("name"), text("state")},
			Relations: []schema.Relation{{Fields: []string{"title"}, Target: "tags", TargetFields: []string{"id"}}}},
		{Source: "app", Name: "tags", Table: "tags", Key: []string{"id"}, Fields: []schema.Field{text("id"), text("kind")}},
		{Source: "app", Name: "bare", Table: "bare"}})
	if err != nil {
		t.Fatal(err)
	}
	v := viewOf(t, p, "posts")
	if f := v.fieldOrKey("objectId"); f == nil || f.Name != "objectId" || v.fieldOrKey("_id").Name != "id" {
		t.Errorf("objectId is %v", f)
	}
	if got := fmt.Sprint(v.allowedValues("state"), v.allowedValues("title"), v.Label()); got != "[{open } {done }] []" {
		t.Errorf("values and label: %s", got)
	}
	r := relations{plan: &Plan{View: v, Views: []*View{viewOf(t, p, "tags"), v}}}
	if got := fmt.Sprint(r.AllowedValues(v.Field("state")), r.AllowedValues(&schema.Field{Name: "state"})); got != "[{open } {done }] []" {
		t.Errorf("values: %s", got)
	}
	if _, err := v.Setting("zzzzzzzz", "", false); problem.Of(err).Suggestion != "get_schema lists the fields" {
		t.Errorf("nothing can be set: %s", problem.Of(err).Suggestion)
	}
	if len(v.class.Relations) != 2 {
		t.Errorf("what the source declares is declared again: %v", v.class.Relations)
	}
	for _, v := range p.Views(agent()) {
		if v.Name() == "bare" {
			t.Error("a class without a field is shown")
		}
	}
	if _, _, _, err := p.VisibleClass("post"); fmt.Sprint(err) != "there is no such class. Did you mean posts?" {
		t.Error(err)
	}
	if c, visible, _, err := p.VisibleClass("tags"); err != nil || c.Name != "tags" || len(visible) != 2 {
		t.Errorf("%v %v %v", c, visible, err)
	}
	if _, err := (Permit{}).Within(5); err == nil {
		t.Error("no permit has a bound")
	}
}

// TestForeignFields checks that the records outside of the principal's own filter aren't those of another tenant, and
// that rules for APIs are heard.
func TestForeignFields(t *testing.T) {
	p, err := New(sample(), catalogue())
	if err != nil {
		t.Fatal(err)
	}
	who := agent()
	who.Filters = map[string]query.Filter{"issues": rule(t, `{"owner": 5}`)}
	for where, want := range map[string]bool{`{"owner": 6}`: false, `{"deleted": true}`: false, `{"org": 8}`: true} {
		permit, err := p.Read(who, &query.Count{Class: "issues", Where: rule(t, where)})
		if err != nil || permit.plan.Foreign() != want {
			t.Errorf("%s: %v", where, err)
		}
	}
	permit, err := p.Read(who, &query.Count{Class: "comments", Where: rule(t, `{"body": "x"}`)})
	if err != nil || permit.plan.Foreign() {
		t.Errorf("behind a pointer: %v", err)
	}
	if _, err := New(Rules{APIs: map[string]calls.Rules{"shop": {}}}, nil); err == nil {
		t.Error("the rules of an API without a document are taken")
	}
}
