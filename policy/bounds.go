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

// Bounds are the maximum numbers of costly parts in one query: joins and lookups, window functions, set operations and
// grouping sets, and sub-queries in expressions. A part counts each time that it is read. 0 means the default of
// Filled.
type Bounds struct{ Joins, Windows, Sets, Queries int }

// WithDefaults returns b with the defaults filled in: 20 joins, 50 windows, 40 sets and 40 sub-queries.
func (b Bounds) WithDefaults() Bounds {
	f := plan.Bounds{Joins: b.Joins, Windows: b.Windows, Sets: b.Sets, Queries: b.Queries}.WithDefaults()
	return Bounds{f.Joins, f.Windows, f.Sets, f.Queries}
}

// An AgentBound narrows the bounds of queries for some principals. A field that is 0 has no effect.
type AgentBound struct {
	When   string // the principals: a CEL condition over principal
	Bounds Bounds
	Time   time.Duration // the maximum time of a tool that reads data
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

// boundsOf returns the bounds of principal's queries and their maximum time. 0 means no special limit on time. It uses
// the smallest bound of all entries whose condition is true for the principal or one of its ancestors. If a condition
// can't be evaluated, it returns a refusal.
func (p *Policy) boundsOf(principal identity.Principal) (plan.Bounds, time.Duration, error) {
	own := p.rules.Bounds
	out := plan.Bounds{Joins: own.Joins, Windows: own.Windows, Sets: own.Sets, Queries: own.Queries}
	var most time.Duration
	for i, b := range p.rules.AgentBounds {
		holds, err := holdsInLine(p.bounded[i], principal)
		if err != nil {
			return out, 0, &problem.Error{Code: problem.PermissionDenied, Kind: "agent_bounds", Detail: "your queries are refused: what they may cost can't be computed for you",
				Suggestion: "Tell the owner. The log names the expression in limits.statements.agents that fails", Err: problem.LoggableError(fmt.Sprintf("limits.statements.agents.%d.when: %v", i, err))}
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

// holdsInLine reports whether a condition is true for principal or one of its ancestors. So a sub-principal has at
// least the bounds of its parent.
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

// TimeOf returns the maximum time of a tool that reads data for principal. 0 means that only the tool's own limit
// applies. It fails if a condition of Rules.AgentBounds can't be evaluated.
func (p *Policy) TimeOf(principal identity.Principal) (time.Duration, error) {
	_, most, err := p.boundsOf(principal)
	return most, err
}
