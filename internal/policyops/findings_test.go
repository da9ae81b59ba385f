package policyops_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

func findingsCatalogue() []schema.Class {
	class := func(name string, fields ...string) schema.Class {
		c := schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Description: "d", Fields: []schema.Field{{Name: "id", Type: schema.Integer}}}
		for _, f := range fields {
			c.Fields = append(c.Fields, schema.Field{Name: f, Type: schema.String, Description: "d"})
		}
		return c
	}
	issues := class("issues", "org", "state", "owner", "note", "kind")
	tagged := class("tagged", "tags", "meta", "name")
	tagged.Fields[1].Type, tagged.Fields[2].Type = schema.Array, schema.JSON
	issues.Fields[2].Values = []value.Value{value.OfString("open"), value.OfString("done")}
	issues.Fields[4].From = []string{"state", "owner", "kind"} // the field note
	issues.Relations = []schema.Relation{{Fields: []string{"owner"}, Target: "users", TargetFields: []string{"id"}}}
	comments := class("comments", "issue")
	comments.Relations = []schema.Relation{{Fields: []string{"issue"}, Target: "issues", TargetFields: []string{"id"}}}
	users := class("users", "name", "password")
	users.Description, users.Fields[1].Description = "", ""
	return []schema.Class{issues, comments, users, tagged}
}

func object(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// clean returns rules without findings.
func clean() policy.Rules {
	scoped := func() *policy.TenantRule { return &policy.TenantRule{Field: "org"} }
	return policy.Rules{Classes: map[string]policy.ClassRule{"app.issues": {Tenant: scoped()}, "comments": {Tenant: &policy.TenantRule{Through: "issue"}}}}
}

// TestFindings checks each kind of finding for given rules and principals.
func TestFindings(t *testing.T) {
	rule := func(class string, change func(*policy.ClassRule)) func(*policy.Rules) {
		return func(rules *policy.Rules) {
			r := rules.Classes[class]
			change(&r)
			rules.Classes[class] = r
		}
	}
	stdio := func(change func(*identity.Principal)) []policyops.Holder {
		principal := identity.Principal{ID: "stdio", Tenant: "7", Scopes: []identity.Scope{identity.Read}}
		change(&principal)
		return []policyops.Holder{{Who: principal, Name: "stdio", Path: []string{"stdio"}}}
	}
	listed := func(field, holds, match string) string {
		return "dead classes.tagged.canonical: canonical: " + field + " of app.tagged " + holds + ", and a rule compares the whole value with one value, so it matches no list. To match an element, write {\"" + field + "\":{\"$elemMatch\":" + match + "}}"
	}
	state := query.Compare{Path: query.Path{"state"}, Op: query.Eq, Value: value.OfString("open")}
	for _, tt := range []struct {
		name    string
		change  func(*policy.Rules)
		holders []policyops.Holder
		want    string
	}{
		{name: "nothing", want: ""},
		{name: "no description", change: rule("users", func(*policy.ClassRule) {}), want: "unscoped classes.app.issues.tenant: app.issues belongs to tenants, and owner leads to app.users, which every tenant sees whole\n" +
			"missing-description classes.users: agents see app.users and aren't told what it holds\n" +
			"missing-description classes.users.fields: 1 visible field of app.users without a description: name"},
		{name: "described", change: rule("users", func(r *policy.ClassRule) {
			r.Description, r.Fields = "d", map[string]policy.FieldRule{"name": {Description: "d"}}
			r.Tenant = &policy.TenantRule{Field: "name"}
		}), want: ""},
		{name: "a child without a tenant", change: rule("comments", func(r *policy.ClassRule) { r.Tenant = nil }),
			want: "unscoped classes.comments: every tenant sees all of app.comments, whose issue leads to app.issues, which belongs to tenants"},
		{name: "a hidden class that says more", change: rule("users", func(r *policy.ClassRule) { r.Hidden, r.Denied, r.Description = true, []string{"name"}, "d" }),
			want: "dead classes.users.denied: app.users says denied, and no caller sees the class\ndead classes.users.description: app.users says description, and no caller sees the class"},
		{name: "a hidden class that others are scoped through", change: rule("app.issues", func(r *policy.ClassRule) { r.Hidden = true }), want: ""},
		{name: "a hidden class that operators see", change: rule("users", func(r *policy.ClassRule) { r.Hidden, r.HiddenBut, r.Denied = true, identity.Operator, []string{"name"} }), want: ""},
		{name: "denied twice", change: rule("app.issues", func(r *policy.ClassRule) { r.Visible, r.Denied = []string{"id", "org", "state"}, []string{"note"} }),
			want: "dead classes.app.issues.denied.0: note is denied, and visible doesn't name it anyway"},
		{name: "denied by name", change: rule("users", func(r *policy.ClassRule) {
			r.Hidden = false
			r.Denied, r.Visible = []string{"password", "name"}, nil
			r.Description = "d"
		}),
			want: "unscoped classes.app.issues.tenant: app.issues belongs to tenants, and owner leads to app.users, which every tenant sees whole\n" +
				"dead classes.users.denied.0: password is denied, and its name denies it already"},
		{name: "lifted without need", change: rule("app.issues", func(r *policy.ClassRule) { r.Visible, r.Lift = []string{"id", "org", "state"}, []string{"state"} }),
			want: "dead classes.app.issues.lift.0: lift names state, which nothing but visible decides about"},
		{name: "what nobody sees", change: rule("app.issues", func(r *policy.ClassRule) {
			r.Denied, r.Fields = []string{"note"}, map[string]policy.FieldRule{"note": {Description: "d"}}
		}), want: "dead classes.app.issues.fields.note: note is documented, and no caller sees it"},
		{name: "made from what is hidden", change: rule("app.issues", func(r *policy.ClassRule) { r.Denied = []string{"state"} }),
			want: "derived classes.app.issues: the database makes 1 field of app.issues from columns that are denied or masked: note (denied, from app.issues.state)"},
		{name: "made from what is masked", change: rule("app.issues", func(r *policy.ClassRule) {
			r.Visible, r.Mask = []string{"id", "org", "owner", "note", "state", "kind"}, map[string]policy.Mask{"state": "null"}
		}), want: "derived classes.app.issues: the database makes 1 field of app.issues from columns that are denied or masked: note (masked, from app.issues.state)"},
		{name: "made from several", change: rule("app.issues", func(r *policy.ClassRule) {
			r.Denied, r.Mask = []string{"owner"}, map[string]policy.Mask{"state": "null"}
		}), want: "derived classes.app.issues: the database makes 1 field of app.issues from columns that are denied or masked: note (denied, from app.issues.owner)"},
		{name: "made from several that leave masked", change: rule("app.issues", func(r *policy.ClassRule) {
			r.Mask = map[string]policy.Mask{"state": "null", "kind": "null"}
		}), want: "derived classes.app.issues: the database makes 1 field of app.issues from columns that are denied or masked: note (masked, from app.issues.state)"},
		{name: "made from what is hidden, and lifted", change: rule("app.issues", func(r *policy.ClassRule) {
			r.Visible, r.Lift, r.Mask = []string{"id", "org", "owner", "note", "state", "kind"}, []string{"note"}, map[string]policy.Mask{"state": "null"}
		}), want: "derived classes.app.issues: agents see 1 field of app.issues that the database makes from columns which are denied or masked: note (from app.issues.state)"},
		{name: "masked itself", change: rule("app.issues", func(r *policy.ClassRule) { r.Mask = map[string]policy.Mask{"state": "null", "note": "null"} }), want: ""},
		{name: "no scan to allow", change: rule("app.issues", func(r *policy.ClassRule) { r.AllowScan = true }), want: "dead classes.app.issues.allow_scan: allow_scan exempts from policy.refuse_scans, which isn't set"},
		{name: "a scan to allow", change: func(r *policy.Rules) {
			r.RefuseScans = true
			rule("app.issues", func(r *policy.ClassRule) { r.AllowScan = true })(r)
		}, want: ""},
		{name: "drift", change: rule("app.issues", func(r *policy.ClassRule) {
			r.Fields = map[string]policy.FieldRule{"state": {Description: "d", Values: []policy.FieldValue{{Value: "open", Meaning: "x"}}}}
		}), want: "drift classes.app.issues.fields.state.values: the database lets state hold done, which values doesn't tell"},
		{name: "lists", holders: stdio(func(p *identity.Principal) {
			p.Classes = identity.List{Only: []string{"isues", "app.comments"}, Except: []string{"users"}}
			p.Tools.Except = []string{"query_clas"}
		}), want: `unresolved stdio.classes.only.0: classes of stdio names the class "isues", which doesn't exist. Did you mean issues?` + "\n" +
			"dead stdio.classes.except.0: classes of stdio takes users away, which only doesn't keep\n" +
			`unresolved stdio.tools.except.0: tools of stdio names the tool "query_clas", which doesn't exist. Did you mean query_class?`},
		{name: "filters", holders: stdio(func(p *identity.Principal) {
			p.Filters = map[string]query.Filter{"isues": state, "comments": state, "users": state, "default": state, "issues": state}
		}), want: "unresolved stdio.filters.comments: the filter of stdio for comments names what the class hasn't got, so the class is refused\n" +
			`unresolved stdio.filters.isues: a filter of stdio is for the class "isues", which doesn't exist. Did you mean issues?` + "\n" +
			"dead stdio.filters.users: stdio has a filter for users, which it doesn't see: no rule names the class, and such classes are hidden"},
		{name: "lists and scalars", change: func(r *policy.Rules) {
			where, err := query.ParseRule(object(t, `{"tags": "a", "name": "x", "meta.a": "x", "$or": [{"meta": {"$in": ["a", "b"]}}, {"tags": {"$ne": "c"}}, {"$not": {"tags": "d"}}, {"$not": {"tags": {"$nin": ["e"]}}},
				{"tags": {"$elemMatch": {"$eq": "f"}}}, {"tags": null}, {"tags": ["g"]}, {"tags": {"$cel": "principal.id"}}, {"tags": {"$startsWith": "h"}}]}`), "")
			if err != nil {
				t.Fatal(err)
			}
			r.Classes["tagged"] = policy.ClassRule{Canonical: where, Fields: map[string]policy.FieldRule{"id": {Description: "d"}}}
		}, holders: append(stdio(func(p *identity.Principal) {
			p.Filters = map[string]query.Filter{"tagged": query.Compare{Path: query.Path{"tags"}, Op: query.Eq, Value: value.OfInt(1)}}
		}), policyops.Holder{Who: identity.Principal{ID: "t", Scopes: []identity.Scope{identity.Read}, Filters: map[string]query.Filter{
			"app.tagged": query.Compare{Path: query.Path{"tags"}, Op: query.Ne, Value: value.OfInt(1)}}}, Name: "token t1"}),
			want: strings.Join([]string{listed("tags", `is a list`, `{"$eq":"a"}`), listed("meta", "can hold lists", `{"$in":["a","b"]}`), listed("tags", "is a list", `{"$in":["e"]}`), listed("tags", "is a list", `{"$eq":{"$cel":"principal.id"}}`), listed("tags", "is a list", `{"$startsWith":"h"}`),
				strings.Replace(listed("tags", "is a list", `{"$eq":1}`), "classes.tagged.canonical: canonical", "stdio.filters.tagged: the filter of stdio for tagged", 1)}, "\n")},
		{name: "a token", holders: []policyops.Holder{{Who: identity.Principal{Classes: identity.List{Only: []string{"x"}}}, Name: "token t1"}},
			want: `unresolved token t1: classes of token t1 names the class "x", which doesn't exist`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := clean()
			if tt.change != nil {
				tt.change(&rules)
			}
			p, err := policy.New(rules, findingsCatalogue())
			if err != nil {
				t.Fatal(err)
			}
			regime, err := policyops.NewRegime(p, []policyops.Tool{{Use: policy.Use{Tool: "query_class", Needs: identity.Read}}}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			all, err := policyops.Findings(regime, tt.holders, policyops.FieldValues{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range all {
				got = append(got, fmt.Sprintf("%s %s: %s", f.Code, strings.Join(f.Path, ".")+f.Holder, f.Message))
				if f.Suggestion == "" {
					t.Errorf("%s: no suggestion", f.Message)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
