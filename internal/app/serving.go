package app

import (
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/console"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/mcp"
	"github.com/bailiwick-dev/bailiwick/reviewapi"
)

// A Serving contains the HTTP handlers of an App, for agents and people.
type Serving struct {
	MCP     *mcp.Server
	Agents  http.Handler     // the MCP endpoint, health and metrics
	Reviews http.Handler     // the reviewers' JSON API, below /api/
	Console *console.Console // nil if people have no way to sign in

	plant  *App
	log    *slog.Logger
	bodies *fair.Budget // shared by all handlers
}

// Serve returns the handlers of p, with an MCP server that has the options o. Their streams end when ctx ends or when
// the MCP server closes its listener.
func (p *App) Serve(ctx context.Context, o mcp.Options) (*Serving, error) {
	if err := p.TrustIssuer(&o); err != nil {
		return nil, err
	}
	if o.ShutdownTimeout == 0 { // each call has its own timeout
		o.ShutdownTimeout = config.MaxTimeout + patience
	}
	if o.Bodies == nil {
		o.Bodies = fair.NewBudget(fair.BudgetOptions{Largest: o.MaxBody, Queue: o.Queue, Patience: o.Patience})
	}
	if o.SessionKey == nil {
		key, err := p.Store.Secret(ctx, "sessions of older protocols")
		if err != nil {
			return nil, err
		}
		o.SessionKey, o.SessionsEnded = key, p.Store
	}
	s, err := mcp.New(o)
	if err != nil {
		return nil, err
	}
	out := &Serving{MCP: s, plant: p, log: o.Logger, bodies: o.Bodies}
	if out.Agents, err = p.Watch(s); err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	s.OnClose(end)
	return out, out.people(ctx, o.Tokens)
}

// people creates the handlers for people. They sign in with credentials.
func (s *Serving) people(ctx context.Context, credentials identity.Authenticator) (err error) {
	if credentials != nil {
		if s.Console, err = s.plant.Console(ctx, s.MCP, credentials, s.log); err != nil {
			return err
		}
	}
	s.Reviews = reviewapi.New(reviewapi.Options{Reviewer: s.plant.Gateway.Reviewer, Identify: s.Console.Identify(s.MCP.Identify), Challenge: s.MCP.Challenge(),
		Deliveries: s.plant.Store, Tokens: s.plant.Tokens, Record: s.plant.Gateway.Do, Fresh: s.plant.Config.Auth.Fresh, Closing: ctx, Logger: s.log}).Handler()
	return nil
}

// Handler serves all handlers at one address: /mcp, /api/ and /console.
func (s *Serving) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.Agents)
	mux.HandleFunc("GET /{$}", about(s.Console != nil))
	mux.Handle("/api/", s.Reviews)
	if decide := s.plant.Answers(s.log); decide != nil && s.Console != nil {
		mux.Handle(inboundPath, edge.WithDeadlines(own(decide, s.plant.site()), edge.Options{}))
	}
	if s.Console != nil {
		s.Console.Mount(mux)
	}
	return edge.WithPrefix(s.limitBodies(mux), s.plant.inForce().Server.URL)
}

// own returns h without requests from pages of other sites. Systems that answer notifications are not browsers. site
// is the public URL of this server.
func own(h http.Handler, site string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if edge.Foreign(r, site) {
			edge.RefusedBecause(r.Context(), "origin", "")
			http.Error(w, "this comes from a page of another site", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// limitBodies returns h with a limit on the memory for request bodies. The MCP endpoint knows its callers, so it
// counts their bodies itself.
func (s *Serving) limitBodies(h http.Handler) http.Handler {
	rest := s.bodies.Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" || r.URL.Path == "/mcp/" {
			h.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}

// about returns a handler for the root path that describes the server. If people is true, the description mentions
// tokens and the console.
func about(people bool) http.HandlerFunc {
	text := "This is Bailiwick, a gateway for agents.\n\nAgents connect to /mcp, over MCP.\n"
	if people {
		text += "They sign in there, or bring a token that \"bailiwick token create\" makes. People review what agents propose at " + console.Path + ".\n"
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text) // the client may have disconnected
	}
}

// Work does the background work until stop is called. It applies approved changes, sends notifications, and reports
// changes to their agents. stop returns when no work is in progress. Links in notifications begin with address, such
// as "http://127.0.0.1:8420".
func (s *Serving) Work(ctx context.Context, address string) (stop func()) {
	s.plant.Address = address
	ends := []func(){s.plant.Apply(ctx, s.log), s.plant.Describes(ctx, s.log), s.plant.Notify(ctx, address, s.log), s.plant.Tell(ctx, s.MCP, s.log), s.plant.Share(ctx, s.log), store.KeepBlocks(ctx, s.plant.Store, s.log)}
	if o := s.plant.inForce().Audit.Archive; o.Folder != "" {
		ends = append(ends, store.KeepArchive(ctx, s.plant.Store, o.Folder, o.After, s.log))
	}
	if s.plant.connections != nil {
		ends = append(ends, s.plant.connections.Keep(ctx, s.log))
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}
