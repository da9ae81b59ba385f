// Package serve runs the server of the command "bailiwick serve" inside a Go program: everything that a configuration
// file names.
//
//	s, err := serve.Open(ctx, "bailiwick.yaml", serve.Options{})
//	mux.Handle("/mcp", s.MCP())
//	mux.Handle("/api/", s.ReviewAPI())
//	mux.Handle("/console/", s.Console())
//	go s.Run(ctx, "https://app.example.com")
//
// A program without a configuration file can create a bailiwick.Gateway itself, with only the packages it needs. This
// package links all sources and both stores.
package serve

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/app"
	"github.com/bailiwick-dev/bailiwick/internal/config"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/source/openapi"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// Options adds a program's own parts to those in a configuration file. The zero value adds nothing.
type Options struct {
	// Authenticate returns the principal of a request to the MCP endpoint or the review API. If it is nil, the
	// configuration's tokens and issuer authenticate. It returns an identity.UnauthorizedError if the caller isn't
	// signed in.
	Authenticate func(*http.Request) (identity.Principal, error)

	// Challenge is the WWW-Authenticate header of a 401, with the scheme that Authenticate accepts, such as
	// `Basic realm="desk"`. "" means Bearer. It is used only with Authenticate.
	Challenge string

	// Tools are served in addition to the tools in the configuration. A duplicate name is an error.
	Tools []tool.Tool

	// Open opens a source whose url begins with a scheme that this package doesn't link, such as duckdb:. It returns
	// nil without an error for an unknown source. If Open is nil, no such source can be opened.
	Open func(ctx context.Context, s Source) (source.Adapter, error)

	// Credential returns the program's own credential for an HTTP API in the configuration. It replaces the
	// configured credential. It may depend on the principal of each request: see openapi.Headers, openapi.Exchange
	// and openapi.TokenExchange. It returns nil for a source without its own credential. If Credential is nil, only
	// configured credentials are used.
	Credential func(source string) openapi.Credential

	// Logger receives the log for operators. If it is nil, Log is used.
	Logger *slog.Logger

	// Log receives the log if there is no Logger. The configuration's section log determines the form and the level.
	// If Log is nil, the log is discarded.
	Log io.Writer
}

// A Source is the configuration of a source that Options.Open opens.
type Source struct {
	Name      string
	URL       string // a relative path is already resolved
	LocalRows int    // maximum records that a query may read to do work that the source can't do, or 0 for the default
}

// opening returns the function with which a configuration opens the sources of o.
func (o *Options) opening() config.Open {
	if o.Open == nil {
		return nil
	}
	return func(ctx context.Context, s config.Source) (source.Adapter, error) {
		return o.Open(ctx, Source{Name: s.Name, URL: s.URL, LocalRows: s.LocalRows})
	}
}

// A Server serves one configuration. It is safe for concurrent use.
type Server struct {
	file    string
	own     Options
	log     *slog.Logger
	started config.Config // the configuration as first read
	plant   *app.App
	parts   *app.Serving
	watch   app.ConfigWatcher
	end     context.CancelFunc // ends the handlers
}

// Open reads the configuration file, connects to its store and sources, and compiles its rules. An error contains the
// position of the fault in the file. Warnings lists the parts that work only partially. ctx is used only for opening.
func Open(ctx context.Context, file string, o Options) (_ *Server, err error) {
	c, err := app.LoadFile(file)
	if err != nil {
		return nil, err
	}
	started, log := *c, o.Logger
	switch {
	case log == nil && o.Log == nil:
		log = slog.New(slog.DiscardHandler)
	case log == nil:
		log = app.Logger(o.Log, c.Log)
	}
	c.Open = o.opening()
	c.SignWith(o.Credential)
	p, err := app.BuildWithTelemetry(ctx, c, log)
	if err != nil {
		return nil, err
	}
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{file: file, own: o, log: log, started: started, plant: p, end: end}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := p.Tools.Add(o.Tools...); err != nil {
		return nil, err
	}
	options := p.Door()
	options.Logger, options.Notes = log, func() []string { return append(s.watch.Notes(), p.Notes()...) }
	if o.Authenticate != nil {
		options.Authenticate, options.Challenge = o.Authenticate, o.Challenge
	}
	s.parts, err = p.Serve(alive, options)
	return s, err
}

// Gateway returns the gateway. Through it, the program itself can read, propose and review under the same rules.
func (s *Server) Gateway() *bailiwick.Gateway { return s.plant.Gateway }

// Tools returns the tools that agents can call. They can be added and removed while the server runs.
func (s *Server) Tools() *tool.Set { return s.plant.Tools }

// Address returns the address for agents in the configuration (listen), or "" if it isn't set. The Server doesn't
// listen by itself.
func (s *Server) Address() string { return s.started.Listen }

// Warnings returns a sentence for each part of the configuration that works only partially.
func (s *Server) Warnings() []string { return s.plant.Warnings }

// Handler serves all endpoints below one address: /mcp, /api/, /console, /healthz and /readyz.
func (s *Server) Handler() http.Handler { return s.parts.Handler() }

// MCP serves agents at /mcp, and /healthz and /readyz.
func (s *Server) MCP() http.Handler { return s.parts.Agents }

// ReviewAPI serves the reviewers' JSON API at /api/.
func (s *Server) ReviewAPI() http.Handler { return s.parts.Reviews }

// Console serves the web pages for reviewers at /console and below. It responds with 404 if people have no way to
// sign in.
func (s *Server) Console() http.Handler {
	if s.parts.Console == nil {
		return http.NotFoundHandler()
	}
	return s.parts.Console.Handler()
}

// Run applies approved changes, sends notifications, and notifies listening agents of changed rules, until ctx ends.
// It returns when no work is in progress. Without Run, changes can be proposed and approved, but are not applied.
// Links in notifications begin with address, such as "https://app.example.com".
func (s *Server) Run(ctx context.Context, address string) {
	silence := s.plant.Announce(s.parts.MCP)
	stop := s.parts.Work(ctx, address)
	<-ctx.Done()
	stop()
	silence()
}

// Serve answers requests on l with Handler until ctx ends. Then it waits for calls in progress. The configuration
// (server.connections) limits the connections and the wait. A program with its own http.Server must limit connections
// and idle connections itself.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.parts.MCP.Serve(ctx, l, s.parts.Handler())
}

// Reload reads the configuration file again and applies it in one step. It returns warnings. An error contains the
// position of the fault, and nothing is changed.
func (s *Server) Reload(ctx context.Context) ([]string, error) {
	c, err := s.load()
	if err != nil {
		return nil, err
	}
	return s.apply(ctx, c)
}

// load reads the configuration file.
func (s *Server) load() (*config.Config, error) {
	c, err := app.LoadFile(s.file)
	if err != nil {
		return nil, s.reportReload(err)
	}
	c.Open = s.own.opening()
	c.SignWith(s.own.Credential)
	return c, nil
}

// apply applies a configuration.
func (s *Server) apply(ctx context.Context, c *config.Config) ([]string, error) {
	warnings, err := s.plant.Reload(ctx, c)
	if err == nil {
		s.parts.MCP.SetResults(app.Forms(c))
	}
	return warnings, s.reportReload(err)
}

// reportReload reports the result of a reload to telemetry and returns err.
func (s *Server) reportReload(err error) error {
	if t := s.plant.Telemetry; t != nil {
		t.RecordReload(err)
	}
	return err
}

// Watch applies the configuration when it changes, until ctx ends. For each signal from hangup, which may be nil, it
// reads the configuration and the sources again. An invalid configuration changes nothing. The log and the health
// report describe the fault. Watch may be called only once.
func (s *Server) Watch(ctx context.Context, hangup <-chan os.Signal) {
	stop := s.watch.Watch(ctx, app.WatchOptions{
		Started: &s.started, File: s.file, Load: s.load, Apply: s.apply, Restart: app.Restart, Hangup: hangup, Log: s.log,
		Refresh: func(ctx context.Context) ([]string, error) {
			warnings, err := s.plant.Gateway.Refresh(ctx)
			return warnings, app.RuleFaults(s.plant.Config, s.reportReload(err))
		},
	})
	<-ctx.Done()
	stop()
}

// Close ends the handlers, and closes the sources and the store. Call Close after Run has returned.
func (s *Server) Close() error {
	s.end()
	var err error
	if s.parts != nil {
		err = s.parts.MCP.Close()
	}
	return errors.Join(err, s.plant.Close())
}
