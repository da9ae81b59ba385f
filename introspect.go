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

// Describe tells operators all that who may see and do under the rules in force: classes with fields, masks and layers,
// the tools of those given, scopes and limits. Values of filters are digests. It is never for agents.
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

// DescribeClass tells operators what who sees of one class, named as "source.Class" or by a bare name; the View is
// empty, and the Verdict says why, when who sees nothing of it.
func (g *Gateway) DescribeClass(p identity.Principal, class string) (policyreport.View, policyreport.Verdict, error) {
	r, err := g.Regime(nil)
	if err != nil {
		return policyreport.View{}, policyreport.Verdict{}, err
	}
	v, verdict := r.DescribeClass(p, class)
	return v, verdict, nil
}

// WouldPermit tells operators whether who could call a tool of those given on a class ("" for none), and else why not
// and which rule decides. Whether a query is right, and what it costs, is not asked.
func (g *Gateway) WouldPermit(p identity.Principal, tools []policyreport.Tool, tool, class string) (policyreport.Verdict, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return policyreport.Verdict{}, err
	}
	return r.WouldPermit(p, tool, class), nil
}

// Views returns the views that who has under the rules in force, ordered by source and name: what tools are
// offered by.
func (g *Gateway) Views(p identity.Principal) []*policy.View { return g.policy.Load().Views(p) }

// Regime returns the rules in force, for operators to ask.
func (g *Gateway) Regime(tools []policyreport.Tool) (*policyreport.Regime, error) {
	return policyreport.Over(g.policy.Load(), tools)
}

// Access tells how the records are got at that q begins with, and whether that would be refused as a scan.
func (c *Call) Access(q query.Query) (policy.Access, error) {
	c.asked(q.From())
	return c.policy.Access(c.who, q)
}

// Statement returns the text of what q would run, with places instead of values, and runs nothing; what would refuse
// q refuses it here. It names what views are made of, so only who has the scope explain, or sees all of the source,
// is told; it is "" for others, and where the source has no such text.
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

// Explain returns how the database would find the records of q, in its own words, with values of rules and its
// estimates. Only who may have the Statement is told: for others nothing is asked, and it is "".
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

// prepared takes q to where it could be run, and tells whether the asker may know what would run.
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
