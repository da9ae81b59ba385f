package policy

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Shows reports whether who's list of tools keeps the tool called name. A tool it doesn't keep is unknown to who.
func Shows(who identity.Principal, name string) bool { return who.Tools.Allows(name) }

// May reports, by nil, whether who may call the tool called name, which needs the given scope: scopes first, then
// the principal's list. A tool outside the list is refused in the bytes of one that doesn't exist.
func May(who identity.Principal, name string, needs identity.Scope) error {
	if !Shows(who, name) {
		return Unknown("tool_filtered")
	}
	return Holds(who, name, needs)
}

// Holds reports, by nil, whether who holds the scope that name needs, a tool or anything else that can be asked for.
func Holds(who identity.Principal, name string, needs identity.Scope) error {
	if !who.Has(needs) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(needs),
			Detail: fmt.Sprintf("%s needs the scope %s", name, needs)}
	}
	return nil
}

// Unknown is the refusal of a tool that doesn't exist for the asker; kind is the true reason.
func Unknown(kind string) error {
	return &problem.Error{Code: problem.UnknownTool, Kind: kind, Detail: "unknown tool"}
}
