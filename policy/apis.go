package policy

import "github.com/bailiwick-dev/bailiwick/internal/rules/calls"

// What Rules.APIs holds. The types are declared where calls are checked.
type (
	// APIRules say what of one HTTP API is visible, and which calls it takes. The zero APIRules show nothing.
	APIRules = calls.Rules

	// An APIHidden hides operations, tags, schemas or fields, from everybody or from principals for whom When holds.
	APIHidden = calls.Hidden

	// An APIParameter binds a parameter of all operations to a value of the principal.
	APIParameter = calls.Parameter
)
