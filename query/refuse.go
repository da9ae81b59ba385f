package query

import (
	"github.com/bailiwick-dev/bailiwick/problem"
)

func invalid(at, detail string) error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail}
}

// invalidWithHint returns the error of invalid with a suggestion.
func invalidWithHint(at, detail, suggestion string) error {
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: detail, Suggestion: suggestion}
}
