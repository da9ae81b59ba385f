package query

import (
	"github.com/bailiwick-dev/bailiwick/problem"
)

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail}
}

// hinted is like invalid, with a suggestion.
func hinted(at, detail, suggestion string) error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail, Suggestion: suggestion}
}
