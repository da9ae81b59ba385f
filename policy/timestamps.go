package policy

import (
	"slices"
	"strings"

	"github.com/bailiwick-dev/bailiwick/internal/secretnames"
	"github.com/bailiwick-dev/bailiwick/schema"
)

// created and updated list names of fields in lower case without separators, the likeliest first.
var (
	created = []string{"createdat", "created", "createdon", "createddate", "datecreated", "creationdate", "insertedat"}
	updated = []string{"updatedat", "updated", "updatedon", "updateddate", "dateupdated", "modifiedat", "modified", "modifiedon", "modifieddate", "lastmodified",
		"lastupdated", "changedat"}
)

// isTimestamp reports whether f has the time at which a record was created or last changed.
func isTimestamp(f *schema.Field) bool {
	name := bare(f)
	return (f.Type == schema.Date || f.Type == schema.Day) && (slices.Contains(created, name) || slices.Contains(updated, name))
}

// creationFields returns the fields with the date and time at which a record was created, the likeliest first.
func creationFields(fields []*schema.Field) []*schema.Field {
	var out []*schema.Field
	for _, name := range created {
		for _, f := range fields {
			if f.Type == schema.Date && bare(f) == name {
				out = append(out, f)
			}
		}
	}
	return out
}

func bare(f *schema.Field) string { return strings.Join(secretnames.Words(f.Name), "") }
