package policyops

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/write"
)

const flow = `{"openapi": "3.0.3", "paths": {
"/teams/{teamId}": {"parameters": [{"name": "teamId", "in": "path", "required": true, "schema": {"type": "string"}}],
  "get": {"operationId": "getTeam", "summary": "Get", "responses": {"200": {"description": "ok"}}},
  "delete": {"operationId": "dropTeam", "summary": "Drop", "responses": {"200": {"description": "ok"}}}},
"/projects/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
  "get": {"operationId": "getProject", "summary": "Get", "responses": {"200": {"description": "ok"}}}},
"/projects": {"get": {"operationId": "listProjects", "responses": {"200": {"description": "ok"}}}},
"/tokens": {"post": {"operationId": "mint", "summary": "Mint", "responses": {"200": {"description": "ok"}}}}}}`

// TestAPIs checks the findings about the rules of an API.
func TestAPIs(t *testing.T) {
	forbid := spec.ClassRule{Operations: []string{"mint"}, Class: spec.ClassForbidden, Reason: "it mints", Instead: "by hand"}
	const bare = "missing-description apis.flow: 1 operation of flow without a summary and a description: listProjects"
	for _, row := range []struct {
		name   string
		change func(*policy.Rules, *calls.Rules)
		want   string
	}{
		{"nothing is said", func(*policy.Rules, *calls.Rules) {}, bare},
		{"mint is confirmed", func(_ *policy.Rules, r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{{Operations: []string{"mint"}, Class: spec.ClassWrite}}
		},
			"open apis.flow.access: agents may call 1 operation of flow that may not be for them (it makes, changes or ends credentials or sign-ins): mint\n" + bare},
		{"mint is forbidden", func(_ *policy.Rules, r *calls.Rules) { r.Access.Rules = []spec.ClassRule{forbid} }, bare},
		{"by a rule that comes too late", func(_ *policy.Rules, r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{{Operations: []string{"*"}, Class: spec.ClassRead}, forbid, {Operations: []string{"*"}, Class: spec.ClassExcluded}}
		}, "dead apis.flow.access.1: the rule classes nothing: those before it class all that it names\n" + bare},
		{"a parameter is bound", func(_ *policy.Rules, r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{forbid}
			r.Parameters = []calls.Parameter{{Name: "teamId", Is: "principal.tenant"}}
		}, "unscoped apis.flow.parameters.0: teamId is bound, and 1 operation of flow that take the id of something have no such parameter: getProject\n" + bare},
		{"what is free is hidden", func(_ *policy.Rules, r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{forbid}
			r.Parameters = []calls.Parameter{{Name: "teamId", Is: "principal.tenant"}}
			r.Hidden = []calls.Hidden{{Operations: []string{"*Project*"}}}
		}, ""},
		{"only some are shown", func(_ *policy.Rules, r *calls.Rules) { r.Shown = []string{"getTeam"} }, ""},
		{"what destroys is denied", func(_ *policy.Rules, r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{forbid}
			r.Write = map[spec.Class]write.Mode{spec.ClassDestructive: write.Deny}
		}, "uncallable apis.flow.write: agents find 1 destructive operation of flow that none of them can call: write denies them\n" + bare},
		{"nothing may be written", func(p *policy.Rules, r *calls.Rules) {
			r.Access.Rules = []spec.ClassRule{forbid}
			p.Gates.Writes = policy.Off
		}, "uncallable apis.flow.write: agents find 1 destructive operation of flow that none of them can call: gates.writes is off\n" + bare},
	} {
		d, err := spec.Load([]byte(flow))
		if err != nil {
			t.Fatal(err)
		}
		rules, api := policy.Rules{}, calls.Rules{Document: d}
		row.change(&rules, &api)
		rules.APIs = map[string]calls.Rules{"flow": api}
		p, err := policy.New(rules, nil)
		if err != nil {
			t.Fatal(err)
		}
		regime, err := NewRegime(p, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := told(t, regime); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.name, got, row.want)
		}
	}
}

func told(t *testing.T, regime *Regime, holders ...Holder) string {
	t.Helper()
	found, err := Findings(regime, holders, FieldValues{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		out = append(out, string(f.Code)+" "+strings.Join(f.Path, ".")+f.Holder+": "+f.Message)
	}
	return strings.Join(out, "\n")
}

// TestAPIHolders checks that lists of classes can name APIs and operations.
func TestAPIHolders(t *testing.T) {
	d, err := spec.Load([]byte(flow))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{APIs: map[string]calls.Rules{"flow": {Document: d, Shown: []string{"getTeam"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	regime, err := NewRegime(p, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		list identity.List
		want string
	}{
		{identity.List{Only: []string{"flow"}, Except: []string{"flow.mint"}}, ""},
		{identity.List{Only: []string{"flow.getTeam"}, Except: []string{"flow.mint"}}, "dead bot: classes of bot takes flow.mint away, which only doesn't keep"},
		{identity.List{Only: []string{"flow.getTaem"}}, `unresolved bot: classes of bot names the class "flow.getTaem", which doesn't exist. Did you mean flow.getTeam?`},
	} {
		if got := told(t, regime, Holder{Who: identity.Principal{ID: "b", Classes: row.list}, Name: "bot"}); got != row.want {
			t.Errorf("%+v\n got %s\nwant %s", row.list, got, row.want)
		}
	}
}
