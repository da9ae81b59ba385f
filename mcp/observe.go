package mcp

import (
	"context"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// Load returns the current load of s.
func (s *Server) Load() wire.Load {
	calls, waiting := s.calls.Load()
	streams, _ := s.streams.Load()
	return wire.Load{Running: calls, Waiting: waiting, Streams: streams, Sessions: s.sessions.Live()}
}

// operation returns the observer's description of a message. It returns the zero Operation if there is no observer.
func (s *Server) operation(h http.Header, m *wire.Message) (o wire.Operation) {
	if s.options.Observer != nil {
		o = wire.OperationOf(h, m)
	}
	return o
}

// begin reports the beginning of a request to the observer if there is one.
func (s *Server) begin(ctx context.Context, x *exchange, method string) context.Context {
	if s.options.Observer == nil || x == nil {
		return ctx
	}
	o := x.operation
	o.Method, o.Correlation = method, x.correlation
	return s.options.Observer.Begin(ctx, o)
}

// reportEnd reports the outcome of a request to the observer if there is one.
func (s *Server) reportEnd(ctx context.Context, x *exchange, failure string) {
	if s.options.Observer != nil && x != nil {
		s.options.Observer.End(ctx, failure)
	}
}

// serveMetrics serves Options.Metrics to principals with the required scope.
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
		lacks := missing{string(identity.Audit), s.options.Resource.StepUp(s.metadata(r), p, identity.Audit)}
		f := lacks.fault(newCorrelation())
		f.Write(w, "")
	default:
		s.options.Metrics.ServeHTTP(w, r)
	}
}
