package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/telemetry"
)

// queueReader reads the queue of a store for metrics.
type queueReader struct{ store Store }

// Waiting implements telemetry.QueueReader.
func (q queueReader) Waiting(ctx context.Context) (all []telemetry.WaitingChanges, now time.Time, err error) {
	found, err := q.store.Waiting(ctx)
	if err != nil {
		return nil, now, err
	}
	for _, w := range found {
		all = append(all, telemetry.WaitingChanges(w))
	}
	now, err = q.store.Now(ctx)
	return all, now, err
}

// LastStep implements telemetry.QueueReader.
func (q queueReader) LastStep(ctx context.Context) (int64, error) { return q.store.LastEvent(ctx) }

// queuePage is the number of events that are read at once for metrics.
const queuePage = 500

// Steps implements telemetry.QueueReader.
func (q queueReader) Steps(ctx context.Context, after int64) (steps []telemetry.ChangeStep, to int64, more bool, err error) {
	events, err := q.store.Events(ctx, after, queuePage)
	if err != nil {
		return nil, after, false, err
	}
	to = after
	for _, e := range events {
		s, err := q.step(ctx, e)
		if err != nil {
			return nil, after, false, err
		}
		if to = e.Seq; s.Decision != "" || s.Outcome != "" {
			steps = append(steps, s)
		}
	}
	return steps, to, len(events) == queuePage, nil
}

// step returns the decision or the outcome of an event. Other events have none. A change that a rule allows without
// review is not decided by a person.
func (q queueReader) step(ctx context.Context, e change.Event) (s telemetry.ChangeStep, err error) {
	decision := map[change.EventKind]string{change.EventApproved: "approved", change.EventDecided: "approved_by_one", change.EventRejected: "rejected",
		change.EventAsked: "changes_requested"}[e.Kind]
	outcome := ""
	if slices.Contains(telemetry.Outcomes(), string(e.Kind)) {
		outcome = string(e.Kind)
	}
	if decision == "" && outcome == "" {
		return s, nil
	}
	c, err := q.store.Get(ctx, e.Change)
	if errors.Is(err, change.ErrNone) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s = telemetry.ChangeStep{Source: c.Source, Risk: string(c.Risk), Outcome: outcome, Waited: -1, Applied: -1}
	if e.Kind == change.EventApplied && (c.Outcome == nil || c.Outcome.Settled == nil) {
		s.Applied = since(approval(c), e)
	}
	if decision != "" && (c.Need > 0 || e.Kind != change.EventApproved) {
		s.Decision = decision
		if e.Kind != change.EventDecided {
			s.Waited = since(waiting(c, e), e)
		}
	}
	return s, nil
}

// since returns the time from a step of a change until e, or -1 if the step is not known.
func since(at time.Time, e change.Event) time.Duration {
	if at.IsZero() {
		return -1
	}
	return max(0, e.At.Sub(at))
}

// approval returns when c was last approved.
func approval(c *change.Change) (at time.Time) {
	for _, s := range c.History {
		if s.Event == change.EventApproved {
			at = s.At
		}
	}
	return at
}

// waiting returns when c last began to wait for approval, before the decision e.
func waiting(c *change.Change, e change.Event) (at time.Time) {
	var before change.State
	for _, s := range c.History {
		if s.Event == e.Kind && s.At.Equal(e.At) {
			return at
		}
		if s.State == change.Pending && before != change.Pending {
			at = s.At
		}
		before = s.State
	}
	return time.Time{}
}
