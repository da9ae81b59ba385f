// Package bailiwick lets AI agents work inside an application, within bounds its owners set.
//
// A request goes one way through the packages, and each step takes only what the step before made:
//
//	request → identity → policy → compile → source → redact → shape → response
//
// The end of every call is a record in audit. Only the Gateway of this package joins steps; tools, doors and
// embedding programs call it. To embed it, fill Options, call New, and give each agent's calls to Do.
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
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/internal/functions"
	"github.com/bailiwick-dev/bailiwick/internal/result/mask"
	"github.com/bailiwick-dev/bailiwick/internal/result/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result/shape"
	"github.com/bailiwick-dev/bailiwick/internal/trace"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

type (
	// A Function does what an action with do: go says, once its change is approved. An error says that nothing was done. When the process
	// ends in the middle it is called again with the same Run.Change, so it has to do its work once for each.
	Function = functions.Function

	// A Run is one call of a Function: the change, the action, the record, and the values that were approved.
	Run = functions.Run
)

// Options are what a Gateway works with.
type Options struct {
	Sources   map[string]source.Source    // by the name that classes have before the dot
	Rules     policy.Rules                // the zero Rules show nothing
	Changes   *change.Queue               // where what agents propose waits for people; nil takes no changes
	Standing  Standing                    // checks again what actions require, when their changes are reviewed and applied; nil applies no change of an action
	Refresher identity.PrincipalRefresher // says who a principal is while its call runs and when its change is applied; nil takes it as it was
	History   audit.Reader                // reads back what Audit keeps, for people who review; nil shows them nothing of it
	Actions   map[string]Function         // by the names of actions (do: go): what runs when they are approved; nil for none
	Audit     audit.Log                   // where calls are recorded; nil refuses, for what can't be recorded isn't answered
	Args      audit.ArgHasher             // hashes arguments for the record; the zero one leaves them out
	Limits    limit.Options               // the zero Options take the defaults
	Secret    []byte                      // 32 bytes that seal cursors and hash masked values, the same on all replicas; nil takes random ones
	Budget    int                         // most bytes of the records of one answer; 0 takes shape.DefaultBudget
	Memory    int64                       // most bytes that answers in the making take, all together; 0 takes limit.DefaultMemory
	Price     int64                       // of a million estimated tokens, in millionths of a US dollar; 0 for none
	Now       func() time.Time            // the clock; nil takes time.Now
	Log       *slog.Logger                // told of subscribers that panic; nil tells nobody
	Depth     int                         // most generations of sub-principals below a credential; 0 takes identity.MaxDepth

	Observer Observer // is told of every call; nil tells nobody
}

// A Gateway stands between agents and sources. It is safe for use by several goroutines.
type Gateway struct {
	options Options
	limits  *limit.Limiter
	memory  *limit.Memory
	cursors *shape.Cursors
	masks   mask.Key
	policy  atomic.Pointer[policy.Policy]
	changes sync.Mutex            // held by who replaces policy
	holder  string                // of leases: no other gateway has it
	slots   map[string]*fair.Gate // the connections of sources

	subscribers subscribers
}

// New describes the sources and compiles the rules against them. It returns warnings about what the sources left out.
func New(ctx context.Context, o Options) (*Gateway, []string, error) {
	if o.Audit == nil {
		return nil, nil, errors.New("a gateway needs an audit log")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Secret == nil {
		o.Secret = make([]byte, 32)
		rand.Read(o.Secret) // never fails
	}
	if o.Budget < 0 || o.Budget > shape.MaxBudget {
		return nil, nil, fmt.Errorf("a budget of %d bytes: at most %d", o.Budget, shape.MaxBudget)
	}
	cursors, err := shape.NewCursors(o.Secret, o.Now)
	if err != nil {
		return nil, nil, err
	}
	g := &Gateway{options: o, limits: limit.New(o.Limits), memory: limit.NewMemory(o.Memory), cursors: cursors, masks: mask.NewKey(o.Secret), holder: rand.Text(), slots: map[string]*fair.Gate{}}
	for name, s := range o.Sources {
		if p, ok := s.(source.Pooled); ok {
			g.slots[name] = fair.Reserving(p.Pool().Most)
		}
	}
	warnings, err := g.Refresh(ctx)
	return g, warnings, err
}

// Refresh describes the sources again and puts the rules into force against what they have now. When that fails,
// what was in force stays.
func (g *Gateway) Refresh(ctx context.Context) ([]string, error) {
	var catalogue []schema.Class
	var warnings []string
	for _, name := range slices.Sorted(maps.Keys(g.options.Sources)) {
		classes, warned, err := g.options.Sources[name].Describe(ctx)
		if err != nil {
			return nil, fmt.Errorf("describe source %s: %w", name, err)
		}
		catalogue, warnings = append(catalogue, classes...), append(warnings, warned...)
	}
	g.changes.Lock()
	defer g.changes.Unlock()
	rules := g.options.Rules
	if p := g.policy.Load(); p != nil {
		rules = p.Rules()
	}
	p, err := policy.New(rules, catalogue)
	if err != nil {
		return warnings, err
	}
	g.policy.Store(p)
	g.Announce(CatalogueChanged)
	return warnings, nil
}

// SetRules puts other rules into force, compiled against what the sources had when they were last described. They are
// in force as a whole or not at all: on an error what was in force stays. A call that runs ends under the rules that it
// began with, which are those that its record names.
func (g *Gateway) SetRules(rules policy.Rules) error {
	g.changes.Lock()
	defer g.changes.Unlock()
	p, err := policy.New(rules, g.policy.Load().Catalogue())
	if err != nil {
		return err
	}
	g.policy.Store(p)
	g.Announce(RulesChanged)
	return nil
}

// Catalogue returns the classes that the sources had when they were last described. It must not be changed.
func (g *Gateway) Catalogue() []schema.Class { return g.policy.Load().Catalogue() }

// Close stores what calls have used of the daily budgets. It ends nothing: whoever began calls waits for them first.
func (g *Gateway) Close(ctx context.Context) error { return g.limits.Close(ctx) }

// May reports, by nil, whether who may make a call by the rules in force now: by the gates, scopes and lists.
func (g *Gateway) May(p identity.Principal, ask CallSpec) error {
	return g.policy.Load().May(p, ask.use())
}

// Ping reports whether all sources that can tell are reachable.
func (g *Gateway) Ping(ctx context.Context) error {
	var errs []error
	for name, s := range g.options.Sources {
		if p, ok := s.(source.Pinger); ok {
			if err := p.Ping(ctx); err != nil {
				errs = append(errs, fmt.Errorf("source %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Read answers q for who outside of any tool: for embedding programs. It is admitted, limited and recorded as a
// call of the tool query_class is.
func (g *Gateway) Read(ctx context.Context, p identity.Principal, q *query.Find) (page *shape.Page, err error) {
	err = g.Do(ctx, p, CallSpec{Tool: "query_class", Needs: identity.Read}, func(ctx context.Context, c *Call) (int, error) {
		page, err = c.Read(ctx, q)
		return 0, err
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}

// prepare takes a query through policy, and finds the source that it reads.
func (g *Gateway) prepare(p *policy.Policy, principal identity.Principal, q query.Query, most int) (policy.Permit, source.Source, error) {
	permit, err := p.Read(principal, q)
	if err != nil {
		return permit, nil, err
	}
	if find, ok := q.(*query.Find); ok && find.Cursor != "" {
		at, err := g.cursors.Open(find.Cursor, bound(p, principal, find))
		if err != nil {
			return permit, nil, err
		}
		if permit, err = permit.From(at); err != nil {
			return permit, nil, err
		}
	}
	if permit, err = permit.Within(cmp.Or(most, g.options.Budget, shape.DefaultBudget)); err != nil {
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

// rows takes a query through policy, compile, source and redact. Values have at most so many bytes; 0 takes the budget.
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
	return redact.Apply(permit, g.masks, fair.InTurn(ctx, g.slots[plan.View.Source()], by, rows, func(err error) (value.Row, error) { return nil, ended(ctx, err) }))
}
