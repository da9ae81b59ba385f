package policyops_test

import (
	"encoding/json"
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

func catalogue() []schema.Class {
	field := func(name string, typ schema.Type) schema.Field { return schema.Field{Name: name, Type: typ} }
	class := func(name string, fields ...schema.Field) schema.Class {
		return schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: append([]schema.Field{field("id", schema.Integer)}, fields...)}
	}
	comments := class("comments", field("issue", schema.Integer), field("body", schema.String))
	comments.Relations = []schema.Relation{{Fields: []string{"issue"}, Target: "issues", TargetFields: []string{"id"}}}
	return []schema.Class{comments, class("issues", field("org", schema.Integer), field("title", schema.String), field("deleted", schema.Boolean)),
		class("users", field("name", schema.String), field("email", schema.String), field("phone", schema.String), field("notes", schema.String), field("password_hash", schema.String)),
		class("keys", field("value", schema.String)), class("jobs"), class("logs", field("token", schema.String))}
}

func where(t *testing.T, text string) query.Filter {
	t.Helper()
	doc, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := query.ParseRule(doc, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func regime(t *testing.T) *policyops.Regime {
	t.Helper()
	rules := policy.Rules{Version: "v1", Gates: policy.Gates{Writes: policy.On}, Classes: map[string]policy.ClassRule{
		"app.comments": {Tenant: &policy.TenantRule{Through: "issue"}},
		"issues":       {Tenant: &policy.TenantRule{Field: "org"}, Canonical: where(t, `{"deleted": false}`)},
		"app.users":    {Visible: []string{"id", "name", "email"}, Denied: []string{"notes"}, Mask: map[string]policy.Mask{"email": policy.Partial}},
		"app.keys":     {Hidden: true, HiddenBut: identity.Operator},
		"app.logs":     {Visible: []string{}},
	}}
	p, err := policy.New(rules, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	r, err := policyops.NewRegime(p, []policyops.Tool{{Use: policy.Use{Tool: "query_class", Needs: identity.Read}}, {Use: policy.Use{Tool: "delete_object", Needs: identity.Delete}}, {Use: policy.Use{Tool: "update_object", Needs: identity.Write, Writes: policy.WriteRaw}}, {Use: policy.Use{Tool: "aggregate", Needs: identity.Read}, Off: true}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func agent() identity.Principal {
	return identity.Principal{ID: "token:a", Tenant: "7", Scopes: []identity.Scope{identity.Read}}
}

// TestVerdicts checks each stage at which something can be denied. A row contains the reason and stage, the rule, and
// the sentence.
func TestVerdicts(t *testing.T) {
	r := regime(t)
	with := func(change func(*identity.Principal)) identity.Principal { p := agent(); change(&p); return p }
	for _, tt := range []struct {
		name               string
		who                identity.Principal
		tool, class, field string
		want               string
	}{
		{"allowed", agent(), "query_class", "issues", "title", "yes: the principal sees the field"},
		{"no such tool", agent(), "query_clas", "", "", `unknown_tool @ gate []: there is no tool "query_clas". Did you mean query_class?`},
		{"a tool that isn't served", agent(), "aggregate", "issues", "", "tool_off @ gate [tools]: the configuration doesn't serve the tool aggregate"},
		{"a scope", agent(), "delete_object", "", "", "scope @ scope [principal scopes]: delete_object needs the scope delete, and the principal has read"},
		{"a gate", agent(), "update_object", "issues", "", "gate @ gate [gates raw_writes]: direct writes of records (create, update, delete) are switched off for all agents here"},
		{"a list of tools", with(func(p *identity.Principal) { p.Tools.Only = []string{"x"} }), "query_class", "issues", "",
			"tool_filtered @ list [principal tools only]: the principal's list of tools leaves query_class out"},
		{"a list's exception", with(func(p *identity.Principal) { p.Tools.Except = []string{"x", "query_class"} }), "query_class", "issues", "",
			"tool_filtered @ list [principal tools except 1]: the principal's list of tools leaves query_class out"},
		{"no such class", agent(), "query_class", "isues", "", `unknown_class @ catalogue []: there is no class "isues"`},
		{"a class that no rule names", agent(), "query_class", "jobs", "", "unlisted_class @ class [policy unlisted]: no rule names the class, and such classes are hidden"},
		{"a hidden class", agent(), "query_class", "app.keys", "", "hidden_class @ class [classes app.keys hidden]: the class is hidden, but for the scope operator, and the principal has read"},
		{"a class without fields", agent(), "query_class", "logs", "", "no_visible_field @ class [classes app.logs visible]: no field of the class is visible"},
		{"a list of classes", with(func(p *identity.Principal) { p.Classes.Only = []string{"users"} }), "query_class", "issues", "",
			"class_filter @ list [principal classes only]: the principal's list of classes leaves it out"},
		{"no tenant", with(func(p *identity.Principal) { p.Tenant = "" }), "query_class", "issues", "",
			"tenant_missing @ tenant [classes issues tenant]: org must be principal.tenant, which the principal doesn't have"},
		{"no tenant, through a pointer", with(func(p *identity.Principal) { p.Tenant = "" }), "query_class", "comments", "",
			"tenant_missing @ tenant [classes issues tenant]: org must be principal.tenant, which the principal doesn't have (comments is scoped through issue)"},
		{"a tenant that can't be", with(func(p *identity.Principal) { p.Tenant = "acme" }), "query_class", "issues", "",
			"tenant_mismatch @ tenant [classes issues tenant]: org must be principal.tenant, which can't be a value of the field"},
		{"a filter that doesn't fit", with(func(p *identity.Principal) { p.Filters = map[string]query.Filter{"default": where(t, `{"team": 1}`)} }), "query_class", "users", "",
			"principal_filter @ filter [principal filters default]: a filter of the principal names what the class hasn't got"},
		{"a filter that needs a claim", with(func(p *identity.Principal) {
			p.Filters = map[string]query.Filter{"users": where(t, `{"name": {"$cel": "principal.claims.name"}}`)}
		}), "query_class", "users", "",
			"rule_value @ filter [principal filters users]: an expression in a filter yields nothing for the principal, or what its field can't hold"},
		{"a denied field", agent(), "query_class", "users", "notes", "field_denied @ field [classes app.users denied 0]: a rule denies the field"},
		{"a field left out", agent(), "query_class", "users", "phone", "field_denied @ field [classes app.users visible]: visible names other fields"},
		{"a credential", agent(), "query_class", "users", "password_hash", "field_denied @ field []: its name says that it holds a credential. Only visible and lift together show it"},
		{"a masked field", agent(), "query_class", "users", "email", "yes [classes app.users mask email]: the field leaves masked (partial), and can't be filtered, sorted, grouped or joined on"},
		{"no such field", agent(), "query_class", "users", "nam", `unknown_field @ catalogue []: the class has no field "nam". Did you mean name?`},
		{"a field of a hidden class", agent(), "query_class", "keys", "value", "hidden_class @ class [classes app.keys hidden]: the class is hidden, but for the scope operator, and the principal has read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := r.WouldPermit(tt.who, tt.tool, tt.class)
			if v.Allowed && tt.field != "" {
				v = r.FieldVerdict(tt.who, tt.class, tt.field)
			}
			got := fmt.Sprintf("%s @ %s [%s]: %s", v.Reason, v.DeniedAt, strings.Join(v.Rule, " "), v.Why)
			if v.Allowed {
				got = strings.Replace("yes ["+strings.Join(v.Rule, " ")+"]: "+v.Why, " []", "", 1)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestCanonicalVerdict checks a rule whose expression returns no value.
func TestCanonicalVerdict(t *testing.T) {
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{"users": {Canonical: where(t, `{"name": {"$cel": "principal.claims.name"}}`)}}}, catalogue())
	if err != nil {
		t.Fatal(err)
	}
	r, err := policyops.NewRegime(p, []policyops.Tool{{Use: policy.Use{Tool: "query_class", Needs: identity.Read}}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.WouldPermit(agent(), "query_class", "users"); v.Allowed || fmt.Sprint(v.Reason, v.Rule) != "rule_value[classes users canonical]" {
		t.Errorf("%+v", v)
	}
}

// TestDescribe checks the complete description of a principal. It must not contain values of filters.
func TestDescribe(t *testing.T) {
	p := agent()
	p.Filters = map[string]query.Filter{"issues": where(t, `{"title": {"$in": ["canary-1", "canary-2"]}}`)}
	d := regime(t).Describe(p)
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{"canary"} {
		if strings.Contains(string(b), canary) {
			t.Errorf("%s is told", canary)
		}
	}
	var got []string
	for _, v := range d.Classes {
		var fields []string
		for _, f := range v.Fields {
			fields = append(fields, strings.TrimSuffix(f.Name+":"+string(f.Mask), ":"))
		}
		got = append(got, v.Name+": "+strings.Join(fields, " "))
		for _, l := range v.Layers {
			got = append(got, fmt.Sprintf("  %s %s %s", l.Name, l.Through, l.Where))
		}
		for _, h := range v.Hidden {
			got = append(got, "  - "+h.Field+" "+h.Reason)
		}
	}
	for _, h := range d.Hidden {
		got = append(got, "- "+h.Class+" "+h.Reason)
	}
	got = append(got, fmt.Sprint(d.Tools, d.Scopes)+d.Rules)
	want := []string{
		"comments: id issue body",
		`  tenant issue {"org":"sha256:7902699b"}`,
		`  principal issue {"title":{"$in":["sha256:8cdb95b8","sha256:827d4a55"]}}`,
		`  canonical issue {"deleted":false}`,
		"issues: id org title deleted",
		`  tenant  {"org":"sha256:7902699b"}`,
		`  principal  {"title":{"$in":["sha256:8cdb95b8","sha256:827d4a55"]}}`,
		`  canonical  {"deleted":false}`,
		"users: id name email:partial",
		"  - phone field_denied", "  - notes field_denied", "  - password_hash field_denied",
		"- app.jobs unlisted_class", "- app.keys hidden_class", "- app.logs no_visible_field",
		"[query_class] [read]v1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
