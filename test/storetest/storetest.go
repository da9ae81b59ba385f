// Package storetest is the test suite that every store must pass. It tests the guarantees that packages identity,
// audit, limit, change and webhook rely on.
//
// It doesn't depend on a specific store. A store fails if it loses, forks or invents records, or if it loses a
// restriction of a token or the use of a budget. It fails if two callers can swap the same version of a change. It
// also fails if another handle doesn't see a revocation within a second.
package storetest

import (
	"context"
	"testing"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/internal/health"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/internal/webhook"
	"github.com/bailiwick-dev/bailiwick/limit"
)

// A Store is the set of interfaces that every store implements.
type Store interface {
	store.ArchiveStore
	store.BlockStore
	identity.TokenStore
	limit.Ledger
	change.Store
	Waiting(ctx context.Context) ([]store.Waiting, error)
	Ping(ctx context.Context) error
	webhook.Store
	Secret(ctx context.Context, name string) ([]byte, error)
	once.Store
	connect.Store
	health.ReplicaStore
	Close() error
}

// Open opens a handle on the store at a place. Two handles on the same place share its content, like two processes.
// Open fails the test on an error. The suite closes the handle.
type Open func(t *testing.T, place string) Store

// Run runs the suite. Each place is a new empty folder.
func Run(t *testing.T, open Open) {
	t.Run("tokens", func(t *testing.T) { testTokens(t, open) })
	t.Run("tokens found", func(t *testing.T) { testFindTokens(t, open) })
	t.Run("people of tokens", func(t *testing.T) { testPeople(t, open) })
	t.Run("tokens of two handles", func(t *testing.T) { testTokenHandles(t, open) })
	t.Run("audit", func(t *testing.T) { testAudit(t, open) })
	t.Run("audit of two handles", func(t *testing.T) { testAuditHandles(t, open) })
	t.Run("audit cancelled and closed", func(t *testing.T) { testAuditEnds(t, open) })
	t.Run("audit archived meanwhile", func(t *testing.T) { testArchivedMeanwhile(t, open) })
	t.Run("audit searched", func(t *testing.T) { testFound(t, open) })
	t.Run("audit signed", func(t *testing.T) { testAuditSigned(t, open) })
	t.Run("change", func(t *testing.T) { testChange(t, open) })
	t.Run("change guarded", func(t *testing.T) { testGuards(t, open) })
	t.Run("changes filed", func(t *testing.T) { testPut(t, open) })
	t.Run("changes filed by two handles", func(t *testing.T) { testPutHandles(t, open) })
	t.Run("change of two handles", func(t *testing.T) { testSwapHandles(t, open) })
	t.Run("versions of changes", func(t *testing.T) { testVersions(t, open) })
	t.Run("changes for a person", func(t *testing.T) { testFor(t, open) })
	t.Run("changes filed too fast", func(t *testing.T) { testFast(t, open) })
	t.Run("changes asked for", func(t *testing.T) { testQueue(t, open) })
	t.Run("changes counted", func(t *testing.T) { testCounts(t, open) })
	t.Run("changes due", func(t *testing.T) { testDue(t, open) })
	t.Run("events of two handles", func(t *testing.T) { testEvents(t, open) })
	t.Run("events waited for", func(t *testing.T) { testAwait(t, open) })
	t.Run("steps", func(t *testing.T) { testSteps(t, open) })
	t.Run("logged steps", func(t *testing.T) { testLoggedSteps(t, open) })
	t.Run("steps once", func(t *testing.T) { testStepsOnce(t, open) })
	t.Run("changes reconciled", func(t *testing.T) { testReconcile(t, open) })
	t.Run("deliveries", func(t *testing.T) { testDeliveries(t, open) })
	t.Run("deliveries of two handles", func(t *testing.T) { testDeliveryHandles(t, open) })
	t.Run("replicas", func(t *testing.T) { testReplicas(t, open) })
	t.Run("secrets", func(t *testing.T) { testSecrets(t, open) })
}

// Handle opens a handle that is closed at the end of the test.
func Handle(t *testing.T, open Open, place string) Store {
	t.Helper()
	s := open(t, place)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error("close:", err)
		}
	})
	return s
}
