package tool

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// keysSchema is the part of the input schema shared by tools that return records by ID.
const keysSchema = `"keys": {"type": "array", "maxItems": 64, "items": {"type": "string"}},
	"include": {"type": "array", "maxItems": 20, "items": {"type": "string"}}`

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: detail}
}

// notFoundError returns the same error for a missing record and for one outside the view.
func notFoundError(c *bailiwick.Call, class, id string) error {
	refusal := &problem.Error{Code: problem.NotFound, Pointer: "/object_id", Detail: fmt.Sprintf("%s has no record %q", class, problem.Cut(id))}
	if v, err := c.View(class); err == nil {
		refusal.Suggestion = v.NotAnID(id)
	}
	return refusal
}
