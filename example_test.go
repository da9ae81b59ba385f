package bailiwick_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// A program serves agents under its own address, with its own sign-in.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tracker.db")
	if err := demo.Create(ctx, path); err != nil {
		log.Fatal(err)
	}
	tracker, err := sqlite.Open(ctx, "tracker", path)
	if err != nil {
		log.Fatal(err)
	}
	defer tracker.Close()
	gateway, _, err := bailiwick.New(ctx, bailiwick.Options{
		Sources: map[string]source.Source{"tracker": tracker},
		Rules: policy.Rules{Classes: map[string]policy.ClassRule{
			"issues": {Tenant: &policy.TenantRule{Field: "org_id"}, Visible: []string{"id", "title", "status", "org_id"}},
		}},
		Audit: &audit.Memory{},
	})
	if err != nil {
		log.Fatal(err)
	}
	tools, err := tool.NewSet(gateway, tool.Data(tool.Options{})...)
	if err != nil {
		log.Fatal(err)
	}
	server, err := mcp.New(mcp.Options{
		Tools: tools,
		Authenticate: func(r *http.Request) (identity.Principal, error) {
			user, ok := signedIn(r)
			if !ok {
				return identity.Principal{}, identity.UnauthorizedError("not signed in", nil)
			}
			return identity.Principal{ID: "app:" + user, Owner: user, Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	mux := http.NewServeMux()
	mux.Handle("/agents/", http.StripPrefix("/agents", server.Handler())) // agents connect to /agents/mcp

	// Or call the tools in process, as the same principal would.
	ann := identity.Principal{ID: "app:ann", Owner: "ann", Tenant: "acme", Scopes: []identity.Scope{identity.Read}}
	ask := func(name, arguments string) {
		args, err := value.Read([]byte(arguments), 0)
		if err != nil {
			log.Fatal(err)
		}
		answer, err := tools.Call(ctx, ann, tool.Request{Name: name, Arguments: args})
		if err != nil {
			p := problem.Of(err)
			fmt.Println(p.Code, p.Pointer, p.Detail)
			return
		}
		fmt.Println(string(answer.Structured))
	}
	ask("count_objects", `{"class_name": "issues", "where": {"status": "Done"}}`)
	ask("count_objects", `{"class_name": "issues", "where": {"org_id": "globex"}}`)
	ask("count_objects", `{"class_name": "users"}`)
	// Output:
	// {"class_name":"issues","count":1765}
	// {"class_name":"issues","count":0}
	// not_found /class_name there is no class "users"
}

// signedIn is a placeholder for the program's own sessions.
func signedIn(r *http.Request) (user string, ok bool) {
	user, _, ok = r.BasicAuth()
	return user, ok
}
