package bailiwick

import (
	"context"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/source"
)

// Describe returns, for operators, everything p may see and do under the rules in force: classes with fields, masks
// and layers, the given tools, scopes and limits. Filter values are shown as digests. Never show the result to
// agents.
func (g *Gateway) Describe(p identity.Principal, tools []policyreport.Tool) (policyreport.Description, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return policyreport.Description{}, err
	}
	d := r.Describe(p)
	o := g.options.Limits
	d.Limits = &policyreport.Limits{PerMinute: float64(o.PerMinute), Burst: o.Burst, Concurrency: o.Concurrency}
	if o.Every > 0 {
		d.Limits.PerMinute = float64(time.Minute) / float64(o.Every)
	}
	return d, nil
}

// DescribeClass returns, for operators, p's view of one class, named as "source.Class" or by its bare name. If p
// doesn't see the class, the View is empty and the Verdict says why.
func (g *Gateway) DescribeClass(p identity.Principal, class string) (policyreport.View, policyreport.Verdict, error) {
	r, err := g.Regime(nil)
	if err != nil {
		return policyreport.View{}, policyreport.Verdict{}, err
	}
	v, verdict := r.DescribeClass(p, class)
	return v, verdict, nil
}

// WouldPermit reports to operators whether p could call one of tools on a class ("" for none), and if not, why and
// which rule decides. It does not check whether a query is valid or what it costs.
func (g *Gateway) WouldPermit(p identity.Principal, tools []policyreport.Tool, tool, class string) (policyreport.Verdict, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return policyreport.Verdict{}, err
	}
	return r.WouldPermit(p, tool, class), nil
}

// Views returns every view visible to p under the rules in force, ordered by source and name.
func (g *Gateway) Views(p identity.Principal) []*policy.View {
	return g.rules(context.Background(), g.force.Load().policy).Views(p)
}

// Regime returns the rules in force, for operators to query.
func (g *Gateway) Regime(tools []policyreport.Tool) (*policyreport.Regime, error) {
	return policyreport.Over(g.rules(context.Background(), g.force.Load().policy), tools)
}

// Access returns how the first records of q are found, and whether that would be refused as a scan.
func (c *Call) Access(q query.Query) (policy.Access, error) {
	c.asked(q.From())
	return c.policy.Access(c.who, q)
}

// Statement returns the text that q would run, with placeholders instead of values, without running it. Where q would
// be refused, so is Statement. The text names what views are made of, so it is "" for a caller that neither has the
// scope explain nor sees all of the source, and for a source without such a text.
func (c *Call) Statement(q query.Query) (string, error) {
	permit, s, told, err := c.prepared(q)
	if err != nil {
		return "", err
	}
	compiler, ok := s.(source.Compiler)
	if !ok {
		return "", nil
	}
	text, err := compiler.Compile(permit)
	if err != nil || !told {
		return "", err
	}
	return text, nil
}

// Explain returns the database's own query plan for q, with values of rules and its estimates. It is "", and the
// database is not asked, for a caller that may not have the Statement.
func (c *Call) Explain(ctx context.Context, q query.Query) (string, error) {
	permit, s, told, err := c.prepared(q)
	if err != nil {
		return "", err
	}
	explainer, ok := s.(source.Explainer)
	if !ok || !told {
		return "", nil
	}
	return explainer.Explain(ctx, permit)
}

// prepared takes q to where it could be run, and reports whether the caller may see what would run.
func (c *Call) prepared(q query.Query) (policy.Permit, source.Source, bool, error) {
	c.asked(q.From())
	permit, s, err := c.gateway.prepare(c.policy, c.who, q, 0)
	if err != nil {
		return permit, nil, false, err
	}
	plan, err := permit.Plan()
	if err != nil {
		return permit, nil, false, err
	}
	c.from = plan.View.Class().FullName()
	return permit, s, c.who.Has(identity.Explain) || c.policy.SeesAll(c.who, plan.View.Source()), nil
}
