package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Gate returns the gate in force for a kind of write, and the configuration key of the deciding switch, such as
// "gates.writes". An unknown kind is Off, with no key. The empty kind is On.
func (p *Policy) Gate(kind Write) (Gate, string) { return p.rules.Gates.Of(kind) }

// May returns nil if the gates, the principal's scopes and its tool list allow the use u. It checks the list first, and
// refuses a tool outside of it with the same error as one that doesn't exist. So neither its existence nor its writes
// are disclosed. For a Use with Through it checks the scope first, so that a principal without it doesn't learn which
// names exist.
func (p *Policy) May(principal identity.Principal, u Use) error {
	return p.rules.Gates.May(principal, u)
}

// apiRules returns the rules of the APIs with the reviews that the gates and the rules of review require.
func (r Rules) apiRules() map[string]calls.Rules {
	out := make(map[string]calls.Rules, len(r.APIs))
	for name, api := range r.APIs {
		gate, _ := r.Gates.Of(WriteAction)
		switch {
		case gate != On:
			api.Reviews = calls.ReviewsAll
		case slices.ContainsFunc(r.Review, func(rule change.Rule) bool {
			return rule.Approvals > 0 || rule.Reviewers != nil || rule.Mode == write.Review || rule.Mode == write.Deny
		}):
			api.Reviews = calls.ReviewsSome
		default:
			api.Reviews = calls.ReviewsNone
		}
		out[name] = api
	}
	return out
}
