package bailiwick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Each step of a change is kept in one transaction with its record, in an outbox of the store. From there it goes into the
// audit: before an answer leaves, before the change is applied, or by whoever comes next.

// record puts what the outbox has of a change into the audit.
func (g *Gateway) record(ctx context.Context, id string) error {
	_, err := audit.Drain(context.WithoutCancel(ctx), g.options.Changes.Store(), id, g.options.Audit)
	return unrecorded(err)
}

func unrecorded(err error) error {
	if err == nil {
		return nil
	}
	return &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "audit", Err: fmt.Errorf("a change could not be recorded: %w", err)}
}

// How old records in the outbox are before somebody else than the process that put them there does something about them.
const (
	abandoned  = 2 * time.Second // it has gone, or could not record
	unanswered = time.Minute     // likewise, and it has answered no proposal
)

// catchUp records what other processes have left in the outbox. A proposal that nobody has recorded was not answered
// either, and is withdrawn: its agent doesn't know of it.
func (g *Gateway) catchUp(ctx context.Context) error {
	queue := g.options.Changes
	left, err := queue.Store().Unrecorded(ctx, "", 1)
	if err != nil || len(left) == 0 {
		return err
	}
	now, err := queue.Store().Now(ctx)
	if err != nil || now.Sub(left[0].Time) < abandoned {
		return err
	}
	done, err := audit.Drain(context.WithoutCancel(ctx), queue.Store(), "", g.options.Audit)
	errs := []error{unrecorded(err)}
	for _, r := range done {
		if r.Outcome == audit.Proposed && now.Sub(r.Time) > unanswered {
			errs = append(errs, g.withdraw(ctx, r.Change, "nobody was told that it was filed"))
		}
	}
	return errors.Join(errs...)
}

// withdraw takes back a change whose proposal could not be answered.
func (g *Gateway) withdraw(ctx context.Context, id, why string) error {
	ctx = context.WithoutCancel(ctx)
	err := g.options.Changes.Under(g.PolicyVersion()).Withdraw(ctx, id, why)
	if code := problem.CodeOf(err); code == problem.Conflict || code == problem.NotFound {
		return nil // it has moved on, or was never filed
	}
	return errors.Join(err, g.record(ctx, id))
}

// file files a change that was judged, or returns the same one that is pending. One that can't be recorded isn't left
// pending, nor one whose filing ended with an error.
func (c *Call) file(ctx context.Context, filed *change.Change) (*change.Change, error) {
	g := c.gateway
	kept, err := c.changes().Propose(ctx, filed)
	if err == nil {
		err = g.record(ctx, kept.ID)
	}
	if filed.ID != "" && (err != nil || kept.ID == filed.ID) {
		c.filed = filed.ID
	}
	if err != nil {
		return nil, err
	}
	c.record.Change = kept.ID
	return kept, nil
}

// changes returns the queue, whose steps name the rules of this call.
func (c *Call) changes() *change.Queue {
	c.steps = true
	return c.gateway.options.Changes.Under(c.policy.Version())
}
