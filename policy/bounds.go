package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/expression"
	"github.com/bailiwick-dev/bailiwick/internal/plan"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Bounds are the most of each costly part that one query may have: joins and lookups, window functions, set operations and grouping sets, and
// sub-queries in expressions. Each counts as often as it is read. 0 means the default of Filled.
type Bounds struct{ Joins, Windows, Sets, Queries int }

// Filled returns b with the defaults filled in: 20 joins, 50 windows, 40 sets and 40 sub-queries.
func (b Bounds) Filled() Bounds {
	f := plan.Bounds{Joins: b.Joins, Windows: b.Windows, Sets: b.Sets, Queries: b.Queries}.Filled()
	return Bounds{f.Joins, f.Windows, f.Sets, f.Queries}
}

// An AgentBound narrows what one query of some principals may cost. A field that is 0 narrows nothing.
type AgentBound struct {
	When   string // the principals: a CEL condition over principal
	Bounds Bounds
	Time   time.Duration // the longest that a tool that reads data may take
}

// compileBounds compiles the conditions of Rules.AgentBounds.
func (p *Policy) compileBounds() error {
	var errs []error
	for i, b := range p.rules.AgentBounds {
		e, err := p.expressions.Compile(b.When, expression.Bool)
		if err != nil {
			errs = append(errs, fmt.Errorf("limits.statements.agents.%d.when: %w", i, err))
		}
		p.bounded = append(p.bounded, e)
	}
	return errors.Join(errs...)
}

// boundsOf returns what a query of principal may cost, and the longest that it may take. 0 means no own bound on time. The smallest bound
// of all entries that hold for the principal, or for one that it derives from, wins. If a condition can't be evaluated, the query is refused.
func (p *Policy) boundsOf(principal identity.Principal) (plan.Bounds, time.Duration, error) {
	own := p.rules.Bounds
	out := plan.Bounds{Joins: own.Joins, Windows: own.Windows, Sets: own.Sets, Queries: own.Queries}
	var most time.Duration
	for i, b := range p.rules.AgentBounds {
		holds, err := holdsInLine(p.bounded[i], principal)
		if err != nil {
			return out, 0, &problem.Error{Code: problem.PermissionDenied, Kind: "agent_bounds", Detail: "your queries are refused: what they may cost can't be computed for you",
				Suggestion: "Tell the owner. The log names the expression in limits.statements.agents that fails", Err: problem.Said(fmt.Sprintf("limits.statements.agents.%d.when: %v", i, err))}
		}
		if !holds {
			continue
		}
		out = out.Narrow(plan.Bounds{Joins: b.Bounds.Joins, Windows: b.Bounds.Windows, Sets: b.Bounds.Sets, Queries: b.Bounds.Queries})
		if b.Time > 0 && (most == 0 || b.Time < most) {
			most = b.Time
		}
	}
	return out, most, nil
}

// holdsInLine reports whether a condition holds for principal or for one that it derives from, so that a sub-principal isn't less bounded.
func holdsInLine(e *expression.Expression, principal identity.Principal) (bool, error) {
	for g := range principal.Line() {
		v, err := e.Eval(g)
		if err != nil {
			return false, err
		}
		if v.Bool() {
			return true, nil
		}
	}
	return false, nil
}

// TimeOf returns the longest that a tool that reads data may take for principal. 0 means only the tool's bound. It fails if a condition
// of Rules.AgentBounds can't be evaluated.
func (p *Policy) TimeOf(principal identity.Principal) (time.Duration, error) {
	_, most, err := p.boundsOf(principal)
	return most, err
}
