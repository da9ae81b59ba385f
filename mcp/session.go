package mcp

import (
	"context"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// serveStream serves the GET and DELETE of a session.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, p identity.Principal) {
	leave, f := s.useSession(r, p)
	if f != nil {
		fail(w, r, f, "")
		return
	}
	defer leave()
	if r.Method == http.MethodGet {
		leave, err := s.streams.Enter(r.Context(), sharer(p))
		if err != nil {
			fail(w, r, busy(), "")
			return
		}
		defer leave()
	}
	s.pass(w, r, &exchange{who: p, correlation: newCorrelation(), operation: s.operation(r.Header, nil), metadata: s.metadata(r)}, s.legacy)
	if r.Method == http.MethodDelete {
		id := r.Header.Get("Mcp-Session-Id")
		s.sessions.Forget(id)
		if s.ids.sealed != nil {
			if err := s.ids.sealed.End(context.WithoutCancel(r.Context()), id); err != nil {
				s.log.ErrorContext(r.Context(), "the end of a session can't be kept", "error", err)
			}
		}
	}
}

// useSession marks the session of r as in use, and begins it again if another process has begun it. A session of another
// principal is answered like one that does not exist.
func (s *Server) useSession(r *http.Request, p identity.Principal) (leave func(), f *wire.RPCFault) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		return nil, wire.Invalid("Invalid Request: Mcp-Session-Id is missing")
	}
	leave, ok := s.sessions.Use(p.ID, id)
	if !ok {
		begun, f := s.revive(r, p, id)
		if f != nil {
			return nil, f
		}
		if begun {
			leave, ok = s.sessions.Use(p.ID, id)
		}
	}
	if !ok {
		f := wire.Invalid("Session not found")
		f.Status = http.StatusNotFound
		return nil, f
	}
	return leave, nil
}

// prepareSession finds the session of a POST of the older protocols, and answers the request itself if there is none.
func (s *Server) prepareSession(w http.ResponseWriter, r *http.Request, p *post) (leave func(), done bool) {
	m := p.only()
	if r.Header.Get("Mcp-Session-Id") == "" && m != nil && m.Method == "initialize" {
		return func() {}, false
	}
	leave, f := s.useSession(r, p.who)
	if f == nil {
		return leave, false
	}
	if m != nil && m.Method == "notifications/cancelled" {
		w.WriteHeader(http.StatusAccepted) // always the same status, which must not reveal whether the named call exists
		return nil, true
	}
	fail(w, r, f, p.id())
	return nil, true
}

// ofSession returns a context that ends with ctx, for a request that begins a session. The SDK keeps the values of this
// context as long as the session. So it has only the one value of ctx that the SDK reads. The values of the request
// would keep its header, body and connection.
func ofSession(ctx context.Context) (lean context.Context, leave func()) {
	lean, cancel := context.WithCancel(context.WithValue(context.Background(), http.LocalAddrContextKey, ctx.Value(http.LocalAddrContextKey)))
	stop := context.AfterFunc(ctx, cancel)
	return lean, func() { stop(); cancel() }
}
