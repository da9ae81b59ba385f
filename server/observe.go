package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/server/wire"
	"github.com/bailiwick-dev/bailiwick/value"
)

// An Observer is told of every request of the protocol that was let in: for metrics and traces. It decides nothing.
type Observer interface {
	// Begin is told of a request. The context that it returns is that of what answers it.
	Begin(context.Context, Operation) context.Context
	// End is told how the request failed: by a code of JSON-RPC such as "-32602", or by "tool_error" for a result that
	// says so; "" for one that didn't.
	End(ctx context.Context, failure string)
}

// An Operation is a request or a notification of the protocol.
type Operation struct {
	Method      string // that a specification has, such as "tools/call"
	Version     string // of the protocol; "" where it isn't known
	HTTP        bool   // or else standard input and output
	Correlation string
	TraceParent string // what the client says of its trace (W3C Trace Context): whatever it sent, up to 512 bytes
	TraceState  string
}

// A Load is how much a Server has to do at a moment.
type Load struct {
	Running  int // calls
	Waiting  int // calls, for their turn
	Streams  int // event streams that stay open
	Sessions int // of the protocols before 2026-07-28
}

// Load returns how much s has to do now.
func (s *Server) Load() Load {
	calls, waiting := s.calls.Load()
	streams, _ := s.streams.Load()
	return Load{Running: calls, Waiting: waiting, Streams: streams, Sessions: s.sessions.Live()}
}

// begin tells the observer, if there is one, that a request begins.
func (s *Server) begin(ctx context.Context, x *exchange, method string) context.Context {
	if s.options.Observer == nil || x == nil {
		return ctx
	}
	o := x.operation
	o.Method, o.Correlation = method, x.correlation
	return s.options.Observer.Begin(ctx, o)
}

// operation is what the observer is told of a message before it is known to be one; h is nil over streams.
func (s *Server) operation(h http.Header, m *wire.Message) Operation {
	o := Operation{HTTP: h != nil}
	if s.options.Observer == nil {
		return o
	}
	if version := h.Get("Mcp-Protocol-Version"); slices.Contains(mcp.SupportedProtocolVersions(), version) {
		o.Version = version
	}
	o.TraceParent, o.TraceState = traceOf(h, m)
	return o
}

// ended tells the observer what a request came to that begin told of.
func (s *Server) ended(ctx context.Context, x *exchange, res mcp.Result, err error) {
	if s.options.Observer == nil || x == nil {
		return
	}
	failure := ""
	if err != nil {
		failure = strconv.Itoa(jsonrpc.CodeInternalError)
		if e, ok := err.(*jsonrpc.Error); ok {
			failure = strconv.FormatInt(e.Code, 10)
		}
	} else if r, ok := res.(*mcp.CallToolResult); ok && r.IsError {
		failure = toolError
	}
	s.options.Observer.End(ctx, failure)
}

// toolError is what the semantic conventions call a result that says that it is an error.
const toolError = "tool_error"

// result is o as far as the observer is told of it.
func (o *outcome) result() (mcp.Result, error) {
	if o.failure != nil {
		return nil, o.failure
	}
	return &mcp.CallToolResult{IsError: o.isError}, nil
}

// traceOf returns the trace context of a request: that of the message, or else that of HTTP.
func traceOf(h http.Header, m *wire.Message) (parent, state string) {
	if m != nil {
		if t := m.Meta("traceparent"); t.Kind() == value.String {
			return short(t.Text()), short(asText(m.Meta("tracestate")))
		}
	}
	return short(h.Get("Traceparent")), short(h.Get("Tracestate"))
}

func short(s string) string {
	const most = 512
	if len(s) > most {
		return ""
	}
	return s
}

// serveMetrics shows the metrics to whom an operator gave the right.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if f := s.fromElsewhere(r); f != nil {
		f.Write(w, "")
		return
	}
	who, f := s.identify(r)
	switch {
	case f != nil:
		f.Write(w, "")
	case !who.Has(identity.Operator) && !who.Has(identity.Audit):
		lacks := missing{string(identity.Audit), s.options.Resource.StepUp(s.options.ResourceMetadata, who, identity.Audit)}
		f := lacks.fault(newCorrelation())
		f.Write(w, "")
	default:
		s.options.Metrics.ServeHTTP(w, r)
	}
}
