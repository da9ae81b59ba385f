// Package bailiwick lets AI agents work inside an application, within bounds that its owners set.
//
// Every request passes through the packages in one order, and each step accepts only what the step before produced:
//
//	request → identity → policy → sqlgen → source → redact → result → response
//
// Every call ends with a record in the audit log. Only the Gateway joins the steps. Tools, transports and embedding
// programs call it. To embed it, fill Options, call New, and pass each agent's calls to Do.
//
// Functions are Go functions of the embedding program that actions run (do: go). A function runs after a change is
// approved, with the approved input, outside of the source's transaction. It gets the id of the change, and must do its
// work only once per id, even if it is called several times. An action with a function can't be combined with other
// writes, because they could not be atomic.
//
// Objects are descriptions of classes without records. They come from metadata caches and contain only what one
// principal may see.
package bailiwick

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/once"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/internal/review"
	"github.com/bailiwick-dev/bailiwick/internal/samples"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Options configure a Gateway. Audit is required.
type Options struct {
	Sources   map[string]source.Source    // by name: the part of a class name before the dot
	Rules     policy.Rules                // the zero Rules show nothing
	Changes   *change.Queue               // keeps the proposed changes that await review. Nil accepts no changes
	Refresher identity.PrincipalRefresher // returns the current principal during a call and at apply. Required with Changes. Without it, no call ends early
	Used      once.Store                  // remembers which long values reviewers have opened. Nil keeps this in memory
	History   audit.Reader                // reads the records of Audit, for reviewers. Nil shows them no history
	Actions   []action.Declaration        // the actions that agents can call by name. Checked again at review and at apply
	Metrics   []metric.Declaration        // the measures that agents can ask for by name
	Queries   []declared.Declaration      // the queries that agents can ask by name
	Functions map[string]Function         // by action name (do: go): run when their changes are approved. It may be nil
	Audit     audit.Log                   // records calls. Required, because a call that can't be recorded isn't answered
	Args      audit.ArgHasher             // hashes arguments for the record. The zero value omits the hash
	Limits    limit.Options               // the zero value has the defaults
	Secret    []byte                      // 32 bytes that seal cursors and hash masked values, the same on all replicas. Nil generates random ones
	Budget    int                         // maximum bytes of records in one answer. 0 means result.DefaultBudget
	Memory    int64                       // maximum memory of all unfinished answers together, in bytes. 0 means limit.DefaultMemory
	Price     int64                       // price of a million estimated tokens, in millionths of a US dollar, or 0
	Now       func() time.Time            // the clock. Nil means time.Now
	Log       *slog.Logger                // receives panics of subscribers. Nil logs nothing
	Sampling  Sampling                    // how the gateway looks for credentials in values. The zero value looks each day
	Depth     int                         // maximum depth of sub-principals below a credential. 0 means identity.MaxDepth

	Observer Observer // is notified of every call. It may be nil
}

// A Gateway mediates between agents and sources. It is safe for concurrent use.
type Gateway struct {
	options Options
	limits  *limit.Limiter
	memory  *limit.Memory
	cursors *result.Sealer
	masks   plan.MaskKey
	force   atomic.Pointer[force]
	changes sync.Mutex                 // held while force is replaced
	holder  string                     // the unique name of this gateway as a lease holder
	slots   map[string]*fair.Semaphore // by source: shares a source's connections fairly between callers

	description description
	guard       samples.Guard
	looking     *samples.Repeater // nil until New has looked

	subscribers subscribers[Event]
	watch       review.Watch // of the changes for which calls wait
}

// New describes the sources and compiles the rules against them. It returns warnings about skipped parts of the
// sources.
func New(ctx context.Context, o Options) (*Gateway, []string, error) {
	if o.Audit == nil {
		return nil, nil, errors.New("a gateway needs an audit log")
	}
	if o.Changes != nil && o.Refresher == nil {
		return nil, nil, errors.New("a gateway that keeps changes needs a Refresher, which says who their agents and reviewers are when they are applied. " +
			"Use identity.Tokens, or identity.Fixed for principals that never change")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Used == nil {
		o.Used = &once.Memory{}
	}
	if o.Secret == nil {
		o.Secret = make([]byte, 32)
		rand.Read(o.Secret) // never fails
	}
	if o.Budget < 0 || o.Budget > result.MaxBudget {
		return nil, nil, fmt.Errorf("a budget of %d bytes: at most %d", o.Budget, result.MaxBudget)
	}
	cursors, err := result.NewSealer(o.Secret, o.Now)
	if err != nil {
		return nil, nil, err
	}
	g := &Gateway{options: o, limits: limit.New(o.Limits), memory: limit.NewMemory(o.Memory), cursors: cursors, masks: plan.NewMaskKey(o.Secret), holder: rand.Text(), slots: map[string]*fair.Semaphore{}}
	if o.Changes != nil {
		g.watch.Store = o.Changes.Store()
	}
	for name, s := range o.Sources {
		if p, ok := s.(source.Pooled); ok {
			g.slots[name] = fair.Reserving(p.Pool().Most)
		}
	}
	warnings, err := g.Refresh(ctx)
	if err != nil {
		return g, warnings, err
	}
	return g, append(warnings, g.looks(ctx)...), nil
}

// Refresh describes the sources again and compiles the rules against the result. It returns warnings about skipped
// parts of the sources. If a source can't be described, it keeps its classes, and the error says so. If the rules of a
// class no longer fit the class, the class is closed, with a warning.
func (g *Gateway) Refresh(ctx context.Context) ([]string, error) { return g.describe(ctx, nil, false) }

// rules returns p with a lookup of the groups of principals in their sources. Each lookup has its own timeout if ctx
// has none.
func (g *Gateway) rules(ctx context.Context, p *policy.Policy) *policy.Policy {
	return p.Under(func(p identity.Principal, name string) (policy.Groups, error) {
		s, ok := g.options.Sources[name].(source.Guarded)
		if !ok {
			return policy.Groups{}, problem.New(problem.Internal, "the source does not say who is in which group")
		}
		return s.Groups(ctx, p)
	})
}

// Catalogue returns the classes as the sources last described them. Callers must not modify it.
func (g *Gateway) Catalogue() []schema.Class { return g.force.Load().policy.Catalogue() }

// Close ends the background work of the gateway and stores the used part of the daily budgets. It doesn't end calls:
// wait for them first.
func (g *Gateway) Close(ctx context.Context) error {
	g.looking.End()
	return g.limits.Close(ctx)
}

// May returns nil if the gates, scopes and lists in force allow p to make the call.
func (g *Gateway) May(p identity.Principal, ask CallSpec) error {
	return g.force.Load().policy.May(p, ask.Use())
}

// Ping returns an error for each source that implements source.Pinger and is unreachable, in the order of their names.
func (g *Gateway) Ping(ctx context.Context) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(g.options.Sources)) {
		p, ok := g.options.Sources[name].(source.Pinger)
		if !ok {
			continue
		}
		if err := p.Ping(ctx); err != nil {
			if inner := problem.Of(err); inner != nil && inner.Err != nil {
				err = inner.Err
			}
			errs = append(errs, &problem.Error{Code: problem.Upstream, Kind: "source " + name, Detail: "source " + name + " doesn't answer", Err: err})
		}
	}
	return errors.Join(errs...)
}

// Read answers q for p outside of any tool, for embedding programs. It is admitted, limited and recorded like a call
// of the tool query_class.
func (g *Gateway) Read(ctx context.Context, p identity.Principal, q *query.Find) (*result.Page, error) {
	return g.callAlone(ctx, p, "query_class", func(ctx context.Context, c *Call) (*result.Page, error) { return c.Read(ctx, q) })
}

// SQL answers a SELECT statement for p outside of any tool. It is admitted, limited and recorded like a call of the
// tool query_sql.
func (g *Gateway) SQL(ctx context.Context, p identity.Principal, q *query.SQL) (*result.Page, error) {
	return g.callAlone(ctx, p, "query_sql", func(ctx context.Context, c *Call) (*result.Page, error) { return c.SQL(ctx, q) })
}

// callAlone answers one query as a call of the tool.
func (g *Gateway) callAlone(ctx context.Context, p identity.Principal, tool string, ask func(context.Context, *Call) (*result.Page, error)) (page *result.Page, err error) {
	// This is like a call of the tool with one query. It returns no page with an error.
	err = g.Do(ctx, p, CallSpec{Tool: tool, Needs: identity.Read, Queries: true}, func(ctx context.Context, c *Call) (int, error) {
		page, err = ask(ctx, c)
		return 0, err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// prepare checks a query against policy and returns its permit and the source to read. most is the maximum size of a
// value in bytes. 0 means the budget.
func (g *Gateway) prepare(p *policy.Policy, principal identity.Principal, q query.Query, most int) (policy.Permit, source.Source, error) {
	at, later, err := g.place(p, principal, q)
	if err != nil {
		return policy.Permit{}, nil, err
	}
	permit, err := p.Read(principal, later)
	if err == nil && at != nil {
		permit, err = permit.From(*at)
	}
	if err != nil {
		return permit, nil, err
	}
	if permit, err = permit.Within(cmp.Or(most, g.options.Budget, result.DefaultBudget)); err != nil {
		return permit, nil, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return permit, nil, err
	}
	s, ok := g.options.Sources[plan.View.Source()]
	if !ok {
		return permit, nil, problem.New(problem.Internal, "no such source")
	}
	return permit, s, nil
}

// place opens the cursor of a query, and returns its position. It returns nil if there is no cursor. For a SELECT
// statement with a cursor, it returns q with the time of the first page.
func (g *Gateway) place(p *policy.Policy, principal identity.Principal, q query.Query) (*policy.Position, query.Query, error) {
	again, cursor, wide := paged(q)
	if cursor == nil || *cursor == "" {
		return nil, q, nil
	}
	at, err := g.cursors.Open(*cursor, cursorScope(p, principal, again))
	at.Wide = *wide
	if s, ok := again.(*query.SQL); ok {
		s.Now, s.Skip, q = at.Now, at.Start(), s
	}
	return &at, q, err
}

// rows runs a query through policy, compile, source and redact. most is the maximum size of a value in bytes. 0 means
// the budget.
func (g *Gateway) rows(ctx context.Context, p *policy.Policy, principal identity.Principal, q query.Query, most int) (redact.Rows, error) {
	_, deciding := trace.Start(ctx, "policy")
	permit, s, err := g.prepare(p, principal, q, most)
	trace.End(deciding, err)
	plan, unplanned := permit.Plan()
	if err = cmp.Or(err, unplanned); err != nil {
		return redact.Rows{}, err
	}
	rows, err := s.Read(ctx, permit)
	if err != nil {
		return redact.Rows{}, err
	}
	by := fair.Who{Tenant: principal.Tenant, Owner: principal.Account(), Credential: principal.Origin()}
	read := limit.Rows(ctx, g.memory, by, rows) // after the connection, because calls that wait for a slow source would block memory of others
	return redact.Apply(permit, g.masks, fair.InTurn(ctx, g.slots[plan.View.Source()], by, read, func(err error) (value.Row, error) { return nil, contextError(ctx, err) }))
}

// An Observer is notified of every call, for metrics, traces and logs. It has no influence on calls, and must not keep
// the principal or the arguments after the call.
type Observer interface {
	// Begin is called before the gateway checks a call. The context that it returns becomes the call's context, so the
	// spans of its steps (package internal/trace) are children of the span in it.
	Begin(ctx context.Context, who identity.Principal, ask CallSpec) context.Context
	// End is called with the record of a call, after the log has kept it, and the call's error.
	End(ctx context.Context, who identity.Principal, r *audit.Record, err error)
}

// keys returns the argument names for the record, sorted. An unknown argument is recorded as "?", because its name
// could contain anything.
func (a *CallSpec) keys() []string {
	var out []string
	strange := false
	for _, m := range a.Arguments.Members() {
		if a.Takes == nil || slices.Contains(a.Takes, m.Name) {
			out = append(out, m.Name)
		} else {
			strange = true
		}
	}
	if strange {
		out = append(out, "?")
	}
	sort.Strings(out)
	return out
}

// PolicyVersion identifies the rules in force.
func (g *Gateway) PolicyVersion() string { return g.force.Load().policy.Version() }

// tokenBytes is the approximate size of a language model's token, in bytes.
const tokenBytes = 4

// asker returns the account whose allowances p uses: that of its credential, also for a derived principal.
func asker(p identity.Principal) limit.Asker {
	return limit.Asker{Owner: p.Account(), Token: p.Origin(), Depth: p.Depth}
}

// usage returns the resources that the call has used, given an answer of so many bytes.
func (c *Call) usage(bytes int) limit.Use {
	tokens := int64(bytes / tokenBytes)
	return limit.Use{Rows: int64(c.record.Rows), Bytes: int64(bytes), Tokens: tokens, Cost: limit.Cost(tokens, c.gateway.options.Price)}
}

// record writes the records of a change's steps, which the store keeps with the steps, to the audit log.
func (g *Gateway) record(ctx context.Context, id string) error {
	return g.options.Changes.Record(ctx, id, g.options.Audit)
}
