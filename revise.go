package bailiwick

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/write"
)

// replacedChange returns the caller's change that r replaces, or nil if r replaces none.
func (c *Call) replacedChange(ctx context.Context, r write.Request) (*change.Change, error) {
	if r.Replaces == "" {
		return nil, nil
	}
	old, err := c.mine(ctx, r.Replaces)
	if err == nil && old.State == change.Replaced {
		err = &problem.Error{Code: problem.Conflict, Kind: "replaced", Detail: "another version of the change is there already", Suggestion: "name the newest one: " + old.ReplacedBy}
	}
	if err != nil {
		p := *problem.Of(err)
		p.Pointer = "/change_id"
		return nil, &p
	}
	return old, nil
}

// Answer adds a text of the caller to a change that it has proposed. If a reviewer had returned the change, it waits
// for review again.
func (c *Call) Answer(ctx context.Context, id, text string) (*review.Sheet, error) {
	if _, err := c.mine(ctx, id); err != nil {
		return nil, err
	}
	done, err := c.changes().Answer(ctx, id, c.who, text)
	if err != nil {
		return nil, err
	}
	c.record.Change = done.ID
	return c.sheetOf(ctx, done), nil
}

// compareVersions sets the differences between found and the version before it. The sheet is complete without them, so
// errors are ignored.
func (c *Call) compareVersions(ctx context.Context, found *change.Change, s *review.Sheet, viewer review.Viewer) {
	if found.Replaces == "" {
		return
	}
	if before, err := c.own(c.gateway.options.Changes.Get(ctx, found.Replaces)); err == nil {
		s.Compare(found, before, review.VisibilityOf(c.policy, c.who, c.gateway.masks), viewer)
	}
}

// Ask implements Reviewer.
func (d *reviewer) Ask(ctx context.Context, id, text string) (*review.Sheet, error) {
	return d.sheet(ctx, "request_changes", id, "", func(ctx context.Context, c *Call, _ *change.Change) (*change.Change, error) {
		return c.changes().Ask(ctx, id, c.who, text)
	})
}

// Edit implements Reviewer. The new version has the rights of the agent, which may see it. So a reviewer can't set a
// field that the agent can't write, or a record that the agent doesn't see.
func (d *reviewer) Edit(ctx context.Context, id string, e review.Revision) (*review.Sheet, error) {
	return d.sheet(ctx, "edit", id, audit.Proposed, func(ctx context.Context, c *Call, found *change.Change) (*change.Change, error) {
		if err := c.editable(ctx, found); err != nil {
			return nil, err
		}
		list, err := e.Apply(found)
		if err != nil {
			return nil, err
		}
		agent, err := review.AgentOf(ctx, d.gateway.options.Refresher, found)
		if err != nil {
			return nil, err
		}
		if err := writes.CheckSchema(c.policy, agent, found); err != nil {
			return nil, err
		}
		r := write.Request{Writes: list, Tool: "edit", Reason: e.Reason, Origin: write.Origin{Mode: write.Review}, After: found.After, Input: e.Input()}
		filed, err := c.draftedFor(ctx, agent, r)
		if err != nil {
			return nil, err
		}
		by := change.PartyOf(c.who)
		filed.Agent, filed.Asker = found.Agent, &by
		return c.file(ctx, filed, found)
	})
}

// editable returns nil if the reviewer may replace found with another version.
func (c *Call) editable(ctx context.Context, found *change.Change) error {
	queue := c.gateway.options.Changes
	if !queue.Edits() {
		return &problem.Error{Code: problem.PermissionDenied, Kind: "edit", Detail: "changes are not edited here: review.edit is not set"}
	}
	if err := review.Revisable(found); err != nil {
		return err
	}
	if err := queue.Eligible(c.who, found); err != nil {
		return err
	}
	check, err := c.sightCheck(ctx, found)
	if err == nil && !check.OK {
		err = &problem.Error{Code: problem.PermissionDenied, Kind: check.Name, Detail: check.Detail}
	}
	return err
}

// setConversationRights sets whether the reviewer may ask for changes of found or edit it.
func (c *Call) setConversationRights(ctx context.Context, found *change.Change, s *review.Sheet) {
	_, s.CanAsk = found.State.Next(change.EventAsked)
	s.CanAsk = s.CanAsk && s.CanReject
	s.CanEdit = c.editable(ctx, found) == nil
	c.compareVersions(ctx, found, s, review.Viewer{Human: c.who.Owner, Reviewer: true})
}

// draftedFor is like drafted, for the principal p, whose change a reviewer revises.
func (c *Call) draftedFor(ctx context.Context, p identity.Principal, r write.Request) (*change.Change, error) {
	as := *c
	as.who = p
	filed, _, err := as.draftChange(ctx, r)
	return filed, err
}

// gate returns the strictest of the gates for the writes of r.
func (c *Call) gate(r write.Request) policy.Gate {
	least := policy.On
	for i, w := range r.Writes {
		gate, _ := c.policy.Gate(writes.Kind(w.Op(), r.From(i).Action))
		least = least.Less(gate)
	}
	return least
}
