package policy

import "github.com/bailiwick-dev/bailiwick/internal/rules/calls"

// Aliases for the values of Rules.APIs. The types are declared in package calls, which checks calls.
type (
	// APIRules define which parts of one HTTP API are visible and which calls are allowed. The zero APIRules show
	// nothing.
	APIRules = calls.Rules

	// An APIHidden hides operations, tags, schemas or fields, from every principal or from those for which When holds.
	APIHidden = calls.Hidden

	// An APIParameter binds a parameter of all operations to a value of the principal.
	APIParameter = calls.Parameter
)
