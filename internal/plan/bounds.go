package plan

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Bounds are the most of each costly part that a statement or a pipeline may have. Each part counts as often as it is read: those of a
// query that is named twice count twice. The zero value of a field means its default.
type Bounds struct {
	Joins, Windows, Sets, Queries int

	own [costly]bool // set by Narrow: the bound is of this caller only
}

// A Costly is a part of a statement that is counted.
type Costly int

// The parts that Bounds bound.
const (
	CostlyJoin   Costly = iota // a join or a lookup
	CostlyWindow               // a window function, or an expression that uses one: a mode, the LIMIT of a LATERAL query
	CostlySet                  // a set operation, a union, or a grouping set after the first
	CostlyQuery                // a sub-query in an expression
	costly                     // their number
)

// costs describes the parts, by Costly.
var costs = [costly]struct {
	names, key string
	most       int // the default
	of         func(*Bounds) *int
	instead    string
}{
	{"joins", "joins", 20, func(b *Bounds) *int { return &b.Joins }, "Read fewer classes in one query, or aggregate before joining"},
	{"window functions", "windows", 50, func(b *Bounds) *int { return &b.Windows }, "Ask for fewer columns with OVER in one query"},
	{"set operations and grouping sets", "sets", 40, func(b *Bounds) *int { return &b.Sets }, "Ask for the parts one by one, or use IN or GROUP BY in the place of UNION"},
	{"sub-queries in expressions", "queries", 40, func(b *Bounds) *int { return &b.Queries }, "Join with what they read, or ask for the parts one by one"},
}

// WithDefaults returns b with the defaults filled in.
func (b Bounds) WithDefaults() Bounds {
	for _, c := range costs {
		if most := c.of(&b); *most == 0 {
			*most = c.most
		}
	}
	return b
}

// Narrow returns b with the bounds of other that are smaller. They are of the caller only, and errors say so. A zero field of other narrows nothing.
func (b Bounds) Narrow(other Bounds) Bounds {
	b = b.WithDefaults()
	for part, c := range costs {
		if most, narrower := c.of(&b), *c.of(&other); narrower != 0 && narrower < *most {
			*most, b.own[part] = narrower, true
		}
	}
	return b
}

// A Meter counts the costly parts of one statement.
type Meter struct {
	Bounds
	n [costly]int
}

// Add counts n parts that the statement has at a place, and returns the error for too many.
func (m *Meter) Add(part Costly, n int, at string) error {
	m.n[part] += n
	c := &costs[part]
	filled := m.WithDefaults()
	most := *c.of(&filled)
	if m.n[part] <= most {
		return nil
	}
	allow := "The owner can allow more with limits.statements." + c.key
	if m.own[part] {
		allow = fmt.Sprintf("The owner bounds %s for you with limits.statements.agents", c.key)
	}
	return &problem.Error{
		Code: problem.InvalidQuery, Kind: "too_costly", Pointer: at,
		Detail:     fmt.Sprintf("too many %s: %d so far, each counted as often as it is read, and a query may have %d", c.names, m.n[part], most),
		Suggestion: c.instead + ". " + allow,
	}
}

// MostBefore is the maximum size of the result so far of a Reduce, in bytes as JSON. A larger one is null. A list that
// doubles with every element would take all memory. Sources write JSON with spaces or without, so the bound is between
// one and two thirds of it.
const MostBefore = 512 << 10
