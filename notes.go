package bailiwick

import (
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/query"
)

// Time returns when the call began, in UTC.
func (c *Call) Time() time.Time { return c.record.Time }

// Note adds sentences that the answer carries beside what it holds. One that is there already isn't added again.
func (c *Call) Note(notes ...string) {
	for _, n := range notes {
		if !slices.Contains(c.notes, n) {
			c.notes = append(c.notes, n)
		}
	}
}

// Notes returns what Note was given, and what the queries of the call were noted for, in that order.
func (c *Call) Notes() []string { return c.notes }

// Empty returns the last query of the call that no record was found for, or that counted none; nil for none.
func (c *Call) Empty() query.Query { return c.empty }

// found notes whether q was answered with nothing.
func (c *Call) found(q query.Query, nothing bool) {
	if nothing {
		c.empty = q
	}
}
