package server

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions knows whose the sessions are. The SDK lets whoever knows its id use a session, and has no cap.
type sessions struct {
	total, each int
	sdk         *mcp.Server

	mu     sync.Mutex
	owners map[string]string // session id to principal id; "" while the session is being begun
	begun  map[string]int    // principal id to its sessions that are being begun
}

func newSessions(total, each int, sdk *mcp.Server) *sessions {
	return &sessions{total: total, each: each, sdk: sdk, owners: map[string]string{}, begun: map[string]int{}}
}

// begin reserves a session for a principal, and reports false when there are too many.
func (s *sessions) begin(principal string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full(principal) {
		s.sweep()
		if s.full(principal) {
			return false
		}
	}
	s.begun[principal]++
	return true
}

// begun ends a reservation. id is the session that came of it, "" when none did.
func (s *sessions) end(principal, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun[principal]--; s.begun[principal] == 0 {
		delete(s.begun, principal)
	}
	if id != "" {
		s.owners[id] = principal
	}
}

// full reports whether there may be no further session for a principal. s.mu is held.
func (s *sessions) full(principal string) bool {
	total, own := len(s.owners), s.begun[principal]
	for _, n := range s.begun {
		total += n
	}
	for _, owner := range s.owners {
		if owner == principal {
			own++
		}
	}
	return total >= s.total || own >= s.each
}

// sweep forgets the sessions that have ended, of which the SDK tells nobody. s.mu is held.
func (s *sessions) sweep() {
	live := map[string]bool{}
	for session := range s.sdk.Sessions() {
		live[session.ID()] = true
	}
	for id := range s.owners {
		if !live[id] {
			delete(s.owners, id)
		}
	}
}

// owned reports whether a principal has the session.
func (s *sessions) owned(principal, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, ok := s.owners[id]
	return ok && owner == principal
}
