package bailiwick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/write"
)

// Parameters of the executor.
const (
	applyTime = 30 * time.Second // timeout of a target for one change
	soon      = 5 * time.Second  // how long an approval waits for the outcome
	round     = time.Second      // interval of looking for due changes without an event
	atOnce    = 64               // maximum changes per round
)

// Execute applies approved changes until ctx ends. It expires changes whose time is over, and takes over changes that
// another process left. After a change that creates or removes a class it describes the sources again. Several
// processes that share a store may run it. After each round it calls ended with the joined errors, or nil. ended may be
// nil.
func (g *Gateway) Execute(ctx context.Context, ended func(error)) {
	queue := g.options.Changes
	if queue == nil {
		return
	}
	seen, open := int64(-1), backlog{}
	for ctx.Err() == nil {
		last, err := queue.Store().LastEvent(ctx)
		failed := []error{err}
		switch {
		case err != nil:
		case seen < 0:
			seen = last
		case last > seen:
			seen, err = g.follow(ctx, seen)
			failed = append(failed, err)
		}
		failed = append(failed, queue.Under(g.PolicyVersion()).CatchUp(ctx, g.options.Audit))
		ids, err := queue.Due(ctx, atOnce)
		failed = append(failed, err)
		for _, id := range ids {
			open.recordAttempt(id, g.due(ctx, id))
		}
		if ended != nil && ctx.Err() == nil {
			ended(errors.Join(append(failed, open.remainingError(ctx, queue))...))
		}
		if len(ids) == atOnce {
			continue
		}
		waiting, cancel := context.WithTimeout(ctx, round)
		if err := queue.Store().Await(waiting, last); err != nil {
			<-waiting.Done() // pause before asking a failing store again
		}
		cancel()
	}
}

// A backlog has the errors of unfinished changes, by id. A change isn't due while its lease is held, but its error
// still counts in those rounds. The size is bounded: the first errors show the cause.
type backlog map[string]error

// recordAttempt records the result of an attempt at a change.
func (b backlog) recordAttempt(id string, err error) {
	if err == nil {
		delete(b, id)
	} else if _, known := b[id]; known || len(b) < atOnce {
		b[id] = err
	}
}

// remainingError forgets the changes that have ended since, perhaps by another process. It returns the errors of the
// others.
func (b backlog) remainingError(ctx context.Context, queue *change.Queue) error {
	var failed []error
	for _, id := range slices.Sorted(maps.Keys(b)) {
		if c, err := queue.Get(ctx, id); err == nil && c.State != change.Pending && c.State != change.Granted && c.State != change.Applying {
			delete(b, id)
			continue
		}
		failed = append(failed, b[id])
	}
	return errors.Join(failed...)
}

// due expires or applies a change, whichever is due.
func (g *Gateway) due(ctx context.Context, id string) error {
	queue := g.options.Changes
	c, err := queue.Get(ctx, id)
	if err != nil {
		return err
	}
	if expired, err := queue.Under(g.PolicyVersion()).Expire(ctx, c); err != nil || expired {
		return errors.Join(err, g.record(ctx, id))
	}
	if c.State != change.Granted && c.State != change.Applying {
		return nil
	}
	_, err = g.apply(context.WithoutCancel(ctx), id, change.Approved{}) // an apply that has begun is finished even if the server stops
	if problem.CodeOf(err) == problem.Conflict {
		return nil // another executor was faster
	}
	return err
}

// settleSoon applies an approved change, whose lease may be held. It waits for the end for a few seconds, and returns
// the current state. The apply goes on even if the caller disconnects.
func (g *Gateway) settleSoon(ctx context.Context, c *change.Change, held change.Approved) (*change.Change, error) {
	if before, err := g.options.Changes.Before(ctx, c); err != nil || before != nil {
		return c, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.apply(context.WithoutCancel(ctx), c.ID, held) // a failure is stored in the change, or an executor tries again
	}()
	wait, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	select {
	case <-done:
	case <-wait.Done():
	}
	queue := g.options.Changes
	next, end, err := g.watch.On(ctx, c.ID)
	if err != nil {
		return nil, storeError(err)
	}
	defer end()
	for { // another executor may have claimed it and still be applying
		now, err := queue.Get(ctx, c.ID)
		if err != nil || wait.Err() != nil || now.State != change.Granted && now.State != change.Applying {
			return now, err
		}
		if err := next(wait); err != nil && wait.Err() == nil {
			return nil, storeError(err)
		}
	}
}

// apply checks an approved change against policy again, and its source writes it once. It claims the change, unless the
// lease is held. The returned change has the outcome. An error means that this process could not finish the change.
func (g *Gateway) apply(ctx context.Context, id string, held change.Approved) (c *change.Change, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = problem.PanicError(r)
		}
	}()
	// One version of the rules decides until the end, and the records of the steps name it.
	e := execution{gateway: g, policy: g.rules(ctx, g.force.Load().policy)}
	e.queue = g.options.Changes.Under(e.policy.Version(), e.policy.Rules().Review...)
	if _, err := held.Change(); err == nil {
		return e.carry(ctx, held)
	}
	found, err := e.queue.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	before, err := e.queue.Before(ctx, found)
	if err != nil || before != nil && !before.State.IsFinal() {
		return found, err
	}
	if err := e.queue.Drain(ctx, id, g.options.Audit); err != nil { // record the decisions before applying
		return nil, err
	}
	if held, err = e.queue.Claim(ctx, id, g.holder); err != nil {
		return nil, err
	}
	if before != nil { // the change has never been claimed before: it has waited from the start
		return e.conclude(ctx, held, change.EventFailed, change.Outcome{Code: string(problem.Conflict), Kind: "dependence",
			Detail: fmt.Sprintf("it was to run after %s, which is %s. Nothing was written", before.ID, before.State)})
	}
	return e.carry(ctx, held)
}

// carry applies a change whose lease is held.
func (e *execution) carry(ctx context.Context, held change.Approved) (*change.Change, error) {
	g := e.gateway
	c, err := held.Change()
	if err != nil {
		return nil, err
	}
	// A write that can't be recorded is not made. Another executor takes it over when the lease expires.
	if err := g.record(ctx, c.ID); err != nil {
		return nil, err
	}
	most := applyTime
	if c.Op == write.OpCall {
		most *= time.Duration(len(c.Writes)) // each call has its own timeout, and its own lease
	}
	writing, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	event, outcome, err := e.write(writing, held, c)
	if err != nil {
		return nil, err
	}
	if event == change.EventApplied && ofClass(c) {
		g.describeAgain(writing) // describe before the change shows as applied. An executor sees the event, tries again and reports errors
	}
	return e.conclude(ctx, held, event, outcome)
}

// An execution is one attempt to apply a change, under the rules in force when it began.
type execution struct {
	gateway *Gateway
	policy  *policy.Policy
	queue   *change.Queue
	who     identity.Principal // the agent, once permitted
}

// conclude ends a change and records it. If another executor has already ended it, its outcome stays.
func (e *execution) conclude(ctx context.Context, a change.Approved, event change.EventKind, o change.Outcome) (*change.Change, error) {
	c, err := e.queue.Finish(ctx, a, event, o)
	if err != nil {
		return nil, err
	}
	return c, e.gateway.record(ctx, c.ID)
}

// write checks the rules again and writes c, the change of a. An error means that the outcome is unknown, and an
// executor must try again.
func (e *execution) write(ctx context.Context, a change.Approved, c *change.Change) (change.EventKind, change.Outcome, error) {
	g := e.gateway
	w, err := g.writer(c.Source)
	if c.Lease.Sent {
		permit, _ := e.permitChange(ctx, a) // a refused permit reads nothing, and the outcome stays unknown
		event, outcome := source.Settle(ctx, w, permit, c)
		return event, outcome, nil
	}
	if err != nil {
		event, outcome := change.FailureOutcome(err)
		return event, outcome, nil
	}
	try := attempt{w: w, c: c, allow: func() (writes.Permit, error) {
		permit, err := e.permitChange(ctx, a)
		return permit.WithRecorder(func(ctx context.Context, done change.Receipt, had []int) error {
			if err := e.queue.RecordProgress(ctx, a, done, had); err != nil {
				return err
			}
			return g.record(ctx, c.ID)
		}), err
	}}
	direct, _ := source.WriterOf(g.options.Sources[c.Source])
	if _, unmarked := direct.(source.Unmarked); unmarked || c.Op == write.OpCall {
		// The target keeps no marker of the change: a request that may have been sent is never sent again.
		try.sending = func(permit writes.Permit) error {
			return e.queue.Sending(ctx, a, source.Whose(g.options.Sources[c.Source], permit))
		}
	}
	did, err := e.heal(ctx, try)
	switch did.failed {
	case permitting:
		if p := problem.Of(err); p.Code == problem.Internal || p.Store {
			return "", change.Outcome{}, err // the store could not be asked: try again later
		}
		return g.blockApply(ctx, w, c, err)
	case checking:
		return e.staleOutcome(ctx, w, c, err)
	case recording:
		return "", change.Outcome{}, err
	}
	event, outcome, ended := change.ApplyOutcome(did.receipt, err)
	switch {
	case ended:
		return event, outcome, nil
	case errors.Is(err, change.ErrFenced):
		return "", change.Outcome{}, &problem.Error{Code: problem.Conflict, Kind: "fenced", Detail: "another executor has taken the change"}
	}
	event, outcome, failed := g.blockApply(context.WithoutCancel(ctx), w, c, err) // before it counts as failed, no later apply may write it
	if event == change.EventUnknown {                                             // the next executor may still be able to settle it
		return "", change.Outcome{}, fmt.Errorf("whether %s was written isn't known: %w", c.ID, err)
	}
	return event, outcome, failed
}

// Limits of the retries if the source fails temporarily.
const (
	healTime  = 15 * time.Second
	healPause = 100 * time.Millisecond // before the second attempt, doubled before each further one
	healMost  = 2 * time.Second
)

// An attempt is one try to apply a change.
type attempt struct {
	w     source.Writer
	c     *change.Change
	allow func() (writes.Permit, error) // checks the rules for the agent and the approvers with their current rights
	// sending records that a request is about to be sent, for a target that keeps no marker. Nil for others.
	sending func(writes.Permit) error
}

// An outcome is how an attempt ended.
type outcome struct {
	receipt change.Receipt
	failed  stage // "" if the source was asked to apply the change
}

// A stage is a part of an attempt before the source is asked to apply the change.
type stage string

const (
	permitting stage = "permitting"
	checking   stage = "checking"
	recording  stage = "recording"
)

// heal makes an attempt, and repeats it while the source fails temporarily, for example because a connection was cut.
// The marker in the source prevents that an applied change is repeated. For sources without markers there is only one
// attempt.
func (e *execution) heal(ctx context.Context, try attempt) (did outcome, err error) {
	begun, pause := time.Now(), healPause
	for {
		did, err = e.attempt(ctx, try)
		if try.sending != nil || !passing(err) || time.Since(begun)+pause > healTime {
			return did, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return did, err
		}
		pause = min(2*pause, healMost)
	}
}

// attempt decides whether the change may be applied, checks it once more, and applies it.
func (e *execution) attempt(ctx context.Context, try attempt) (did outcome, err error) {
	permit, err := try.allow()
	if err != nil {
		return outcome{failed: permitting}, err
	}
	again, err := e.gateway.examinedFor(e.policy, e.who, try.c)
	if err == nil {
		err = again.pass(ctx, checks)
	}
	if err != nil {
		return outcome{failed: checking}, err
	}
	if try.sending != nil {
		if err := try.sending(permit); err != nil {
			return outcome{failed: recording}, err
		}
	}
	did.receipt, err = try.w.Apply(ctx, permit)
	return did, err
}

// passing reports whether err is a temporary failure of a source.
func passing(err error) bool {
	_, moved := errors.AsType[*change.Moved](err)
	if err == nil || moved || errors.Is(err, change.ErrUnknown) || errors.Is(err, change.ErrFenced) {
		return false
	}
	p := problem.Of(err)
	return p.Code == problem.Upstream && p.Retryable() && !p.Store
}

// blockApply blocks every later apply of this change, or returns its receipt if it was already applied. The outcome is
// unknown if the source can't find out, for example without transactions. Then a person settles it.
func (g *Gateway) blockApply(ctx context.Context, w source.Writer, c *change.Change, why error) (change.EventKind, change.Outcome, error) {
	receipt, applied, err := w.Bar(ctx, c.ID, c.Lease.Fence)
	if err == nil && !applied {
		event, outcome := change.FailureOutcome(why)
		return event, outcome, nil
	}
	event, outcome, ended := change.ApplyOutcome(receipt, err)
	if !ended {
		return "", change.Outcome{}, fmt.Errorf("whether %s was written isn't known: %w", c.ID, errors.Join(why, err))
	}
	return event, outcome, nil
}

// permitChange checks an approved change against the rules again, with the agent and the reviewers as they are now.
func (e *execution) permitChange(ctx context.Context, a change.Approved) (writes.Permit, error) {
	g := e.gateway
	c, err := a.Change()
	if err != nil {
		return writes.Permit{}, err
	}
	p, err := review.AgentOf(ctx, g.options.Refresher, c)
	if err != nil {
		return writes.Permit{}, err
	}
	if err := review.CheckParties(ctx, g.options.Refresher, e.queue, c); err != nil {
		return writes.Permit{}, err
	}
	e.who = p
	return writes.Allow(ctx, e.policy, p, a)
}
