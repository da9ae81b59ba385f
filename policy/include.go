package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/internal/rules/timestamps"
)

// include computes which fields of a record are returned when it is included through a pointer: those of join, or else
// all that aren't large; always the key and the timestamps.
func (c *class) include(fail func(string, ...any)) {
	for _, n := range c.rule.Join {
		if c.Field(n) != nil && c.seen[n] == nil {
			fail("join: %s can't be seen at all; take it out", n)
		}
	}
	for _, f := range c.visible {
		leaves := !c.large[f.Name]
		if c.rule.Join != nil {
			leaves = slices.Contains(c.rule.Join, f.Name)
		}
		if leaves || slices.Contains(c.Key, f.Name) || timestamps.Is(f) {
			c.included = append(c.included, f)
		} else {
			c.dropped = append(c.dropped, f.Name)
		}
	}
}
