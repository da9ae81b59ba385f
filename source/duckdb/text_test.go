package duckdb

import (
	"testing"

	"github.com/bailiwick-dev/bailiwick/test/dialecttest"
)

// TestTexts writes the texts for DuckDB with operands that occur several times, like the tests of the other dialects.
func TestTexts(t *testing.T) {
	b := &dialecttest.Sheet{}
	b.WriteString("# What DuckDB gets. <v> is the place of a value. What stands more than once is a1, a2, …\n")
	b.Conversions(dialect{})
	b.Dates(dialect{}, "Europe/Oslo")
	b.Golden(t)
}
