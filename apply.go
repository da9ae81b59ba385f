package bailiwick

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/writes"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/write"
)

// How the executor goes about.
const (
	applyTime = 30 * time.Second // most time that a target may take for one change
	soon      = 5 * time.Second  // how long who approves waits for what becomes of it
	round     = time.Second      // how often what is due is looked for without an event
	atOnce    = 64               // changes of one round
)

// Execute applies approved changes, ends those that have expired and takes up what another process has left, until ctx
// ends; when one has made a class or taken one away, it describes the sources again. Any number of processes that share a
// store may run it. failed is told of what an operator has to know; nil tells nobody.
func (g *Gateway) Execute(ctx context.Context, failed func(error)) {
	queue := g.options.Changes
	if queue == nil {
		return
	}
	tell := func(err error) {
		if err != nil && failed != nil && ctx.Err() == nil {
			failed(err)
		}
	}
	seen := int64(-1)
	for ctx.Err() == nil {
		last, err := queue.Store().LastEvent(ctx)
		tell(err)
		switch {
		case err != nil:
		case seen < 0:
			seen = last
		case last > seen:
			seen, err = g.follow(ctx, seen)
			tell(err)
		}
		tell(queue.Under(g.PolicyVersion()).CatchUp(ctx, g.options.Audit))
		ids, err := queue.Due(ctx, atOnce)
		tell(err)
		for _, id := range ids {
			tell(g.due(ctx, id))
		}
		if len(ids) == atOnce {
			continue
		}
		waiting, cancel := context.WithTimeout(ctx, round)
		if err := queue.Store().Await(waiting, last); err != nil {
			<-waiting.Done() // a store that can't be asked isn't asked without a pause
		}
		cancel()
	}
}

// due does what is to be done with a change.
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
	_, err = g.apply(context.WithoutCancel(ctx), id) // what has begun is brought to its end, also when the server stops
	if problem.CodeOf(err) == problem.Conflict {
		return nil // another executor was faster
	}
	return err
}

// settleSoon applies an approved change and returns it as it is after that, or after a few seconds. What is under way
// goes on: whoever asked may go.
func (g *Gateway) settleSoon(ctx context.Context, c *change.Change) (*change.Change, error) {
	if before, err := g.options.Changes.Before(ctx, c); err != nil || before != nil {
		return c, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.apply(context.WithoutCancel(ctx), c.ID) // what fails is in the change, or is tried again by an executor
	}()
	wait, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	select {
	case <-done:
	case <-wait.Done():
	}
	queue := g.options.Changes
	for { // another executor may have been faster, and be at it still
		last, err := queue.Store().LastEvent(ctx)
		if err != nil {
			return nil, storeFailed(err)
		}
		now, err := queue.Get(ctx, c.ID)
		if err != nil || wait.Err() != nil || now.State != change.Granted && now.State != change.Applying {
			return now, err
		}
		if err := queue.Store().Await(wait, last); err != nil && wait.Err() == nil {
			return nil, storeFailed(err)
		}
	}
}

// apply takes an approved change through policy again and has its source write it, once. What becomes of it stands in
// the change that is returned; an error means that this process could not bring it to an end.
func (g *Gateway) apply(ctx context.Context, id string) (c *change.Change, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = problem.Panicked(r)
		}
	}()
	queue := g.options.Changes
	found, err := queue.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	before, err := queue.Before(ctx, found)
	if err != nil || before != nil && !before.State.Ended() {
		return found, err
	}
	// The rules of this moment decide from here to the end, and the records of the steps name them.
	e := execution{g, g.policy.Load(), queue}
	e.queue = queue.Under(e.policy.Version())
	if err := g.record(ctx, id); err != nil { // what was decided, before anything of it happens
		return nil, err
	}
	approved, err := e.queue.Claim(ctx, id, g.holder)
	if err != nil {
		return nil, err
	}
	if c, err = approved.Change(); err != nil {
		return nil, err
	}
	if before != nil { // nobody has begun to apply c: it has waited from the start
		return e.conclude(ctx, approved, change.EventFailed, change.Outcome{Code: string(problem.Conflict), Kind: "dependence",
			Detail: fmt.Sprintf("it was to run after %s, which is %s; nothing was written", before.ID, before.State)})
	}
	// A write that can't be recorded doesn't happen. Without the lease's end another executor takes it up.
	if err := g.record(ctx, id); err != nil {
		return nil, err
	}
	writing, cancel := context.WithTimeout(ctx, applyTime)
	defer cancel()
	event, outcome, err := e.write(writing, approved)
	if err != nil {
		return nil, err
	}
	if event == change.EventApplied && ofClass(c) {
		g.described(writing) // before anybody sees it applied; an executor hears of it, tries again and tells what fails
	}
	return e.conclude(ctx, approved, event, outcome)
}

// An execution is one attempt to apply a change, by the rules that were in force when it began.
type execution struct {
	gateway *Gateway
	policy  *policy.Policy
	queue   *change.Queue
}

// conclude ends a change, unless another executor has: then that one's end is the record.
func (e *execution) conclude(ctx context.Context, a change.Approved, event change.EventKind, o change.Outcome) (*change.Change, error) {
	c, err := e.queue.Finish(ctx, a, event, o)
	if err != nil {
		return nil, err
	}
	return c, e.gateway.record(ctx, c.ID)
}

// write decides again and writes. An error means that the outcome isn't known and somebody has to take it up.
func (e *execution) write(ctx context.Context, a change.Approved) (change.EventKind, change.Outcome, error) {
	g := e.gateway
	c, err := a.Change()
	if err != nil {
		return "", change.Outcome{}, err
	}
	if c.Lease.Sent {
		return change.EventUnknown, change.Outcome{Detail: "it was about to be sent when its executor left: it may have happened or not"}, nil
	}
	w, err := g.writer(c.Source)
	if err != nil {
		return refused(err)
	}
	permit, err := e.permitted(ctx, a)
	if err != nil {
		if problem.CodeOf(err) == problem.Internal {
			return "", change.Outcome{}, err // a store that can't be asked: later
		}
		return g.barred(ctx, w, c, err)
	}
	if err := g.stands(ctx, e.policy, c); err != nil {
		return e.fallen(ctx, w, c, err)
	}
	if c.Op == write.OpCall { // an API keeps no marker of ours: what has begun to be sent is never sent again
		if err := e.queue.Sending(ctx, a); err != nil {
			return "", change.Outcome{}, err
		}
	}
	receipt, err := w.Apply(ctx, permit)
	moved := (*change.Moved)(nil)
	switch {
	case err == nil:
		return change.EventApplied, change.Outcome{Receipt: &receipt}, nil
	case errors.As(err, &moved):
		return change.EventStale, change.Outcome{Now: moved.Now, Detail: "the records are no longer what was reviewed; nothing was written"}, nil
	case errors.Is(err, change.ErrUnknown):
		return change.EventUnknown, change.Outcome{Detail: problem.Of(err).Detail, Kind: problem.Of(err).Kind}, nil
	case errors.Is(err, change.ErrFenced):
		return "", change.Outcome{}, &problem.Error{Code: problem.Conflict, Kind: "fenced", Detail: "another executor has taken the change"}
	}
	return g.barred(context.WithoutCancel(ctx), w, c, err)
}

// barred makes sure that a change which could not be written never is, and says so; or finds that it was written.
func (g *Gateway) barred(ctx context.Context, w source.Writer, c *change.Change, why error) (change.EventKind, change.Outcome, error) {
	receipt, applied, err := w.Bar(ctx, c.ID, c.Lease.Fence)
	switch {
	case err != nil:
		return "", change.Outcome{}, fmt.Errorf("whether %s was written isn't known: %w", c.ID, errors.Join(why, err))
	case applied:
		return change.EventApplied, change.Outcome{Receipt: &receipt}, nil
	}
	return refused(why)
}

// refused is the outcome of a change that nothing was written of.
func refused(why error) (change.EventKind, change.Outcome, error) {
	p := problem.Of(why)
	detail := p.Detail
	if detail == "" || p.Code == problem.Internal {
		detail = "it could not be written"
	}
	return change.EventFailed, change.Outcome{Detail: strings.TrimSuffix(detail, ".") + "; nothing was written", Code: string(p.Code), Kind: p.Kind}, nil
}

// permitted takes an approved change through the rules again, for those that its people are now.
func (e *execution) permitted(ctx context.Context, a change.Approved) (writes.Permit, error) {
	g := e.gateway
	c, err := a.Change()
	if err != nil {
		return writes.Permit{}, err
	}
	p, err := g.today(ctx, c.Agent)
	if err != nil {
		return writes.Permit{}, gone(err, "the credential of the agent is no longer good")
	}
	if err := g.reviewed(ctx, c); err != nil {
		return writes.Permit{}, err
	}
	return writes.Allow(e.policy, p, a)
}

// reviewed reports, by nil, whether those who let c through may still do so.
func (g *Gateway) reviewed(ctx context.Context, c *change.Change) error {
	if c.Need == 0 {
		return nil // a rule let it through; whether one still does is asked for by who proposes again
	}
	for _, d := range c.Decisions {
		if !d.Approve || d.Digest != c.Digest {
			continue
		}
		p, err := g.today(ctx, d.By)
		if err != nil {
			return gone(err, "the credential of "+d.By.Owner+", who approved, is no longer good")
		}
		err = g.options.Changes.Eligible(p, c)
		if err != nil && !(d.Broken && problem.Of(err).Kind == "four_eyes") {
			return &problem.Error{Code: problem.PermissionDenied, Kind: "reviewer", Detail: d.By.Owner + ", who approved, may no longer do so"}
		}
	}
	return nil
}

// today returns who a party of a change is now.
func (g *Gateway) today(ctx context.Context, p change.Party) (identity.Principal, error) {
	principal, err := identity.Thaw(p.Frozen)
	if err != nil || g.options.Refresher == nil {
		return principal, err
	}
	return g.options.Refresher.Refresh(ctx, principal)
}

// gone says what a credential that is no longer good means for a change; other errors are passed on.
func gone(err error, detail string) error {
	if problem.CodeOf(err) != problem.Unauthorized {
		return err
	}
	return &problem.Error{Code: problem.PermissionDenied, Kind: problem.Of(err).Kind, Detail: detail}
}

// record puts the records of a change's steps, which the store keeps with the steps, into the audit.
func (g *Gateway) record(ctx context.Context, id string) error {
	return g.options.Changes.Record(ctx, id, g.options.Audit)
}
