package policy

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/rules/denylist"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// created and updated list the names, without case and separators, of fields that hold the time a record was created or
// last changed.
var (
	created = []string{"createdat", "created", "createdon", "createddate", "datecreated", "creationdate", "insertedat"}
	updated = []string{"updatedat", "updated", "updatedon", "updateddate", "dateupdated", "modifiedat", "modified", "modifiedon", "modifieddate", "lastmodified",
		"lastupdated", "changedat"}
)

// timestamp reports whether f holds the time a record was created or last changed.
func timestamp(f *schema.Field) bool {
	name := strings.Join(denylist.Words(f.Name), "")
	return (f.Type == schema.Date || f.Type == schema.Day) && (slices.Contains(created, name) || slices.Contains(updated, name))
}

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
		if leaves || slices.Contains(c.Key, f.Name) || timestamp(f) {
			c.included = append(c.included, f)
		} else {
			c.dropped = append(c.dropped, f.Name)
		}
	}
}
