package plan

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Bounds are the maximum numbers of the costly parts of a statement or a pipeline. A part counts as often as it is
// read. If a query is named twice, its parts count twice. The zero value of a field means the default.
type Bounds struct {
	Joins, Windows, Sets, Queries int

	own [costly]bool // set by Narrow: the limit applies only to this caller
}

// A Costly is a kind of statement part that is counted.
type Costly int

// The kinds of parts that Bounds limit.
const (
	CostlyJoin   Costly = iota // a join or a lookup
	CostlyWindow               // a window function, or an expression that uses one: a mode, the LIMIT of a LATERAL query
	CostlySet                  // a set operation, a union, or a grouping set after the first
	CostlyQuery                // a sub-query in an expression
	costly                     // the number of kinds
)

// costs describes the kinds of parts, by Costly.
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

// WithDefaults returns b with defaults for the fields that are zero.
func (b Bounds) WithDefaults() Bounds {
	for _, c := range costs {
		if most := c.of(&b); *most == 0 {
			*most = c.most
		}
	}
	return b
}

// Narrow returns b with the limits of other that are smaller. Errors then say that the limit applies only to the
// caller. A zero field of other changes nothing.
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

// Add counts n parts. It returns an error if there are too many. The error names the place of the parts in the
// statement.
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

// MostBefore is the maximum size of a Reduce's result so far, in bytes as JSON. A larger result becomes null.
// Otherwise, a list that doubles with every element would use all memory. Sources write JSON with or without spaces, so
// the effective limit is between two thirds of MostBefore and MostBefore.
const MostBefore = 512 << 10
