package bailiwick_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A program's own HTTP handler can serve as an API: calls go through its middleware and permissions, without a
// network, as the user that the program names.
func Example_handler() {
	handler := http.NewServeMux()
	handler.HandleFunc("GET /teams/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id": %q, "seenBy": %q, "plan": "gold"}`, r.PathValue("id"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer session-of-"))
	})
	doc, err := openapi.Load([]byte(`{"openapi": "3.1.0", "info": {"title": "Teams", "version": "1"}, "paths": {"/teams/{id}": {"get": {"operationId": "getTeam",
		"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}], "responses": {"200": {"description": "a team"}}}}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	asUser := func(_ context.Context, p identity.Principal) (string, error) { return "session-of-" + p.Owner, nil }
	teams, err := openapi.Open("teams", openapi.Options{Handler: handler, Credential: openapi.Exchange(asUser)})
	if err != nil {
		fmt.Println(err)
		return
	}
	gateway, _, err := bailiwick.New(context.Background(), bailiwick.Options{
		Sources: map[string]source.Source{"teams": teams},
		Rules: policy.Rules{APIs: map[string]policy.APIRules{"teams": {
			Document:   doc,
			Hidden:     []policy.APIHidden{{Fields: []string{"plan"}}},
			Parameters: []policy.APIParameter{{Name: "id", Is: "principal.tenant"}},
		}}},
		Audit: &audit.Memory{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	agent := identity.Principal{ID: "host:bot", Owner: "ana", Tenant: "web", Scopes: []identity.Scope{identity.Read}}
	for _, id := range []string{"web", "finance"} {
		path := value.OfObject([]value.Member{{Name: "id", Value: value.OfString(id)}})
		err = gateway.Do(context.Background(), agent, bailiwick.CallSpec{Tool: "call_api_read", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
			got, err := c.CallAPI(ctx, bailiwick.APIRead{Operation: "getTeam", Arguments: bailiwick.APIArguments{Path: path}})
			if err == nil {
				fmt.Println(got.Body)
			}
			return 0, err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"id":"web","seenBy":"ana"}
	// permission_denied: this id is not one that you may use
}
