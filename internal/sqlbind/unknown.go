package sqlbind

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/internal/hint"
	"github.com/bailiwick-dev/bailiwick/internal/sqlparse"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// unknownFunction returns the error for a function that doesn't exist, with an alternative.
func unknownFunction(c *sqlparse.Call) error {
	return &problem.Error{Code: problem.InvalidQuery, Kind: "unknown_function", Pointer: At(c.At), Detail: fmt.Sprintf("unknown function %s", problem.Cut(c.Name)),
		Near: problem.Nearest(c.Name, FunctionNames(), 3), Suggestion: hint.SQLFunction(c.Name)}
}
