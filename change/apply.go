package change

import (
	"context"
	"errors"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Claim gives the lease of a change to holder, a name unique to the executor. The change must be approved, or its
// previous lease must have run out. Claim fails with problem.Conflict if the change isn't due, has expired, or another
// executor was faster. The Kind is "unrecorded" while the audit log lacks the record of a step, such as the approval.
func (q *Queue) Claim(ctx context.Context, id, holder string) (Approved, error) {
	c, err := q.Get(ctx, id)
	if err != nil {
		return Approved{}, err
	}
	guard, err := q.claim(c, holder)
	if err == nil {
		err = q.swap(ctx, c, guard)
	}
	if err != nil {
		return Approved{}, err
	}
	return Approved{c}, nil
}

// claim adds the step by which holder gets the lease to c, and returns the conditions for storing it.
func (q *Queue) claim(c *Change, holder string) (Guard, error) {
	guard := Guard{Unexpired: true, Recorded: true, Lease: q.o.Lease}
	if c.State == Applying {
		guard.Unexpired, guard.Lapsed = false, true // a change being applied is completed even if it has expired
	}
	c.Lease.Holder = holder
	c.Lease.Fence++
	return guard, c.take(EventClaimed, Step{Comment: holder, Actor: q.actor(c.Agent)})
}

// Sending records that a is about to be sent to a target that keeps no marker of completed changes. From then on it is
// never sent again, even if this executor ends. Sending fails with problem.Conflict if the lease has passed to another
// executor, or if sending had begun before. whose names the owner of the credential that the target gets, for the
// audit, or "".
func (q *Queue) Sending(ctx context.Context, a Approved, whose string) error {
	c, err := a.Change()
	if err != nil {
		return err
	}
	if c.Lease.Sent {
		return &problem.Error{Code: problem.Conflict, Kind: "sent", Detail: "somebody has begun to send the change already"}
	}
	c.Lease.Sent = true
	actor := q.actor(c.Agent)
	actor.Credential = whose
	return q.move(ctx, c, EventSending, Step{Actor: actor}, Guard{Lease: q.o.Lease})
}

// RecordProgress is called before each call of a is sent. It records the answers of the earlier calls in done, and the number
// of records that already existed in had (see Lease). It fails with problem.Conflict if the lease has passed to another
// executor: nothing more may be sent then.
func (q *Queue) RecordProgress(ctx context.Context, a Approved, done Receipt, had []int) error {
	c, err := a.Change()
	if err != nil {
		return err
	}
	if c.Lease.Had = had; done.Rows > 0 {
		c.Lease.Done = &done
	}
	said := Progress(done.Rows, len(c.Writes), "is being sent")
	return q.move(ctx, c, EventSending, Step{Comment: said, Actor: q.actor(c.Agent)}, Guard{Lease: q.o.Lease})
}

// Finish records how applying a ended: by EventApplied, EventFailed, EventStale or EventUnknown. If the lease has
// passed to another executor it changes nothing and fails with problem.Conflict.
func (q *Queue) Finish(ctx context.Context, a Approved, event EventKind, o Outcome) (*Change, error) {
	c, err := a.Change()
	if err != nil {
		return nil, err
	}
	done := *c
	done.Outcome = &o
	if (event == EventStale || event == EventFailed) && o.Receipt == nil {
		done.Lease.Sent = false // it is certain that nothing was sent
	}
	return &done, q.move(ctx, &done, event, Step{Comment: o.Detail, Actor: q.actor(c.Agent)}, Guard{})
}

// Expire ends c if its time is over and its apply has not begun. It reports whether it has ended c.
func (q *Queue) Expire(ctx context.Context, c *Change) (bool, error) {
	if _, ok := c.State.Next(EventExpired); !ok {
		return false, nil
	}
	copied := *c
	err := q.move(ctx, &copied, EventExpired, Step{Actor: q.actor(c.Agent)}, Guard{Expired: true})
	if p := (*problem.Error)(nil); errors.As(err, &p) && p.Kind == "moved" {
		return false, nil
	}
	if err == nil {
		*c = copied
	}
	return err == nil, err
}

// Before returns a change that must still be applied before c, or nil if there is none. If there are several, it
// prefers one that has ended, because that will never be applied.
func (q *Queue) Before(ctx context.Context, c *Change) (first *Change, err error) {
	for _, id := range c.After {
		before, err := q.Get(ctx, id)
		for err == nil && before.State == Replaced {
			before, err = q.Get(ctx, before.ReplacedBy)
		}
		if err != nil {
			return nil, err
		}
		if before.State != Applied && (first == nil || before.State.IsFinal()) {
			first = before
		}
	}
	return first, nil
}

// Due returns the ids of at most limit changes that wait for an executor or have expired.
func (q *Queue) Due(ctx context.Context, limit int) ([]string, error) {
	ids, err := q.store.Due(ctx, limit)
	if err != nil {
		return nil, storeError(err)
	}
	return ids, nil
}
