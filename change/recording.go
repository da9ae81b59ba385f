package change

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Record moves the records of a change's steps from the outbox into log. It is called before a response is sent, and
// before the change is applied. If the queue is Audited, the log already has them.
func (q *Queue) Record(ctx context.Context, id string, log audit.Log) error {
	if q.o.Audited {
		return nil
	}
	return q.Drain(ctx, id, log)
}

// Drain is like Record, but also moves the records of processes whose queue isn't Audited.
func (q *Queue) Drain(ctx context.Context, id string, log audit.Log) error {
	_, err := audit.Drain(context.WithoutCancel(ctx), q.store, id, log)
	return unrecordedError(err)
}

func unrecordedError(err error) error {
	if err == nil {
		return nil
	}
	return problem.StoreError("audit", fmt.Errorf("a change could not be recorded: %w", err))
}

// Ages from which another process handles records in the outbox.
const (
	abandoned  = 2 * time.Second // the process that stored them is gone, or could not record them
	unanswered = time.Minute     // that process has also not answered the proposal
)

// CatchUp moves the records that other processes have left in the outbox into log. It withdraws a proposal without a
// record: it was not answered either, so its agent doesn't know of it.
func (q *Queue) CatchUp(ctx context.Context, log audit.Log) error {
	left, err := q.store.PendingRecords(ctx, "", 1)
	if err != nil || len(left) == 0 {
		return err
	}
	now, err := q.store.Now(ctx)
	if err != nil || now.Sub(left[0].Time) < abandoned {
		return err
	}
	done, err := audit.Drain(context.WithoutCancel(ctx), q.store, "", log)
	errs := []error{unrecordedError(err)}
	for _, r := range done {
		if r.Outcome == audit.Proposed && now.Sub(r.Time) > unanswered {
			errs = append(errs, q.Withdraw(ctx, r.Change, "nobody was told that it was filed", log))
		}
	}
	return errors.Join(errs...)
}

// Withdraw cancels a change whose proposal was not answered, in the name of its agent. It does nothing if the apply has
// begun or the change was never filed.
func (q *Queue) Withdraw(ctx context.Context, id, why string, log audit.Log) error {
	ctx = context.WithoutCancel(ctx)
	c, err := q.Get(ctx, id)
	if err == nil {
		err = q.move(ctx, c, EventCancelled, Step{Comment: why, Actor: q.actor(c.Agent)}, Guard{})
	}
	if code := problem.CodeOf(err); code == problem.Conflict || code == problem.NotFound {
		return nil
	}
	return errors.Join(err, q.Record(ctx, id, log))
}
