package calls_test

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestAccept checks which media types of an answer a call can choose.
func TestAccept(t *testing.T) {
	const document = `{"openapi": "3.0.3", "paths": {
		"/report": {"get": {"operationId": "report", "parameters": [{"in": "header", "name": "X-Trace", "schema": {"type": "string"}}],
			"responses": {"200": {"description": "ok", "content": {"application/json": {}, "Text/CSV": {}, "application/pdf": {}, "image/*": {}}}, "400": {"description": "no", "content": {"application/problem+json": {}}}}}},
		"/bare": {"get": {"operationId": "bare", "responses": {"204": {"description": "ok"}}}}}}`
	d, err := spec.Load([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(policy.Rules{APIs: map[string]calls.Rules{"shop": {Document: d}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	who := identity.Principal{ID: "a", Scopes: []identity.Scope{identity.Read}}
	reach, err := p.APIs().Reach(who, "shop", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ operation, headers, want string }{
		{"report", `{}`, "application/json, */*;q=0.5"},
		{"report", `{"Accept": "text/csv"}`, "text/csv"},
		{"report", `{"accept": " Application/PDF ", "X-Trace": "7"}`, "application/pdf 7"},
		{"report", `{"Accept": "text/cvs"}`, `/headers/Accept report doesn't answer with "text/cvs". Did you mean text/csv?`},
		{"report", `{"Accept": "image/*"}`, `/headers/Accept report doesn't answer with "image/*"; it answers with application/json, text/csv, application/pdf`},
		{"report", `{"Accept": "application/problem+json"}`, `/headers/Accept report doesn't answer with "application/problem+json"; it answers with application/json, text/csv, application/pdf`},
		{"report", `{"Accept": 7}`, `/headers/Accept report doesn't answer with ""; it answers with application/json, text/csv, application/pdf`},
		{"report", `{"Authorization": "x"}`, `/headers/Authorization the header "Authorization" is the gateway's to set`},
		{"bare", `{"Accept": "text/csv"}`, `/headers/Accept bare doesn't answer with "text/csv"`},
	} {
		permit, err := reach.Permit(t.Context(), who, calls.Request{Operation: row.operation, Arguments: validate.Arguments{Headers: object(t, row.headers)}})
		got := ""
		if err != nil {
			got = problem.Of(err).Detail
			if p := problem.Of(err); p.Pointer != "" {
				got = p.Pointer + " " + got
			} else if len(p.Faults) > 0 {
				got = p.Faults[0].Pointer + " " + got
			}
		} else {
			plan, _ := permit.Plan()
			got = plan.Request.Header.Get("Accept")
			if trace := plan.Request.Header.Get("X-Trace"); trace != "" {
				got += " " + trace
			}
		}
		if got != row.want {
			t.Errorf("%s %s: %s\nwant %s", row.operation, row.headers, got, row.want)
		}
	}
}
