package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"sync"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/wire"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
)

// maxClient is the maximum size of the client's description in the ID of a session, in bytes.
const maxClient = 2048

// A sessionIDs gives the SDK the IDs of sessions. The SDK requests an ID without naming the request. The request
// therefore holds mu while the SDK takes the ID.
type sessionIDs struct {
	sealed *Sessions // nil if other processes can't continue the sessions

	mu    sync.Mutex
	next  string
	taken *bool

	reviving sync.Mutex // locked by the only request that restores a session
}

// hand passes an ID to the SDK and calls do, which begins a session in the SDK. With the id "", it uses a random ID.
func (s *sessionIDs) hand(id string, do func()) {
	if id == "" {
		id = rand.Text()
	}
	taken := false
	s.mu.Lock()
	s.next, s.taken = id, &taken
	defer func() {
		if !taken { // the SDK refused the request
			s.mu.Unlock()
		}
	}()
	do()
}

// take returns the ID that hand passed, and lets the next request pass an ID.
func (s *sessionIDs) take() string {
	id := s.next
	*s.taken = true
	s.mu.Unlock()
	return id
}

// sealedSessions returns the Sessions for IDs that other processes can continue, or nil without a key.
func sealedSessions(o *Options) (*Sessions, error) {
	if o.SessionKey == nil {
		return nil, nil
	}
	if o.SessionsEnded == nil {
		o.SessionsEnded = &once.Memory{}
	}
	return newSessions(o.SessionKey, o.SessionsEnded)
}

// sessionID returns the ID for the session that x begins. It returns "" for a random ID.
func (s *Server) sessionID(x *exchange) string {
	switch {
	case x.session != "":
		return x.session
	case s.ids.sealed == nil:
		return ""
	}
	return s.ids.sealed.Seal(x.who.ID, saidBy(x.message.Params))
}

// saidBy returns the information about a client that a process needs to continue its session. If the client's
// description is too long, it returns only the protocol version.
func saidBy(params value.Value) []byte {
	part := func(v value.Value, key string, otherwise string) []byte {
		if got, ok := v.Get(key); ok {
			return got.AppendJSON(nil)
		}
		return []byte(otherwise)
	}
	info, _ := params.Get("clientInfo")
	version := part(params, "protocolVersion", `""`)
	if len(version) > 64 {
		version = []byte(`""`)
	}
	client := []byte(`{"protocolVersion":` + string(version) + `,"clientInfo":{"name":` + string(part(info, "name", `""`)) + `,"version":` +
		string(part(info, "version", `""`)) + `},"capabilities":` + string(part(params, "capabilities", `{}`)) + `}`)
	if len(client) > maxClient {
		client = []byte(`{"protocolVersion":` + string(version) + `,"clientInfo":{"name":"","version":""},"capabilities":{}}`)
	}
	return client
}

// revive restores the session of a request in this process, if another process began it for p or this process did
// before a restart. The client must repeat its subscriptions and open its streams again. revive reports whether the
// session exists here now.
func (s *Server) revive(r *http.Request, p identity.Principal, id string) (bool, *wire.RPCFault) {
	if s.ids.sealed == nil {
		return false, nil
	}
	client, ok, err := s.ids.sealed.Open(r.Context(), p.ID, id)
	if err != nil {
		s.log.ErrorContext(r.Context(), "a session can't be looked up", "error", err)
		return false, storeFault(problem.StoreError("session_store", err))
	}
	if !ok {
		return false, nil
	}
	s.ids.reviving.Lock()
	defer s.ids.reviving.Unlock()
	if leave, ok := s.sessions.Use(p.ID, id); ok { // another request was faster
		leave()
		return true, nil
	}
	begun := s.replay(r, p, id, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+string(client)+`}`)
	if begun != http.StatusOK {
		return false, busy()
	}
	s.replay(r, p, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return true, nil
}

// replay lets the SDK answer a message of a session as if the client had sent it. It returns the status.
func (s *Server) replay(r *http.Request, p identity.Principal, id, body string) int {
	messages, _, f := wire.Read([]byte(body), s.options.MaxDepth+2)
	if f != nil {
		return http.StatusInternalServerError
	}
	m := &messages[0]
	x := &exchange{who: p, message: m, correlation: newCorrelation(), operation: s.operation(r.Header, m), metadata: s.metadata(r), session: id}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	again := r.Clone(ctx)
	again.Method, again.Body, again.ContentLength = http.MethodPost, io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
	again.Header = http.Header{"Content-Type": {asJSON}, "Accept": {asJSON + ", " + asEvents}}
	if m.Method != "initialize" {
		again.Header.Set("Mcp-Session-Id", id)
	}
	w := &unsent{header: http.Header{}}
	s.pass(w, again, x, s.legacy)
	return w.status
}

// An unsent is a ResponseWriter that discards the answer.
type unsent struct {
	header http.Header
	status int
}

// Header implements [http.ResponseWriter].
func (u *unsent) Header() http.Header { return u.header }

// WriteHeader implements [http.ResponseWriter].
func (u *unsent) WriteHeader(status int) {
	if u.status == 0 {
		u.status = status
	}
}

// Write implements [http.ResponseWriter].
func (u *unsent) Write(b []byte) (int, error) {
	u.WriteHeader(http.StatusOK)
	return len(b), nil
}

// FlushError lets [http.ResponseController] flush.
func (u *unsent) FlushError() error { return nil }
