package bailiwick_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/serve"
)

// A program mounts the page on which people review changes beside its own pages, from a configuration file.
func Example_reviewPage() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
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
	const text = "store: sqlite:bailiwick.db\ngates: {writes: review, raw_writes: review}\nsources: {tracker: {url: 'sqlite:tracker.db'}}\n" +
		"classes: {tracker.issues: {tenant: {field: org_id, is: principal.tenant}, permitted: [title]}}\n"
	if err := os.WriteFile(filepath.Join(dir, "bailiwick.yaml"), []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	s, err := serve.Open(ctx, filepath.Join(dir, "bailiwick.yaml"), serve.Options{Authenticate: func(r *http.Request) (identity.Principal, error) {
		user, ok := signedIn(r)
		if !ok {
			return identity.Principal{}, identity.UnauthorizedError("not signed in", nil)
		}
		return identity.Principal{ID: "app:" + user, Owner: user, Tenant: "acme", Scopes: []identity.Scope{identity.Read}}, nil
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "the program's own page") })
	mux.Handle("/mcp", s.MCP())          // agents
	mux.Handle("/api/", s.ReviewAPI())   // reviewers, as JSON
	mux.Handle("/console/", s.Console()) // reviewers, as web pages
	ran := make(chan struct{})
	go func() { // applies what was approved, sends notifications
		defer close(ran)
		s.Run(ctx, "https://app.example.com")
	}()
	for _, path := range []string{"/", "/console/changes", "/api/v1/changes"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost"+path, nil))
		fmt.Println(strings.TrimSpace(fmt.Sprintln(path, w.Code, w.Header().Get("Location"))))
	}
	stop()
	<-ran
	fmt.Println(s.Close())
	// Output:
	// / 200
	// /console/changes 303 /console/sign-in?next=%2Fconsole%2Fchanges
	// /api/v1/changes 401
	// <nil>
}
