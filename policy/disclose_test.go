package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/literals"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// toldOf returns everything of a refusal that its caller sees.
func toldOf(err error) string {
	e := *problem.Of(err)
	e.Kind, e.Err = "", nil
	b, _ := json.Marshal(e)
	return string(b)
}

// TestDisclose checks each kind of refusal. Without policy.disclose it has the same bytes as for something that doesn't
// exist, with it the true reason.
func TestDisclose(t *testing.T) {
	hidden := func(r Rules, name string, change func(*ClassRule)) Rules {
		rule := r.Classes[name]
		change(&rule)
		r.Classes[name] = rule
		return r
	}
	where := func(text string) query.Filter { return rule(t, text) }
	stages := func(text string) []query.Stage {
		s, err := query.ParsePipeline(claims(t, text), "/pipeline")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := func(change func(*identity.Principal)) identity.Principal {
		principal := agent()
		change(&principal)
		return principal
	}
	issues := &query.Find{Class: "issues", Limit: 5}
	for _, tt := range []struct {
		kind  string
		rules Rules
		who   identity.Principal
		ask   query.Query
		gone  string // the class or class.field that is missing in the twin's catalogue
		want  string // detail and denial
	}{
		{"unlisted_class", Rules{}, agent(), issues, "issues",
			`the rules keep the class "issues" from you: no rule lists it {"kind":"unlisted_class","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"hidden_class", hidden(sample(), "issues", func(r *ClassRule) { r.Hidden = true }), agent(), issues, "issues",
			`the rules keep the class "issues" from you: it is hidden {"kind":"hidden_class","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"class_filter", sample(), with(func(w *identity.Principal) { w.Classes.Except = []string{"issues"} }), issues, "issues",
			`the rules keep the class "issues" from you: the list of classes that you are for leaves it out {"kind":"class_filter","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"no_visible_field", hidden(sample(), "issues", func(r *ClassRule) { r.Visible = []string{} }), agent(), issues, "issues",
			`the rules keep the class "issues" from you: none of its fields can be seen {"kind":"no_visible_field","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"tenant_missing", sample(), with(func(w *identity.Principal) { w.Tenant = "" }), issues, "issues",
			`the rules keep the class "issues" from you: its records belong to tenants, and you come without one {"kind":"tenant_missing","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"tenant_mismatch", sample(), with(func(w *identity.Principal) { w.Tenant = "secret-tenant" }), issues, "issues",
			`the rules keep the class "issues" from you: its records belong to tenants, and yours can't be one of them {"kind":"tenant_mismatch","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"principal_filter", sample(), with(func(w *identity.Principal) {
			w.Filters = map[string]query.Filter{"default": where(`{"nothing": 1}`)}
		}), issues, "issues",
			`the rules keep the class "issues" from you: a filter that you come with names what you don't see of it {"kind":"principal_filter","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"rule_value", hidden(sample(), "issues", func(r *ClassRule) { r.Canonical = where(`{"title": {"$cel": "principal.claims.x"}}`) }), agent(), issues, "issues",
			`the rules keep the class "issues" from you: a rule of it needs what your credential doesn't say {"kind":"rule_value","suggested_rewrite":"leave issues out. get_all_schemas lists the classes that you see"}`},
		{"hidden_class", hidden(sample(), "app.users", func(r *ClassRule) { r.Hidden = true }), agent(),
			&query.Pipeline{Class: "issues", Limit: 5, Stages: stages(`[{"$lookup": {"from": "app.users", "localField": "title", "foreignField": "name", "as": "x"}}]`)}, "users",
			`the rules keep the class "app.users" from you: it is hidden {"kind":"hidden_class","suggested_rewrite":"leave app.users out. get_all_schemas lists the classes that you see"}`},
		{"hidden_class", hidden(sample(), "app.users", func(r *ClassRule) { r.Hidden = true }), agent(),
			&query.Find{Class: "issues", Limit: 5, Include: []query.Path{{"owner"}}}, "users",
			`the rules keep the records that owner of issues points to from you {"kind":"hidden_class","denied_field":"owner","suggested_rewrite":"leave owner out of include, and the keys behind it"}`},
		{"field_denied", hidden(sample(), "issues", func(r *ClassRule) { r.Denied = []string{"due"} }), agent(),
			&query.Find{Class: "issues", Limit: 5, Where: where(`{"due": "2026-01-01"}`)}, "issues.due",
			`the rules keep the field "due" of issues from you {"kind":"field_denied","denied_field":"due","allowed_fields":["id","org","title","owner","meta","area","deleted","state"],` +
				`"suggested_rewrite":"leave due out. Of issues you see id, org, title, owner, meta, area, deleted, state"}`},
		{"field_denied", sample(), agent(), &query.Find{Class: "users", Limit: 5, Keys: []query.Path{{"password_hash"}}}, "users.password_hash",
			`the rules keep the field "password_hash" of users from you {"kind":"field_denied","denied_field":"password_hash","allowed_fields":["id","org","name"],"suggested_rewrite":"leave password_hash out. Of users you see id, org, name"}`},
		{"field_denied", sample(), agent(), &query.Find{Class: "issues", Limit: 5, Keys: []query.Path{{"owner", "password_hash"}}}, "users.password_hash",
			`the rules keep the field "password_hash" of users from you {"kind":"field_denied","denied_field":"password_hash","allowed_fields":["id","org","name"],"suggested_rewrite":"leave password_hash out. Of users you see id, org, name"}`},
		{"field_denied", sample(), agent(), &query.Find{Class: "users", Limit: 5, Order: []query.Sort{{Path: query.Path{"_rperm"}}}}, "users._rperm",
			`the rules keep the field "_rperm" of users from you {"kind":"field_denied","denied_field":"_rperm","allowed_fields":["id","org","name"],"suggested_rewrite":"leave _rperm out. Of users you see id, org, name"}`},
		{"field_denied", hidden(sample(), "issues", func(r *ClassRule) { r.Denied = []string{"state"} }), agent(),
			&query.Find{Class: "issues", Limit: 5, Search: &literals.Search{Terms: []string{"x"}, Fields: []string{"state"}}}, "issues.state",
			`the rules keep the field "state" of issues from you {"kind":"field_denied","denied_field":"state","allowed_fields":["id","org","title","owner","due","meta","area","deleted"],` +
				`"suggested_rewrite":"leave state out. Of issues you see id, org, title, owner, due, meta, area, deleted"}`},
		{"field_denied", sample(), agent(), &query.Pipeline{Class: "users", Limit: 5, Stages: stages(`[{"$group": {"_id": "$password_hash"}}]`)}, "users.password_hash",
			`the rules keep the field "password_hash" of users from you {"kind":"field_denied","denied_field":"password_hash","allowed_fields":["id","org","name"],"suggested_rewrite":"leave password_hash out. Of users you see id, org, name"}`},
		{"field_denied", hidden(sample(), "app.users", func(r *ClassRule) { r.Denied = []string{"id"} }), agent(), &query.Find{Class: "users", Limit: 5, IDs: []string{"1"}}, "users.id",
			`the rules keep the field "id" of users from you {"kind":"field_denied","denied_field":"id","allowed_fields":["org","name"],"suggested_rewrite":"leave id out. Of users you see org, name"}`},
		{"field_denied", hidden(sample(), "app.users", func(r *ClassRule) { r.Denied = []string{"id"} }), agent(),
			&query.Find{Class: "issues", Limit: 5, Include: []query.Path{{"owner"}}}, "users.id",
			`the rules keep the records that owner of issues points to from you {"kind":"field_denied","denied_field":"owner","suggested_rewrite":"leave owner out of include, and the keys behind it"}`},

		{"tenant_missing", hidden(sample(), "app.users", func(r *ClassRule) { r.Tenant = &TenantRule{Field: "org", Is: "principal.claims.x"} }), agent(),
			&query.Find{Class: "issues", Limit: 5, Include: []query.Path{{"owner"}}}, "users",
			`the rules keep the records that owner of issues points to from you {"kind":"tenant_missing","denied_field":"owner","suggested_rewrite":"leave owner out of include, and the keys behind it"}`},
		{"hidden_class", hidden(hidden(sample(), "app.users", func(r *ClassRule) { r.Hidden = true }), "nodes", func(*ClassRule) {}), agent(),
			&query.Find{Class: "issues", Limit: 5, Include: []query.Path{{"owner"}}}, "users",
			`the rules keep the records that owner of issues points to from you {"kind":"hidden_class","denied_field":"owner","allowed_fields":["org"],` +
				`"suggested_rewrite":"leave owner out of include, and the keys behind it; of issues you can follow org"}`},

		// names that don't exist are refused the same way
		{"unknown_class", sample(), agent(), &query.Find{Class: "isues", Limit: 5}, "-", `there is no class "isues" null`},
		{"unknown_field", sample(), agent(), &query.Find{Class: "issues", Limit: 5, Keys: []query.Path{{"titel"}}}, "-", `unknown field "titel" of issues null`},
		{"", sample(), agent(), &query.Find{Class: "issues", Limit: 5, Include: []query.Path{{"title"}}}, "-", `title of issues is not a pointer null`},
	} {
		classes := catalogue()
		classes[1].Text = []schema.TextIndex{{Fields: []string{"title"}}}
		classes[1].Relations = append(classes[1].Relations, schema.Relation{Fields: []string{"org"}, Target: "nodes", TargetFields: []string{"id"}})
		discreet, err := New(tt.rules, classes)
		if err != nil {
			t.Fatal(err)
		}
		_, off := discreet.Read(tt.who, tt.ask)
		talkative := tt.rules
		talkative.Disclose = true
		p, err := New(talkative, classes)
		if err != nil {
			t.Fatal(err)
		}
		_, on := p.Read(tt.who, tt.ask)
		if off == nil || on == nil || problem.Of(off).Kind != tt.kind || problem.Of(on).Kind != tt.kind {
			t.Errorf("%s %+v: kinds of %v and %v", tt.kind, tt.ask, off, on)
			continue
		}
		denial, _ := json.Marshal(problem.Of(on).Denial)
		if got := problem.Of(on).Detail + " " + string(denial); got != tt.want {
			t.Errorf("%s %+v:\n got %s\nwant %s", tt.kind, tt.ask, got, tt.want)
		}
		if d := problem.Of(on).Denial; d != nil && (problem.CodeOf(on) != problem.AccessDenied || problem.Of(on).Suggestion != d.Rewrite || problem.Of(on).Pointer != problem.Of(off).Pointer) {
			t.Errorf("%s: %s", tt.kind, toldOf(on))
		}
		if strings.Contains(toldOf(on), "secret-tenant") {
			t.Errorf("a value is told: %s", toldOf(on))
		}

		// The twin lacks the hidden class or field and its rule. Its refusal is that of something that doesn't exist.
		rules, twin := twinOf(tt.rules, classes, tt.gone)
		bare, err := New(rules, twin)
		if err != nil {
			t.Fatal(err)
		}
		if _, absent := bare.Read(tt.who, tt.ask); absent == nil || toldOf(off) != toldOf(absent) {
			t.Errorf("%s %+v:\n hidden %s\n absent %s", tt.kind, tt.ask, toldOf(off), toldOf(absent))
		}
	}
}

// twinOf returns rules and catalogue without a class, or a field of one.
func twinOf(r Rules, classes []schema.Class, gone string) (Rules, []schema.Class) {
	class, field, _ := strings.Cut(gone, ".")
	twin := []schema.Class{}
	rules := Rules{Version: r.Version, Classes: map[string]ClassRule{}}
	for name, rule := range r.Classes {
		if bare := name[strings.LastIndexByte(name, '.')+1:]; bare != class || field != "" {
			rule.Denied = slices.DeleteFunc(slices.Clone(rule.Denied), func(f string) bool { return f == field })
			rules.Classes[name] = rule
		}
	}
	for _, c := range classes {
		if c.Name == class && field == "" {
			continue
		}
		if c.Name == class {
			c.Fields = slices.DeleteFunc(slices.Clone(c.Fields), func(f schema.Field) bool { return f.Name == field })
			if slices.Contains(c.Key, field) {
				c.Key = nil
			}
		}
		c.Relations = slices.DeleteFunc(slices.Clone(c.Relations), func(r schema.Relation) bool {
			return r.Target == class && (field == "" || slices.Contains(r.TargetFields, field))
		})
		twin = append(twin, c)
	}
	for name, rule := range rules.Classes { // a child whose parent is gone
		if rule.Tenant != nil && rule.Tenant.Through == "issue" && class == "issues" && field == "" {
			delete(rules.Classes, name)
		}
	}
	return rules, twin
}
