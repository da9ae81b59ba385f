package bailiwick_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
	"github.com/bailiwick-dev/bailiwick/value"
)

// state is the argument of the tool.
type state struct {
	Status string `json:"status" jsonschema:"Backlog, In progress or Done"`
}

// number is how many there are.
type number struct {
	Count int64 `json:"count"`
}

// A program's own tool has schemas made from Go structs. It reads through the call, so it sees what the caller sees.
func Example_tools() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := demo.Create(ctx, filepath.Join(dir, "tracker.db")); err != nil {
		fmt.Println(err)
		return
	}
	tracker, err := sqlite.Open(ctx, "tracker", filepath.Join(dir, "tracker.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tracker.Close()
	gateway, _, err := bailiwick.New(ctx, bailiwick.Options{
		Sources: map[string]source.Source{"tracker": tracker},
		Rules:   policy.Rules{Classes: map[string]policy.ClassRule{"issues": {Tenant: &policy.TenantRule{Field: "org_id"}}}},
		Audit:   &audit.Memory{},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	own := tool.Typed(tool.Tool{
		Name:        "count_by_status",
		Description: "How many issues are in a state.",
		Annotations: tool.Annotations{ReadOnly: true, Idempotent: true},
		Category:    tool.Custom,
	}, func(ctx context.Context, call *bailiwick.Call, in state) (number, error) {
		n, _, err := call.Count(ctx, &query.Count{Class: "issues",
			Where: query.Compare{Path: query.Path{"status"}, Op: query.Eq, Value: value.OfString(in.Status)}})
		return number{n}, err
	})
	tools, err := tool.NewSet(gateway, append(tool.Data(tool.Options{}), own)...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tenant := range []string{"acme", "globex"} {
		ann := identity.Principal{ID: "app:ann", Owner: "ann", Tenant: tenant, Scopes: []identity.Scope{identity.Read}}
		args := value.OfObject([]value.Member{{Name: "status", Value: value.OfString("Done")}})
		answer, err := tools.Call(ctx, ann, tool.Request{Name: "count_by_status", Arguments: args})
		fmt.Println(tenant, string(answer.Structured), err)
	}
	// Output:
	// acme {"count":1765} <nil>
	// globex {"count":1108} <nil>
}
