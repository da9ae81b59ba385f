package bailiwick

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/declared"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyops"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Declarations are what the owner declares beside the rules.
type Declarations struct {
	Actions []action.Declaration
	Metrics []metric.Declaration
	Queries []declared.Declaration
}

// len returns the number of declarations.
func (d *Declarations) len() int { return len(d.Actions) + len(d.Metrics) + len(d.Queries) }

// clone returns a copy from which declarations can be deleted.
func (d *Declarations) clone() Declarations {
	return Declarations{Actions: slices.Clone(d.Actions), Metrics: slices.Clone(d.Metrics), Queries: slices.Clone(d.Queries)}
}

// drop deletes the declaration of a fault, and returns what it is: "an action". It returns "" for another error.
func (d *Declarations) drop(fault error) string {
	switch fault := fault.(type) {
	case *action.DeclarationFault:
		d.Actions = slices.DeleteFunc(d.Actions, func(a action.Declaration) bool { return a.On == fault.On && a.Name == fault.Action })
		return "an action"
	case *metric.DeclarationFault:
		d.Metrics = slices.DeleteFunc(d.Metrics, func(m metric.Declaration) bool { return m.Name == fault.Metric })
		return "a metric"
	case *policy.NativeFault:
		d.Queries = slices.DeleteFunc(d.Queries, func(q declared.Declaration) bool { return q.Name == fault.Query })
		return "a query"
	case *declared.DeclarationFault:
		d.Queries = slices.DeleteFunc(d.Queries, func(q declared.Declaration) bool { return q.Name == fault.Query })
		return "a query"
	}
	return ""
}

// compile compiles rules and declarations against a catalogue. natives checks statements in a database's own SQL.
func compile(rules policy.Rules, d Declarations, catalogue []schema.Class, natives declared.NativeCheck) (*force, error) {
	rules.Native = declared.Natives(d.Queries)
	p, err := policy.New(rules, copyClasses(catalogue))
	if err != nil {
		return nil, err
	}
	actions, wrong := action.Compile(d.Actions, p)
	metrics, err := metric.Compile(d.Metrics, p)
	var measures declared.Measures // nil, if their faults are reported
	if err == nil {
		measures = metrics
	}
	queries, unfit := declared.Compile(d.Queries, p, catalogue, natives, measures)
	if err := errors.Join(wrong, err, unfit); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for i := range catalogue {
		known[catalogue[i].FullName()] = true
	}
	return &force{policy: p, actions: actions, metrics: metrics, queries: queries, rules: rules, declared: d, natives: natives, found: catalogue, known: known}, nil
}

// Metrics returns the metrics of m, which must not be the zero Moment.
func (m Moment) Metrics() *metric.Set { return m.metrics }

// AllMetrics returns all metrics in force, sorted by name, including metrics that no principal may use.
func (g *Gateway) AllMetrics() []*metric.Metric { return g.force.Load().metrics.All() }

// Metrics returns the metrics that p may use under the rules in force, sorted by name.
func (g *Gateway) Metrics(p identity.Principal) []metric.Usable {
	now := g.force.Load()
	return now.metrics.For(g.rules(context.Background(), now.policy), p)
}

// Metrics returns the metrics that the caller may use, sorted by name.
func (c *Call) Metrics() []metric.Usable {
	return c.metricSet().For(c.policy, c.who)
}

func (c *Call) metricSet() *metric.Set {
	if c.metrics != nil {
		return c.metrics
	}
	return c.gateway.force.Load().metrics
}

// QueryMetrics answers a question about metrics. It reads one SELECT for each class, through the caller's views.
func (c *Call) QueryMetrics(ctx context.Context, r metric.Request) (*metric.Answer, error) {
	plan, err := metric.NewPlan(r, c.Metrics(), c.ViewsOf)
	if err != nil {
		return nil, err
	}
	results := make([][]value.Row, len(plan.Statements))
	for i, q := range plan.Statements {
		if results[i], err = c.groups(ctx, q); err != nil {
			return nil, plan.Explain(err)
		}
	}
	out, err := plan.Assemble(results)
	if err != nil {
		return nil, err
	}
	out.Fit(cmp.Or(c.gateway.options.Budget, result.DefaultBudget))
	c.record.Rows += len(out.Rows)
	return out, nil
}

// complete returns q. It sets the time of the call on a SELECT statement without a time, and puts the definitions of
// metrics in the place of MEASURE.
func (c *Call) complete(q query.Query) (query.Query, error) {
	s, ok := q.(*query.SQL)
	if !ok {
		return q, nil
	}
	s, err := c.inline(s)
	if err != nil {
		return nil, err
	}
	if s.Now.IsZero() {
		timed := *s
		timed.Now = c.Time()
		s = &timed
	}
	return s, nil
}

// inline returns q with the definitions of metrics in the place of MEASURE. The answer of the call names them.
func (c *Call) inline(q *query.SQL) (*query.SQL, error) {
	out, definitions, err := c.metricSet().Inline(q, c.policy, c.who, false)
	for _, d := range definitions {
		if !slices.Contains(c.definitions, d) {
			c.definitions = append(c.definitions, d)
		}
	}
	return out, err
}

// Definitions returns the meanings of the metrics that statements of the call name by MEASURE.
func (c *Call) Definitions() []string { return c.definitions }

// groups returns all records of a statement of metrics.
func (c *Call) groups(ctx context.Context, q *query.SQL) ([]value.Row, error) {
	before := len(c.Notes())
	defer func() { // the caller didn't write the statement
		notes := slices.Clone(c.Notes()[before:])
		c.Forget(before)
		c.Note(metric.Notes(notes)...)
	}()
	page, err := answerQuery(ctx, c, q, result.MaxBudget, func(rows redact.Rows) (*result.Page, error) { return result.NewPage(rows, result.MaxBudget) })
	if err != nil {
		return nil, err
	}
	if page.More || page.Cut || page.Dropped != nil {
		return nil, metric.TooMany()
	}
	out := make([]value.Row, page.Count)
	for i := range out {
		out[i] = page.Values(i)
	}
	return out, nil
}

// Queries returns the declared queries of m, which must not be the zero Moment.
func (m Moment) Queries() *declared.Set { return m.queries }

// AllQueries returns the declared queries in force, for operators and for the tools of queries.
func (g *Gateway) AllQueries() []*declared.Query { return g.force.Load().queries.All() }

// Queries returns the declared queries that p may ask under the rules in force, sorted by name.
func (g *Gateway) Queries(p identity.Principal) []*declared.Query {
	now := g.force.Load()
	return now.queries.Of(g.rules(context.Background(), now.policy), p)
}

// Ask answers the declared query of that name for p outside of any tool. in has its arguments. It is admitted, limited
// and recorded like a call of the tool run_query.
func (g *Gateway) Ask(ctx context.Context, p identity.Principal, name string, in value.Value, page declared.Page) (*result.Page, error) {
	return g.callAlone(ctx, p, declared.RunTool, func(ctx context.Context, c *Call) (*result.Page, error) {
		q, err := c.FindQuery(ctx, name, "/name")
		if err != nil {
			return nil, err
		}
		asked, err := c.TakeQuery(q, in, page, "/input")
		if err != nil {
			return nil, err
		}
		return c.Declared(ctx, q, asked)
	})
}

// moment returns the queries and the rules under which the call runs. The rules record no uses.
func (c *Call) moment(ctx context.Context) (*declared.Set, *policy.Policy) {
	in := c.inside.ask.Moment.force
	return in.queries, c.gateway.rules(ctx, in.policy)
}

// Queries returns the declared queries that the caller may ask, sorted by name.
func (c *Call) Queries(ctx context.Context) []*declared.Query {
	set, rules := c.moment(ctx)
	return set.Of(rules, c.who)
}

// FindQuery returns the declared query of that name. at is the JSON pointer of the name. The error of a query that the
// caller may not ask has the same bytes as for one that doesn't exist.
func (c *Call) FindQuery(ctx context.Context, name, at string) (*declared.Query, error) {
	set, rules := c.moment(ctx)
	return set.Find(rules, c.who, name, at)
}

// TakeQuery returns the query that q makes of the arguments in. at is the JSON pointer of in.
func (c *Call) TakeQuery(q *declared.Query, in value.Value, page declared.Page, at string) (query.Query, error) {
	c.record.Uses = append(c.record.Uses, "queries."+q.Name)
	in, notes, err := q.Take(in, at)
	if err != nil {
		return nil, err
	}
	c.Note(notes...)
	asked, err := q.Ask(c.who, in, page)
	return asked, q.Explain(err)
}

// Declared answers a query that TakeQuery made of q, like a query of the caller's own.
func (c *Call) Declared(ctx context.Context, q *declared.Query, asked query.Query) (page *result.Page, err error) {
	switch asked := asked.(type) {
	case *query.Find:
		page, err = c.Read(ctx, asked)
	case *query.Pipeline:
		page, err = c.Aggregate(ctx, asked)
	case *query.SQL:
		page, err = c.SQL(ctx, asked)
	case *query.Native:
		page, err = c.native(ctx, asked)
	default:
		return nil, problem.New(problem.Internal, "a declared query of unknown form")
	}
	return page, q.Explain(err)
}

// native answers a statement of the owner with a page, cut to the byte budget, and a cursor if there is more.
func (c *Call) native(ctx context.Context, q *query.Native) (*result.Page, error) {
	page, err := c.page(ctx, q, result.NewPage)
	if err == nil && page.More {
		page.Cursor = c.gateway.cursors.Seal(page.Next, cursorScope(c.policy, c.who, q))
	}
	return page, err
}

// checkNative implements declared.NativeCheck over the sources.
func (g *Gateway) checkNative(name, statement string) ([]string, error) {
	return source.CheckNative(g.options.Sources[name], name, statement)
}

// Regime returns the rules in force, with the declared queries and metrics, for operators to query.
func (g *Gateway) Regime(tools []policyops.Tool) (*policyops.Regime, error) {
	now := g.force.Load()
	return policyops.NewRegime(g.rules(context.Background(), now.policy), tools, now.queries, now.metrics)
}
