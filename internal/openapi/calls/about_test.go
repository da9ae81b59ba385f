package calls_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
)

// TestAbout checks the read of a thing before a call acts on it. It takes the longest path before the operation's, and
// only if the principal may read it.
func TestAbout(t *testing.T) {
	const id, run = `{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}`, `{"name": "run", "in": "path", "required": true, "schema": {"type": "string"}}`
	operation := func(method, name, parameters string) string {
		return `"` + method + `": {"operationId": "` + name + `", "parameters": [` + parameters + `], "responses": {"200": {"description": ""}}}`
	}
	d, err := spec.Load([]byte(`{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
		"/jobs/{id}/runs/{run}": {` + operation("get", "getRun", id+","+run) + `},
		"/jobs/{id}/runs/{run}/stop": {` + operation("post", "stopRun", id+","+run) + `},
		"/jobs/{id}": {` + operation("get", "getJob", id) + `},
		"/jobs/{id}/stop": {` + operation("post", "stopJob", id) + `},
		"/jobs/{id}/list": {` + operation("get", "listJob", id) + `},
		"/jobs/{id}/list/mark": {` + operation("post", "markJob", id) + `},
		"/keys/{id}": {` + operation("get", "getKey", id) + `},
		"/keys/{id}/roll": {` + operation("post", "rollKey", id) + `},
		"/things/{id}": {` + operation("post", "setThing", id) + `},
		"/things/{id}/go": {` + operation("post", "goThing", id) + `},
		"/asks/{id}": {` + operation("post", "ask", id) + `},
		"/asks/{id}/go": {` + operation("post", "goAsk", id) + `},
		"/needs/{id}": {` + operation("get", "getNeed", id+`, {"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}`) + `},
		"/needs/{id}/go": {` + operation("post", "goNeed", id) + `},
		"/twice/{id}/": {` + operation("get", "getFirst", id) + `},
		"/twice/{id}": {` + operation("get", "getSecond", id) + `},
		"/twice/{id}/go": {` + operation("post", "goTwice", id) + `},
		"/jobs/{id}/ping": {` + operation("head", "pingJob", id) + `},
		"/jobs/{id}/plan": {` + operation("get", "getPlan", id) + `, ` + operation("put", "setPlan", id) + `}}}`))
	if err != nil {
		t.Fatal(err)
	}
	all, err := calls.New(map[string]calls.Rules{"flow": {Document: d, Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"getKey"}, Class: spec.ClassWrite}, {Operations: []string{"ask"}, Class: spec.ClassRead}}}}}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	whole, blind := agent("t1", identity.Read, identity.Write), agent("t1", identity.Write)
	for _, tt := range []struct {
		who             identity.Principal
		operation, args string
		writes          bool
		want            string
	}{
		{whole, "stopRun", `{"path": {"id": "1", "run": "2"}}`, true, "/jobs/1/runs/2"},
		{whole, "stopJob", `{"path": {"id": "1"}}`, true, "/jobs/1"},
		{whole, "markJob", `{"path": {"id": "1"}}`, true, "/jobs/1"},
		{whole, "rollKey", `{"path": {"id": "1"}}`, true, ""},
		{whole, "goThing", `{"path": {"id": "1"}}`, true, ""},
		{whole, "listJob", `{"path": {"id": "1"}}`, false, ""},
		{whole, "goAsk", `{"path": {"id": "1"}}`, true, ""},
		{whole, "goNeed", `{"path": {"id": "1"}}`, true, ""},
		{whole, "goTwice", `{"path": {"id": "1"}}`, true, "/twice/1/"},
		{whole, "pingJob", `{"path": {"id": "1"}}`, false, ""},
		{whole, "setPlan", `{"path": {"id": "1"}}`, true, "before /jobs/1/plan"},
		{blind, "stopJob", `{"path": {"id": "1"}}`, true, ""},
	} {
		reach, err := all.Reach(tt.who, "flow", "")
		if err != nil {
			t.Fatal(err)
		}
		args, err := calls.Arguments(object(t, tt.args))
		if err != nil {
			t.Fatal(err)
		}
		permit, err := reach.Permit(t.Context(), tt.who, calls.Request{Operation: tt.operation, Arguments: args, Writes: tt.writes})
		if err != nil {
			t.Fatal(tt.operation, err)
		}
		plan, err := permit.Plan()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimPrefix(sent(t, plan.About), "GET ")
		if plan.Before != nil {
			got += strings.Replace(sent(t, plan.Before), "GET ", "before ", 1)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.operation, got, tt.want)
		}
	}
}

// TestRefers checks in which arguments a reference is found.
func TestRefers(t *testing.T) {
	for args, want := range map[string]bool{
		`{"path": {"id": "$1.id"}}`: true, `{"body": [{"a": "$12.b.0"}]}`: true, `{"body": "$1.id"}`: true,
		`{}`: false, `{"path": {"id": "1"}}`: false, `{"body": {"$1.id": "$1.50"}}`: false,
	} {
		a, err := calls.Arguments(object(t, args))
		if err != nil {
			t.Fatal(err)
		}
		if got := calls.Refers(a); got != want {
			t.Errorf("%s: %v", args, got)
		}
	}
}
