package policyops_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

func diffCatalogue() []schema.Class {
	class := func(name string, fields ...string) schema.Class {
		c := schema.Class{Source: "app", Name: name, Table: name, Key: []string{"id"}, Fields: []schema.Field{{Name: "id", Type: schema.Integer}}}
		for _, f := range fields {
			c.Fields = append(c.Fields, schema.Field{Name: f, Type: schema.String})
		}
		return c
	}
	return []schema.Class{class("issues", "org", "title", "state"), class("keys", "value"), class("users", "name", "email"), class("masked", "name")}
}

var tools = []policyops.Tool{{Use: policy.Use{Tool: "query_class", Needs: identity.Read}}, {Use: policy.Use{Tool: "get_object", Needs: identity.Read}}, {Use: policy.Use{Tool: "export_data", Needs: identity.Read}}, {Use: policy.Use{Tool: "delete_object", Needs: identity.Delete}}}

func diffRegime(t *testing.T, rules policy.Rules, tools []policyops.Tool) *policyops.Regime {
	t.Helper()
	p, err := policy.New(rules, diffCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	g, err := policyops.NewRegime(p, tools, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func open() policy.Rules {
	return policy.Rules{Version: "old", Unlisted: true, Gates: policy.Gates{Writes: policy.On}, Classes: map[string]policy.ClassRule{"app.keys": {Hidden: true}, "app.users": {Denied: []string{"email"}},
		"app.masked": {Mask: map[string]policy.Mask{"name": policy.Hash}}}}
}

var noon = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

func call(tool, uses, args string) audit.Record {
	r := audit.Record{Time: noon, Principal: "token:a", TokenID: "a", Tenant: "acme", Tool: tool, Outcome: audit.OK, Scopes: []string{"read"}, Policy: "old",
		Uses: strings.Fields(uses), ArgKeys: strings.Fields(args)}
	return r
}

func refused(r audit.Record, kind string) audit.Record {
	r.Outcome, r.Code, r.Kind = audit.Refused, "not_found", kind
	return r
}

func code(r audit.Record, code, kind string) audit.Record {
	r.Outcome, r.Code, r.Kind = audit.Refused, code, kind
	return r
}

func directory() policyops.CallDirectory {
	return policyops.CallDirectory{Tokens: map[string]identity.Principal{"a": {ID: "token:a", TokenID: "a", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}},
		Stdio: identity.Principal{ID: "stdio", Tenant: "acme", Scopes: []identity.Scope{identity.Read}, Tools: identity.List{Only: []string{"get_object"}}}}
}

func state(v string) query.Filter {
	return query.Compare{Path: query.Path{"state"}, Op: query.Eq, Value: value.OfString(v)}
}

// TestTrial checks each way in which other rules change the outcome of a recorded call.
func TestTrial(t *testing.T) {
	rule := func(class string, r policy.ClassRule) func(*policy.Rules) {
		return func(rules *policy.Rules) { rules.Classes["app."+class] = r }
	}
	other := call("query_class", "app.issues", "class_name")
	other.Principal, other.TokenID = "token:gone", "gone"
	derived := call("query_class", "app.issues", "class_name")
	derived.Parent = "token:a"
	old := call("query_class", "", "class_name")
	old.Uses, old.Class = nil, "issues"
	for _, tt := range []struct {
		name   string
		change func(*policy.Rules)
		call   audit.Record
		want   string
	}{
		{"the same rules", func(*policy.Rules) {}, call("query_class", "app.issues app.issues.title", "class_name where"), ""},
		{"a class that is hidden now", rule("issues", policy.ClassRule{Hidden: true}), call("query_class", "app.issues", "class_name"), "refused: hidden_class classes.app.issues.hidden"},
		{"a record older than uses", rule("issues", policy.ClassRule{Hidden: true}), old, "refused: hidden_class classes.app.issues.hidden"},
		{"a field that is denied now, and was named", rule("issues", policy.ClassRule{Denied: []string{"title"}}), call("query_class", "app.issues app.issues.title", "class_name where"), "refused: field_denied classes.app.issues.denied.0"},
		{"a field that is denied now, and was only shown", rule("issues", policy.ClassRule{Denied: []string{"title"}}), call("query_class", "app.issues", "class_name"), "changed: app.issues.title would be hidden"},
		{"a field that is denied now, and was not shown", rule("issues", policy.ClassRule{Denied: []string{"title"}}), call("query_class", "app.issues app.issues.state", "class_name keys"), ""},
		{"a class that is shown now", rule("keys", policy.ClassRule{}), refused(call("query_class", "app.keys", "class_name"), "hidden_class"), "allowed: hidden_class classes.app.keys.hidden"},
		{"a field that is shown now", rule("users", policy.ClassRule{}), refused(call("query_class", "app.users app.users.email", "class_name where"), "field_denied"), "allowed: field_denied classes.app.users.denied.0"},
		{"a field that is shown now to who asks for all", rule("users", policy.ClassRule{}), call("get_object", "app.users", "class_name object_id"), "changed: app.users.email would be shown"},
		{"refused for what the call was", rule("issues", policy.ClassRule{Hidden: true}), refused(call("query_class", "app.issues", "class_name where"), "unknown_field"), ""},
		{"refused either way", rule("keys", policy.ClassRule{Visible: []string{}}), refused(call("query_class", "app.keys", "class_name"), "hidden_class"), ""},
		{"a mask on what was shown", rule("issues", policy.ClassRule{Mask: map[string]policy.Mask{"title": policy.Hash}}), call("query_class", "app.issues app.issues.title", "class_name keys"), "changed: app.issues.title would be masked (hash)"},
		{"a mask on what may have been searched by", rule("issues", policy.ClassRule{Mask: map[string]policy.Mask{"title": policy.Hash}}), call("query_class", "app.issues app.issues.title", "class_name keys where"),
			"undecided: app.issues.title would be masked (hash), and the call refused if it finds, orders or groups records by it"},
		{"a mask that is taken off", func(r *policy.Rules) { delete(r.Classes, "app.masked") }, code(call("query_class", "app.masked app.masked.name", "class_name where"), "invalid_query", "field_masked"), "allowed: field_masked classes.app.masked.mask.name"},
		{"a mask that stays", func(*policy.Rules) {}, code(call("query_class", "app.masked app.masked.name", "class_name where"), "invalid_query", "field_masked"), ""},
		{"a canonical filter", rule("issues", policy.ClassRule{Canonical: state("open")}), call("query_class", "app.issues", "class_name"),
			`changed: records of app.issues would be narrowed by canonical {"state":"sha256:2348f998"}`},
		{"a canonical filter, by id", rule("issues", policy.ClassRule{Canonical: state("open")}), call("get_object", "app.issues", "class_name object_id"), ""},
		{"a tenant", rule("issues", policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}), call("query_class", "app.issues", "class_name"),
			`changed: records of app.issues would be narrowed by tenant {"org":"sha256:822b33ad"}`},
		{"a tenant that hangs on claims, of somebody who isn't known any more", rule("issues", policy.ClassRule{Tenant: &policy.TenantRule{Field: "org", Is: "principal.claims.org"}}), other,
			"undecided (rebuilt): classes.app.issues.tenant asks for what isn't recorded of the principal"},
		{"a tenant, of somebody who isn't known any more", rule("issues", policy.ClassRule{Tenant: &policy.TenantRule{Field: "org"}}), other,
			`changed (rebuilt): records of app.issues would be narrowed by tenant {"org":"sha256:822b33ad"}`},
		{"a prompt about a class that is hidden now", rule("issues", policy.ClassRule{Hidden: true}), call("prompt:class_overview", "app.issues", "class_name"), "refused: hidden_class classes.app.issues.hidden"},
		{"a resource that is shown now", rule("keys", policy.ClassRule{}), refused(call("resource", "app.keys", ""), "hidden_class"), "allowed: hidden_class classes.app.keys.hidden"},
		{"a tool of the program", rule("issues", policy.ClassRule{Denied: []string{"title"}}), call("triage", "app.issues app.issues.title", ""), "refused: field_denied classes.app.issues.denied.0"},
		{"somebody derived", rule("issues", policy.ClassRule{Hidden: true}), derived, "refused (rebuilt): hidden_class classes.app.issues.hidden"},
		{"scans that are refused no longer", func(r *policy.Rules) { r.RefuseScans = false }, refused(call("query_class", "app.issues", "class_name"), "scan"), "allowed: scan policy.refuse_scans"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			was, is := open(), open()
			was.RefuseScans, is.RefuseScans = tt.call.Kind == "scan", tt.call.Kind == "scan"
			tt.change(&is)
			run := policyops.Trial{Old: policyops.Side{Regime: diffRegime(t, was, tools), Directory: directory()}, New: policyops.Side{Regime: diffRegime(t, is, tools), Directory: directory()}}
			run.Add(tt.call)
			report := run.Report()
			var got []string
			for _, c := range report.Changes {
				s := c.Ends
				if c.Rebuilt {
					s += " (rebuilt)"
				}
				s += ": " + strings.Join(c.Details, "; ")
				if c.Verdict.Reason != "" {
					s += c.Verdict.Reason + " " + strings.Join(c.Verdict.Rule, ".")
				}
				got = append(got, s)
			}
			if s := strings.Join(got, "\n"); s != tt.want {
				t.Errorf("got  %s\nwant %s", s, tt.want)
			}
			if n := len(report.Changes) + report.Same; report.Calls != 1 || n != 1 {
				t.Errorf("%d calls, %d accounted for", report.Calls, n)
			}
		})
	}
}

// TestTrialCounts checks that similar calls are reported once, with their number and the time of the last call.
func TestTrialCounts(t *testing.T) {
	is := open()
	is.Classes["app.issues"] = policy.ClassRule{Hidden: true}
	fewer := slices.Clone(tools)
	fewer[0].Off = true
	run := policyops.Trial{Old: policyops.Side{Regime: diffRegime(t, open(), tools), Directory: directory()}, New: policyops.Side{Regime: diffRegime(t, is, fewer), Directory: directory()}}
	for i := range 5 {
		r := call("get_object", "app.issues", "class_name object_id")
		r.Time = noon.Add(time.Duration(-i) * time.Hour)
		r.ArgHash = fmt.Sprint(i)
		run.Add(r)
	}
	run.Add(call("query_class", "app.users app.users.name", "class_name keys"))
	run.Add(call("get_object", "app.users app.users.name", "class_name object_id keys"))
	report := run.Report()
	var got []string
	for _, c := range report.Changes {
		got = append(got, fmt.Sprintf("%s %s %s %d %s %s", c.Ends, c.Tool, strings.Join(c.Uses, ","), c.Calls, c.Last.Format(time.TimeOnly), c.Verdict.Reason))
	}
	want := []string{"refused get_object app.issues 5 12:00:00 hidden_class", "refused query_class app.users,app.users.name 1 12:00:00 tool_off"}
	if diff := cmp.Diff(want, got); diff != "" || report.Calls != 7 || report.Same != 1 {
		t.Errorf("%s%+v", diff, report)
	}
}

// TestExplain checks each reason for a refusal that a record can contain.
func TestExplain(t *testing.T) {
	rules := open()
	rules.RefuseScans = true
	rules.Classes["app.issues"] = policy.ClassRule{Mask: map[string]policy.Mask{"title": policy.Hash}}
	g := diffRegime(t, rules, tools)
	stdio := call("query_class", "", "class_name")
	stdio.Principal, stdio.TokenID = "stdio", ""
	older := call("query_class", "app.users", "class_name")
	older.Policy = "older"
	for _, tt := range []struct {
		name string
		call audit.Record
		want string
	}{
		{"a hidden class", refused(call("query_class", "app.keys", ""), "hidden_class"), "hidden_class @ class classes.app.keys.hidden, still: the class is hidden"},
		{"a denied field", refused(call("query_class", "app.users app.users.email app.users.name", ""), "field_denied"), "field_denied @ field classes.app.users.denied.0, still: a rule denies the field"},
		{"a masked field", code(call("query_class", "app.issues app.issues.state app.issues.title", ""), "invalid_query", "field_masked"),
			"field_masked @ mask classes.app.issues.mask.title, still: the field leaves masked (hash), and can't be filtered, sorted, grouped or joined on"},
		{"a scope", code(call("delete_object", "", ""), "permission_denied", "scope"), "scope @ scope principal.scopes, still: delete_object needs the scope delete, and the principal has read"},
		{"a list of the principal", code(stdio, "unknown_tool", "tool_filtered"), "tool_filtered @ list principal.tools.only, still: the principal's list of tools leaves query_class out"},
		{"a prompt of a tool that isn't kept", code(call("prompt:class_overview", "", ""), "unknown_tool", "tool_filtered"), "tool_filtered @ list principal.tools, still: the principal's list of tools leaves out what it leads to"},
		{"a prompt about a hidden class", refused(call("prompt:class_overview", "app.keys", ""), "hidden_class"), "hidden_class @ class classes.app.keys.hidden, still: the class is hidden"},
		{"a rule that is gone", refused(call("query_class", "app.users", ""), "hidden_class"), "hidden_class @  : the rules in force now would not refuse it"},
		{"other rules then", older, " @  : the call was not refused (ok); other rules were in force then: older"},
		{"a scan", code(call("query_class", "app.users", ""), "invalid_query", "scan"),
			"scan @ scan policy.refuse_scans, still: it would have read every record of app.users, and the rules refuse that. allow_scan in classes.app.users lets small classes be read whole"},
		{"a class that doesn't exist", refused(call("query_class", "", ""), "unknown_class"), "unknown_class @ catalogue , still: it named a class that doesn't exist. The name isn't kept, for an agent's text can hold anything"},
		{"a limit", code(call("query_class", "", ""), "rate_limited", "rate"), "rate @ limit limits, still: a limit of the principal or its owner was reached"},
		{"a wrong call", code(call("query_class", "app.users", ""), "invalid_query", ""), "invalid_query @ catalogue , still: the call itself was not right. No rule refused it"},
		{"a call that was not refused", call("query_class", "app.users", ""), " @  : the call was not refused (ok)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := policyops.ExplainCall(g, directory(), &tt.call)
			e.Notes = append([]string{e.Verdict.Why}, e.Notes...)
			still := ""
			if e.Still {
				still = ", still"
			}
			got := fmt.Sprintf("%s @ %s %s%s: %s", e.Verdict.Reason, e.Verdict.DeniedAt, strings.Join(e.Verdict.Rule, "."), still, strings.Join(e.Notes, "; "))
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
