package bailiwick

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Revert implements Reviewer. The new change has the rights of the agent that proposed the original; neither that
// agent's owner nor the person who requests the revert may approve it.
func (d *desk) Revert(ctx context.Context, id, reason string) (*review.Sheet, error) {
	return d.sheet(ctx, "revert", id, audit.Proposed, func(ctx context.Context, c *Call, found *change.Change) (*change.Change, error) {
		filed, err := c.reverting(ctx, found, reason)
		if err != nil {
			return nil, err
		}
		return c.file(ctx, filed)
	})
}

// reverting returns the change that reverts found, not yet filed.
func (c *Call) reverting(ctx context.Context, found *change.Change, reason string) (*change.Change, error) {
	back, err := found.Inverse()
	if err != nil {
		return nil, err
	}
	agent, err := c.gateway.today(ctx, found.Agent)
	if err != nil {
		return nil, gone(err, "the credential of the agent is no longer good")
	}
	r := write.Request{Writes: back, Tool: "revert", Action: writes.Revert, Title: "revert " + found.ID, Reason: reason, Mode: write.Review,
		Input: value.OfObject([]value.Member{{Name: "change_id", Value: value.OfString(found.ID)}})}
	draft, err := writes.Propose(c.policy, agent, r)
	if err != nil {
		return nil, err
	}
	plan, err := draft.Plan()
	if err != nil {
		return nil, err
	}
	if err := whole(&plan); err != nil {
		return nil, err
	}
	preview, err := c.gateway.preview(ctx, draft, plan.Source)
	if err != nil {
		return nil, err
	}
	if err := found.Unmoved(preview.Effects); err != nil {
		return nil, err
	}
	filed := c.change(r, &plan, preview)
	by := change.PartyOf(c.who)
	filed.Agent, filed.Asker, filed.Reverts = found.Agent, &by, found.ID
	return filed, nil
}

// whole refuses to recreate a record of a class that has fields no view shows: their values were not kept.
func whole(plan *writes.Plan) error {
	for i := range plan.Items {
		if plan.Items[i].Op == write.OpCreate && plan.Items[i].View.Denied() != nil {
			return &problem.Error{Code: problem.Conflict, Kind: "not_whole", Detail: "the record had more than is ever shown: it can't be brought back whole"}
		}
	}
	return nil
}
