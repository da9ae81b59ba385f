package mcp

import (
	"context"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/mcpobserve"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// Load returns how much s has to do now.
func (s *Server) Load() mcpobserve.Load {
	calls, waiting := s.calls.Load()
	streams, _ := s.streams.Load()
	return mcpobserve.Load{Running: calls, Waiting: waiting, Streams: streams, Sessions: s.sessions.Live()}
}

// operation is what the observer, if there is one, will be told of a message.
func (s *Server) operation(h http.Header, m *wire.Message) (o mcpobserve.Operation) {
	if s.options.Observer != nil {
		o = mcpobserve.Of(h, m)
	}
	return o
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

// ended tells the observer what a request came to that begin told of.
func (s *Server) ended(ctx context.Context, x *exchange, failure string) {
	if s.options.Observer != nil && x != nil {
		s.options.Observer.End(ctx, failure)
	}
}

// serveMetrics shows the metrics to whom an operator gave the right.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if f := s.fromElsewhere(r); f != nil {
		f.Write(w, "")
		return
	}
	p, f := s.identify(r)
	switch {
	case f != nil:
		f.Write(w, "")
	case !p.Has(identity.Operator) && !p.Has(identity.Audit):
		lacks := missing{string(identity.Audit), s.options.Resource.StepUp(s.options.ResourceMetadata, p, identity.Audit)}
		f := lacks.fault(newCorrelation())
		f.Write(w, "")
	default:
		s.options.Metrics.ServeHTTP(w, r)
	}
}
