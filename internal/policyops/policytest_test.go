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

func testRegime(t *testing.T) *policyops.Regime {
	t.Helper()
	class := func(name string, fields ...string) schema.Class {
		c := schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}}
		for _, f := range fields {
			c.Fields = append(c.Fields, schema.Field{Name: f, Type: schema.String})
		}
		return c
	}
	live := query.Compare{Path: query.Path{"state"}, Op: query.Eq, Value: value.OfString("open")}
	p, err := policy.New(policy.Rules{Classes: map[string]policy.ClassRule{
		"issues": {Tenant: &policy.TenantRule{Field: "org"}, Canonical: live, Denied: []string{"note"}, Mask: map[string]policy.Mask{"email": policy.Partial}},
		"keys":   {Hidden: true},
	}}, []schema.Class{class("issues", "org", "state", "note", "email"), class("keys")})
	if err != nil {
		t.Fatal(err)
	}
	g, err := policyops.NewRegime(p, []policyops.Tool{{Use: policy.Use{Tool: "query_class", Needs: identity.Read}}, {Use: policy.Use{Tool: "group_by", Needs: identity.Read}}, {Use: policy.Use{Tool: "count_objects", Needs: identity.Read}}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestRun checks each possible expectation. A row contains a request, the expectation and the differences.
func TestRun(t *testing.T) {
	const issues = "{tool: query_class, class: issues}"
	for _, tt := range []struct{ name, as, when, expect, want string }{
		{"allowed", "a", issues, "allowed", ""},
		{"not allowed", "a", "{tool: query_class, class: keys}", "allowed", "outcome: allowed / refused, hidden_class"},
		{"refused", "a", "{tool: query_class, class: keys}", "refused", ""},
		{"refused for this", "a", "{tool: query_class, class: keys}", "{outcome: refused, kind: hidden_class}", ""},
		{"refused for something else", "a", "{tool: query_class, class: keys}", "{outcome: refused, kind: class_filter}", "outcome: refused, class_filter / refused, hidden_class"},
		{"not refused", "a", issues, "{outcome: refused, kind: x}", "outcome: refused, x / allowed"},
		{"no such tool", "a", "{tool: rm}", "refused", ""},
		{"no tenant", "nobody", issues, "{outcome: refused, kind: tenant_missing}", ""},
		{"a where", "a", "{tool: query_class, class: issues, where: {note: x}}", "{outcome: refused, kind: field_denied}", ""},
		{"a count", "a", "{tool: count_objects, class: issues, where: {note: x}}", "{outcome: refused, kind: field_denied}", ""},
		{"keys", "a", "{tool: query_class, class: issues, keys: [state, nothing]}", "{outcome: refused, kind: unknown_field}", ""},
		{"an order", "a", "{tool: query_class, class: issues, order: -note}", "{outcome: refused, kind: field_denied}", ""},
		{"an include", "a", "{tool: query_class, class: issues, include: [state]}", "{outcome: refused, kind: invalid_query}", ""},
		{"a pipeline", "a", "{tool: query_class, class: issues, pipeline: [{$match: {state: open}}, {$project: {note: 1}}]}", "{outcome: refused, kind: field_denied}", ""},
		{"grouped by a mask", "a", "{tool: group_by, class: issues, using: [email]}", "{outcome: refused, kind: field_masked}", ""},
		{"grouped by what is seen", "a", "{tool: group_by, class: issues, using: [state]}", "allowed", ""},
		{"fields", "a", issues, "{visible: [state], hidden: [note]}", ""},
		{"other fields", "a", issues, "{visible: [note], hidden: [state]}", "note: visible / hidden: a rule denies the field; state: hidden / visible"},
		{"all fields", "a", issues, "{only: [id, org, state, email]}", ""},
		{"all fields but", "a", issues, "{only: [id, org, note]}", "fields: also note / also state, email"},
		{"masks", "a", issues, "{masked: {email: partial, state: none}}", ""},
		{"other masks", "a", issues, "{masked: {email: hash, state: hash, note: null}}", "mask of email: hash / partial; mask of note: null / hidden; mask of state: hash / none"},
		{"layers", "a", issues, "{layers: [tenant, canonical]}", ""},
		{"other layers", "a", issues, "{layers: [canonical]}", "layers: canonical / tenant, canonical"},
		{"a filter", "filtered", issues, "{layers: [tenant, principal, canonical], sees: {principal: {state: x}}}", ""},
		{"layers by id", "a", "{tool: query_class, class: issues, by_id: true}", "{layers: [tenant]}", ""},
		{"what layers hold", "a", issues, "{sees: {tenant: {org: acme}, canonical: {state: open}}}", ""},
		{"what layers don't hold", "a", issues, "{sees: {tenant: {org: globex}, principal: {state: open}}}",
			`layer principal: {"state":{"$eq":"open"}} = {"state":"sha256:2348f998"} / no such layer; layer tenant: {"org":{"$eq":"globex"}} = {"org":"sha256:5bc1a08d"} / {"org":"sha256:822b33ad"}`},
		{"tools", "narrow", "{tool: group_by}", "{tools: [group_by]}", ""},
		{"other tools", "a", "{tool: group_by}", "{tools: [group_by, rm]}", "tools: also rm / also query_class, count_objects"},
		{"somebody of the configuration", "stdio", issues, "allowed", ""},
		{"nobody", "b", issues, "allowed", `error: no principal is called "b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "given:\n  a: {tenant: acme}\n  nobody: {owner: ann}\n  filtered: {tenant: acme, filters: {issues: {state: x}}}\n  narrow: {tenant: acme, tools: {only: [group_by]}}\n" +
				"tests:\n  - name: x\n    as: " + tt.as + "\n    when: " + strings.ReplaceAll(tt.when, "null", `"null"`) + "\n    expect: " + strings.ReplaceAll(tt.expect, "note: null", `note: "null"`) + "\n"
			f, err := policyops.ParseTests("t.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			stdio := identity.Principal{ID: "stdio", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
			r := policyops.RunTests(testRegime(t), f, map[string]identity.Principal{"stdio": stdio})[0]
			var got []string
			if r.Error != "" {
				got = append(got, "error: "+r.Error)
			}
			for _, d := range r.Differs {
				got = append(got, fmt.Sprintf("%s: %s / %s", d.What, d.Expected, d.Got))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" || r.Good() != (tt.want == "") || r.Line != 7 {
				t.Errorf("%sgood %v, line %d", diff, r.Good(), r.Line)
			}
		})
	}
}

// TestParse checks each possible error in a test file.
func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "given: {a: {tenant: x}}\n", "t.yaml:1:1: needs the key tests"},
		{"a wrong key", "tests:\n  - {name: n, as: a, when: {tool: t}, expects: allowed}\n", `unknown key "expects". Did you mean expect?`},
		{"no test", "tests: []\n", "names no test"},
		{"an outcome", "tests:\n  - {name: n, as: a, when: {tool: t}, expect: maybe}\n", "must be allowed or refused"},
		{"a kind of what is allowed", "tests:\n  - {name: n, as: a, when: {tool: t}, expect: {kind: x}}\n", "kind says why something is refused. Write outcome: refused"},
		{"what is seen of what is refused", "tests:\n  - {name: n, as: a, when: {tool: t}, expect: {outcome: refused, visible: [a]}}\n", "nothing is seen of what is refused"},
		{"visible and hidden", "tests:\n  - {name: n, as: a, when: {tool: t}, expect: {visible: [a], hidden: [a]}}\n", "a is expected to be visible and hidden"},
		{"a query of no class", "tests:\n  - {name: n, as: a, when: {tool: t, keys: [a]}, expect: allowed}\n", "needs the class that this is asked of"},
		{"a scope", "given: {a: {scopes: [raed]}}\ntests: []\n", "there is no such scope"},
		{"a stage", "tests:\n  - {name: n, as: a, when: {tool: t, class: c, pipeline: [{$mach: {}}]}, expect: allowed}\n", "$mach"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := policyops.ParseTests("t.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v; want an error with %s", f, err, tt.want)
			}
		})
	}
}
