package bailiwick

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bailiwick-dev/bailiwick/action"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/redact"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/metric"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
)

// Declarations are what the owner declares beside the rules.
type Declarations struct {
	Actions []action.Declaration
	Metrics []metric.Declaration
}

// len returns the number of declarations.
func (d *Declarations) len() int { return len(d.Actions) + len(d.Metrics) }

// clone returns a copy from which declarations can be deleted.
func (d *Declarations) clone() Declarations {
	return Declarations{Actions: slices.Clone(d.Actions), Metrics: slices.Clone(d.Metrics)}
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
	}
	return ""
}

// compile compiles rules and declarations against a catalogue.
func compile(rules policy.Rules, d Declarations, catalogue []schema.Class) (*force, error) {
	p, err := policy.New(rules, copyClasses(catalogue))
	if err != nil {
		return nil, err
	}
	actions, wrong := action.Compile(d.Actions, p)
	metrics, err := metric.Compile(d.Metrics, p)
	if err := errors.Join(wrong, err); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for i := range catalogue {
		known[catalogue[i].FullName()] = true
	}
	return &force{policy: p, actions: actions, metrics: metrics, rules: rules, declared: d, found: catalogue, known: known}, nil
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
	set := c.metrics
	if set == nil {
		set = c.gateway.force.Load().metrics
	}
	return set.For(c.policy, c.who)
}

// QueryMetrics answers a question about metrics. It reads one SELECT for each class, through the caller's views.
func (c *Call) QueryMetrics(ctx context.Context, r metric.Request) (*metric.Answer, error) {
	plan, err := metric.NewPlan(r, c.Metrics(), c.Views)
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
