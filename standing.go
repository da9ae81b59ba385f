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

// Standing returns nil if the action that a change came from would still propose it for the principal of the call.
type Standing func(context.Context, *Call, *change.Change) error

// ofAction reports whether c came from a configured action.
func (g *Gateway) ofAction(c *change.Change) bool {
	return c.Action != "" && c.Action != writes.Revert
}

// stands returns nil if the action that c came from would still propose it for its agent as of now. The target's
// transaction compares only what a write sets, not what an action requires of other fields and records, nor whether
// the action still exists.
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

// fallen returns the outcome of a change that its action would no longer propose: it is stale, since the records may
// change back and a reviewer may renew it. If it was already written, it is applied.
func (e *execution) fallen(ctx context.Context, w source.Writer, c *change.Change, why error) (change.EventKind, change.Outcome, error) {
	if problem.CodeOf(why) == problem.Internal {
		return "", change.Outcome{}, why // it could not be checked: try again later
	}
	event, o, err := e.gateway.barred(ctx, w, c, why)
	if err != nil || event != change.EventFailed {
		return event, o, err
	}
	return change.EventStale, change.Outcome{Detail: o.Detail, Now: e.moved(ctx, w, c)}, nil
}

// moved returns the current records of c, for reviewers, if they differ from what was reviewed; else, or if they
// can't be read, nil.
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
