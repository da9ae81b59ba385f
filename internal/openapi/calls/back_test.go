package calls_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// orders is an API with calls whose lost answers can be read back: by a rule, by a link, or not.
const orders = `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
  "/orders": {
    "get": {"operationId": "listOrders", "parameters": [{"name": "name", "in": "query", "schema": {"type": "string"}}], "responses": {}},
    "post": {"operationId": "makeOrder", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}, "responses": {}}},
  "/orders/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "getOrder", "responses": {}},
    "put": {"operationId": "setOrder", "responses": {"200": {"description": "", "links": {"it": {"operationId": "getOrder", "parameters": {"id": "$request.path.id"}}}}}},
    "delete": {"operationId": "dropOrder", "responses": {}}},
  "/keys/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "getKey", "responses": {}},
    "put": {"operationId": "setKey", "responses": {"200": {"description": "", "links": {"it": {"operationId": "getKey", "parameters": {"id": "$request.path.id"}}}}}}},
  "/found": {
    "get": {"operationId": "find", "parameters": [{"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}], "responses": {}},
    "post": {"operationId": "makeFound", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}, "responses": {}}},
  "/secrets": {
    "get": {"operationId": "listSecrets", "responses": {}},
    "post": {"operationId": "makeSecret", "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}}}}}}, "responses": {}}}}}`

// TestBack checks by which read a lost answer is looked for. It is the read of a rule, else that of a link, and never
// one that the principal may not make.
func TestBack(t *testing.T) {
	d, err := spec.Load([]byte(orders))
	if err != nil {
		t.Fatal(err)
	}
	match := map[string]string{"name": "body.name"}
	all, err := calls.New(map[string]calls.Rules{"flow": {Document: d,
		Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"getKey", "setKey", "makeSecret"}, Class: spec.ClassWrite}, {Operations: []string{"listSecrets"}, Class: spec.ClassRead}}},
		Hidden: []calls.Hidden{{Operations: []string{"listSecrets"}}},
		ReadBack: []calls.ReadBack{
			{Operations: []string{"makeOrder"}, By: "listOrders", Query: match, Match: match},
			{Operations: []string{"makeFound"}, By: "find", Match: match},
			{Operations: []string{"makeSecret"}, By: "listSecrets", Match: match}}}}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	whole, blind := agent("t1", identity.Read, identity.Write, identity.Delete), agent("t1", identity.Write, identity.Delete)
	for _, tt := range []struct {
		name            string
		who             identity.Principal
		operation, args string
		want            string // of the read, or ""
	}{
		{"by a rule", whole, "makeOrder", `{"body": {"name": "a"}}`, "GET /orders?name=a"},
		{"by a link", whole, "setOrder", `{"path": {"id": "7"}}`, "GET /orders/7"},
		{"neither", whole, "dropOrder", `{"path": {"id": "7"}}`, ""},
		{"the call doesn't give what it is known by", whole, "makeOrder", `{"body": {}}`, ""},
		{"without the scope", blind, "makeOrder", `{"body": {"name": "a"}}`, ""},
		{"a link to a GET that writes", whole, "setKey", `{"path": {"id": "7"}}`, ""},
		{"a hidden read", whole, "makeSecret", `{"body": {"name": "a"}}`, ""},
		{"a read that needs more", whole, "makeFound", `{"body": {"name": "a"}}`, ""},
	} {
		plan := planned(t, all, tt.who, tt.operation, tt.args)
		if got := sent(t, plan.Back); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if found := len(plan.Look.MatchingRecords(object(t, `[{"name": "a"}, {"name": "b"}]`))); found != map[string]int{"makeOrder": 1, "setOrder": 1}[tt.operation] && tt.want != "" || found != 0 && tt.want == "" {
			t.Errorf("%s: %d are found", tt.name, found)
		}
	}
	_, err = calls.New(map[string]calls.Rules{"flow": {Document: d, ReadBack: []calls.ReadBack{{Operations: []string{"makeOrder"}, By: "listOrders", Match: match}, {Operations: []string{"makeOrdr"}, By: "listOrders", Match: match}}}},
		expression.NewCompiler())
	if want := `apis.flow/ReadBack/1/operations/0: no operation of the document is "makeOrdr". Did you mean makeOrder?`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// planned returns the plan of a call that writes.
func planned(t *testing.T, all *calls.APIs, who identity.Principal, operation, args string) calls.Plan {
	t.Helper()
	reach, err := all.Reach(who, "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	a, err := calls.Arguments(object(t, args))
	if err != nil {
		t.Fatal(err)
	}
	permit, err := reach.Permit(t.Context(), who, calls.Request{Operation: operation, Arguments: a, Writes: true})
	if err != nil {
		t.Fatal(operation, err)
	}
	plan, err := permit.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// sent returns the method and the target of a permit's request, or "" without a permit.
func sent(t *testing.T, p *calls.Permit) string {
	t.Helper()
	if p == nil {
		return ""
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan.Request.Method + " " + plan.Request.Target()
}
