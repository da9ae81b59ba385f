package calls_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

const teams = `{"openapi": "3.0.3", "info": {"title": "Teams", "version": "1"},
"components": {"schemas": {
  "Team": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "billingPlan": {"type": "string"}, "teamId": {"type": "string"}}},
  "Invoice": {"type": "object", "properties": {"total": {"type": "integer"}}}}},
"paths": {
  "/teams/{teamId}": {
    "parameters": [{"name": "teamId", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "getTeam", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Team"}}}}}},
    "put": {"operationId": "setTeam", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Team"}}}}, "responses": {"200": {"description": "ok"}}},
    "delete": {"operationId": "deleteTeam", "responses": {"204": {"description": "gone"}}}},
  "/teams": {
    "get": {"operationId": "listTeams", "parameters": [{"name": "teamId", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}},
    "post": {"operationId": "makeTeam", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Team"}}}}, "responses": {"201": {"description": "ok"}}}},
  "/invoices": {"get": {"operationId": "listInvoices", "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Invoice"}}}}}}},
  "/teams/{teamId}/pause/{how}": {"post": {"operationId": "pauseTeam", "parameters": [{"name": "teamId", "in": "path", "required": true, "schema": {"type": "string"}},
    {"name": "how", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"204": {"description": "paused"}}}},
  "/tokens": {"post": {"operationId": "mintToken", "responses": {"200": {"description": "ok"}}}}}}`

func compiled(t *testing.T, change func(*calls.Rules)) *calls.APIs {
	t.Helper()
	d, err := spec.Load([]byte(teams))
	if err != nil {
		t.Fatal(err)
	}
	rules := calls.Rules{Document: d}
	if change != nil {
		change(&rules)
	}
	all, err := calls.New(map[string]calls.Rules{"flow": rules}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func agent(team string, scopes ...identity.Scope) identity.Principal {
	return identity.Principal{ID: "token:1", Kind: identity.Agent, Owner: "ana", Tenant: team, Scopes: scopes}
}

func object(t *testing.T, text string) value.Value {
	t.Helper()
	if text == "" {
		return value.Value{}
	}
	v, err := value.Read([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPermits checks the requests or errors for calls.
func TestPermits(t *testing.T) {
	all := compiled(t, func(r *calls.Rules) {
		r.Parameters = []calls.Parameter{{Name: "teamId", Is: "principal.tenant"}}
		r.Hidden = []calls.Hidden{{Operations: []string{"listInvoices"}, When: `!("operator" in principal.scopes)`}, {Fields: []string{"Team.billingPlan"}}}
		r.Access.Rules = []spec.ClassRule{{Operations: []string{"mintToken"}, Class: spec.ClassForbidden, Reason: "it makes credentials", Instead: "do it in the settings"}}
	})
	whole := agent("t1", identity.Read, identity.Write, identity.Delete)
	for _, row := range []struct {
		name      string
		who       identity.Principal
		operation string
		writes    bool
		args      string
		want      string
	}{
		{"the team of the asker", whole, "getTeam", false, `{"path": {"teamId": "t1"}}`, "GET /teams/t1"},
		{"another team", whole, "getTeam", false, `{"path": {"teamId": "t2"}}`, "permission_denied parameter_rule /path/teamId this teamId is not one that you may use"},
		{"the team is put in", whole, "getTeam", false, `{}`, "GET /teams/t1"},
		{"and into a query", whole, "listTeams", false, `{}`, "GET /teams?teamId=t1"},
		{"a list of teams", whole, "listTeams", false, `{"query": {"teamId": ["t1", "t2"]}}`, "permission_denied parameter_rule /query/teamId/1 this teamId is not one that you may use"},
		{"derived from somebody of another team", derived(agent("t1", identity.Read), agent("t2", identity.Read)), "listTeams", false, `{}`, "permission_denied parameter_rule  which teamId you may use can't be told"},
		{"no team to tell of", agent("", identity.Read), "listTeams", false, `{}`, "permission_denied parameter_rule  which teamId you may use can't be told"},
		{"no team to tell of, and one is given", agent("", identity.Read), "getTeam", false, `{"path": {"teamId": "t1"}}`, "permission_denied parameter_rule  which teamId you may use can't be told"},
		{"derived from somebody of the same team", derived(agent("t1", identity.Read), agent("t1", identity.Read)), "listTeams", false, `{}`, "GET /teams?teamId=t1"},
		{"derived from nobody's, and above from the same team's", derived(agent("t1", identity.Read), derived(agent("", identity.Read), agent("t1", identity.Read))), "listTeams", false, `{}`,
			"permission_denied parameter_rule  which teamId you may use can't be told"},
		{"into a body", whole, "makeTeam", true, `{"body": {"name": "n"}}`, `POST /teams {"name":"n","teamId":"t1"}`},
		{"another team in a body", whole, "makeTeam", true, `{"body": {"name": "n", "teamId": "t2"}}`, "permission_denied parameter_rule /body/teamId this teamId is not one that you may use"},
		{"a body that holds an object there", whole, "makeTeam", true, `{"body": {"teamId": {"$ne": 1}}}`, "permission_denied parameter_rule /body/teamId this teamId is not one that you may use"},
		{"a hidden field is unknown", whole, "setTeam", true, `{"path": {"teamId": "t1"}, "body": {"billingPlan": "free"}}`, `invalid_argument schema /body/billingPlan unknown field "billingPlan". It takes id, name, teamId`},
		{"hidden from agents", whole, "listInvoices", false, `{}`, `not_found hidden_operation /operationId unknown operation "listInvoices"`},
		{"not from operators", agent("t1", identity.Read, identity.Operator), "listInvoices", false, `{}`, "GET /invoices"},
		{"forbidden to all, by method and path", whole, "POST /tokens", true, `{}`, "security_blocked forbidden_operation /operationId mintToken is not for agents: it makes credentials"},
		{"forbidden to all", whole, "mintToken", true, `{}`, "security_blocked forbidden_operation /operationId mintToken is not for agents: it makes credentials"},
		{"a write asked for as a read", whole, "setTeam", false, `{"path": {"teamId": "t1"}}`, "invalid_argument writes /operationId setTeam is a write operation: it isn't called as a read"},
		{"a read asked for as a write", whole, "getTeam", true, `{"path": {"teamId": "t1"}}`, "invalid_argument reads /operationId getTeam only reads"},
		{"a write without the scope", agent("t1", identity.Read), "setTeam", true, `{"path": {"teamId": "t1"}}`, "permission_denied scope /operationId setTeam is a write operation: it needs the scope write"},
		{"a delete with the scope write", agent("t1", identity.Read, identity.Write), "deleteTeam", true, `{"path": {"teamId": "t1"}}`, "permission_denied scope /operationId deleteTeam is a destructive operation: it needs the scope delete"},
		{"a class list without the API", narrowed(whole, "shop.orders"), "getTeam", false, `{}`, "not_found unknown_api  there is no API here"},
		{"a class list with one operation", narrowed(whole, "flow.getTeam"), "getTeam", false, `{}`, "GET /teams/t1"},
		{"and not another", narrowed(whole, "flow.getTeam"), "listTeams", false, `{}`, `not_found operation_filter /operationId unknown operation "listTeams"`},
		{"a class list with the API", narrowed(whole, "flow"), "listTeams", false, `{}`, "GET /teams?teamId=t1"},
	} {
		got := tried(all, row.who, calls.Request{Operation: row.operation, Writes: row.writes}, object(t, row.args))
		if !strings.HasPrefix(got, row.want) || strings.HasPrefix(row.want, "GET") && got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func derived(p, from identity.Principal) identity.Principal {
	p.Above, p.Depth = &from, 1
	return p
}

func narrowed(p identity.Principal, classes ...string) identity.Principal {
	p.Classes.Only = classes
	return p
}

// tried returns, on one line, the request that a call would send, or its error.
func tried(all *calls.APIs, principal identity.Principal, ask calls.Request, args value.Value) string {
	r, err := all.Reach(principal, "", "")
	var permit calls.Permit
	var plan calls.Plan
	if err == nil {
		ask.Arguments, err = calls.Arguments(args)
	}
	if err == nil {
		permit, err = r.Permit(context.Background(), principal, ask)
	}
	if err == nil {
		plan, err = permit.Plan()
	}
	if err != nil {
		p := problem.Of(err)
		pointer, detail := p.Pointer, p.Detail
		if len(p.Faults) > 0 {
			pointer, detail = p.Faults[0].Pointer, p.Faults[0].Message
		}
		return strings.Join([]string{string(p.Code), p.Kind, pointer, detail}, " ")
	}
	return strings.TrimSpace(plan.Request.Method + " " + plan.Request.Target() + " " + string(plan.Request.Body))
}

// TestBefore checks that a write comes with the read of the resource, if the principal may read it.
func TestBefore(t *testing.T) {
	all := compiled(t, nil)
	for _, row := range []struct{ operation, args, want string }{
		{"setTeam", `{"path": {"teamId": "a/b"}, "body": {}}`, "GET /teams/a%2Fb"},
		{"deleteTeam", `{"path": {"teamId": "t"}}`, "GET /teams/t"},
		{"makeTeam", `{"body": {}}`, ""},
		{"pauseTeam", `{"path": {"teamId": "a/b", "how": "now"}}`, "about GET /teams/a%2Fb"},
	} {
		p := agent("", identity.Read, identity.Write, identity.Delete)
		r, err := all.Reach(p, "flow", "")
		if err != nil {
			t.Fatal(err)
		}
		args, err := calls.Arguments(object(t, row.args))
		if err != nil {
			t.Fatal(err)
		}
		permit, err := r.Permit(t.Context(), p, calls.Request{Operation: row.operation, Arguments: args, Writes: true})
		if err != nil {
			t.Fatal(err)
		}
		plan, _ := permit.Plan()
		got := ""
		if plan.Before != nil {
			before, _ := plan.Before.Plan()
			got = before.Request.Method + " " + before.Request.Target()
		}
		if plan.About != nil {
			about, _ := plan.About.Plan()
			got = "about " + about.Request.Method + " " + about.Request.Target()
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.operation, got, row.want)
		}
	}
}

// TestFaults has a row for each error in rules.
func TestFaults(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*calls.Rules)
		want   string
	}{
		{"no document", func(r *calls.Rules) { r.Document = nil }, "apis.flow/Document: there is no document"},
		{"an unknown operation is shown", func(r *calls.Rules) { r.Shown = []string{"getTeem"} }, `apis.flow/Shown/operations/0: no operation of the document is "getTeem". Did you mean getTeam, setTeam or GET /teams?`},
		{"nothing is hidden", func(r *calls.Rules) { r.Hidden = []calls.Hidden{{When: "true"}} }, "apis.flow/Hidden/0: it names no operations, tags, schemas or fields"},
		{"an unknown schema", func(r *calls.Rules) { r.Hidden = []calls.Hidden{{Schemas: []string{"Taem"}}} }, `apis.flow/Hidden/0/Schemas/0: the document has no schema "Taem". Did you mean Team?`},
		{"a field of an unknown schema", func(r *calls.Rules) { r.Hidden = []calls.Hidden{{Fields: []string{"Taem.id"}}} }, `apis.flow/Hidden/0/Fields/0: the document has no schema "Taem". Did you mean Team?`},
		{"when is no truth", func(r *calls.Rules) {
			r.Hidden = []calls.Hidden{{Fields: []string{"id"}, When: "principal.tenant"}}
		}, "apis.flow/Hidden/0/When: "},
		{"an unknown parameter", func(r *calls.Rules) {
			r.Parameters = []calls.Parameter{{Name: "teamID", Is: "principal.tenant"}}
		}, `apis.flow/Parameters/0/Name: no operation has a parameter or a field of a body called "teamID". Did you mean teamId?`},
		{"a parameter that must be nothing", func(r *calls.Rules) { r.Parameters = []calls.Parameter{{Name: "teamId"}} }, "apis.flow/Parameters/0: it needs a name and what it must be"},
	} {
		d, err := spec.Load([]byte(teams))
		if err != nil {
			t.Fatal(err)
		}
		rules := calls.Rules{Document: d}
		row.change(&rules)
		if _, err = calls.New(map[string]calls.Rules{"flow": rules}, expression.NewCompiler()); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s\n got %v\nwant %s", row.name, err, row.want)
		}
	}
}

// TestZero checks that zero values refuse.
func TestZero(t *testing.T) {
	if _, err := (calls.Permit{}).Plan(); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero permit lets something be sent:", err)
	}
	if _, err := new(calls.APIs).Reach(agent("t", identity.Read), "", ""); problem.CodeOf(err) != problem.NotFound {
		t.Error("the zero APIs have one:", err)
	}
}

// TestFloor checks that no API shows a source's internal fields, whatever the rules say.
func TestFloor(t *testing.T) {
	r, err := compiled(t, nil).Reach(agent("t1"), "flow", "")
	if err != nil || r.View.Field("", "_hashed_password") || r.View.Field("Team", "_rperm") || !r.View.Field("Team", "name") {
		t.Error("the machinery is seen:", err)
	}
}

// TestReachIsKept checks that principals share a Reach exactly if they see the same.
func TestReachIsKept(t *testing.T) {
	all := compiled(t, func(r *calls.Rules) {
		r.Hidden = []calls.Hidden{{Fields: []string{"id"}, When: `principal.tenant == "t1"`}}
	})
	of := func(p identity.Principal) *calls.Reach {
		r, err := all.Reach(p, "flow", "")
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b, c, d := of(agent("t1")), of(agent("t2")), of(agent("t3")), of(narrowed(agent("t1"), "flow"))
	if b != c || a == b || a == d {
		t.Error("who sees the same has another reach, or who doesn't the same")
	}
}
