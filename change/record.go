package change

import (
	"fmt"
	"slices"

	"github.com/bailiwick-dev/bailiwick/audit"
)

// outcomes maps events to the outcome in their audit records. Other events have audit.OK.
var outcomes = map[EventKind]string{
	EventCreated: audit.Proposed, EventDecided: audit.Approved, EventApproved: audit.Approved, EventRejected: audit.Rejected,
	EventCancelled: audit.Withdrawn, EventExpired: audit.Expired, EventClaimed: audit.Applying, EventSending: audit.Applying,
	EventApplied: audit.Applied, EventFailed: audit.Failed, EventStale: audit.Refused, EventUnknown: audit.Refused,
}

// Record returns the audit record of step n of c, counted from 1. The step must be the last one taken, or one that is
// stored together with the last. It returns nil if the step has no Actor. The record names the principal, the digest
// and the version of the rules.
func (c *Change) Record(n int) *audit.Record {
	step := &c.History[n-1]
	if step.Actor == nil {
		return nil
	}
	r := &audit.Record{Time: step.At, Principal: step.Actor.Principal, Owner: step.Actor.Owner, Tenant: step.Actor.Tenant, TokenID: step.Actor.TokenID,
		Correlation: c.Correlation, Tool: "changes/" + string(step.Event), Outcome: audit.OK, Policy: step.Actor.Policy,
		Credential: step.Actor.Credential, Change: c.ID, Step: fmt.Sprintf("%s:%d", c.ID, n), Digest: step.Digest}
	if outcome, ok := outcomes[step.Event]; ok {
		r.Outcome = outcome
	}
	if len(c.Classes) > 0 {
		r.Class = c.Classes[0]
	}
	switch step.Event {
	case EventDecided, EventApproved:
		r.Kind = c.exception(step.Digest)
	case EventApplied, EventFailed, EventStale, EventUnknown:
		if c.Outcome == nil {
			break
		}
		r.Code, r.Kind = c.Outcome.Code, c.Outcome.Kind
		if r.Outcome == audit.Refused {
			r.Kind = string(step.Event)
		}
		if c.Outcome.Receipt != nil {
			r.Rows = int(c.Outcome.Receipt.Rows)
		}
	}
	return r
}

// Last returns the audit record of the last step of c whose event is one of events, or nil if there is none.
func (c *Change) Last(events ...EventKind) *audit.Record {
	for n := len(c.History); n > 0; n-- {
		if slices.Contains(events, c.History[n-1].Event) {
			return c.Record(n)
		}
	}
	return nil
}

// exception returns the reason why an approval has no second person, for the audit record. It returns "" if it has one.
func (c *Change) exception(digest string) string {
	i := len(c.Decisions) - 1
	switch {
	case i < 0 || c.Decisions[i].Digest != digest:
		return "rule"
	case c.Decisions[i].Broken:
		return "break_glass"
	case c.Decisions[i].Single:
		return "single_operator"
	}
	return ""
}

// actor returns the Actor for a step of p under the rules in force for q.
func (q *Queue) actor(p Party) *Actor {
	return &Actor{Principal: p.Principal, Owner: p.Owner, Tenant: p.Tenant, TokenID: p.TokenID, Policy: q.policy}
}

// Under returns a copy of q whose steps are recorded with this version of the rules. rules are the rules of review in
// force, which say who is in a team.
func (q *Queue) Under(policy string, rules ...Rule) *Queue {
	under := *q
	under.policy, under.rules = policy, rules
	return &under
}
