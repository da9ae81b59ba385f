package mcp

import "time"

// Live returns the number of sessions of the SDK, including the sessions of single requests.
func Live(s *Server) (n int) {
	for range s.sdk.Sessions() {
		n++
	}
	return n
}

// SetClock sets the clock for the expiry of requestState.
func SetClock(s *Server, now func() time.Time) { s.states.SetClock(now) }
