package action

import (
	"github.com/bailiwick-dev/bailiwick/schema"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// May returns nil if p may call a under the rules. It checks p's list of actions, the action's own review mode, the
// gates, p's scopes and p's views. For operators, the error says which check refused. Agents must get the same error
// as for a missing action.
func (a *Action) May(rules *policy.Policy, p identity.Principal) error {
	refused := func(kind, why string) error {
		return &problem.Error{Code: problem.PermissionDenied, Kind: kind, Detail: why}
	}
	err := rules.May(p, policy.Use{Tool: MethodTool, Needs: a.Scope, Writes: policy.WriteAction, Proposes: true, Through: []string{}})
	switch {
	case !p.Actions.Allows(a.Names()...):
		return refused("action_list", "the principal's list of actions leaves it out")
	case a.Review == write.Deny:
		return refused("action_review", "its review is deny")
	case err != nil:
		return err
	}
	var seen *policy.View
	for v := range rules.ViewsOf(p, func(c *schema.Class) bool { return c.FullName() == a.Class.FullName() }) {
		seen = v
	}
	switch {
	case seen == nil:
		return refused("class", "the principal doesn't see "+a.Class.FullName())
	case seen.Rule().Write[a.Op()] == write.Deny:
		return refused("class_write", "writes of this kind to "+a.Class.FullName()+" are denied")
	}
	return nil
}
