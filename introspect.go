package bailiwick

import (
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/policyreport"
	"github.com/bailiwick-dev/bailiwick/policy"
)

// Describe tells operators all that who may see and do under the rules in force: classes with fields, masks and layers,
// the tools of those given, scopes and limits. Values of filters are digests. It is never for agents.
func (g *Gateway) Describe(who identity.Principal, tools []policyreport.Tool) (policyreport.Description, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return policyreport.Description{}, err
	}
	d := r.Describe(who)
	o := g.options.Limits
	d.Limits = &policyreport.Limits{PerMinute: float64(o.PerMinute), Burst: o.Burst, Concurrency: o.Concurrency}
	if o.Every > 0 {
		d.Limits.PerMinute = float64(time.Minute) / float64(o.Every)
	}
	return d, nil
}

// DescribeClass tells operators what who sees of one class, named as "source.Class" or by a bare name; the View is
// empty, and the Verdict says why, when who sees nothing of it.
func (g *Gateway) DescribeClass(who identity.Principal, class string) (policyreport.View, policyreport.Verdict, error) {
	r, err := g.Regime(nil)
	if err != nil {
		return policyreport.View{}, policyreport.Verdict{}, err
	}
	v, verdict := r.DescribeClass(who, class)
	return v, verdict, nil
}

// WouldPermit tells operators whether who could call a tool of those given on a class ("" for none), and else why not
// and which rule decides. Whether a query is right, and what it costs, is not asked.
func (g *Gateway) WouldPermit(who identity.Principal, tools []policyreport.Tool, tool, class string) (policyreport.Verdict, error) {
	r, err := g.Regime(tools)
	if err != nil {
		return policyreport.Verdict{}, err
	}
	return r.WouldPermit(who, tool, class), nil
}

// Views returns the views that who has under the rules in force, ordered by source and name: what tools are
// offered by.
func (g *Gateway) Views(who identity.Principal) []*policy.View { return g.policy.Load().Views(who) }

// Regime returns the rules in force, for operators to ask.
func (g *Gateway) Regime(tools []policyreport.Tool) (*policyreport.Regime, error) {
	return policyreport.Over(g.policy.Load(), tools)
}
