package mcp

import "time"

// Live returns how many sessions the SDK has, including those of single requests.
func Live(s *Server) (n int) {
	for range s.sdk.Sessions() {
		n++
	}
	return n
}

// SetClock sets the clock by which requestState expires.
func SetClock(s *Server, now func() time.Time) { s.states.SetClock(now) }
