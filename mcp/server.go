// Package mcp is the MCP door: it serves the tools over HTTP and over standard input and output.
//
// It stands before the way and after it. It lets in one kind of request only: from a known principal, over a known
// host and origin, of bounded size, depth and number, and written so that all readers agree on it. It refuses all
// others before anything reads them. It knows no class and no rule: what a principal may call, and what it gets, is
// decided by the tools it is given. Tools know nothing of the protocol; here alone their results and problems
// become MCP. The comments name the traps of go-sdk v1.8.0 that a piece of code covers.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/gate"
	"github.com/bailiwick-dev/bailiwick/internal/mcpobserve"
	"github.com/bailiwick-dev/bailiwick/internal/oauthmeta"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/refused"
	"github.com/bailiwick-dev/bailiwick/mcp/internal/sealed"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// Tools is what can be called. Scope, limits, validation, policy and audit happen inside.
type Tools interface {
	// List returns the tools that who may call, of one category or of all for "". An unknown category has none.
	List(who identity.Principal, category string) []*tool.Tool
	// Call answers one call. Its errors carry a *problem.Error: UnknownTool for a tool that is not in List.
	Call(ctx context.Context, who identity.Principal, r tool.Request) (tool.Result, error)
	// Admit puts run, which answers a tool made with the SDK alone, behind the same limits and audit, as name.
	// It returns run's error, or the *problem.Error for which run was not run. bytes is the size of the answer.
	Admit(ctx context.Context, who identity.Principal, name string, run func(context.Context) (bytes int, err error)) error
}

// A Form says which parts of a result a client is sent.
type Form string

// The forms of a result. The text holds all that a model needs, in fewer tokens; many clients hand their model the
// structured content too, or instead. See docs/clients.md.
const (
	Text       Form = "text"       // the text alone, and no output schemas; the default
	Structured Form = "structured" // the structured content alone; a refusal is a text for all
	Both       Form = "both"       // the text and the structured content
)

// Options configure a Server. Of the zero value only Tools must be set.
type Options struct {
	Tools        Tools
	Prompts      Prompts // nil serves no prompts, resources and completions
	Version      string  // of this program, as clients are told
	Instructions string  // for the agent, at the start
	Logger       *slog.Logger
	Observer     mcpobserve.Observer // is told of every request; nil tells nobody
	Refused      *refused.Log        // is told of every request that is refused; nil tells Logger
	Metrics      http.Handler        // serves /metrics to who has the scope operator or audit; nil serves none

	// Tokens authenticates `Authorization: Bearer` and `X-MCP-API-Key`. Authenticate, when set, decides instead of
	// Tokens and Anonymous, from the whole request. Either may be nil; a server with neither lets nobody in but
	// Anonymous, who is whoever comes from a loopback address without a credential; nil lets none in.
	Tokens       identity.Authenticator
	Authenticate func(*http.Request) (identity.Principal, error)
	Anonymous    *identity.Principal

	AllowedOrigins   []string            // "https://app.example"; a browser page of this host itself is always let in
	AllowedHosts     []string            // names in the Host header, with or without a port; nil lets only loopback names reach a loopback address
	Resource         *oauthmeta.Resource // served as RFC 9728 metadata; nil serves none
	ResourceMetadata string              // URL of the RFC 9728 metadata, named in 401 and 403 answers; "" is that of Resource, or none

	Results map[string]Form // by client name; "" is for all that are not named, where absent they get the text

	MaxBody         int64         // bytes; 0 takes 1 MiB
	MaxDepth        int           // of nested JSON; 0 takes 20
	Concurrency     int           // calls at a time; 0 takes 64
	ConcurrencyEach int           // of them by one credential, at most half; 0 takes a quarter. One owner makes at most half, one tenant three quarters
	Queue           int           // calls that wait for their turn; 0 takes 256, negative none
	Patience        time.Duration // how long one waits; 0 takes 30 s
	Streams         int           // event streams that stay open, shared as calls are; 0 takes 1,000
	Sessions        int           // sessions of the protocols before 2026-07-28; 0 takes 1,000
	SessionsEach    int           // those of one principal; 0 takes 100
	SessionTimeout  time.Duration // after which an idle one ends; 0 takes 30 minutes
	Heartbeat       time.Duration // between progress notifications; 0 takes 2 s, negative sends none
	ShutdownTimeout time.Duration // for calls in flight; 0 takes 10 s
	Connections     int           // open at a time under Serve; 0 takes 4,096, and at most half of the files that the process may open
	ConnectionsEach int           // of one IPv4 address or IPv6 /64; 0 takes a quarter of Connections

	Ready  func(context.Context) error // for /readyz; nil is always ready
	Notes  func() []string             // what /readyz says besides that it is ready, for anybody; nil says nothing
	Extend Extension

	// StateKey seals the requestState of tools that ask back: 32 bytes, the same on all replicas. Nil takes a
	// random one.
	StateKey []byte

	// Used keeps which requestStates were answered, for all replicas with one StateKey. Nil keeps it in this process.
	Used once.Store
}

// An Extension adds what is made with the SDK alone: the fixtures of the conformance suites.
type Extension struct {
	Options func(*sdk.ServerOptions) // changes the SDK's options; nil changes nothing
	Mount   func(*sdk.Server, Raw)   // adds features; nil adds none
}

// A Raw puts a tool made with the SDK behind the server's tools: each run of its handler is admitted and audited as
// one call, and its requestState is sealed. Only tools added so are listed and can be called.
type Raw func(*sdk.Tool, sdk.ToolHandler)

// A Server is the MCP door. It is safe for use by several goroutines.
type Server struct {
	options  Options
	log      *slog.Logger
	sdk      *sdk.Server
	modern   http.Handler // MCP 2026-07-28 and later: stateless
	legacy   http.Handler // MCP before: sessions
	calls    *fair.Gate
	streams  *fair.Gate
	sessions *gate.Sessions
	inflight *gate.Inflight
	states   *sealed.Sealer
	watched  gate.Watched
	changes  atomic.Int64 // how often rules, sources or tools have changed

	results    atomic.Pointer[map[string]Form]
	shown      sync.Map // *tool.Tool to *mcp.Tool: converted once
	categories sync.Map // tool name to tool.Category
	raw        sync.Map // names of the Extension's tools

	closing context.Context // ends when the server begins to close: streams have no end of their own
	close   context.CancelFunc
	closed  context.Context // ends when calls in flight must end too
	end     context.CancelFunc
}

// New returns a server with o. It opens nothing; see Handler, Serve and ServeStdio.
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
	o.Queue = max(cmp.Or(o.Queue, 256), 0)
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	o.Streams = cmp.Or(o.Streams, 1000)
	o.Sessions = cmp.Or(o.Sessions, 1000)
	o.SessionsEach = cmp.Or(o.SessionsEach, 100)
	o.SessionTimeout = cmp.Or(o.SessionTimeout, 30*time.Minute)
	o.Heartbeat = cmp.Or(o.Heartbeat, 2*time.Second)
	o.ShutdownTimeout = cmp.Or(o.ShutdownTimeout, 10*time.Second)
	if o.Refused == nil {
		o.Refused = refused.New(o.Logger, nil)
	}
	states, err := sealed.New(o.StateKey, o.Used)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options:  o,
		log:      o.Logger,
		calls:    fair.New(fair.Bounds{Slots: o.Concurrency, Each: o.ConcurrencyEach, Queue: o.Queue, Patience: o.Patience}),
		streams:  fair.New(fair.Bounds{Slots: o.Streams}),
		inflight: gate.NewInflight(),
		states:   states,
	}
	s.SetResults(o.Results)
	s.closing, s.close = context.WithCancel(context.Background())
	s.closed, s.end = context.WithCancel(context.Background())
	s.mount()
	s.sessions = gate.NewSessions(o.Sessions, o.SessionsEach, s.sdk)
	return s, nil
}

// mount makes the one SDK server, which all requests share: one made for each request costs ten times as much.
func (s *Server) mount() {
	o := &sdk.ServerOptions{
		Instructions: s.options.Instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
		// The default scope is public, and what is listed depends on the principal.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	}
	if s.options.Prompts != nil {
		o.Capabilities.Prompts = &sdk.PromptCapabilities{ListChanged: true}
		o.Capabilities.Resources = &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true}
		o.Capabilities.Completions = &sdk.CompletionCapabilities{}
		o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
		o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
	}
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
		DisableLocalhostProtection:   true, // ours comes before, and knows AllowedHosts
		MaxRequestBodyBytes:          s.options.MaxBody,
	})
	s.legacy = sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{
		SessionTimeout:             s.options.SessionTimeout,
		DisableLocalhostProtection: true,
		MaxRequestBodyBytes:        s.options.MaxBody,
	})
}

func (s *Server) implementation() *sdk.Implementation {
	return &sdk.Implementation{Name: "bailiwick", Title: "Bailiwick", Version: cmp.Or(s.options.Version, "0.0.0")}
}

// SetResults changes which parts of a result clients are sent, as Options.Results says it at the start.
func (s *Server) SetResults(forms map[string]Form) { s.results.Store(&forms) }

// ToolsChanged tells all clients that listen that the tools have changed.
func (s *Server) ToolsChanged() {
	s.categories.Clear()
	s.shown.Clear()
	// The SDK tells clients when a tool of its own changes. This one is never listed, as it is not in s.raw.
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
