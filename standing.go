package bailiwick

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Standing reports, by nil, whether the action that a change came from would still propose it for the asker of a call.
type Standing func(context.Context, *Call, *change.Change) error

// ofAction reports whether c came from an action of the configuration.
func (g *Gateway) ofAction(c *change.Change) bool {
	return c.Action != "" && c.Action != writes.Revert
}

// stands reports, by nil, whether the action that c came from would still propose it for the agent as it is now. The
// target's transaction compares what a write sets; what an action requires of other fields and records, and which actions
// there are, nobody compares there.
func (g *Gateway) stands(ctx context.Context, p *policy.Policy, c *change.Change) error {
	if !g.ofAction(c) {
		return nil
	}
	principal, err := g.today(ctx, c.Agent)
	if err != nil {
		return gone(err, "the credential of the agent is no longer good")
	}
	if g.options.Standing == nil {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "action", Detail: "this gateway can't check again what the action requires"}
	}
	return g.options.Standing(ctx, &Call{gateway: g, who: principal, policy: p, record: &audit.Record{}}, c)
}

// fallen is the outcome of a change that its action would no longer propose: it is stale, for the records that say so may
// change again, and a person may have it previewed then. Or it was written before.
func (e *execution) fallen(ctx context.Context, w source.Writer, c *change.Change, why error) (change.EventKind, change.Outcome, error) {
	if problem.CodeOf(why) == problem.Internal {
		return "", change.Outcome{}, why // what can't be asked: later
	}
	event, o, err := e.gateway.barred(ctx, w, c, why)
	if err != nil || event != change.EventFailed {
		return event, o, err
	}
	return change.EventStale, change.Outcome{Detail: o.Detail, Now: e.moved(ctx, w, c)}, nil
}

// moved returns the records of c as they are, for people to see, where they are no longer what was reviewed; nil where
// they are, or can't be seen.
func (e *execution) moved(ctx context.Context, w source.Writer, c *change.Change) []change.Effect {
	draft, err := (&Call{gateway: e.gateway, policy: e.policy}).draft(ctx, c)
	if err != nil {
		return nil
	}
	now, err := w.Preview(ctx, draft)
	if err != nil || c.Moved(now.Effects) == "" {
		return nil
	}
	return now.Effects
}
