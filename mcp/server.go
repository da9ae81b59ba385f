// Package mcp is the MCP transport. It serves the tools over HTTP and over standard input and output.
//
//	request ─edge, wire: bounds→ message ─authenticate→ Principal ─Tools→ tool.Result ─encode→ response
//
// It accepts only requests of a known principal with an allowed host and origin. Their size, depth and number are
// limited, and all parsers must read them in the same way. It refuses all other requests before any other code parses
// them. Package wire is the strict parser, package edge limits connections, and package fair shares the work.
//
// It does not depend on classes or rules. The tools decide what a principal may call and see. Tools don't depend on
// the protocol. Only this package encodes their results and problems as MCP.
//
// The client stores two kinds of encrypted data for the server, so that any process with the same key can continue.
// One is the ID of a session. The other is the requestState of a tool that asks the client for input. The server
// rejects data that was not encrypted with its key, belongs to another principal, or has expired. A requestState is
// also bound to its call and valid once.
//
// Comments name the bugs and limitations of go-sdk v1.8.0 that the code works around.
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
	// List returns the tools of a category that the principal may call. The category "" means all. An unknown
	// category has no tools.
	List(who identity.Principal, category string) []*tool.Tool
	// Call answers one call. Errors contain a *problem.Error, with the code UnknownTool for a tool that is not in
	// List.
	Call(ctx context.Context, who identity.Principal, r tool.Request) (tool.Result, error)
	// Admit calls run under the same limits and audit as the named tool. The function run answers a tool that is
	// written against the SDK, and returns the size of the response. Admit returns run's error, or the *problem.Error
	// that refused the call.
	Admit(ctx context.Context, who identity.Principal, name string, run func(context.Context) (bytes int, err error)) error
}

// A Form selects the parts of a result that a client receives.
type Form string

// The forms of a result. The text contains everything that a model needs, in fewer tokens. Many clients pass the
// structured content to their model as well, or instead of the text. See docs/clients.md.
const (
	Text       Form = "text"       // only the text, without output schemas. The default
	Structured Form = "structured" // only the structured content. Errors are sent as text in all forms
	Both       Form = "both"       // the text and the structured content
)

// Options configures a Server. Only Tools is required.
type Options struct {
	Tools        Tools
	Prompts      Prompts                         // nil serves no prompts, resources or completions
	Version      string                          // version of this program for clients
	Instructions string                          // instructions for the agent, sent at initialization
	Guide        func(identity.Principal) string // returns instructions by principal. Nil means Instructions
	Logger       *slog.Logger
	Observer     wire.Observer    // called for every request. May be nil
	Refused      *edge.RefusalLog // receives every refused request. Nil logs to Logger
	Metrics      http.Handler     // serves /metrics to principals with the scope operator or audit. May be nil

	// Tokens authenticates `Authorization: Bearer` and `X-MCP-API-Key`. If Authenticate is set, it replaces Tokens
	// and Anonymous and may use the whole request. Anonymous is the principal of requests from a loopback address
	// without a credential. With nil, such requests are refused. So are requests that a proxy passes on, because their
	// caller may be elsewhere. A server without all three refuses every request.
	Tokens       identity.Authenticator
	Authenticate func(*http.Request) (identity.Principal, error)
	Anonymous    *identity.Principal

	// Challenge is the WWW-Authenticate header of a 401. It names the scheme that Authenticate accepts, such as
	// `Basic realm="desk"`. "" means Bearer, with the URL of the RFC 9728 metadata if there is one.
	Challenge string

	AllowedOrigins   []string             // "https://app.example". Pages of this host itself are always allowed
	AllowedHosts     []string             // names in the Host header, with or without a port. Nil allows only loopback names, and only on a loopback address
	Resource         *authserver.Resource // served as RFC 9728 metadata. May be nil
	ResourceMetadata string               // URL of the RFC 9728 metadata for 401 and 403 responses. "" means the URL of Resource, or none

	Results map[string]Form // by client name. "" is the default for other clients. Without it, the default is Text

	MaxBody         int64         // in bytes. 0 means 1 MiB, at most the maximum of Bodies
	Bodies          *fair.Budget  // limits the memory of all request bodies. With nil, the server has its own budget
	MaxDepth        int           // maximum depth of nested JSON. 0 means 20
	Concurrency     int           // maximum concurrent calls. 0 means 64
	ConcurrencyEach int           // maximum concurrent calls for one credential, at most half. 0 means a quarter. An owner gets at most half, a tenant 3/4
	Queue           int           // maximum calls that wait for a slot. 0 means 256, negative means none
	Patience        time.Duration // maximum time that a call waits for a slot. 0 means 30 s
	Streams         int           // maximum open event streams, shared like calls. 0 means 1,000
	Sessions        int           // maximum sessions of protocols before 2026-07-28. 0 means 1,000
	SessionKey      []byte        // 32 bytes that let replicas continue each other's sessions. With nil, only the process that began a session can serve it
	SessionsEnded   once.Store    // records sessions that clients have ended, for all replicas. Nil means only in this process
	SessionsEach    int           // maximum sessions of one principal. 0 means 100
	SessionTimeout  time.Duration // an idle session ends after this time. 0 means 30 minutes
	Heartbeat       time.Duration // interval of progress notifications. 0 means 2 s, negative means none
	Drain           time.Duration // how long Serve continues after its context ends, with /readyz at 503. 0 means not at all
	ShutdownTimeout time.Duration // maximum time for running calls after the listener is closed. 0 means 10 s
	Connections     int           // maximum open connections in Serve. 0 means 4,096, but at most half of the process's open files
	ConnectionsEach int           // maximum connections of one IPv4 address or IPv6 /64. 0 means a quarter of Connections

	Ready  func(context.Context) error // the check for /readyz. Nil means always ready
	Notes  func() []string             // additional text of /readyz for everyone. May be nil
	Extend wire.Extension              // only for tests. Programs leave it zero
}

// A Server is the MCP transport. It is safe for concurrent use.
type Server struct {
	options  Options
	log      *slog.Logger
	sdk      *sdk.Server
	modern   http.Handler // for MCP 2026-07-28 and later, which has no sessions
	legacy   http.Handler // for earlier versions, which have sessions
	calls    *fair.Semaphore
	streams  *fair.Semaphore
	sessions *wire.Sessions
	ids      sessionIDs
	inflight *wire.Inflight
	states   *sealer
	self     []byte // implementation() as JSON
	watched  wire.Watched
	changes  atomic.Int64 // number of changes of rules, sources or tools

	strangeAt  atomic.Int64           // when a refused Host or Origin was last logged, in seconds since 1970
	unready    atomic.Pointer[string] // the reason for which /readyz last failed, or "" if it succeeded
	draining   atomic.Bool            // Serve is about to end
	results    atomic.Pointer[map[string]Form]
	shown      sync.Map // cache from *tool.Tool to *mcp.Tool
	categories sync.Map // cache from tool name to tool.Category
	raw        sync.Map // the names of the Extension's tools

	closing context.Context // ends when the server starts to close, which ends the streams
	close   context.CancelFunc
	closed  context.Context // ends when running calls must end, too
	end     context.CancelFunc
}

// New returns a server with the options o. It opens no connections. See Handler, Serve and ServeStdio.
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

// mount creates the one SDK server for all requests. One SDK server for each request would cost ten times as much.
func (s *Server) mount() {
	o := &sdk.ServerOptions{
		Instructions: s.options.Instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
		// The SDK's default scope is public, but these lists depend on the principal.
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
		DisableLocalhostProtection:   true, // already checked with AllowedHosts
		MaxRequestBodyBytes:          s.options.MaxBody,
	})
	s.legacy = sdk.NewStreamableHTTPHandler(one, &sdk.StreamableHTTPOptions{
		DisableLocalhostProtection: true, // s.sessions ends idle sessions
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
	// The SDK notifies clients when one of its own tools changes. This tool is never listed, because it isn't in
	// s.raw.
	s.sdk.AddTool(&sdk.Tool{Name: changedName, InputSchema: emptySchema}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errUnknownTool()
	})
}

// Close ends all streams, calls and sessions.
func (s *Server) Close() error {
	s.close()
	s.end() // the SDK waits for running calls before it closes a session
	var errs []error
	for session := range s.sdk.Sessions() {
		errs = append(errs, session.Close())
	}
	s.watched.Wait()
	return errors.Join(errs...)
}
