package main

import (
	"context"
	"errors"
	"log"
	"net/http"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/prompt"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/sqlite"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// rules are the rules for agents: they see the issues and people of their own organisation.
var rules = policy.Rules{Version: "1", Classes: map[string]policy.ClassRule{
	"issues": {Tenant: &policy.TenantRule{Field: "org_id"}, Visible: []string{"id", "title", "status", "priority", "assignee_id", "updated_at"}},
	"users":  {Tenant: &policy.TenantRule{Field: "org_id"}, Visible: []string{"id", "name", "role"}},
}}

// A desk is the application.
type desk struct {
	tracker interface{ Close() error }
	gateway *bailiwick.Gateway
	tools   *tool.Set
	prompts *prompt.Set
	server  *mcp.Server
	stop    func()
}

// newDesk opens the tracker at path and puts a gateway on it.
func newDesk(ctx context.Context, path string) (*desk, error) {
	tracker, err := sqlite.Open(ctx, "tracker", path)
	if err != nil {
		return nil, err
	}
	d := &desk{tracker: tracker}
	d.gateway, _, err = bailiwick.New(ctx, bailiwick.Options{
		Sources: map[string]source.Source{"tracker": tracker},
		Rules:   rules,
		Audit:   &audit.Memory{}, // store/sqlite keeps it in a file
	})
	if err != nil {
		return nil, errors.Join(err, tracker.Close())
	}
	// Bailiwick's tools, and two of the desk's own.
	d.tools, err = tool.NewSet(d.gateway, append(tool.Data(tool.Options{}), untouchedIssuesTool(), triage())...)
	if err != nil {
		return nil, errors.Join(err, tracker.Close())
	}
	d.prompts, err = prompt.NewSet(d.gateway, d.tools, append(prompt.Builtin(), standup())...)
	if err != nil {
		return nil, errors.Join(err, tracker.Close())
	}
	d.server, err = mcp.New(mcp.Options{Tools: d.tools, Prompts: d.prompts, Authenticate: signedIn, Challenge: `Basic realm="desk"`})
	if err != nil {
		return nil, errors.Join(err, tracker.Close())
	}
	// Notify connected agents and log the change.
	d.stop = d.gateway.Subscribe(func(c bailiwick.Event) {
		d.server.NotifyAll()
		log.Printf("changed: %s", c)
	})
	return d, nil
}

// Close closes the desk.
func (d *desk) Close() error {
	d.stop()
	return errors.Join(d.server.Close(), d.tracker.Close())
}

// handler serves the whole web application: its own pages and the endpoint for agents.
func (d *desk) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("The desk. Agents connect to /agents/mcp.\n"))
	})
	mux.Handle("/agents/", http.StripPrefix("/agents", d.server.Handler()))
	return mux
}

// people are the application's existing accounts with their organisations.
var people = map[string]string{"ana": demo.Acme, "bo": demo.Globex}

// signedIn returns the principal of a request, as authenticated by the application. Agents see only errors of
// identity.UnauthorizedError. Any other error is shown as "Internal error".
func signedIn(r *http.Request) (identity.Principal, error) {
	name, password, ok := r.BasicAuth()
	tenant, known := people[name]
	if !ok || !known || password != name {
		return identity.Principal{}, identity.UnauthorizedError("not signed in", nil)
	}
	return identity.Principal{ID: "desk:" + name, Name: name, Kind: identity.Agent, Owner: name, Tenant: tenant,
		Scopes: []identity.Scope{identity.Read}}, nil
}
