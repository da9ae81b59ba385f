package wire

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Sessions tracks which principal owns each session. The SDK itself accepts any client that knows the ID of a
// session. It has no maximum number of sessions, and it doesn't know about calls that the gateway answers itself.
type Sessions struct {
	total, each int
	idle        time.Duration
	sdk         *mcp.Server

	mu    sync.Mutex
	live  map[string]*session // by session ID
	begun map[string]int      // the number of sessions being started, by principal ID
}

// A session belongs to one client. Sessions.mu guards its fields.
type session struct {
	principal string
	active    int // number of running requests and streams
	last      time.Time
	idle      *time.Timer           // ends the session if nothing is active
	params    *mcp.InitializeParams // the client's initialize message, or nil before Client has found it
	watched   map[string]bool       // resources that the client subscribed to
}

// NewSessions returns the sessions of sdk. It allows at most total sessions, and at most each sessions for one
// principal. A session ends after the time idle without a request or a stream.
func NewSessions(total, each int, idle time.Duration, sdk *mcp.Server) *Sessions {
	return &Sessions{total: total, each: each, idle: idle, sdk: sdk, live: map[string]*session{}, begun: map[string]int{}}
}

// Begin reserves a session for a principal. If there are too many sessions, it ends the principal's longest idle
// session, because many clients never end their sessions. It returns false if the principal has no idle session.
func (s *Sessions) Begin(principal string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full(principal) {
		s.sweep()
	}
	if s.full(principal) {
		id := s.idlest(principal)
		if id == "" {
			return false
		}
		s.end(id)
	}
	s.begun[principal]++
	return true
}

// end ends a session. The caller must have locked s.mu.
func (s *Sessions) end(id string) {
	s.forget(id)
	for session := range s.sdk.Sessions() {
		if session.ID() == id {
			go session.Close() // Close waits for running calls
		}
	}
}

// Close ends a session if it exists.
func (s *Sessions) Close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[id] != nil {
		s.end(id)
	}
}

// Forget removes a session that the SDK has ended.
func (s *Sessions) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(id)
}

func (s *Sessions) forget(id string) {
	if l := s.live[id]; l != nil {
		l.idle.Stop()
		delete(s.live, id)
	}
}

// Client returns the initialize message of a session's client, or nil if the SDK doesn't know the session.
func (s *Sessions) Client(id string) *mcp.InitializeParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live[id]
	if l == nil {
		return nil
	}
	if l.params == nil {
		for session := range s.sdk.Sessions() {
			if session.ID() == id {
				l.params = session.InitializeParams()
			}
		}
	}
	return l.params
}

// Watch records that a session subscribed to a resource. Subscriptions are never removed, because a session has only
// a few.
func (s *Sessions) Watch(id, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[id]; l != nil {
		if l.watched == nil {
			l.watched = map[string]bool{}
		}
		l.watched[strings.Clone(uri)] = true
	}
}

// Subscriptions returns the resources that a session subscribed to.
func (s *Sessions) Subscriptions(id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.live[id]; l != nil {
		return slices.Sorted(maps.Keys(l.watched))
	}
	return nil
}

// End ends the reservation of Begin. id is the new session, or "" if no session was started.
func (s *Sessions) End(principal, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun[principal]--; s.begun[principal] == 0 {
		delete(s.begun, principal)
	}
	if id != "" {
		l := &session{principal: principal, last: time.Now()}
		l.idle = time.AfterFunc(s.idle, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.live[id] == l && l.active == 0 {
				s.end(id)
			}
		})
		s.live[id] = l
	}
}

// full reports whether the principal can't start another session. The caller must have locked s.mu.
func (s *Sessions) full(principal string) bool {
	total, own := len(s.live), s.begun[principal]
	for _, n := range s.begun {
		total += n
	}
	for _, l := range s.live {
		if l.principal == principal {
			own++
		}
	}
	return total >= s.total || own >= s.each
}

// idlest returns the ID of the principal's longest idle session, or "". The caller must have locked s.mu.
func (s *Sessions) idlest(principal string) (id string) {
	for i, l := range s.live {
		if l.principal == principal && l.active == 0 && (id == "" || l.last.Before(s.live[id].last)) {
			id = i
		}
	}
	return id
}

// sweep removes sessions that have ended, because the SDK doesn't report their end. The caller must have locked s.mu.
func (s *Sessions) sweep() {
	still := map[string]bool{}
	for session := range s.sdk.Sessions() {
		still[session.ID()] = true
	}
	for id := range s.live {
		if !still[id] {
			s.forget(id)
		}
	}
}

// Use reports whether a principal owns the session. If so, Begin doesn't end the session until the caller calls
// leave.
func (s *Sessions) Use(principal, id string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.live[id]
	if l == nil || l.principal != principal {
		return nil, false
	}
	l.active++
	l.idle.Stop()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.last = time.Now()
		if l.active--; l.active == 0 {
			l.idle.Reset(s.idle)
		}
	}, true
}

// Live returns the number of sessions.
func (s *Sessions) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return len(s.live)
}
