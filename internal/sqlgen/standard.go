package sqlgen

import (
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// Standard contains the standard SQL that databases share. Each dialect embeds it.
type Standard struct{}

// Quote implements Dialect.
func (Standard) Quote(name string) string {
	return `"` + strings.ReplaceAll(Nameable(name), `"`, `""`) + `"`
}

// Home implements Dialect.
func (Standard) Home() string { return "" }

// ViewColumn implements Dialect.
func (Standard) ViewColumn(name string) string { return name }

// Own implements Dialect.
func (Standard) Own(w *Writer, x Operand, text string) {
	w.Write(x.Text, " = ")
	w.Put(text, "")
}

// Fits implements Dialect.
func (Standard) Fits(*schema.Field, string) bool { return true }

// Optional implements Dialect.
func (Standard) Optional(x string) string { return x }

// Bounds implements Dialect.
func (Standard) Bounds() (copied, read int) { return 0, 0 }

// Bytes implements Dialect.
func (Standard) Bytes(x string, _ *schema.Field) string { return "octet_length(" + x + ")" }

// Slice implements Dialect.
func (Standard) Slice(x string, _ *schema.Field, first, length string) string {
	return "substr(" + x + ", " + first + ", " + length + ")"
}

// Missing implements Dialect.
func (Standard) Missing(x string, _ *schema.Field) string { return x + " IS NULL" }

// Case implements Dialect.
func (Standard) Case(_ Scope, ifs, thens []string, otherwise string, _ schema.Type) string {
	var b strings.Builder
	b.WriteString("(CASE")
	for i := range ifs {
		b.WriteString(" WHEN " + ifs[i] + " THEN " + thens[i])
	}
	if otherwise != "" {
		b.WriteString(" ELSE " + otherwise)
	}
	b.WriteString(" END)")
	return b.String()
}

// Size implements Dialect.
func (Standard) Size(Scope, string) string { return "" }

// GroupTerm implements Dialect.
func (Standard) GroupTerm(by string) string { return by }

// KeyOf implements Dialect.
func (Standard) KeyOf(string, *schema.Field) (by, show string) { return "", "" }

// AccumulateOf implements Dialect.
func (Standard) AccumulateOf(plan.Accumulate, string, *schema.Field) string { return "" }

// Aggregates implements Dialect.
func (Standard) Aggregates() []string { return nil }

// Find implements Dialect. It is for dialects whose Compare can use an index.
func (Standard) Find(string, *schema.Field, string, *schema.Field) (test string, exact bool) {
	return "", false
}

// Short implements Dialect.
func (Standard) Short(x string, _ int) string { return x }

// Distinct implements Dialect.
func (Standard) Distinct(Scope, string, int) string { return "" }

// MaterializedKeyword implements Dialect.
func (Standard) MaterializedKeyword(keep bool) string {
	if keep {
		return " MATERIALIZED"
	}
	return " NOT MATERIALIZED"
}

// Start implements Dialect.
func (Standard) Start(x string, _ schema.Type) string { return x }

// Correlates implements Dialect.
func (Standard) Correlates() bool { return true }

// Probes implements Dialect. Most databases choose between both forms themselves.
func (Standard) Probes() bool { return false }

// Ahead implements Dialect.
func (Standard) Ahead() int { return 0 }

// Gathers implements Dialect.
func (Standard) Gathers() bool { return false }
