package limit_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// TestMemory checks that there are no more unfinished answers than there is memory for. Waiting calls must get memory
// when another call ends, and fail after a while. One caller must leave memory to the others of its tenant, and a
// tenant must leave a quarter to other tenants.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(4*limit.AnswerMemory + 1)
		greedy := fair.Who{Tenant: "a", Owner: "a", Credential: "a"}
		refused := func(who fair.Who) {
			t.Helper()
			start := time.Now()
			if _, err := m.Take(t.Context(), who); problem.CodeOf(err) != problem.RateLimited || problem.Of(err).RetryAfter < time.Second || time.Since(start) != 5*time.Second {
				t.Errorf("over the memory after %s: %v", time.Since(start), err)
			}
		}
		take := func(who fair.Who) {
			t.Helper()
			if _, err := m.Take(t.Context(), who); err != nil {
				t.Fatal(err)
			}
		}
		take(greedy)
		take(greedy)
		refused(greedy)
		take(fair.Who{Tenant: "a", Owner: "b", Credential: "b"})
		refused(fair.Who{Tenant: "a", Owner: "c", Credential: "c"})
		other := func(n int) fair.Who { return fair.Who{Owner: fmt.Sprint(n)} }
		release, err := m.Take(t.Context(), other(0))
		if err != nil {
			t.Fatal(err)
		}
		refused(other(1))
		gone, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := m.Take(gone, other(1)); problem.CodeOf(err) != problem.Cancelled {
			t.Errorf("cancelled while it waits: %v", err)
		}
		time.AfterFunc(4*time.Second, release)
		if _, err := m.Take(t.Context(), other(1)); err != nil {
			t.Errorf("when another ends: %v", err)
		}
	})
}
