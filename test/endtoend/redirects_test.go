package endtoend

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/client"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/spec"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/validate"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/value"
)

const teams = `{"openapi": "3.0.3", "info": {"title": "Teams", "version": "1"},
"components": {"schemas": {"Team": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "plan": {"type": "string"}}}}},
"paths": {
  "/go": {"get": {"operationId": "go", "parameters": [{"name": "to", "in": "query", "schema": {"type": "string"}}], "responses": {"200": {"description": "ok"}}}},
  "/teams/{id}": {
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "getTeam", "parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}, {"name": "tag", "in": "query", "schema": {"type": "string"}},
      {"name": "ids", "in": "query", "schema": {"type": "array", "items": {"type": "integer"}}}],
      "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Team"}}}}}},
    "put": {"operationId": "setTeam", "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Team"}}}}, "responses": {"200": {"description": "ok"}}}},
  "/teams/mine": {"get": {"operationId": "getMine", "responses": {"200": {"description": "ok"}}}},
  "/teams/{id}/keys": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "get": {"operationId": "getKeys", "responses": {"200": {"description": "ok"}}}},
  "/run": {"get": {"operationId": "runNow", "responses": {"200": {"description": "ok"}}}},
  "/admin/{name}": {"parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}], "get": {"operationId": "getAdmin", "responses": {"200": {"description": "ok"}}}}}}`

// A door is an API that redirects /go to any URL that its caller names. It also returns the credential of its caller.
type door struct {
	mu    sync.Mutex
	asked []string
}

const doorKey = "sk-live-51HxQz9vTnWq"

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, r.Method+" "+r.URL.RequestURI())
	if to := r.URL.Query().Get("to"); to != "" {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return
	}
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Location", "/teams/"+key)
	if r.Header.Get("Fail") != "" || strings.HasSuffix(r.URL.Path, "/fail") {
		w.WriteHeader(http.StatusUnauthorized)
	}
	fmt.Fprintf(w, `{"id": %q, "name": "Incorrect API key provided: %s", "plan": "secret plan", "message": "Incorrect API key provided: %s…", "b": "%s"}`,
		r.URL.Path, key, key[:12], base64.StdEncoding.EncodeToString([]byte("user:"+key)))
}

func newDoor(t *testing.T) (*office, *door) {
	t.Helper()
	h := &door{}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	d, err := spec.Load([]byte(teams))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := client.New(client.Options{Base: server.URL, Credential: client.BearerHeader(doorKey), Answers: givenBack(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	rules := calls.Rules{Document: d, Hidden: []calls.Hidden{{Operations: []string{"getMine", "getKeys", "getAdmin"}}, {Fields: []string{"Team.plan"}}},
		Parameters: []calls.Parameter{{Name: "tag", Is: `"red"`}}}
	return newOffice(t, func(o *bailiwick.Options, _ *change.Options) {
		o.Sources["flow"] = openapi.New("flow", sender)
		o.Rules = policy.Rules{Version: "v1", APIs: map[string]calls.Rules{"flow": rules}}
	}), h
}

// TestRedirectedCalls checks that following a redirect is a separate call. It isn't made if the principal can't make
// it. Hidden fields of its response stay hidden, and its target is shown only if the principal can see it.
func TestRedirectedCalls(t *testing.T) {
	o, h := newDoor(t)
	for _, row := range []struct{ to, want, calls string }{
		{"/teams/7", `{"id":"/teams/7","name":"Incorrect API key provided: [masked]","message":"Incorrect API key provided: [masked]…","b":"dXNlcj`, "GET /teams/7?tag=red"},
		{"teams/7?page=2&tag=red", `{"id":"/teams/7"`, "GET /teams/7?page=2&tag=red"},
		{"/teams/7?ids=1", `{"id":"/teams/7"`, "GET /teams/7?tag=red&ids=1"},
		{"/teams/7?ids=1&ids=2", `{"id":"/teams/7"`, "GET /teams/7?tag=red&ids=1&ids=2"},
		{"/teams/7/", `{"id":"/teams/7/"`, "GET /teams/7/?tag=red"},
		{"/TEAMS/7", `{"id":"/teams/7"`, "GET /teams/7?tag=red"},
		{"/teams/7?tag=blue", "the API redirects (status 302) to getTeam, which isn't called for you: this tag is not one that you may use", ""},
		{"/teams/7?admin=1", "the API redirects (status 302) to getTeam, which isn't called for you: it gives what isn't a parameter of that", ""},
		{"/teams/mine", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"/teams/MINE", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"/teams/m%69ne", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"/teams/7/keys", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"/teams/7%2Fkeys", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"/admin/root", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"/nothing/here", "the API redirects (status 302) to a target that is not an operation you can call", ""},
		{"http://127.0.0.1:1/teams/7", "the API redirects (status 302) to another host, scheme or port", ""},
	} {
		h.asked = nil
		query := value.OfObject([]value.Member{{Name: "to", Value: value.OfString(row.to)}})
		got, err := o.read("go", validate.Arguments{Query: query})
		if err != nil {
			got = problem.Of(err).Detail
		}
		if !strings.HasPrefix(got, row.want) || strings.Contains(got, "secret plan") {
			t.Errorf("%s\n got %s\nwant %s", row.to, got, row.want)
		}
		if theCalls := strings.Join(h.asked[1:], " "); theCalls != row.calls {
			t.Errorf("%s: %s, want %s", row.to, theCalls, row.calls)
		}
	}
}

// TestPathsOfOthers checks that no value in a path can turn a call into a call of a hidden operation. The answer must
// be that of an API without such a path.
func TestPathsOfOthers(t *testing.T) {
	o, h := newDoor(t)
	for _, row := range []struct{ id, want string }{
		{"mine", "the API found nothing: 404 Not Found"},
		{"Mine", "the API found nothing: 404 Not Found"},
		{"7/keys", "the API found nothing: 404 Not Found"},
		{"7%2fkeys", "the API found nothing: 404 Not Found"},
		{"mines", `{"id":"/teams/mines"`},
		{"a/b", `{"id":"/teams/a/b"`},
	} {
		path := value.OfObject([]value.Member{{Name: "id", Value: value.OfString(row.id)}})
		got, err := o.read("getTeam", validate.Arguments{Path: path})
		if err != nil {
			got = problem.Of(err).Detail
		}
		if !strings.HasPrefix(got, row.want) {
			t.Errorf("%s\n got %s\nwant %s", row.id, got, row.want)
		}
	}
	if len(h.asked) != 2 {
		t.Error(h.asked)
	}
}

// TestOwnCredential checks that the gateway never returns its own credential in answers, errors, receipts, sheets or
// records.
func TestOwnCredential(t *testing.T) {
	o, _ := newDoor(t)
	var all strings.Builder
	for _, id := range []string{"7", "fail"} {
		path := value.OfObject([]value.Member{{Name: "id", Value: value.OfString(id)}})
		got, err := o.read("getTeam", validate.Arguments{Path: path})
		fmt.Fprintln(&all, got, err)
		if err != nil {
			fmt.Fprintf(&all, "%+v %v", problem.Of(err).Reply, problem.Of(err).Err)
		}
		sheet, err := o.call(o.bot(), "setTeam", `{"path": {"id": "`+id+`"}, "body": {"name": "new"}}`)
		if err != nil {
			fmt.Fprintln(&all, err)
			continue
		}
		desk := o.person("ben")
		seen, err := desk.Sheet(t.Context(), sheet.ID)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%+v", seen)
		done, err := desk.Approve(t.Context(), sheet.ID, seen.Digest, "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&all, "%+v %+v", done, o.settled(o.store, sheet.ID))
	}
	if err := o.store.Records(t.Context(), 1, func(r audit.Record) bool {
		fmt.Fprintf(&all, "%+v\n", r)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+9 <= len(doorKey); i++ {
		if strings.Contains(all.String(), doorKey[i:i+9]) {
			t.Fatalf("%s is in %s", doorKey[i:i+9], all.String())
		}
	}
	if strings.Count(all.String(), "Incorrect API key provided: [masked]") < 3 {
		t.Error(all.String())
	}
}

// read calls a read operation and returns the body of the answer.
func (o *office) read(operation string, args validate.Arguments) (text string, err error) {
	o.Helper()
	err = o.gateway.Do(o.Context(), o.bot(), bailiwick.CallSpec{Tool: "call_api_read", Needs: identity.Read, Correlation: "c1"}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
		got, err := c.CallAPI(ctx, bailiwick.APIRead{Operation: operation, Arguments: args})
		if err == nil {
			text = got.Body.String()
		}
		return len(text), err
	})
	return text, err
}
