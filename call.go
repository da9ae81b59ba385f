package bailiwick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/bailiwick-dev/bailiwick/schema"
	"iter"
	"slices"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DefaultTimeout is the timeout of a call whose CallSpec has none.
const DefaultTimeout = 30 * time.Second

// A CallSpec describes a call, for admission and for the record.
type CallSpec struct {
	Tool        string
	Unknown     bool // no such tool is registered: the name comes from the caller, and is used only in the record
	Needs       identity.Scope
	Writes      policy.Write                              // the kind of write that it makes at once. "" means WriteAction if Needs is more than reading
	Arguments   value.Value                               // an Object. Only a digest of its values is recorded
	Takes       []string                                  // names of Tool's arguments. Others are recorded as "?". Nil accepts all
	Correlation string                                    // ties the records of one conversation together
	Proposes    bool                                      // its writes wait for review, so a gate set to review lets it through
	Timeout     time.Duration                             // 0 means DefaultTimeout
	Queries     bool                                      // the call reads data: policy.AgentBound.Time can shorten Timeout
	Progress    func(done, total float64, message string) // reports progress to the caller. It may be nil

	// Uses lists the tools that the caller must be allowed to call. It is for a Tool that isn't a tool but refers to
	// tools, such as a prompt or a resource. If not nil, it replaces the check of Tool against the caller's list.
	Uses []string

	Moment Moment // the rules under which it runs. Zero means those in force when it begins

	// Take checks the arguments of a call inside of this one, and returns them in the form that the tool expects. If it
	// is nil, no calls inside are possible.
	Take func(*Call, value.Value) (value.Value, error)

	Tools func() []string // returns the names of the tools the caller may call, for Call.Derive. Nil disables the check of names
}

// Use returns the policy.Use of a call of a, with which gates, scopes and lists of tools are checked.
func (a CallSpec) Use() policy.Use {
	return policy.Use{Tool: a.Tool, Needs: a.Needs, Writes: a.Writes, Proposes: a.Proposes, Through: a.Uses}
}

// A Call is one admitted call of a tool. It is valid until its Do returns. The errors of its methods are or wrap a
// *problem.Error: problem.Of returns the text for the caller.
type Call struct {
	gateway *Gateway
	policy  *policy.Policy
	actions *action.Set // nil means those in force
	metrics *metric.Set // likewise
	who     identity.Principal
	record  *audit.Record
	uses    policy.Uses
	from    string // the class that was read last, as "source.Class"
	did     string // the outcome if the call succeeds. "" means audit.OK
	trial   bool   // its queries are permitted or refused, and not run
	steps   bool   // the call may have added steps to record.Change
	filed   string // the ID of the change it filed
	runs    string // the ID of a change that it filed and that runs without approval. "" if there is none

	definitions []string // of the metrics that its statements name

	Remarks

	progress func(done, total float64, message string)
	tools    func() []string // as CallSpec.Tools
	inside   *aside
}

// MayCall reports whether the caller may call the named tool, for texts that advise it.
func (c *Call) MayCall(tool string) bool { return c.tools != nil && slices.Contains(c.tools(), tool) }

// Do makes one call for principal. It checks scopes, lists and limits, calls run under a timeout, and records the
// outcome. run returns the size of the answer in bytes. If the call can't be recorded, Do fails even if run succeeded.
// A panic in run becomes a problem.Internal without details.
func (g *Gateway) Do(ctx context.Context, principal identity.Principal, ask CallSpec, run func(context.Context, *Call) (int, error)) error {
	start := g.options.Now()
	if g.options.Observer != nil {
		ctx = g.options.Observer.Begin(ctx, principal, ask)
	}
	c := &Call{gateway: g, who: principal, progress: ask.Progress, tools: ask.Tools}
	in := cmp.Or(ask.Moment.force, g.force.Load())
	ask.Moment = Moment{in}
	c.inside = &aside{ask: ask}
	c.policy, c.actions, c.metrics = g.rules(ctx, in.policy).Noting(&c.uses), in.actions, in.metrics
	c.record = &audit.Record{Time: start.UTC(), Principal: principal.ID, Owner: principal.Owner, Tenant: principal.Tenant, TokenID: principal.TokenID,
		Correlation: ask.Correlation, Tool: ask.Tool, Policy: c.policy.Version(), Parent: principal.Parent, Depth: principal.Depth, Scopes: principal.ScopeNames(), Person: principal.Kind == identity.Human}
	c.record.ArgKeys = ask.keys()
	if ask.Arguments.Kind() == value.Object {
		c.record.ArgHash = g.options.Args.Sum(ask.Arguments.AppendJSON(nil))
	}
	n, err := g.runCall(ctx, c, ask, run)
	n = c.inside.own(n)
	if errors.Is(err, source.ErrChanged) { // for the next call
		_, _ = g.RefreshDrifting(context.WithoutCancel(ctx), nil, true) // the periodic description reports its errors
		explainClassChange(err)
	}
	if c.steps && c.record.Change != "" {
		err = cmp.Or(err, g.record(ctx, c.record.Change))
	}
	c.record.Bytes, c.record.Tokens, c.record.Cost = n, n/tokenBytes, c.usage(n).Cost
	c.record.Micros = g.options.Now().Sub(start).Microseconds()
	c.record.Outcome, c.record.Uses = cmp.Or(c.did, audit.OK), append(c.uses.List(c.policy), c.record.Uses...)
	if err != nil {
		c.conclude(problem.Of(err))
	}
	// The record is written even if the caller has disconnected.
	if aerr := g.options.Audit.Append(context.WithoutCancel(ctx), c.record); aerr != nil {
		p := unrecordedError(c, aerr)
		c.conclude(p)
		err = p
	}
	if err != nil && c.filed != "" {
		_ = c.changes().Withdraw(ctx, c.filed, "the proposal could not be answered", g.options.Audit) // on an error, an executor withdraws it or the audit has it
	}
	if g.options.Observer != nil {
		g.options.Observer.End(ctx, principal, c.record, err)
	}
	return err
}

// unrecordedError returns the error of a call that the audit log can't keep. The caller may repeat the call, because the
// same waiting change is filed only once and the same step is made only once. The exception is a change that runs
// without approval.
func unrecordedError(c *Call, err error) *problem.Error {
	err = fmt.Errorf("the call could not be recorded: %w", err)
	if c.runs != "" {
		return problem.MayRun(c.runs, err)
	}
	return problem.StoreError("audit", err)
}

// runCall checks the rules and the limits, and calls run within the timeout and while the principal's credential is
// valid. A panic becomes an internal error of this call, and doesn't affect other calls.
func (g *Gateway) runCall(ctx context.Context, c *Call, ask CallSpec, run func(context.Context, *Call) (int, error)) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, problem.PanicError(r)
		}
	}()
	if err := c.policy.May(c.who, ask.Use()); err != nil {
		return 0, err
	}
	if c.who.ID == "" { // all principals without an ID would count as one agent and see each other's changes
		return 0, &problem.Error{Code: problem.PermissionDenied, Kind: "no_id", Detail: "the caller has no ID here",
			Suggestion: "the program that serves this has to name one for each principal"}
	}
	release, err := g.limits.Acquire(ctx, asker(c.who))
	if err != nil {
		return 0, err
	}
	defer func() { release(c.usage(n)) }()
	c.inside.release = release
	timeout, shorter, err := c.timeout(ask)
	if err != nil {
		return 0, err
	}
	ctx, stop := identity.While(ctx, g.options.Refresher, c.who)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	n, err = run(ctx, c)
	// A cancelled call reports so even if the handler ignored its context, except for a proposal, which may have been
	// kept.
	if err == nil && ctx.Err() != nil && !ask.Proposes {
		n, err = 0, contextError(ctx, errors.New("the handler did not look at its context"))
	}
	// If run stopped because its context ended, the error says so, also if it wraps another error.
	if p := problem.Of(err); err != nil && ctx.Err() != nil && (p.Code == problem.Internal || p.Store && !p.Lasting) {
		err = contextError(ctx, err)
	}
	if shorter {
		err = nameTime(err, timeout)
	}
	return n, err
}

// timeout returns how long a call may take. shorter reports whether a bound for this caller shortens the timeout of
// ask.
func (c *Call) timeout(ask CallSpec) (most time.Duration, shorter bool, err error) {
	most = cmp.Or(ask.Timeout, DefaultTimeout)
	if !ask.Queries {
		return most, false, nil
	}
	own, err := c.policy.TimeOf(c.who)
	if err != nil || own == 0 || own >= most {
		return most, false, err
	}
	return own, true, nil
}

// nameTime returns err. If the caller's time was over, the error names the bound most.
func nameTime(err error, most time.Duration) error {
	if problem.CodeOf(err) != problem.Timeout {
		return err
	}
	p := *problem.Of(err)
	p.Detail = fmt.Sprintf("the call took longer than the %s that your queries may take, and was stopped", most)
	p.Suggestion = "Ask for less: a narrower condition, fewer joins, a smaller limit. The owner bounds time for you with limits.statements.agents"
	p.Err = err
	return &p
}

// grace is how long a handler has to return after its context has ended.
const grace = time.Second

// Run runs f, which answers the call, and returns its error. If f does not return within a second after ctx ends, Run
// returns without it. f goes on, but its answer and its notes are discarded. A panic in f becomes a problem.Internal
// without details.
func (c *Call) Run(ctx context.Context, f func(*Call) error) error {
	record := *c.record
	inner := &Call{gateway: c.gateway, actions: c.actions, metrics: c.metrics, who: c.who, record: &record, from: c.from, did: c.did, Remarks: c.Remarks, progress: c.progress, tools: c.tools, inside: c.inside}
	inner.policy = c.policy.Noting(&inner.uses)
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- problem.PanicError(r)
			}
		}()
		roomy(len(record.Tool))
		done <- f(inner)
	}()
	finished := func(err error) error {
		*c.record, c.from, c.did = record, inner.from, inner.did
		c.uses, c.Remarks = inner.uses, inner.Remarks
		return err
	}
	select {
	case err := <-done:
		return finished(err)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case err := <-done:
		return finished(err)
	case <-late.C:
		return contextError(ctx, errors.New("the handler goes on although its context has ended"))
	}
}

// roomy grows the stack of its goroutine to the size that a read needs, in one step while the stack is almost empty.
// Otherwise each growth would copy all frames, which took 5 % of the time of a short call. It uses at to keep the
// compiler from removing the array.
//
//go:noinline
func roomy(at int) byte {
	var room [20 << 10]byte
	room[at%len(room)] = 1
	return room[at%len(room)/2]
}

func contextError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); problem.CodeOf(cause) == problem.Unauthorized {
		return cause
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &problem.Error{Code: problem.Timeout, Detail: "the call took too long and was stopped", Err: err}
	}
	return &problem.Error{Code: problem.Cancelled, Detail: "the call was cancelled", Err: err}
}

// conclude sets the record's outcome from the problem the call ended with.
func (c *Call) conclude(p *problem.Error) {
	c.record.Outcome = audit.Refused
	switch p.Code {
	case problem.Cancelled:
		c.record.Outcome = audit.Cancelled
	case problem.Timeout, problem.Upstream, problem.Internal:
		c.record.Outcome = audit.Failed
	}
	c.record.Code, c.record.Kind = string(p.Code), p.Kind
}

// Who returns the principal that makes the call.
func (c *Call) Who() identity.Principal { return c.who }

// Progress reports to the caller that done of total is done. total is 0 if unknown.
func (c *Call) Progress(done, total float64, message string) {
	if c.progress != nil {
		c.progress(done, total, message)
	}
}

// From returns the class that was read last, as "source.Class", or "".
func (c *Call) From() string { return c.from }

// Time returns when the call began, in UTC.
func (c *Call) Time() time.Time { return c.record.Time }

// recordClass sets the class in the record of the call, cut to 128 bytes.
func (c *Call) recordClass(name string) {
	const most = 128
	c.record.Class = name[:min(len(name), most)]
}

// exportMost is the maximum size of one value in an export without a budget, in bytes.
const exportMost = 16 << 20

// View returns the caller's view of a class. The JSON pointer in its errors is /class_name.
func (c *Call) View(name string) (*policy.View, error) {
	c.recordClass(name)
	return c.policy.View(c.who, name, "/class_name", false)
}

// Views returns the caller's views of all classes, ordered by source and name.
func (c *Call) Views() []*policy.View { return c.policy.Views(c.who) }

// ViewsOf returns the caller's views of the classes for which keep returns true, ordered by source and name.
func (c *Call) ViewsOf(keep func(*schema.Class) bool) iter.Seq[*policy.View] {
	return c.policy.ViewsOf(c.who, keep)
}

// Estimates returns approximate numbers of records by "source.Class", for sources that know them without counting. It
// omits sources that the caller doesn't see completely, because the age of an estimate depends on hidden data too.
func (c *Call) Estimates(ctx context.Context, views []*policy.View) (map[string]int64, error) {
	out := map[string]int64{}
	asked := map[string]map[string]int64{}
	for _, v := range views {
		name := v.Source()
		if _, ok := asked[name]; !ok {
			e, knows := c.gateway.options.Sources[name].(source.Estimator)
			if knows && c.policy.SeesAll(c.who, name) {
				n, err := e.Estimate(ctx)
				if err != nil {
					return nil, err
				}
				asked[name] = n
			} else {
				asked[name] = nil
			}
		}
		if n, ok := asked[name][v.Class().Name]; ok {
			out[v.Class().FullName()] = n
		}
	}
	return out, nil
}

// A Sub is a sub-principal of a call's principal, for calls inside that call. It is valid as long as the call is.
type Sub struct {
	call *Call
	who  identity.Principal
}

// Derive makes a sub-principal of the caller, which has at most the caller's rights. See identity.Derive. Names in d
// must exist. Derive refuses classes and filter fields that the caller doesn't see as if they didn't exist.
func (c *Call) Derive(d identity.Derivation) (*Sub, error) {
	d.Depth = c.gateway.options.Depth
	p, err := identity.Derive(c.who, d)
	if err != nil {
		return nil, err
	}
	var tools []string
	if c.tools != nil {
		tools = c.tools()
	}
	if err := checkDerivation(derivationParent{Policy: c.policy, Who: c.who, Tools: tools}, d); err != nil {
		return nil, err
	}
	return &Sub{c, p}, nil
}

// Who returns the sub-principal, to pass to tool.Set.Call and the like.
func (s *Sub) Who() identity.Principal { return s.who }

// Do is Gateway.Do for the sub-principal, with the call's correlation ID.
func (s *Sub) Do(ctx context.Context, ask CallSpec, run func(context.Context, *Call) (int, error)) error {
	ask.Correlation = s.call.record.Correlation
	return s.call.gateway.Do(ctx, s.who, ask, run)
}

// Correlation returns the ID that ties the record of this call to those of the calls inside it.
func (c *Call) Correlation() string { return c.record.Correlation }
