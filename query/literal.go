package query

import "github.com/bailiwick-dev/bailiwick/internal/literals"

// CheckPath splits and checks the dotted path s at the JSON pointer at. Errors are problem.InvalidQuery.
func CheckPath(s, at string) (Path, error) { return literals.Path(s, at) }

// Pointer returns the JSON pointer (RFC 6901) of the member or element token below at.
func Pointer(at, token string) string { return literals.Pointer(at, token) }
