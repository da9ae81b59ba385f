package wire

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Sessions tracks which principal owns each session. The SDK accepts any client that knows a session's ID, has no cap,
// and doesn't know of the calls that are answered without it.
type Sessions struct {
	total, each int
	idle        time.Duration
	sdk         *mcp.Server

	mu    sync.Mutex
	live  map[string]*session // by session id
	begun map[string]int      // by principal ID: how many sessions are being begun
}

// A session is one of a client's. Sessions.mu guards its fields.
type session struct {
	principal string
	active    int // requests and streams
	last      time.Time
	idle      *time.Timer           // ends it when nothing is active
	params    *mcp.InitializeParams // of its client, or nil until Client has found them
	watched   map[string]bool       // resources that it subscribed to
}

// NewSessions returns the sessions of sdk: at most total, and at most each for one principal. One without a request or a
// stream for the time idle ends.
func NewSessions(total, each int, idle time.Duration, sdk *mcp.Server) *Sessions {
	return &Sessions{total: total, each: each, idle: idle, sdk: sdk, live: map[string]*session{}, begun: map[string]int{}}
}

// Begin reserves a session for a principal. If there are too many, it ends the principal's longest idle session,
// since many clients never end theirs. It returns false if there is none to end.
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

// end ends a session. s.mu is held.
func (s *Sessions) end(id string) {
	s.forget(id)
	for session := range s.sdk.Sessions() {
		if session.ID() == id {
			go session.Close() // it waits for its running calls
		}
	}
}

// Close ends a session, if there is one.
func (s *Sessions) Close(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[id] != nil {
		s.end(id)
	}
}

// Forget notes that the SDK has ended a session.
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

// Client returns the client's message at the beginning of a session, or nil if the SDK has no such session.
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

// Watch notes that a session subscribed to a resource. Subscriptions are never removed, as a session has few.
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

// End ends a reservation. id is the session that was begun, or "" if none was.
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

// full reports whether no further session is allowed for a principal. s.mu is held.
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

// idlest returns the ID of the principal's longest idle session, or "". s.mu is held.
func (s *Sessions) idlest(principal string) (id string) {
	for i, l := range s.live {
		if l.principal == principal && l.active == 0 && (id == "" || l.last.Before(s.live[id].last)) {
			id = i
		}
	}
	return id
}

// sweep removes the sessions that have ended, which the SDK does not report. s.mu is held.
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

// Use reports whether a principal owns the session, and if so keeps it from being ended to make room until leave is
// called.
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

// Live returns how many sessions there are.
func (s *Sessions) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return len(s.live)
}
