package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// chain is an API whose calls take values from the answers of others.
const chain = `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
  "/teams": {"post": {"operationId": "makeTeam", "responses": {"201": {"description": "", "content": {"text/plain": {"schema": {"type": "string"}}, "application/json": {"schema":
    {"type": "object", "properties": {"id": {"type": "string"}, "secret": {"type": "string"}, "free": {"type": "object"}, "token": {"type": "string"}, "token_count": {"type": "integer"}, "size": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}}}}}}}}},
  "/lists": {"post": {"operationId": "makeList", "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "string"}}}}}}}}}},
  "/open": {"post": {"operationId": "makeOpen", "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": {"type": "string"}}}}}}}},
  "/either": {"post": {"operationId": "makeEither", "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}},
    "oneOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"y": {"type": "string"}}}]}}}}}}},
  "/closed": {"post": {"operationId": "makeClosed", "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object", "additionalProperties": false}}}}}}},
  "/bare": {"post": {"operationId": "makeBare", "responses": {}}},
  "/gone": {"post": {"operationId": "makeNothing", "responses": {"204": {"description": ""}}}},
  "/teams/{id}": {"get": {"operationId": "getTeam", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}},
   "put": {"operationId": "setTeam", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "q", "in": "query", "schema": {"type": "string"}},
    {"name": "n", "in": "query", "schema": {"type": "integer"}},
    {"name": "X-Note", "in": "header", "schema": {"type": "string"}}], "requestBody": {"content": {"application/json": {"schema": {"type": "object", "additionalProperties": true, "properties": {"count": {"type": "integer"}, "at": {"type": "string", "format": "uuid"}}}}}}, "responses": {"200": {"description": ""}}}},
  "/teams/mine": {"put": {"operationId": "setMine", "responses": {"200": {"description": ""}}}}}}`

// chained returns the reach of a principal over chain, in which the secret of a team is hidden and so is setMine.
func chained(t *testing.T) (*calls.Reach, identity.Principal) {
	t.Helper()
	d, err := spec.Load([]byte(chain))
	if err != nil {
		t.Fatal(err)
	}
	all, err := calls.New(map[string]calls.Rules{"flow": {Document: d, Hidden: []calls.Hidden{{Fields: []string{"secret"}}, {Operations: []string{"setMine"}}}}}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	who := agent("t1", identity.Read, identity.Write)
	reach, err := all.Reach(who, "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	return reach, who
}

// setting returns the permit of a call of setTeam after those of other operations.
func setting(t *testing.T, args string, earlier ...string) (calls.Permit, error) {
	t.Helper()
	reach, who := chained(t)
	a, err := calls.Arguments(object(t, args))
	if err != nil {
		t.Fatal(err)
	}
	ask := calls.Request{Operation: "setTeam", Arguments: a, Writes: true, Chained: true}
	for _, name := range earlier {
		if name == "" { // a write that is not a call
			ask.Earlier = append(ask.Earlier, calls.Permit{})
			continue
		}
		before, err := reach.Permit(t.Context(), who, calls.Request{Operation: name, Writes: true, Chained: true})
		if err != nil {
			t.Fatal(err)
		}
		ask.Earlier = append(ask.Earlier, before)
	}
	return reach.Permit(t.Context(), who, ask)
}

// TestReferences checks which texts are taken from earlier answers, and that a reference to a missing value is refused.
func TestReferences(t *testing.T) {
	path := func(text string) string { return `{"path": {"id": "` + text + `"}, "body": {}}` }
	for _, tt := range []struct {
		args    string
		earlier []string
		want    string // the references, or the error
	}{
		{path("$1.id"), []string{"makeTeam"}, "/path/id $1.id"},
		{path("$2.id"), []string{"makeNothing", "makeTeam"}, "/path/id $2.id"},
		{`{"path": {"id": "1"}, "query": {"q": "$1.id"}, "headers": {"X-Note": "$1.id"}, "body": {"a": ["x", "$1.id"], "b/~": {"c": "$1.tags.0.name"}, "n": 1}}`, []string{"makeTeam"},
			"/query/q $1.id; /headers/X-Note $1.id; /body/a/1 $1.id; /body/b~1~0/c $1.tags.0.name"},
		{`{"path": {"id": "1"}, "query": {"n": "$1.id"}, "body": {}}`, []string{"makeTeam"}, "/query/n $1.id"},
		{`{"path": {"id": "$2.id"}, "query": {"q": "$1.id"}, "body": {}}`, []string{"makeTeam"}, "/path/id: $2.id names call 2, and this is call 2: only an earlier call has answered by then"},
		{path("$1.50"), []string{"makeTeam"}, ""},
		{path("a $1.id"), []string{"makeTeam"}, ""},
		{path("$0.id"), []string{"makeTeam"}, ""},
		{path("$1.id"), nil, "/path/id: $1.id names call 1, and this is call 1: only an earlier call has answered by then"},
		{path("$2.id"), []string{"makeTeam"}, "/path/id: $2.id names call 2, and this is call 2: only an earlier call has answered by then"},
		{path("$1.id"), []string{""}, "/path/id: $1.id names write 1, which is not a call and has no answer"},
		{path("$2.id"), []string{"", "makeTeam"}, "/path/id $2.id"},
		{path("$1.ic"), []string{"makeTeam"}, `/path/id: $1.ic: call 1, makeTeam, doesn't answer with "ic". Did you mean id?`},
		{path("$1.zzzzz"), []string{"makeTeam"}, `/path/id: $1.zzzzz: call 1, makeTeam, doesn't answer with "zzzzz". It has id, free, token, token_count, size, tags`},
		{path("$1.secret"), []string{"makeTeam"}, `/path/id: $1.secret: call 1, makeTeam, doesn't answer with "secret". It has id, free, token, token_count, size, tags`},
		{path("$1.free.any.thing"), []string{"makeTeam"}, "/path/id $1.free.any.thing"},
		{path("$1.tags.x"), []string{"makeTeam"}, `/path/id: $1.tags.x: call 1, makeTeam, doesn't answer with "x". It has 0`},
		{path("$1.tags.0.nam"), []string{"makeTeam"}, `/path/id: $1.tags.0.nam: call 1, makeTeam, doesn't answer with "nam". Did you mean name?`},
		{path("$1.body.0.id"), []string{"makeList"}, "/path/id $1.body.0.id"},
		{path("$1.body.0.ix"), []string{"makeList"}, `/path/id: $1.body.0.ix: call 1, makeList, doesn't answer with "ix". Did you mean id?`},
		{path("$1.body"), []string{"makeList"}, `/path/id: $1.body: call 1, makeList, doesn't answer with "body". It has 0`},
		{path("$1.xs.0.id"), []string{"makeList"}, `/path/id: $1.xs.0.id: call 1, makeList, doesn't answer with "xs". It has 0`},
		{path("$1.body.id"), []string{"makeTeam"}, `/path/id: $1.body.id: call 1, makeTeam, doesn't answer with "body". It has id, free, token, token_count, size, tags`},
		{path("$1.other"), []string{"makeOpen"}, "/path/id $1.other"},
		{path("$1.y"), []string{"makeEither"}, "/path/id $1.y"},
		{path("$1.y"), []string{"makeClosed"}, "/path/id $1.y"},
		{path("$1.id"), []string{"makeBare"}, "/path/id $1.id"},
		{path("$1.token"), []string{"makeTeam"}, `/path/id: $1.token: "token" is masked in answers, since its name is that of a credential: it is in no other call`},
		{path("$1.free.api_key"), []string{"makeTeam"}, `/path/id: $1.free.api_key: "api_key" is masked in answers, since its name is that of a credential: it is in no other call`},
		{path("$1.token_count"), []string{"makeTeam"}, "/path/id $1.token_count"},
		{`{"path": {"id": "1"}, "body": {"count": "$1.id"}}`, []string{"makeTeam"}, "/body/count: body/count must be a whole number, not the text \"$1.id\""},
		{`{"path": {"id": "1"}, "body": {"count": "$1.size"}}`, []string{"makeTeam"}, "/body/count $1.size"},
		{`{"path": {"id": "1"}, "body": {"count": "$1.free.x", "at": "$1.id"}}`, []string{"makeTeam"}, "/body/count $1.free.x; /body/at $1.id"},
		{path("$1.id"), []string{"makeNothing"}, "/path/id $1.id"},
	} {
		permit, err := setting(t, tt.args, tt.earlier...)
		var found []string
		if err != nil {
			p := problem.Of(err)
			found = []string{p.Pointer + ": " + p.Detail}
		} else if plan, err := permit.Plan(); err != nil {
			t.Fatal(err)
		} else {
			for _, r := range plan.References {
				found = append(found, r.At+" "+r.String())
			}
			if permit.Later() != (tt.want != "") {
				t.Errorf("%s: later is %v", tt.args, permit.Later())
			}
		}
		if got := strings.Join(found, "; "); got != tt.want {
			t.Errorf("%s after %s\n got %s\nwant %s", tt.args, tt.earlier, got, tt.want)
		}
	}
	if (calls.Permit{}).Later() {
		t.Error("the zero permit waits for an answer")
	}
}

// TestAnswered checks the request that is sent once the calls before have answered. It has their values, under all
// rules, and only as far as the principal sees them.
func TestAnswered(t *testing.T) {
	path := func(text string) string { return `{"path": {"id": "` + text + `"}, "body": {}}` }
	for _, tt := range []struct {
		name, args string
		earlier    []string
		answers    []string
		want       string
	}{
		{"a text", path("$1.id"), []string{"makeTeam"}, []string{`{"id": "7"}`}, "PUT /teams/7"},
		{"of the second call", path("$2.id"), []string{"makeTeam", "makeTeam"}, []string{`{"id": "7"}`, `{"id": "8"}`}, "PUT /teams/8"},
		{"in a list", path("$1.tags.1.name"), []string{"makeTeam"}, []string{`{"tags": [{"name": "a"}, {"name": "b"}]}`}, "PUT /teams/b"},
		{"the first of a list", path("$1.tags.0.name"), []string{"makeTeam"}, []string{`{"tags": [{"name": "a"}]}`}, "PUT /teams/a"},
		{"beyond a list", path("$1.tags.1.name"), []string{"makeTeam"}, []string{`{"tags": [{"name": "a"}]}`}, "/path/id: $1.tags.1.name is not a value in the answer of call 1"},
		{"before a list", path("$1.free.-1"), []string{"makeTeam"}, []string{`{"free": ["a"]}`}, "/path/id: $1.free.-1 is not a value in the answer of call 1"},
		{"by name in a list", path("$1.free.x"), []string{"makeTeam"}, []string{`{"free": ["a"]}`}, "/path/id: $1.free.x is not a value in the answer of call 1"},
		{"beneath what is no element", path("$1.free.x.0"), []string{"makeTeam"}, []string{`{"free": ["a"]}`}, "/path/id: $1.free.x.0 is not a value in the answer of call 1"},
		{"an object", path("$1.free"), []string{"makeTeam"}, []string{`{"free": {"a": 1}}`}, "/path/id: $1.free is not a value in the answer of call 1"},
		{"null", path("$1.id"), []string{"makeTeam"}, []string{`{"id": null}`}, "/path/id: $1.id is not a value in the answer of call 1"},
		{"not there", path("$1.id"), []string{"makeTeam"}, []string{`{}`}, "/path/id: $1.id is not a value in the answer of call 1"},
		{"no answer", path("$1.id"), []string{"makeTeam"}, nil, ": no answer"},
		{"a number and a boolean in a body", `{"path": {"id": "1"}, "body": {"n": "$1.free.n", "b": "$1.free.b"}}`, []string{"makeTeam"}, []string{`{"free": {"n": 5, "b": true}}`}, `PUT /teams/1 {"n":5,"b":true}`},
		{"the path of what is hidden", path("$1.id"), []string{"makeTeam"}, []string{`{"id": "mine"}`}, ": the API found nothing: 404 Not Found"},
		{"nothing to wait for", path("5"), []string{"makeTeam"}, []string{`{"id": "7"}`}, "PUT /teams/5"},
	} {
		permit, err := setting(t, tt.args, tt.earlier...)
		if err != nil {
			t.Fatal(tt.name, err)
		}
		var answers []value.Value
		for _, text := range tt.answers {
			answers = append(answers, object(t, text))
		}
		got := ""
		if next, err := permit.WithAnswers(t.Context(), answers); err != nil {
			p := problem.Of(err)
			got = p.Pointer + ": " + p.Detail
		} else if plan, err := next.Plan(); err != nil || next.Later() {
			t.Fatal(tt.name, err)
		} else {
			got = strings.TrimSuffix(fmt.Sprintf("%s %s %s", plan.Request.Method, plan.Request.Target(), plan.Request.Body), " {}")
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if _, err := (calls.Permit{}).WithAnswers(t.Context(), nil); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero permit:", err)
	}
}

// TestWaits checks that the read before a call is known only if its path is known. It also checks that a single call
// has no references, and that a read waits for nothing.
func TestWaits(t *testing.T) {
	for args, want := range map[string]string{
		`{"path": {"id": "$1.id"}, "body": {}}`:            "",
		`{"path": {"id": "1"}, "body": {"a": "$1.id"}}`:    "GET /teams/1",
		`{"path": {"id": "1"}, "query": {"q": "$1.free"}}`: "GET /teams/1",
	} {
		permit, err := setting(t, args, "makeTeam")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := permit.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := sent(t, plan.Before); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	reach, who := chained(t)
	args, err := calls.Arguments(object(t, `{"path": {"id": "$1.id"}}`))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := reach.Permit(t.Context(), who, calls.Request{Operation: "setTeam", Arguments: args, Writes: true})
	if err != nil || alone.Later() || sent(t, &alone) != "PUT /teams/%241.id" {
		t.Error("a call of its own:", sent(t, &alone), err)
	}
	if _, err := reach.Permit(t.Context(), who, calls.Request{Operation: "setTeam", Arguments: args, Writes: true, Chained: true, Earlier: make([]calls.Permit, 1)}); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("after the zero permit:", err)
	}
	read, err := reach.Permit(t.Context(), who, calls.Request{Operation: "getTeam", Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if now, err := read.WithAnswers(t.Context(), nil); err != nil || now != read {
		t.Error("a read waits for an answer:", err)
	}
}

// TestLeads checks that the path of one operation can't be used to call another, as servers read paths.
func TestLeads(t *testing.T) {
	const doc = `{"openapi": "3.0.3", "info": {"title": "T", "version": "1"}, "paths": {
	  "/teams/{id}": {"get": {"operationId": "getTeam", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "q", "in": "query", "schema": {"type": "string"}},
	      {"name": "l", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}], "responses": {}}},
	  "/teams/mine": {"get": {"operationId": "getMine", "responses": {}}},
	  "/teams/hidden": {"get": {"operationId": "getHidden", "responses": {}}},
	  "/teams/run": {"get": {"operationId": "run", "responses": {}}, "post": {"operationId": "runNow", "responses": {}}},
	  "/teams/forbidden": {"get": {"operationId": "getToken", "responses": {}}},
	  "/teams/post": {"post": {"operationId": "onlyPost", "responses": {}}},
	  "/teams/head": {"head": {"operationId": "onlyHead", "responses": {}}},
	  "/teams/{id}/v{n}.{form}": {"get": {"operationId": "getVersion", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
	    {"name": "n", "in": "path", "required": true, "schema": {"type": "string"}}, {"name": "form", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {}}}}}`
	d, err := spec.Load([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	all, err := calls.New(map[string]calls.Rules{"flow": {Document: d, Sends: []calls.Place{{In: "query", Name: "key"}}, Hidden: []calls.Hidden{{Operations: []string{"getHidden"}}, {Operations: []string{"onlyHead"}}, {Operations: []string{"onlyPost"}}, {Operations: []string{"getVersion"}, When: `principal.tenant == "t2"`}},
		Access: spec.ClassOptions{Rules: []spec.ClassRule{{Operations: []string{"run"}, Class: spec.ClassDestructive}, {Operations: []string{"getToken"}, Class: spec.ClassForbidden, Reason: "r", Instead: "i"}}}}}, expression.NewCompiler())
	if err != nil {
		t.Fatal(err)
	}
	const gone = "not_found: the API found nothing: 404 Not Found"
	for _, tt := range []struct{ tenant, id, want string }{
		{"t1", "7", "/teams/7"},
		{"t1", "mine", "/teams/mine"},
		{"t1", "hidden", gone},
		{"t1", "HIDDEN", gone},
		{"t1", "%68idden", gone},
		{"t1", "%2568idden", gone},
		{"t1", "run", "invalid_argument: this is the path of run"},
		{"t1", "forbidden", "security_blocked: getToken is not for agents: r"},
		{"t1", "post", "/teams/post"},
		{"t1", "head", gone},
		{"t1", "hidden2", "/teams/hidden2"},
		{"t2", "7/v1.json", gone},
		{"t2", "7/v1", "/teams/7%2Fv1"},
	} {
		who := agent(tt.tenant, identity.Read, identity.Write, identity.Delete)
		got := tried(all, who, calls.Request{Operation: "getTeam"}, value.OfObject([]value.Member{{Name: "path", Value: value.OfObject([]value.Member{{Name: "id", Value: value.OfString(tt.id)}})}}))
		target, called := strings.CutPrefix(got, "GET ")
		code, detail, _ := strings.Cut(tt.want, ": ")
		if called && target != tt.want || !called && !(strings.HasPrefix(got, code+" ") && strings.Contains(got, detail)) {
			t.Errorf("%s of %s: %s, want %s", tt.id, tt.tenant, got, tt.want)
		}
	}
	reach, err := all.Reach(agent("t1", identity.Read), "flow", "")
	if err != nil {
		t.Fatal(err)
	}
	who := agent("t1", identity.Read)
	from, err := reach.Permit(t.Context(), who, calls.Request{Operation: "getMine"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ path, query, want string }{
		{"/teams/7", "q=a&l=x&l=y", "/teams/7?q=a&l=x&l=y"},
		{"/teams/7", "l=x", "/teams/7?l=x"},
		{"/teams/7", "key=1&q=a", "/teams/7?q=a"}, // the credential sets it again
		{"/teams/7/", "", "/teams/7/"},
		{"/teams/7", "r=a", "to getTeam, which isn't called for you: it gives what isn't a parameter of that"},
		{"/teams/7", "q=%zz", "to getTeam, which isn't called for you: its query can't be read"},
		{"/teams/mine", "", "/teams/mine"},
		{"/teams/post", "", "/teams/post"},
		{"/teams/7/v1.json", "", "/teams/7/v1.json"},
		{"/teams/hidden", "", "to a target that is not an operation you can call"},
	} {
		got := ""
		if to, err := from.PermitRedirect(t.Context(), tt.path, tt.query); err != nil {
			got = problem.Of(err).Detail
		} else if plan, err := to.Plan(); err != nil {
			t.Fatal(err)
		} else {
			got = plan.Request.Target()
		}
		if got != tt.want {
			t.Errorf("redirected to %s?%s: %s, want %s", tt.path, tt.query, got, tt.want)
		}
	}
	if _, err := (calls.Permit{}).PermitRedirect(t.Context(), "/teams/7", ""); problem.CodeOf(err) != problem.PermissionDenied {
		t.Error("the zero permit:", err)
	}
}
