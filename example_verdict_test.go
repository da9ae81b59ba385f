package bailiwick_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// A program tells its operators what an agent may do, and why not.
func Example_verdict() {
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
		Rules:   policy.Rules{Classes: map[string]policy.ClassRule{"issues": {Visible: []string{"id", "title", "status"}}}},
		Audit:   &audit.Memory{},
	})
	if err != nil {
		log.Fatal(err)
	}
	tools, err := tool.NewSet(gateway, tool.Data(tool.Options{})...)
	if err != nil {
		log.Fatal(err)
	}
	agent := identity.Principal{ID: "support", Scopes: []identity.Scope{identity.Read}}
	for _, class := range []string{"issues", "users"} {
		var verdict bailiwick.Verdict
		if verdict, err = gateway.WouldPermit(agent, tools.Uses(), "query_class", class); err != nil {
			log.Fatal(err)
		}
		fmt.Println(class, verdict.Allowed, verdict.Why)
	}
	var all bailiwick.Description
	if all, err = gateway.Describe(agent, tools.Uses()); err != nil {
		log.Fatal(err)
	}
	for _, class := range all.Classes {
		fmt.Println(class.Class, len(class.Fields), "fields")
	}
	// Output:
	// issues true the principal sees tracker.issues
	// users false no rule names the class, and such classes are hidden
	// tracker.issues 3 fields
}
