// Package storetest is the suite that every store passes: what identity, audit, limit and change count on.
//
// It knows no store. It refuses one that loses, forks or invents records, that forgets a narrowing of a token or
// what was used of a budget, that lets two take one version of a change further, or that hides a revocation from another handle for more than a second.
package storetest

import (
	"context"
	"testing"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/limit"
)

// A Store is what a store offers.
type Store interface {
	audit.Log
	audit.Reader
	identity.TokenStore
	limit.Ledger
	change.Store
	Ping(ctx context.Context) error
	webhook.Store
	Secret(ctx context.Context, name string) ([]byte, error)
	once.Store
	Close() error
}

// Open opens a handle on the store at a place: two handles of one place share what is in it, as two processes would.
// It fails the test when it can't; the suite closes the handle.
type Open func(t *testing.T, place string) Store

// Run runs the suite. Places are new empty folders.
func Run(t *testing.T, open Open) {
	t.Run("tokens", func(t *testing.T) { testTokens(t, open) })
	t.Run("tokens of two handles", func(t *testing.T) { testTokenHandles(t, open) })
	t.Run("audit", func(t *testing.T) { testAudit(t, open) })
	t.Run("audit of two handles", func(t *testing.T) { testAuditHandles(t, open) })
	t.Run("audit cancelled and closed", func(t *testing.T) { testAuditEnds(t, open) })
	t.Run("audit signed", func(t *testing.T) { testAuditSigned(t, open) })
	t.Run("budgets", func(t *testing.T) { testBudgets(t, open) })
	t.Run("budgets of two handles", func(t *testing.T) { testBudgetHandles(t, open) })
	t.Run("budgets of two limiters", func(t *testing.T) { testBudgetLimiters(t, open) })
	t.Run("change", func(t *testing.T) { testChange(t, open) })
	t.Run("change guarded", func(t *testing.T) { testGuards(t, open) })
	t.Run("changes filed", func(t *testing.T) { testPut(t, open) })
	t.Run("changes filed by two handles", func(t *testing.T) { testPutHandles(t, open) })
	t.Run("change of two handles", func(t *testing.T) { testSwapHandles(t, open) })
	t.Run("changes asked for", func(t *testing.T) { testQueue(t, open) })
	t.Run("changes due", func(t *testing.T) { testDue(t, open) })
	t.Run("events of two handles", func(t *testing.T) { testEvents(t, open) })
	t.Run("events waited for", func(t *testing.T) { testAwait(t, open) })
	t.Run("steps", func(t *testing.T) { testSteps(t, open) })
	t.Run("steps once", func(t *testing.T) { testStepsOnce(t, open) })
	t.Run("changes reconciled", func(t *testing.T) { testReconcile(t, open) })
	t.Run("rates", func(t *testing.T) { testRates(t, open) })
	t.Run("rates of two handles", func(t *testing.T) { testRateHandles(t, open) })
	t.Run("deliveries", func(t *testing.T) { testDeliveries(t, open) })
	t.Run("deliveries of two handles", func(t *testing.T) { testDeliveryHandles(t, open) })
	t.Run("used", func(t *testing.T) { testUsed(t, open) })
	t.Run("secrets", func(t *testing.T) { testSecrets(t, open) })
}

// handle opens a handle that is closed with the test.
func handle(t *testing.T, open Open, place string) Store {
	t.Helper()
	s := open(t, place)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return s
}
