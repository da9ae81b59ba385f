package calls_test

import (
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// loaded compiles the rules of an API with a document.
func loaded(t *testing.T, doc string, rules calls.Rules) *calls.APIs {
	t.Helper()
	var err error
	if rules.Document, err = spec.Load([]byte(doc)); err != nil {
		t.Fatal(err)
	}
	all, err := calls.New(map[string]calls.Rules{"flow": rules}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSends checks that a value that a credential sets is hidden only in its own place, and that a path is never left
// out.
func TestSends(t *testing.T) {
	const doc = `{"openapi": "3.0.0", "paths": {
		"/x": {"get": {"operationId": "x", "parameters": [{"name": "Token", "in": "header", "required": true, "schema": {"type": "string"}}, {"name": "q", "in": "query", "schema": {"type": "string"}}], "responses": {}}},
		"/y/{token}": {"get": {"operationId": "y", "parameters": [{"name": "token", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}}}}}`
	for name, row := range map[string]struct {
		rules           calls.Rules
		operation, args string
		want            string
	}{
		"a header, by its name in another case": {calls.Rules{Sends: []calls.Place{{In: "header", Name: "token"}}}, "x", `{"query": {"q": "1"}}`, "GET /x?q=1"},
		"another header":                        {calls.Rules{Sends: []calls.Place{{In: "header", Name: "other"}}}, "x", `{"query": {"q": "1"}}`, `invalid_argument schema /headers/Token the header parameter "Token" is missing`},
		"a query parameter of another case":     {calls.Rules{Sends: []calls.Place{{In: "query", Name: "Q"}}}, "x", `{"headers": {"Token": "t"}, "query": {"q": "1"}}`, "GET /x?q=1"},
		"a header of that name":                 {calls.Rules{Sends: []calls.Place{{In: "header", Name: "q"}}}, "x", `{"headers": {"Token": "t"}, "query": {"q": "1"}}`, "GET /x?q=1"},
		"a path of a signed request":            {calls.Rules{Signed: true}, "y", `{}`, `invalid_argument schema /path/token the path parameter "token" is missing`},
	} {
		if got := tried(loaded(t, doc, row.rules), agent("t", identity.Read), calls.Request{Operation: row.operation}, object(t, row.args)); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, row.want)
		}
	}
}

// TestAnother checks, of operations whose paths overlap, which calls lead to another one than is named.
func TestAnother(t *testing.T) {
	const id = `[{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]`
	const a, b = `{"name": "a", "in": "path", "required": true, "schema": {"type": "string"}}`, `{"name": "b", "in": "path", "required": true, "schema": {"type": "string"}}`
	all := loaded(t, `{"openapi": "3.0.3", "paths": {
		"/teams/{id}": {"parameters": `+id+`, "get": {"operationId": "getTeam", "responses": {}}, "put": {"operationId": "setTeam", "responses": {}}},
		"/teams/run": {"get": {"operationId": "run", "responses": {}}},
		"/teams/hidden": {"get": {"operationId": "getHidden", "responses": {}}},
		"/teams/{id}/{form}.json": {"get": {"operationId": "getForm", "parameters": [`+id[1:len(id)-1]+`, {"name": "form", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}}},
		"/files/{a}/{b}": {"get": {"operationId": "getFile", "parameters": [`+a+`, `+b+`], "responses": {}}},
		"/files/x/{b}": {"get": {"operationId": "getX", "parameters": [`+b+`], "responses": {}}},
		"/files/{a}/y": {"get": {"operationId": "getY", "parameters": [`+a+`], "responses": {}}}}}`,
		calls.Rules{Hidden: []calls.Hidden{{Operations: []string{"getHidden"}}, {Operations: []string{"getY"}}, {Operations: []string{"getForm"}}},
			Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"run"}, Class: spec.ClassWrite}}}})
	const gone = "not_found hidden_operation  the API found nothing: 404 Not Found"
	for _, tt := range []struct {
		operation, args string
		writes          bool
		want            string
	}{
		{"setTeam", `{"path": {"id": "hidden"}}`, true, "PUT /teams/hidden"}, // the hidden one is a GET
		{"run", `{}`, true, "GET /teams/run"},                                // and not getTeam, which is less specific
		{"getFile", `{"path": {"a": "x", "b": "z"}}`, false, "GET /files/x/z"},
		{"getFile", `{"path": {"a": "x", "b": "y"}}`, false, gone}, // also the path of getX, which may be called
		{"getTeam", `{"path": {"id": "7/a%1.json"}}`, false, gone}, // a text that can't be decoded again is read as it is
	} {
		if got := tried(all, agent("t", identity.Read, identity.Write), calls.Request{Operation: tt.operation, Writes: tt.writes}, object(t, tt.args)); got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.operation, tt.args, got, tt.want)
		}
	}
}

// TestRedirectedTo checks to which operation a redirect leads, and how its query is read.
func TestRedirectedTo(t *testing.T) {
	const id = `"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]`
	all := loaded(t, `{"openapi": "3.0.3", "paths": {
		"/lists": {"get": {"operationId": "getLists", "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}},
			{"name": "l", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
			{"name": "u", "in": "query", "explode": false, "schema": {"type": "array", "items": {"type": "string"}}},
			{"name": "f", "in": "query", "style": "deepObject", "schema": {}},
			{"name": "j", "in": "query", "content": {"application/json": {"schema": {}}}},
			{"name": "a", "in": "query", "schema": {"type": "string"}}, {"name": "b", "in": "query", "schema": {"type": "string"}}], "responses": {}}},
		"/slash/": {"get": {"operationId": "getSlash", "responses": {}}},
		"/zones/mine": {"get": {"operationId": "getMyZone", "responses": {}}},
		"/zones/{id}": {"get": {"operationId": "getZone", `+id+`, "responses": {}}},
		"/places/{id}": {"get": {"operationId": "getPlace", `+id+`, "responses": {}}},
		"/places/mine": {"get": {"operationId": "getMyPlace", "responses": {}}},
		"/places/hidden": {"get": {"operationId": "getHidden", "responses": {}}}}}`, calls.Rules{Hidden: []calls.Hidden{{Operations: []string{"getHidden"}}}})
	who := agent("t1", identity.Read)
	reach, err := all.Reach(who, "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	from, err := reach.Permit(t.Context(), who, calls.Request{Operation: "getSlash"})
	if err != nil {
		t.Fatal(err)
	}
	const refused = "to getLists, which isn't called for you: "
	for _, tt := range []struct{ path, query, want string }{
		{"/lists", "q=a", `getLists /lists?q=a {"q":"a"}`},
		{"/lists", "q=a&b=3&a=2", `getLists /lists?q=a&a=2&b=3 {"a":"2","b":"3","q":"a"}`},
		{"/lists", "q=a&q=b", refused + "query/q must be a text, not a list"},
		{"/lists", "l=x", `getLists /lists?l=x {"l":["x"]}`},
		{"/lists", "l=x,y", `getLists /lists?l=x%2Cy {"l":["x,y"]}`},
		{"/lists", "u=x,y", `getLists /lists?u=x,y {"u":["x","y"]}`},
		{"/lists", "u=x,y&u=z", `getLists /lists?u=x%2Cy,z {"u":["x,y","z"]}`},
		{"/lists", "f=x", refused + "it gives what isn't a parameter of that"},
		{"/lists", "j=1", refused + "it gives what isn't a parameter of that"},
		{"/slash/", "", "getSlash /slash/"},
		{"/zones/mine", "", "getMyZone /zones/mine"},
		{"/zones/7", "", "getZone /zones/7"},
		{"/places/mine", "", "getMyPlace /places/mine"},
		{"/places/7", "", "getPlace /places/7"},
		{"/places/%2568idden", "", "to a target that is not an operation you can call"}, // decoded twice it is the hidden one
	} {
		got := ""
		if to, err := from.PermitRedirect(t.Context(), tt.path, tt.query); err != nil {
			got = problem.Of(err).Detail
		} else if plan, err := to.Plan(); err != nil {
			t.Fatal(err)
		} else {
			got = strings.TrimSuffix(plan.Operation.ID+" "+plan.Request.Target()+" "+plan.Arguments.Query.String(), " {}")
		}
		if got != tt.want {
			t.Errorf("redirected to %s?%s\n got %s\nwant %s", tt.path, tt.query, got, tt.want)
		}
	}
}

// TestUntold checks that the cause of a refusal, which the audit record has, is the first one.
func TestUntold(t *testing.T) {
	all := compiled(t, func(r *calls.Rules) {
		r.Parameters = []calls.Parameter{{Name: "teamId", Is: "principal.tenant"}}
	})
	for _, tt := range []struct {
		who     identity.Principal
		another bool
	}{
		{derived(agent("t1", identity.Read), agent("t2", identity.Read)), true},
		{derived(agent("t1", identity.Read), agent("", identity.Read)), false},
	} {
		reach, err := all.Reach(tt.who, "flow", "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = reach.Permit(t.Context(), tt.who, calls.Request{Operation: "listTeams"})
		if p := problem.Of(err); err == nil || p.Err == nil || strings.HasPrefix(p.Err.Error(), "it is another") != tt.another {
			t.Error(err, p.Err)
		}
	}
}
