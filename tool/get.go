package tool

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// keysSchema is the part of the input schema that tools which return records by id share.
const keysSchema = `"keys": {"type": "array", "maxItems": 64, "items": {"type": "string"}, "description": "fields to return; all when absent"},
	"include": {"type": "array", "maxItems": 20, "items": {"type": "string"}, "description": "pointer fields to replace with their records"}`

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidArgument, Pointer: at, Detail: detail}
}

// notFound is the answer for a record that isn't there and for one outside the view: the same bytes.
func notFound(class, id string) error {
	return &problem.Error{Code: problem.NotFound, Pointer: "/object_id", Detail: fmt.Sprintf("%s has no record %q", class, problem.Cut(id))}
}
