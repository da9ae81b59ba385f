package limit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestMemory checks that calls never take more memory than there is, get theirs when another call ends, and are
// refused after a while.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(100)
		first, err := m.Take(t.Context(), 60)
		if err != nil {
			t.Fatal(err)
		}
		second, err := m.Take(t.Context(), 40)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := m.Take(t.Context(), 1); problem.CodeOf(err) != problem.RateLimited || problem.Of(err).RetryAfter < time.Second || time.Since(start) < 5*time.Second {
			t.Errorf("over the memory after %s: %v", time.Since(start), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := m.Take(gone, 1); problem.CodeOf(err) != problem.Cancelled {
			t.Errorf("cancelled while it waits: %v", err)
		}
		time.AfterFunc(time.Second, first)
		all := make(chan error)
		go func() {
			release, err := m.Take(t.Context(), 1000) // all there is
			if err == nil {
				release()
			}
			all <- err
		}()
		time.AfterFunc(2*time.Second, second)
		if err := <-all; err != nil {
			t.Errorf("more than there is: %v", err)
		}
	})
}
