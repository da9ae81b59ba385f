package writes

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/openapi/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Draft holds writes that policy allows to be proposed. A source may try them out to find their effects, and must
// roll them back. Only this package makes a usable one. The zero Draft refuses.
type Draft struct{ plan *Plan }

// A Permit holds writes that a reviewer or a rule has approved, and that policy allows at this moment. Only this
// package makes a usable one. The zero Permit refuses.
type Permit struct{ plan *Plan }

// Plan returns the plan to try, or a PermissionDenied error for the zero Draft. The caller must not change its lists.
func (d Draft) Plan() (Plan, error) { return planOrRefuse(d.plan) }

// Plan returns the plan to write, or a PermissionDenied error for the zero Permit. The caller must not change its
// lists.
func (p Permit) Plan() (Plan, error) { return planOrRefuse(p.plan) }

// WithRecorder returns a copy of p with reached as Plan.Reached.
func (p Permit) WithRecorder(reached func(ctx context.Context, done change.Receipt, had []int) error) Permit {
	if p.plan == nil {
		return p
	}
	plan := *p.plan
	plan.Reached = reached
	return Permit{&plan}
}

func planOrRefuse(p *Plan) (Plan, error) {
	if p == nil {
		return Plan{}, problem.New(problem.PermissionDenied, "no permit")
	}
	return *p, nil
}

// A Plan holds writes in terms of the principal's views. It refers to classes only through Views, and to APIs only
// through permits for their calls.
type Plan struct {
	Source  string
	Items   []Item // at least one. They run in order, in one transaction
	Version string // the version of the rules that decided

	// Only in a Permit.
	Change string // the id of the change
	Digest string // its digest, in hex
	Fence  int64  // the fencing token of the lease under which it is applied

	// Reached records which of several calls were made, and had, see change.Lease, before the next one is sent. After an error no more is sent, and
	// the next executor ends the change. Nil if nothing can record it, and then several calls are not made.
	Reached func(ctx context.Context, done change.Receipt, had []int) error
}

// An Item is one write.
type Item struct {
	Op   write.Op
	View *policy.View // the principal's view, without the canonical filter, or nil if the write is not on a class

	Key  string        // as given, for people, or "" for a create
	ID   []value.Value // the key of the record, in the order of View.Key(), of the fields' types, or nil for a create
	Sets []Set         // in the order of the class, or none for a delete

	// The record as it was reviewed, and the fields that must not have changed since. Only in a Permit.
	Before    value.Value   // an Object by field, as in change.Effect, or Null for a create
	Concerned []string      // the fields set and the version field of the class, or all of Before for a delete
	Reviewed  change.Effect // all that was reviewed of it

	Write write.Write  // as given. For a call, with the request that it sends
	Call  calls.Permit // for a call

	at     string // the pointer of the write in the request, or "" for the only one
	policy *policy.Policy
	who    identity.Principal
}

// A Set is a value for a field.
type Set struct {
	Field  *schema.Field
	Value  value.Value     // of the field's type, as far as the type determines it: an array or object for JSON, Null for null
	Points policy.Relation // the pointer that the field is, or zero if it is none that the principal can follow
	Forced bool            // set by the rules, not by the principal: the tenant of a new record. The field may be hidden
	From   *Made           // where Value comes from once an earlier item has run, or nil for a value that is known
}
