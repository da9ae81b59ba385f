package calls_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// TestArguments checks that Kept and Arguments are inverse, and that unknown members are rejected.
func TestArguments(t *testing.T) {
	for _, text := range []string{`{}`, `{"path":{"a":"1"},"query":{"b":2},"headers":{"c":"3"},"body":{"d":[null]},"media":"text/plain"}`, `{"body":null}`, `{"query":{}}`} {
		a, err := calls.Arguments(object(t, text))
		if err != nil {
			t.Fatal(err)
		}
		if got := calls.EncodeArguments(a).String(); got != text {
			t.Errorf("%s is kept as %s", text, got)
		}
	}
	_, err := calls.Arguments(object(t, `{"pats": {}}`))
	if p := problem.Of(err); p == nil || p.Pointer != "/request/pats" || p.Detail != `a call has no "pats". Did you mean path?` {
		t.Error(err)
	}
}

// TestExact checks the description of a request that reviewers approve.
func TestExact(t *testing.T) {
	for _, row := range []struct {
		r    calls.HTTPRequest
		want string
	}{
		{calls.HTTPRequest{Method: "GET", Path: "/a"}, `{"method":"GET","target":"/a","headers":{}}`},
		{calls.HTTPRequest{Method: "PUT", Path: "/a", Header: map[string][]string{"B": {"1", "2"}, "A": {"0"}}, Body: []byte("text")}, `{"method":"PUT","target":"/a","headers":{"A":"0","B":"1, 2"},"body":"text"}`},
		{calls.HTTPRequest{Method: "PUT", Path: "/a", Body: []byte{0xff}}, `{"method":"PUT","target":"/a","headers":{},"base64":"/w=="}`},
		{calls.HTTPRequest{Method: "PUT", Path: "/a", Body: []byte{}}, `{"method":"PUT","target":"/a","headers":{},"body":""}`},
	} {
		if got := calls.Exact(&row.r).String(); got != row.want {
			t.Errorf("got  %s\nwant %s", got, row.want)
		}
	}
}

const places = `{"openapi": "3.0.3", "paths": {
"/0": {"get": {"operationId": "get0", "responses": {"200": {"description": "ok"}}}},
"/a/{team}": {"parameters": [{"name": "team", "in": "path", "required": true, "schema": {"type": "string"}}],
  "get": {"operationId": "getA", "tags": ["Keys"], "responses": {"200": {"description": "ok"}}},
  "patch": {"operationId": "patchA", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"x": {"type": "string"}}}}}}, "responses": {"200": {"description": "ok"}}},
  "post": {"operationId": "postA", "responses": {"200": {"description": "ok"}}}},
"/b": {"get": {"operationId": "getB", "parameters": [{"name": "X-Team", "in": "header", "schema": {"type": "string"}}, {"name": "X-Else", "in": "header", "schema": {"type": "string"}}, {"name": "other", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}},
  "post": {"operationId": "manyB", "requestBody": {"content": {"application/json": {"schema": {"type": "array", "items": {}}}}}, "responses": {"200": {"description": "ok"}}},
  "put": {"operationId": "putB", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"team": {"type": "string"}, "x": {"type": "string"}}}}}}, "responses": {"200": {"description": "ok"}}},
  "delete": {"operationId": "dropB", "responses": {"200": {"description": "ok"}}}},
"/c": {"post": {"operationId": "askC", "responses": {"200": {"description": "ok"}}}, "get": {"operationId": "getC", "responses": {"200": {"description": "ok"}}},
  "put": {"operationId": "putC", "responses": {"200": {"description": "ok"}}}},
"/d": {"get": {"operationId": "runD", "responses": {"200": {"description": "ok"}}}, "put": {"operationId": "putD", "responses": {"200": {"description": "ok"}}}},
"/e": {"get": {"operationId": "getE", "parameters": [{"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}},
  "put": {"operationId": "putE", "responses": {"200": {"description": "ok"}}}},
"/f": {"get": {"operationId": "getF", "parameters": [{"name": "x-team", "in": "header", "schema": {"type": "string"}}, {"name": "X-TEAM", "in": "query", "schema": {"type": "string"}},
  {"name": "other", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}}}}`

// shaped compiles the rules of an API of places, edited by change.
func shaped(t *testing.T, change func(*calls.Rules)) *calls.APIs {
	t.Helper()
	d, err := spec.Load([]byte(places))
	if err != nil {
		t.Fatal(err)
	}
	rules := calls.Rules{Document: d}
	change(&rules)
	all, err := calls.New(map[string]calls.Rules{"flow": rules}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestBinds checks a parameter rule at every place a parameter can have.
func TestBinds(t *testing.T) {
	all := shaped(t, func(r *calls.Rules) {
		r.OpenBodies = true
		r.Parameters = []calls.Parameter{
			{Name: "team", Is: "principal.tenant"},
			{Name: "X-Team", Is: "principal.tenant"},
			{Name: "other", Is: `"fixed"`, Operations: []string{"getB"}},
		}
	})
	p := agent("t1", identity.Read, identity.Write, identity.Delete)
	for _, row := range []struct {
		operation, args, want string
		headers, tenant       string
	}{
		{operation: "getA", args: `{}`, want: "GET /a/t1"},
		{operation: "getA", args: `{"path": {"team": {"a": 1}}}`, want: "permission_denied parameter_rule /path/team this team is not one that you may use"},
		{operation: "getA", args: `{"path": {"team": null}}`, want: "permission_denied parameter_rule /path/team this team is not one that you may use"},
		{operation: "getB", args: `{}`, want: "GET /b?other=fixed", headers: "t1"},
		{operation: "getB", args: `{"headers": {"X-TEAM": "t1"}}`, want: "GET /b?other=fixed", headers: "t1"},
		{operation: "getB", args: `{"headers": {"x-team": "t2"}}`, want: "permission_denied parameter_rule /headers/x-team this X-Team is not one that you may use"},
		{operation: "getB", args: `{"query": {"other": "else"}}`, want: "permission_denied parameter_rule /query/other this other is not one that you may use"},
		{operation: "patchA", args: `{"body": {"x": "1"}}`, want: `PATCH /a/t1 {"x":"1"}`},
		{operation: "patchA", args: `{"body": {"team": "t2"}}`, want: "permission_denied parameter_rule /body/team this team is not one that you may use"},
		{operation: "patchA", args: `{"body": {"team": "t1"}}`, want: `PATCH /a/t1 {"team":"t1"}`},
		{operation: "patchA", args: `{"path": {"team": "t2"}, "body": {"team": "t3"}}`, want: "permission_denied parameter_rule /path/team this team is not one that you may use"},
		{operation: "putB", args: `{"body": {"x": "1"}}`, want: `PUT /b {"x":"1","team":"t1"}`},
		{operation: "putB", args: `{}`, want: `PUT /b {"team":"t1"}`},
		{operation: "manyB", args: `{"body": [{"team": "t1"}, 1, {"team": "t2"}]}`, want: "permission_denied parameter_rule /body/2/team this team is not one that you may use"},
		{operation: "manyB", args: `{"body": [{"team": "t1"}, {"x": 1}, 2]}`, want: `POST /b [{"team":"t1"},{"x":1},2]`},
		{operation: "dropB", args: `{}`, want: "DELETE /b"},
		{operation: "putB", args: `{"body": {"team": "t1"}}`, want: `PUT /b {"team":"t1"}`},
		{operation: "getB", args: `{"headers": {"X-Else": "e"}}`, want: "GET /b?other=fixed", headers: "t1"},
		{operation: "getB", args: `{"query": {"OTHER": "x"}}`, want: `invalid_argument schema /query/OTHER unknown query parameter "OTHER". Did you mean other?`},
		{operation: "getF", args: `{"query": {"other": "free", "X-TEAM": "free"}}`, want: "GET /f?X-TEAM=free&other=free"},
		{operation: "getF", args: `{"headers": {"x-team": "t2"}}`, want: "permission_denied parameter_rule /headers/x-team this X-Team is not one that you may use"},
		{operation: "putB", args: `{"body": {"team": null}}`, tenant: "null", want: "permission_denied parameter_rule /body/team this team is not one that you may use"},
		{operation: "putB", args: `{"body": {"team": {}}}`, tenant: "{}", want: "permission_denied parameter_rule /body/team this team is not one that you may use"},
	} {
		p := p
		if row.tenant != "" {
			p.Tenant = row.tenant
		}
		got := tried(all, p, calls.Request{Operation: row.operation, Writes: !strings.HasPrefix(row.operation, "get")}, object(t, row.args))
		if got != row.want {
			t.Errorf("%s %s\n got %s\nwant %s", row.operation, row.args, got, row.want)
		}
		if row.headers == "" {
			continue
		}
		r, _ := all.Reach(p, "flow", "")
		args, _ := calls.Arguments(object(t, row.args))
		permit, err := r.Permit(t.Context(), p, calls.Request{Operation: row.operation, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		if plan, _ := permit.Plan(); plan.Request.Header.Get("X-Team") != row.headers {
			t.Errorf("%s: %v", row.args, plan.Request.Header)
		}
	}
	var binds []string
	d, _ := spec.Load([]byte(places))
	for _, op := range d.Operations {
		binds = append(binds, fmt.Sprint(op.ID, all.Binds("flow", op)))
	}
	if got := strings.Join(binds, " "); got != "get0[] getA[0] patchA[0] postA[0] getB[1 2] manyB[] putB[0] dropB[] askC[] getC[] putC[] runD[] putD[] getE[] putE[] getF[]" {
		t.Error(got)
	}
	if all.Binds("shop", d.Operations[0]) != nil {
		t.Error("rules of no API bind")
	}
}

// TestPlan checks the mode of each class, the read before a write, and partial updates.
func TestPlan(t *testing.T) {
	all := shaped(t, func(r *calls.Rules) {
		r.Write = map[spec.Class]write.Mode{spec.ClassDestructive: write.Deny}
		r.Partial = []string{"putB"}
		r.Access.Rules = []spec.ClassRule{{Operations: []string{"askC"}, Class: spec.ClassRead}, {Operations: []string{"runD"}, Class: spec.ClassWrite}}
	})
	for _, row := range []struct{ operation, args, scopes, want string }{
		{"patchA", `{"path": {"team": "t"}, "body": {}}`, "read write", "review GET /a/t false"},
		{"patchA", `{"path": {"team": "t"}, "body": {}}`, "write", "review  false"},
		{"postA", `{"path": {"team": "t"}}`, "read write", "review GET /a/t false"},
		{"putB", `{"body": {}}`, "read write", "review GET /b true"},
		{"dropB", `{}`, "read delete", "deny GET /b false"},
		{"putC", `{}`, "read write", "review GET /c false"},
		{"putD", `{}`, "read write", "review  false"},
		{"putE", `{}`, "read write", "review  false"},
	} {
		var scopes []identity.Scope
		for _, s := range strings.Fields(row.scopes) {
			scopes = append(scopes, identity.Scope(s))
		}
		principal := agent("t", scopes...)
		r, err := all.Reach(principal, "flow", "")
		if err != nil {
			t.Fatal(err)
		}
		args, err := calls.Arguments(object(t, row.args))
		if err != nil {
			t.Fatal(err)
		}
		permit, err := r.Permit(t.Context(), principal, calls.Request{Operation: row.operation, Arguments: args, Writes: true})
		if err != nil {
			t.Errorf("%+v: %v", row, err)
			continue
		}
		plan, _ := permit.Plan()
		before := ""
		if plan.Before != nil {
			p, _ := plan.Before.Plan()
			before = p.Request.Method + " " + p.Request.Target()
		}
		if got := fmt.Sprintf("%s %s %t", plan.Mode, before, plan.Partial); got != row.want || plan.API != "flow" || plan.Operation.ID != row.operation || plan.Who.ID != principal.ID {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

// TestNamed checks which API a name selects, and the errors for others.
func TestNamed(t *testing.T) {
	d, err := spec.Load([]byte(places))
	if err != nil {
		t.Fatal(err)
	}
	of := func(names ...string) *calls.APIs {
		rules := map[string]calls.Rules{}
		for _, n := range names {
			rules[n] = calls.Rules{Document: d}
		}
		all, err := calls.New(rules, expression.NewCompiler())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	principal := agent("t", identity.Read)
	for _, row := range []struct {
		all  *calls.APIs
		who  identity.Principal
		name string
		want string
	}{
		{of("flow"), principal, "", "flow"},
		{of("flow", "shop"), principal, "shop", "shop"},
		{of("flow", "shop"), principal, "", "invalid_argument /source say which API: there are flow, shop [flow shop]"},
		{of("flow", "shop"), principal, "shpo", `not_found /source there is no API "shpo". Did you mean shop? [shop]`},
		{of("flow", "shop"), narrowed(principal, "flow"), "", "flow"},
		{of("flow", "shop"), narrowed(principal, "flow"), "shop", `not_found /source there is no API "shop" []`},
		{of("flow"), narrowed(principal, "x"), "flow", "not_found /source there is no API here []"},
		{of(), principal, "", "not_found /source there is no API here []"},
		{nil, principal, "", "not_found /source there is no API here []"},
	} {
		got := ""
		r, err := row.all.Reach(row.who, row.name, "/source")
		if err != nil {
			p := problem.Of(err)
			got = fmt.Sprintf("%s %s %s %v", p.Code, p.Pointer, p.Detail, p.Near)
		} else {
			got = r.Name
		}
		if got != row.want {
			t.Errorf("%q: %s, want %s", row.name, got, row.want)
		}
	}
	all := of("shop", "flow")
	if !all.Has("flow") || all.Has("flew") || (*calls.APIs)(nil).Has("flow") || !slices.Equal(all.Names(), []string{"flow", "shop"}) || (*calls.APIs)(nil).Names() != nil {
		t.Error("names:", all.Names())
	}
	if rules, classes, ok := all.Rules("flow"); !ok || rules.Document != d || classes.Of(d.Operations[0]).Class != spec.ClassRead {
		t.Error("the rules of flow aren't told")
	}
	if _, _, ok := all.Rules("flew"); ok {
		t.Error("there are rules of no API")
	}
}

// TestSight checks, by principal and operation, why it isn't visible and by which rule.
func TestSight(t *testing.T) {
	all := shaped(t, func(r *calls.Rules) {
		r.Access.Rules = []spec.ClassRule{{Operations: []string{"postA"}, Class: spec.ClassForbidden, Reason: "r", Instead: "i"}, {Operations: []string{"dropB"}, Class: spec.ClassExcluded}}
		r.Shown = []string{"* /a*", "* /b"}
		r.Hidden = []calls.Hidden{{Fields: []string{"x"}}, {Operations: []string{"manyB"}, When: `principal.tenant == "t1"`}, {Tags: []string{"Keys"}}}
	})
	for _, row := range []struct {
		who             identity.Principal
		name, operation string
		want            string
	}{
		{agent("t1"), "flow", "patchA", "flow.patchA   write"},
		{agent("t1"), "", "PATCH /a/{team}", "flow.patchA   write"},
		{agent("t1"), "flow", "postA", "flow.postA forbidden_operation access.0 delete"},
		{agent("t1"), "flow", "dropB", "flow.dropB excluded_operation access.1 delete"},
		{agent("t1"), "flow", "manyB", "flow.manyB hidden_operation hidden.1 write"},
		{agent("t2"), "flow", "manyB", "flow.manyB   write"},
		{agent("t2"), "flow", "getA", "flow.getA hidden_operation hidden.2 read"},
		{narrowed(agent("t2"), "flow.getA"), "flow", "putB", "flow.putB operation_filter  write"},
		{agent("t1"), "flow", "nothing", "flow"},
		{agent("t1"), "shop", "putB", "shop"},
	} {
		s := all.Explain(row.who, row.name, row.operation)
		got := s.API
		if s.Operation != nil {
			got = fmt.Sprintf("%s.%s %s %s %s", s.API, s.Operation.ID, s.Kind, strings.Join(s.Path, "."), s.Needs)
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.operation, got, row.want)
		}
	}
	only := shaped(t, func(r *calls.Rules) { r.Shown = []string{"getA"} })
	if s := only.Explain(agent("t"), "flow", "getB"); s.Kind != calls.NotShown || strings.Join(s.Path, ".") != "shown" {
		t.Error(s)
	}
	if got := fmt.Sprint(len(all.Hides(agent("t2"), "flow")), len(all.Hides(agent("t1"), "flow")), len(all.Hides(agent("t1"), "shop"))); got != "2 3 0" {
		t.Error(got)
	}
}

// TestReads checks whether a Reach has operations that read and that write.
func TestReads(t *testing.T) {
	for list, want := range map[string]string{"flow": "true true", "flow.getA": "true false", "flow.putB": "false true", "flow.putB flow.getF": "true true", "flow.getA flow.putE": "true true"} {
		r, err := shaped(t, func(*calls.Rules) {}).Reach(narrowed(agent("t"), strings.Fields(list)...), "flow", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(r.Reads, r.Writes); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}

// TestMoreFaults covers faults that TestFaults leaves out.
func TestMoreFaults(t *testing.T) {
	d, err := spec.Load([]byte(places))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		rules calls.Rules
		want  string
	}{
		{calls.Rules{Access: spec.ClassOptions{Rules: []spec.ClassRule{{Class: spec.ClassRead}}}}, "apis.flow/Access/rules/0: a rule names operations or tags"},
		{calls.Rules{Partial: []string{"putX"}}, `apis.flow/Partial/0: no operation of the document is "putX". Did you mean putB, putC or putD?`},
		{calls.Rules{Partial: []string{"* /a*"}}, `apis.flow/Partial/0: "* /a*" is not a PUT. Only a PUT replaces a whole resource. Remove it`},
		{calls.Rules{Parameters: []calls.Parameter{{Name: "team", Is: "principal.x"}}}, `apis.flow/Parameters/0/Is: character 1 of the expression: a principal has no "x"`},
		{calls.Rules{Parameters: []calls.Parameter{{Is: "principal.tenant"}}}, "apis.flow/Parameters/0: it needs a name and what it must be"},
		{calls.Rules{Parameters: []calls.Parameter{{Name: "team", Is: "principal.tenant", Operations: []string{"getX"}}}}, `apis.flow/Parameters/0/operations/0: no operation of the document is "getX"`},
		{calls.Rules{Parameters: []calls.Parameter{{Name: "team", Is: "principal.tenant", Operations: []string{"getB"}}}}, `apis.flow/Parameters/0/Name: no operation has a parameter or a field of a body called "team"`},
		{calls.Rules{Hidden: []calls.Hidden{{Operations: []string{"getA"}, Fields: []string{"x", "Nope.x"}}}}, `apis.flow/Hidden/0/Fields/1: the document has no schema "Nope"`},
		{calls.Rules{Hidden: []calls.Hidden{{Tags: []string{"Kays"}}}}, `apis.flow/Hidden/0/tags/0: no operation of the document has the tag "Kays". Did you mean Keys?`},
	} {
		row.rules.Document = d
		if _, err := calls.New(map[string]calls.Rules{"flow": row.rules}, expression.NewCompiler()); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("got  %v\nwant %s", err, row.want)
		}
	}
	if _, err := calls.New(map[string]calls.Rules{"flow": {Document: d, Parameters: []calls.Parameter{{Name: "x", Is: "principal.tenant"}}}}, expression.NewCompiler()); err != nil {
		t.Error("a field of a body can't be bound:", err)
	}
}

// TestHides checks that a condition that fails hides, and that Whole shows all except the parts that are hidden from
// every principal.
func TestHides(t *testing.T) {
	all := shaped(t, func(r *calls.Rules) {
		r.Hidden = []calls.Hidden{{Operations: []string{"getA"}, When: "principal.claims.none == 1"}, {Fields: []string{"x"}}, {Fields: []string{"team"}, When: `principal.tenant == "t1"`}}
	})
	p := agent("t1", identity.Read, identity.Write)
	r, err := all.Reach(p, "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.View.Operation("getA"); problem.CodeOf(err) != problem.NotFound {
		t.Error("what can't be told is seen:", err)
	}
	if got := fmt.Sprint(r.Shows("x"), r.Shows("team"), r.Shows("y")); got != "false false true" {
		t.Error(got)
	}
	permit, err := r.Permit(t.Context(), p, calls.Request{Operation: "putC", Writes: true})
	if err != nil {
		t.Fatal(err)
	}
	plan, _ := permit.Plan()
	if got := fmt.Sprint(plan.Whole.Field("", "x"), plan.Whole.Field("", "team"), plan.View.Field("", "team"), plan.Partial); got != "false true false false" {
		t.Error(got)
	}
	if again, _ := all.Reach(agent("t2"), "flow", ""); again == r {
		t.Error("who sees otherwise has the same reach")
	}
	if again, _ := all.Reach(p, "flow", ""); again != r {
		t.Error("a reach isn't kept")
	}
}

// TestSigned checks that agents can't set the parameters of a credential, and that another credential's aren't
// required.
func TestSigned(t *testing.T) {
	const doc = `{"openapi":"3.0.0","paths":{"/x":{"get":{"operationId":"x","parameters":[{"name":"token","in":"header","required":true,"schema":{"type":"string"}},
		{"name":"api_key","in":"query","required":true,"schema":{"type":"string"}},{"name":"q","in":"query","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`
	for name, row := range map[string]struct {
		rules      calls.Rules
		args, want string
	}{
		"none":   {calls.Rules{}, `{"query":{"q":"1"}}`, `invalid_argument schema /headers/token the header parameter "token" is missing`},
		"bearer": {calls.Rules{Signed: true}, `{"query":{"q":"1"}}`, "GET /x?q=1"},
		"given":  {calls.Rules{Signed: true}, `{"query":{"q":"1","api_key":"2"}}`, "GET /x?api_key=2&q=1"},
		"sent": {calls.Rules{Signed: true, Sends: []calls.Place{{In: "query", Name: "api_key"}, {In: "header", Name: "Token"}}}, `{"query":{"q":"1","api_key":"2"}}`,
			`invalid_argument schema /query/api_key unknown query parameter "api_key". It takes q`},
		"others stay": {calls.Rules{Signed: true}, `{}`, `invalid_argument schema /query/q the query parameter "q" is missing`},
	} {
		d, err := spec.Load([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		row.rules.Document = d
		all, err := calls.New(map[string]calls.Rules{"flow": row.rules}, expression.NewCompiler())
		if err != nil {
			t.Fatal(err)
		}
		if got := tried(all, agent("t", identity.Read), calls.Request{Operation: "x"}, object(t, row.args)); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, row.want)
		}
	}
}
