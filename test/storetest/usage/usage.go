// Package usage tests how a store counts use: daily budgets, rates, and names that may be used once.
//
// It doesn't depend on a specific store. A store fails if its sums lose a call of one of two handles, or if a name
// can be used twice.
package usage

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// Run runs the suite. Each place is a new empty folder.
func Run(t *testing.T, open storetest.Open) {
	t.Run("budgets", func(t *testing.T) { testBudgets(t, open) })
	t.Run("budgets of two handles", func(t *testing.T) { testBudgetHandles(t, open) })
	t.Run("budgets of two limiters", func(t *testing.T) { testBudgetLimiters(t, open) })
	t.Run("rates", func(t *testing.T) { testRates(t, open) })
	t.Run("rates of two handles", func(t *testing.T) { testRateHandles(t, open) })
	t.Run("used", func(t *testing.T) { testUsed(t, open) })
}
