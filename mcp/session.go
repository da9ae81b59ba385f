package mcp

import (
	"context"
	"net/http"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
)

// serveStream serves the GET and the DELETE requests of a session.
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

// useSession marks the session of a request as in use. If another process began the session, it restores it here. The
// answer for another principal's session is the same as for a missing session.
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

// prepareSession finds the session for a POST of an older protocol. If there is none, it answers the request itself
// and returns true.
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
		w.WriteHeader(http.StatusAccepted) // always the same status, so that it doesn't reveal whether the call exists
		return nil, true
	}
	fail(w, r, f, p.id())
	return nil, true
}

// ofSession returns a context for a request that begins a session. It ends with ctx. The SDK stores this context as
// long as the session. It therefore contains only the one value that the SDK reads. Other values would keep the
// request's header, body and connection in memory.
func ofSession(ctx context.Context) (lean context.Context, leave func()) {
	lean, cancel := context.WithCancel(context.WithValue(context.Background(), http.LocalAddrContextKey, ctx.Value(http.LocalAddrContextKey)))
	stop := context.AfterFunc(ctx, cancel)
	return lean, func() { stop(); cancel() }
}
