package policy

import (
	"fmt"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// May returns nil if the gates, the principal's scopes and its tool list allow the use u. It checks the list first, and
// refuses a tool outside of it with the same error as one that doesn't exist. So neither its existence nor its writes
// are disclosed. For a Use with Through it checks the scope first, so that a principal without it doesn't learn which
// names exist.
func (g Gates) May(principal identity.Principal, u Use) error {
	if u.Through == nil && !principal.Tools.Allows(u.Tool) {
		return UnknownToolError("tool_filtered")
	}
	if err := g.Passes(u); err != nil {
		return err
	}
	if !principal.Has(u.Needs) {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "scope", Scope: string(u.Needs),
			Detail: fmt.Sprintf("%s needs the scope %s", u.Tool, u.Needs)}
	}
	for _, name := range u.Through {
		if !principal.Tools.Allows(name) {
			return UnknownToolError("tool_filtered")
		}
	}
	return nil
}

// UnknownToolError returns the refusal of a tool that doesn't exist for the principal. kind is the true reason, for the audit
// record.
func UnknownToolError(kind string) error {
	return &problem.Error{Code: problem.UnknownTool, Kind: kind, Detail: "unknown tool"}
}
