package mcp

import (
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/once"
)

// TestClockJumps opens states after the clock was set forward or back.
func TestClockJumps(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for jump, want := range map[time.Duration]bool{0: true, 9 * time.Minute: true, 10 * time.Minute: false, 8760 * time.Hour: false, -5 * time.Minute: true, -time.Hour: false, -8760 * time.Hour: false} {
		s, err := newSealer(make([]byte, 32), &once.Memory{})
		if err != nil {
			t.Fatal(err)
		}
		s.SetClock(func() time.Time { return noon })
		b := binding{}
		text := s.Seal("yes", b)
		s.SetClock(func() time.Time { return noon.Add(jump) })
		if state, ok, err := s.Open(t.Context(), text, b); ok != want || err != nil || ok && state != "yes" {
			t.Errorf("%v: %q, %v, %v", jump, state, ok, err)
		}
	}
}
