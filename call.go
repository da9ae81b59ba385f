package bailiwick

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/remark"
	"github.com/bailiwick-dev/bailiwick/internal/result/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result/shape"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// DefaultTimeout is how long a call may take that names no other time (design 03).
const DefaultTimeout = 30 * time.Second

// A CallSpec is what a call is, for admission and for the record.
type CallSpec struct {
	Tool        string
	Unknown     bool // nobody registered Tool: the name is the asker's, and goes into the record alone
	Needs       identity.Scope
	Writes      policy.Write                              // what kind of write it makes at once; "" takes WriteAction where it Needs more than reading
	Arguments   value.Value                               // an Object; its values are recorded as a digest alone
	Takes       []string                                  // the names of Tool's arguments: others are recorded as "?"; nil takes all
	Correlation string                                    // ties the records of one conversation together
	Proposes    bool                                      // what it writes waits for people, so that a gate of review lets it through
	Timeout     time.Duration                             // 0 takes DefaultTimeout
	Progress    func(done, total float64, message string) // tells the caller how far it is; nil tells nobody

	// Uses are the tools that the asker must be allowed to call, where Tool names no tool but what leads to some: a
	// prompt or a resource. Not nil, it stands for the check of Tool against the asker's list.
	Uses []string

	Tools func() []string // the names of the tools that the asker may call, for Call.Derive; nil doesn't check names
}

// use returns a as policy sees it.
func (a CallSpec) use() policy.Use {
	return policy.Use{Tool: a.Tool, Needs: a.Needs, Writes: a.Writes, Proposes: a.Proposes, Through: a.Uses}
}

// A Call is one call of a tool that was admitted. It is good until its Do returns.
type Call struct {
	gateway *Gateway
	policy  *policy.Policy
	who     identity.Principal
	record  *audit.Record
	uses    policy.Uses
	from    string // the class that was read, as "source.Class"
	did     string // the outcome of a call that ended well; "" for audit.OK
	steps   bool   // it may have taken the change in record a step on
	filed   string // the change that it has filed

	remark.Remarks

	progress func(done, total float64, message string)
	tools    func() []string // as Ask.Tools
}

// Do takes one call of who through scopes, lists and limits, runs it under its timeout, and records what became of
// it; run returns the size of the answer in bytes. What can't be recorded is not answered: Do fails then, whatever
// run did. A panic in run is a problem.Internal that says nothing of itself.
func (g *Gateway) Do(ctx context.Context, principal identity.Principal, ask CallSpec, run func(context.Context, *Call) (int, error)) error {
	start := g.options.Now()
	if g.options.Observer != nil {
		ctx = g.options.Observer.Begin(ctx, principal, ask)
	}
	c := &Call{gateway: g, who: principal, progress: ask.Progress, tools: ask.Tools}
	c.policy = g.policy.Load().Noting(&c.uses)
	c.record = &audit.Record{Time: start.UTC(), Principal: principal.ID, Owner: principal.Owner, Tenant: principal.Tenant, TokenID: principal.TokenID,
		Correlation: ask.Correlation, Tool: ask.Tool, Policy: c.policy.Version(), Parent: principal.Parent, Depth: principal.Depth, Scopes: principal.ScopeNames()}
	c.record.ArgKeys = ask.keys()
	if ask.Arguments.Kind() == value.Object {
		c.record.ArgHash = g.options.Args.Sum(ask.Arguments.AppendJSON(nil))
	}
	n, err := g.admitted(ctx, c, ask, run)
	if c.steps && c.record.Change != "" {
		err = cmp.Or(err, g.record(ctx, c.record.Change))
	}
	c.record.Bytes, c.record.Tokens, c.record.Cost = n, n/tokenBytes, c.used(n).Cost
	c.record.Micros = g.options.Now().Sub(start).Microseconds()
	c.record.Outcome, c.record.Uses = cmp.Or(c.did, audit.OK), c.uses.List(c.policy)
	if err != nil {
		c.conclude(problem.Of(err))
	}
	// The record is made even when the asker has gone.
	if aerr := g.options.Audit.Append(context.WithoutCancel(ctx), c.record); aerr != nil {
		p := &problem.Error{Code: problem.Internal, Detail: "Internal error", Kind: "audit",
			Err: fmt.Errorf("the call could not be recorded: %w", aerr)}
		c.conclude(p)
		err = p
	}
	if err != nil && c.filed != "" {
		_ = c.changes().Withdraw(ctx, c.filed, "the proposal could not be answered", g.options.Audit) // what can't be asked now an executor withdraws, or it is in the audit
	}
	if g.options.Observer != nil {
		g.options.Observer.End(ctx, principal, c.record, err)
	}
	return err
}

func (g *Gateway) admitted(ctx context.Context, c *Call, ask CallSpec, run func(context.Context, *Call) (int, error)) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, problem.Panicked(r)
		}
	}()
	if err := c.policy.May(c.who, ask.use()); err != nil {
		return 0, err
	}
	release, err := g.limits.Acquire(ctx, asker(c.who))
	if err != nil {
		return 0, err
	}
	defer func() { release(c.used(n)) }()
	timeout := ask.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, stop := identity.While(ctx, g.options.Refresher, c.who)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	n, err = run(ctx, c)
	// What was cancelled is told so even where the handler did not look at its context. A proposal that was kept is told.
	if err == nil && ctx.Err() != nil && !ask.Proposes {
		n, err = 0, ended(ctx, errors.New("the handler did not look at its context"))
	}
	// A run that stopped because its context ended says so, whatever its error is made of.
	if err != nil && ctx.Err() != nil && problem.CodeOf(err) == problem.Internal {
		err = ended(ctx, err)
	}
	return n, err
}

// grace is how long a handler has to return after its context has ended.
const grace = time.Second

// Run runs f, which answers the call, and returns what f returns. Where f does not return within a second of the end of
// ctx, Run returns without it: then f works on for nobody, and what it notes is in no record. A panic in f is a
// problem.Internal that says nothing of itself.
func (c *Call) Run(ctx context.Context, f func(*Call) error) error {
	record := *c.record
	inner := &Call{gateway: c.gateway, who: c.who, record: &record, from: c.from, did: c.did, Remarks: c.Remarks, progress: c.progress, tools: c.tools}
	inner.policy = c.policy.Noting(&inner.uses)
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- problem.Panicked(r)
			}
		}()
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
		return ended(ctx, errors.New("the handler goes on although its context has ended"))
	}
}

func ended(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); problem.CodeOf(cause) == problem.Unauthorized {
		return cause
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &problem.Error{Code: problem.Timeout, Detail: "the call took too long and was stopped", Err: err}
	}
	return &problem.Error{Code: problem.Cancelled, Detail: "the call was cancelled", Err: err}
}

// conclude fills the record's outcome from the problem that the call ended with.
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

// Who returns who asks.
func (c *Call) Who() identity.Principal { return c.who }

// Progress tells the caller that done of total is done; 0 when the total is unknown.
func (c *Call) Progress(done, total float64, message string) {
	if c.progress != nil {
		c.progress(done, total, message)
	}
}

// From returns the class that was read last, as "source.Class"; "" when none was.
func (c *Call) From() string { return c.from }

// Time returns when the call began, in UTC.
func (c *Call) Time() time.Time { return c.record.Time }

// asked notes the class that a call names, as far as a record wants to keep it.
func (c *Call) asked(name string) {
	const most = 128
	c.record.Class = name[:min(len(name), most)]
}

// What an answer in the making takes of the process's memory, and of it one value of an export without a budget, in bytes.
const answerMemory, exportMost = 32 << 20, 16 << 20

// answered takes a query along the way and makes of its rows what leaves. most is the most bytes of one value; 0 takes the
// budget. Sources are read while shape makes the answer, within the memory that is free for it.
func answered[T any](ctx context.Context, c *Call, q query.Query, most int, shape func(redact.Rows) (T, error)) (out T, err error) {
	c.asked(q.From())
	rows, err := c.gateway.rows(ctx, c.policy, c.who, q, most)
	if err != nil {
		return out, err
	}
	c.from = rows.Plan().View.Class().FullName()
	c.Note(rows.Plan().Notes...)
	release, err := c.gateway.memory.Take(ctx, int64(max(answerMemory, 4*most)))
	if err != nil {
		return out, err
	}
	defer release()
	return shaped(ctx, func() (T, error) { return shape(rows) })
}

// Read answers q with a page, cut to the byte budget, and a cursor when there is more.
func (c *Call) Read(ctx context.Context, q *query.Find) (*shape.Page, error) {
	page, err := answered(ctx, c, q, 0, func(rows redact.Rows) (*shape.Page, error) { return shape.Rows(rows, c.gateway.options.Budget) })
	if err == nil && page.More {
		page.Cursor = c.gateway.cursors.Seal(page.Next, bound(c.policy, c.who, q))
	}
	if err == nil {
		c.Found(q, page.Count == 0)
		c.record.Rows += page.Count
	}
	return page, err
}

// Get answers q with all records that it asks for, without their largest fields where they are over the byte budget.
func (c *Call) Get(ctx context.Context, q *query.Find) (*shape.Page, error) {
	page, err := answered(ctx, c, q, 0, func(rows redact.Rows) (*shape.Page, error) { return shape.Whole(rows, c.gateway.options.Budget) })
	if err == nil {
		c.record.Rows += page.Count
	}
	return page, err
}

// Count answers how many records match.
func (c *Call) Count(ctx context.Context, q *query.Count) (n int64, notes []string, err error) {
	n, err = answered(ctx, c, q, 0, func(rows redact.Rows) (int64, error) {
		notes = rows.Plan().Notes
		return shape.Count(rows)
	})
	c.Found(q, err == nil && n == 0)
	return n, notes, err
}

// Aggregate answers q with a page, cut to the byte budget: its Full tells of that, and its More that the automatic
// limit of q left records out.
func (c *Call) Aggregate(ctx context.Context, q *query.Pipeline) (*shape.Page, error) {
	return answered(ctx, c, q, 0, func(rows redact.Rows) (*shape.Page, error) {
		page, err := shape.Rows(rows, c.gateway.options.Budget)
		if err == nil {
			page.More = page.More && rows.Plan().Auto
			c.Found(q, page.Nothing())
			c.record.Rows += page.Count
		}
		return page, err
	})
}

// Export writes what q asks for to out, a record at a time, within o.Budget: 0 takes that of the gateway, and a
// negative one is none.
func (c *Call) Export(ctx context.Context, q query.Query, out io.Writer, o shape.ExportOptions) (shape.Exported, error) {
	most := 0
	switch {
	case o.Budget < 0:
		o.Budget, most = 0, exportMost
	case o.Budget == 0:
		o.Budget = cmp.Or(c.gateway.options.Budget, shape.DefaultBudget)
	}
	return answered(ctx, c, q, most, func(rows redact.Rows) (shape.Exported, error) {
		done, err := shape.Export(out, rows, o)
		c.Found(q, err == nil && done.Count == 0)
		c.record.Rows += done.Count
		return done, err
	})
}

// View returns the asker's view of a class, by the name at the JSON pointer /class_name.
func (c *Call) View(name string) (*policy.View, error) {
	c.asked(name)
	return c.policy.View(c.who, name, "/class_name", false)
}

// Views returns the asker's views of all classes, ordered by source and name.
func (c *Call) Views() []*policy.View { return c.policy.Views(c.who) }

// Estimates returns about how many records classes have, by "source.Class", where the source knows without
// counting. Only who sees all of a source is told: estimates are as old as the source's last look at its data, and
// when it looks depends on everything that is hidden.
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

// bound identifies what a cursor may be used for: one asker, one query, one version of the rules.
func bound(p *policy.Policy, principal identity.Principal, q *query.Find) [32]byte {
	digest := q.Digest()
	doc := value.OfArray([]value.Value{value.OfString(principal.ID), value.OfString(principal.Tenant), value.OfString(p.Version()), value.OfBytes(string(digest[:]))})
	return sha256.Sum256(doc.AppendJSON(nil))
}

// shaped marks in ctx's trace how long rows take to become what leaves. Sources are read while that is made.
func shaped[T any](ctx context.Context, shape func() (T, error)) (T, error) {
	_, step := trace.Start(ctx, "shape")
	out, err := shape()
	trace.End(step, err)
	return out, err
}
