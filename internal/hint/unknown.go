package hint

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/bailiwick-dev/bailiwick/problem"
)

//go:embed later.txt
var later string

// Operator returns the error for name, which is not in known. kind is the category of name in later.txt.
func Operator(kind, name, at string, known []string) error {
	switch name {
	case "$out", "$merge":
		return &problem.Error{Code: problem.SecurityBlocked, Pointer: at, Detail: name + " writes, and a pipeline only reads",
			Suggestion: "Leave it out: the answer is the result of the pipeline. Data is changed only with the tools for changes."}
	case "$where", "$function", "$accumulator":
		return &problem.Error{Code: problem.SecurityBlocked, Pointer: at, Detail: name + " runs code in the database, which is never allowed",
			Suggestion: "Say it with the operators of the query language."}
	}
	for line := range strings.Lines(later) {
		where, rest, _ := strings.Cut(line, " ")
		op, instead, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if where == kind && op == name {
			return &problem.Error{Code: problem.Unsupported, Pointer: at, Detail: name + " is not supported", Suggestion: strings.TrimSpace(instead)}
		}
	}
	what := map[string]string{"condition": "operator", "expression": "operator", "windows": "window function"}[kind]
	if what == "" {
		what = kind
	}
	return &problem.Error{Code: problem.InvalidQuery, Pointer: at, Detail: fmt.Sprintf("unknown %s %q", what, problem.Cut(name)),
		Near: problem.Nearest(name, known, 3)}
}
