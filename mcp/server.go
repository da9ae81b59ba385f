// Package mcp is the MCP transport: it serves the tools over HTTP and over standard input and output.
//
//	request ─edge, wire: bounds→ message ─authenticate→ Principal ─Tools→ tool.Result ─encode→ response
//
// It accepts only requests of a known principal, over an allowed host and origin, of bounded size, depth and number.
// They must be written so that all parsers agree on them. All others are refused before anything else parses them.
// Package wire is the strict parser, package edge bounds the connections, and package fair shares the work.
//
// It does not depend on classes or rules: the tools decide what a principal may call and see. Tools don't depend on the
// protocol. Only this package encodes their results and problems as MCP.
//
// The client keeps two kinds of sealed data for the server, so that any process with the same key can continue. One is
// the ID of a session. The other is the requestState of a tool that asks back. The server rejects data that was not
// sealed here, belongs to another principal, or has expired. State is also bound to its call, and valid once.
//
// Comments name the bugs and limitations of go-sdk v1.8.0 that a piece of code works around.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/authserver"
	"github.com/bailiwick-dev/bailiwick/internal/edge"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// Tools is the set of callable tools. It applies scopes, limits, validation, policy and audit itself.
type Tools interface {
	// List returns the tools that the principal may call, of one category or of all for "". An unknown category has
	// none.
	List(who identity.Principal, category string) []*tool.Tool
	// Call answers one call. Errors carry a *problem.Error: UnknownTool for a tool that is not in List.
	Call(ctx context.Context, who identity.Principal, r tool.Request) (tool.Result, error)
	// Admit runs run, which answers a tool made with only the SDK, under the same limits and audit, as name. It returns
	// run's error, or the *problem.Error that refused the call. bytes is the size of the response.
	Admit(ctx context.Context, who identity.Principal, name string, run func(context.Context) (bytes int, err error)) error
}

// A Form selects the parts of a result that a client is sent.
type Form string

// The forms of a result. The text has everything a model needs, in fewer tokens. Many clients pass the structured
// content to their model too, or instead. See docs/clients.md.
const (
	Text       Form = "text"       // the text only, and no output schemas. The default
	Structured Form = "structured" // the structured content only. Errors are sent as text in all forms
	Both       Form = "both"       // the text and the structured content
)

// Options configure a Server. Only Tools is required.
type Options struct {
	Tools        Tools
	Prompts      Prompts                         // nil serves no prompts, resources or completions
	Version      string                          // of this program, as shown to clients
	Instructions string                          // for the agent, sent at initialization
	Guide        func(identity.Principal) string // instructions by caller, in the place of Instructions. Nil sends Instructions
	Logger       *slog.Logger
	Observer     wire.Observer    // is notified of every request. It may be nil
	Refused      *edge.RefusalLog // receives every refused request. Nil logs to Logger
	Metrics      http.Handler     // serves /metrics to principals with the scope operator or audit. It may be nil

	// Tokens authenticates `Authorization: Bearer` and `X-MCP-API-Key`. Authenticate, if set, replaces Tokens and
	// Anonymous and decides from the whole request. Anonymous is the principal of requests from a loopback address
	// without a credential. Nil refuses them. A server with none of the three refuses every request.
	Tokens       identity.Authenticator
	Authenticate func(*http.Request) (identity.Principal, error)
	Anonymous    *identity.Principal

	AllowedOrigins   []string             // "https://app.example". Pages of this host itself are always allowed
	AllowedHosts     []string             // names in the Host header, with or without a port. Nil allows only loopback names on a loopback address
	Resource         *authserver.Resource // served as RFC 9728 metadata. It may be nil
	ResourceMetadata string               // URL of the RFC 9728 metadata, named in 401 and 403 responses. "" means that of Resource, or none

	Results map[string]Form // by client name. "" is the default for other clients, which is Text if absent

	MaxBody         int64         // bytes. 0 means 1 MiB, at most that of Bodies
	Bodies          *fair.Budget  // bounds the memory of all requests' bodies. Nil is a budget of this server's own
	MaxDepth        int           // of nested JSON. 0 means 20
	Concurrency     int           // concurrent calls. 0 means 64
	ConcurrencyEach int           // of them for one credential, at most half. 0 means a quarter. An owner gets at most half, a tenant 3/4
	Queue           int           // calls waiting for a slot. 0 means 256, negative none
	Patience        time.Duration // how long a call waits for a slot. 0 means 30 s
	Streams         int           // open event streams, shared as calls are. 0 means 1,000
	Sessions        int           // sessions of the protocols before 2026-07-28. 0 means 1,000
	SessionKey      []byte        // 32 bytes, with which replicas continue each other's sessions. With nil a session belongs to its process
	SessionsEnded   once.Store    // which of these their clients have ended, for all replicas. Nil keeps that in this process
	SessionsEach    int           // of them for one principal. 0 means 100
	SessionTimeout  time.Duration // after which an idle session ends. 0 means 30 minutes
	Heartbeat       time.Duration // between progress notifications. 0 means 2 s, negative sends none
	Drain           time.Duration // how long Serve serves on after its context ends, with /readyz at 503. 0 means none
	ShutdownTimeout time.Duration // for calls in flight when the listener has closed. 0 means 10 s
	Connections     int           // open connections under Serve. 0 means 4,096, and at most half of the process's open files
	ConnectionsEach int           // of them for one IPv4 address or IPv6 /64. 0 means a quarter of Connections

	Ready  func(context.Context) error // for /readyz. Nil is always ready
	Notes  func() []string             // further text of /readyz, shown to anyone. It may be nil
	Extend wire.Extension              // for tests. Programs leave it zero
}

// A Server is the MCP transport. It is safe for concurrent use.
type Server struct {
	options  Options
	log      *slog.Logger
	sdk      *sdk.Server
	modern   http.Handler // MCP 2026-07-28 and later: stateless
	legacy   http.Handler // earlier versions: sessions
	calls    *fair.Semaphore
	streams  *fair.Semaphore
	sessions *wire.Sessions
	ids      sessionIDs
	inflight *wire.Inflight
	states   *sealer
	self     []byte // implementation() as JSON
	watched  wire.Watched
	changes  atomic.Int64 // how often rules, sources or tools have changed

	strangeAt  atomic.Int64           // when a refused Host or Origin was last logged, in seconds since 1970
	unready    atomic.Pointer[string] // why /readyz last refused, or "" if it didn't
	draining   atomic.Bool            // Serve is about to end
	results    atomic.Pointer[map[string]Form]
	shown      sync.Map // *tool.Tool to *mcp.Tool: converted once
	categories sync.Map // tool name to tool.Category
	raw        sync.Map // names of the Extension's tools

	closing context.Context // ends when the server begins to close, to end the streams
	close   context.CancelFunc
	closed  context.Context // ends when calls in flight must end too
	end     context.CancelFunc
}

// New returns a server with options o. It opens no connections. See Handler, Serve and ServeStdio.
func New(o Options) (*Server, error) {
	if o.Tools == nil {
		return nil, errors.New("server: Options.Tools is not set")
	}
	if o.Resource != nil {
		if err := o.Resource.Check(); err != nil {
			return nil, err
		}
		o.ResourceMetadata = cmp.Or(o.ResourceMetadata, o.Resource.Address())
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxDepth = cmp.Or(o.MaxDepth, 20)
	o.Concurrency = cmp.Or(o.Concurrency, 64)
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	if o.Bodies == nil {
		o.Bodies = fair.NewBudget(fair.BudgetOptions{Largest: o.MaxBody, Queue: o.Queue, Patience: o.Patience})
	}
	o.Queue = max(cmp.Or(o.Queue, 256), 0)
	o.Streams = cmp.Or(o.Streams, 1000)
	o.Sessions = cmp.Or(o.Sessions, 1000)
	o.SessionsEach = cmp.Or(o.SessionsEach, 100)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, 30*time.Minute)
	o.Heartbeat = cmp.Or(o.Heartbeat, 2*time.Second)
	o.ShutdownTimeout = cmp.Or(o.ShutdownTimeout, 10*time.Second)
	if o.Refused == nil {
		o.Refused = edge.NewRefusalLog(o.Logger, nil)
	}
	if o.Extend.StateKey != nil && o.Extend.Used == nil {
		return nil, errors.New("server: a StateKey that replicas share needs a store, Used, that they share too: one answer would be good once at each")
	}
	states, err := newSealer(o.Extend.StateKey, o.Extend.Used)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options:  o,
		log:      o.Logger,
		calls:    fair.New(fair.Bounds{Slots: o.Concurrency, Each: o.ConcurrencyEach, Queue: o.Queue, Patience: o.Patience}),
		streams:  fair.New(fair.Bounds{Slots: o.Streams}),
		inflight: wire.NewInflight(),
		states:   states,
	}
	if s.self, err = json.Marshal(s.implementation()); err != nil {
		return nil, err
	}
	if s.ids.sealed, err = sealedSessions(&o); err != nil {
		return nil, err
	}
	s.SetResults(o.Results)
	s.closing, s.close = context.WithCancel(context.Background())
	s.closed, s.end = context.WithCancel(context.Background())
	s.mount()
	s.sessions = wire.NewSessions(o.Sessions, o.SessionsEach, o.SessionTimeout, s.sdk)
	return s, nil
}

// mount makes the one SDK server for all requests: making one per request costs ten times as much.
func (s *Server) mount() {
	o := &sdk.ServerOptions{
		Instructions: s.options.Instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
		// The SDK's default scope is public, but lists depend on the principal.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	}
	if s.options.Prompts != nil {
		o.Capabilities.Prompts = &sdk.PromptCapabilities{ListChanged: true}
		o.Capabilities.Resources = &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true}
		o.Capabilities.Completions = &sdk.CompletionCapabilities{}
		o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
		o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
	}
	o.GetSessionID = s.ids.take
	if s.options.Extend.Options != nil {
		s.options.Extend.Options(o)
	}
	s.sdk = sdk.NewServer(s.implementation(), o)
	if s.options.Extend.Mount != nil {
		s.options.Extend.Mount(s.sdk, s.addRaw)
	}
	s.sdk.AddReceivingMiddleware(s.receive)

	one := func(*http.Request) *sdk.Server { return s.sdk }
	s.modern = sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // checked before, with AllowedHosts
		MaxRequestBodyBytes:          s.options.MaxBody,
	})
	s.legacy = sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{
		DisableLocalhostProtection: true, // the end of idle sessions is up to s.sessions
		MaxRequestBodyBytes:        s.options.MaxBody,
	})
}

func (s *Server) implementation() *sdk.Implementation {
	return &sdk.Implementation{Name: "bailiwick", Title: "Bailiwick", Version: cmp.Or(s.options.Version, "0.0.0")}
}

// SetResults replaces Options.Results.
func (s *Server) SetResults(forms map[string]Form) { s.results.Store(&forms) }

// NotifyTools notifies all listening clients that the tools have changed.
func (s *Server) NotifyTools() {
	s.categories.Clear()
	s.shown.Clear()
	// The SDK notifies clients when one of its own tools changes. This one is never listed, as it is not in s.raw.
	s.sdk.AddTool(&sdk.Tool{Name: changedName, InputSchema: emptySchema}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errUnknownTool()
	})
}

// Close ends all streams, calls and sessions.
func (s *Server) Close() error {
	s.close()
	s.end() // the SDK waits for calls in flight before it closes a session
	var errs []error
	for session := range s.sdk.Sessions() {
		errs = append(errs, session.Close())
	}
	s.watched.Wait()
	return errors.Join(errs...)
}
