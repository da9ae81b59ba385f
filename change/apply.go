package change

import (
	"context"
	"errors"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Claim takes the lease of an approved change, or of one whose executor has gone, for holder: a name that no other
// executor has. It fails with problem.Conflict where the change isn't due or somebody was faster, and ends a change that
// has expired before anybody began to apply it. While the audit lacks the record of a step, its approval above all, it
// fails with problem.Conflict of the kind unrecorded.
func (q *Queue) Claim(ctx context.Context, id, holder string) (Approved, error) {
	c, err := q.Get(ctx, id)
	if err != nil {
		return Approved{}, err
	}
	fence := c.Lease.Fence + 1
	guard := Guard{Unexpired: true, Recorded: true, Lease: q.o.Lease}
	if c.State == Applying {
		guard.Unexpired, guard.Lapsed = false, true // what has begun is brought to an end, whatever the time
	}
	c.Lease.Holder, c.Lease.Fence = holder, fence
	if err := q.move(ctx, c, EventClaimed, Step{Comment: holder, Actor: q.actor(c.Agent)}, guard); err != nil {
		return Approved{}, err
	}
	return Approved{c}, nil
}

// Sending notes that a is about to be sent to a target which keeps no marker of what it has done. From then on nobody
// sends it again, whatever becomes of this executor. It fails with problem.Conflict where the lease has gone to another, or
// where somebody has begun to send it before.
func (q *Queue) Sending(ctx context.Context, a Approved) error {
	c, err := a.Change()
	if err != nil {
		return err
	}
	if c.Lease.Sent {
		return &problem.Error{Code: problem.Conflict, Kind: "sent", Detail: "somebody has begun to send the change already"}
	}
	c.Lease.Sent = true
	return q.move(ctx, c, EventSending, Step{Actor: q.actor(c.Agent)}, Guard{Lease: q.o.Lease})
}

// Finish notes how applying a ended: by EventApplied, EventFailed, EventStale or EventUnknown. Where the lease has gone to
// another executor it changes nothing and fails with problem.Conflict.
func (q *Queue) Finish(ctx context.Context, a Approved, event EventKind, o Outcome) (*Change, error) {
	c, err := a.Change()
	if err != nil {
		return nil, err
	}
	done := *c
	done.Outcome = &o
	if event == EventStale || event == EventFailed {
		done.Lease.Sent = false // it is certain that nothing was
	}
	return &done, q.move(ctx, &done, event, Step{Comment: o.Detail, Actor: q.actor(c.Agent)}, Guard{})
}

// Expire ends c if its time is over and nobody has begun to apply it, and reports whether it did.
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

// Before returns a change that has to be applied before c and isn't; nil where there is none. Of several it is one that has
// ended, where there is such a one.
func (q *Queue) Before(ctx context.Context, c *Change) (first *Change, err error) {
	for _, id := range c.After {
		before, err := q.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		if before.State != Applied && (first == nil || before.State.Ended()) {
			first = before
		}
	}
	return first, nil
}

// Due returns the ids of changes that wait for an executor, or for their end, at most limit.
func (q *Queue) Due(ctx context.Context, limit int) ([]string, error) {
	ids, err := q.store.Due(ctx, limit)
	if err != nil {
		return nil, failed(err)
	}
	return ids, nil
}
