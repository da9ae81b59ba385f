package policy

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/internal/rules/gates"
	"github.com/bailiwick-dev/bailiwick/write"
)

type (
	// A Gate is an operator's switch over one kind of write: Off, Review or On.
	Gate = gates.Gate
	// Gates are the operator's switches: over all Writes (by default Review), and in addition over RawWrites and SchemaWrites
	// (by default Off). "" selects the default.
	Gates = gates.Gates
	// A Write is a kind of write that gates distinguish. "" means no write.
	Write = gates.Write
	// A Use describes the use of a Tool, for gates, scopes and tool lists: the scope that it Needs, the kind of what it Writes
	// at once, and whether it Proposes, so that its writes wait for review. Through are the tools to look for in the
	// principal's list, if Tool isn't one but leads to them; nil means Tool.
	Use = gates.Use
)

// The gates, and the kinds of write: by actions, APIs and tools of the program; to records directly; and to classes and
// their fields.
const (
	Off    = gates.Off
	Review = gates.Review
	On     = gates.On

	WriteAction = gates.WriteAction
	WriteRaw    = gates.WriteRaw
	WriteSchema = gates.WriteSchema
)

// AllGates returns the gates, from the most to the least restrictive.
func AllGates() []Gate { return gates.All() }

// ParseGate parses a gate: "off", "review" or "on".
func ParseGate(s string) (Gate, error) { return gates.Parse(s) }

// Gate returns the gate in force for a kind of write and the key of the switch that decides it, such as "gates.writes".
// An unknown kind is Off, with no key; the empty kind is On.
func (p *Policy) Gate(kind Write) (Gate, string) { return p.rules.Gates.Of(kind) }

// May returns nil if the principal may make use u, according to the gates, its scopes and its tool list. A tool that is
// not in the list is refused first, with the same error as one that doesn't exist, so that neither its existence nor
// its writes are disclosed. For a Use with Through the scope is checked first, so that a principal without it doesn't
// learn which names exist.
func (p *Policy) May(principal identity.Principal, u Use) error {
	return p.rules.Gates.May(principal, u)
}

// Unknown returns the refusal of a tool that doesn't exist for the principal; kind is the true reason, for the audit
// record.
func Unknown(kind string) error { return gates.Unknown(kind) }

// reviewed returns the rules of the APIs with what the gates and the rules of review ask for beside them.
func (r Rules) reviewed() map[string]calls.Rules {
	out := make(map[string]calls.Rules, len(r.APIs))
	for name, api := range r.APIs {
		gate, _ := r.Gates.Of(WriteAction)
		switch {
		case gate != On:
			api.Reviews = calls.ReviewsAll
		case slices.ContainsFunc(r.Review, func(rule change.Rule) bool {
			return rule.Approvals > 0 || rule.Mode == write.Review || rule.Mode == write.Deny
		}):
			api.Reviews = calls.ReviewsSome
		default:
			api.Reviews = calls.ReviewsNone
		}
		out[name] = api
	}
	return out
}
