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

// A Draft contains writes that the policy allows to be proposed. A source may run them to find their effects and must
// roll them back. Only this package creates valid Drafts. The zero Draft refuses.
type Draft struct{ plan *Plan }

// A Permit contains writes that a reviewer or a rule has approved and that the policy allows now. Only this package
// creates valid Permits. The zero Permit refuses.
type Permit struct{ plan *Plan }

// Plan returns the plan to try, or a PermissionDenied error for the zero Draft. The caller must not change its lists.
func (d Draft) Plan() (Plan, error) { return planOrRefuse(d.plan) }

// Plan returns the plan to write, or a PermissionDenied error for the zero Permit. The caller must not change its
// lists.
func (p Permit) Plan() (Plan, error) { return planOrRefuse(p.plan) }

// WithRecorder returns a copy of p whose Plan.Reached is the function reached.
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

// A Plan contains writes, expressed through the principal's views. It refers to classes only through Views, and to
// APIs only through permits for their calls.
type Plan struct {
	Source  string
	Items   []Item // at least one. The items run in order, in one transaction
	Version string // the version of the rules that decided

	// The following fields are set only in a Permit.
	Change string // the id of the change
	Digest string // the digest of the change, in hex
	Fence  int64  // the fencing token of the lease under which it is applied

	// Reached records how many of several calls were made before the next call is sent. For each call that creates a
	// record, it also records how many matching records already existed (see change.Lease.Had). After an error no
	// further call is sent, and the next executor ends the change. If Reached is nil, several calls are not made.
	Reached func(ctx context.Context, done change.Receipt, had []int) error
}

// An Item is one write.
type Item struct {
	Op   write.Op
	View *policy.View // the principal's view without the canonical filter. Nil if the write is not on a class

	Key  string        // as the caller wrote it, for people, or "" for a create
	ID   []value.Value // the key of the record, converted to the types of View.Key() and in its order. Nil for a create
	Sets []Set         // in the order of the class. Empty for a delete

	// The reviewed record and the fields that must not have changed since. Set only in a Permit.
	Before    value.Value   // an Object by field, as in change.Effect, or Null for a create
	Concerned []string      // the set fields and the version field of the class. For a delete, all fields of Before
	Reviewed  change.Effect // the whole effect that was reviewed

	Write write.Write  // as given. A call also contains the request that it sends
	Call  calls.Permit // for a call

	at     string // the pointer of the write in the request, or "" if it is the only write
	policy *policy.Policy
	who    identity.Principal
}

// A Set is a value for a field.
type Set struct {
	Field  *schema.Field
	Value  value.Value     // converted to the field's type: an array or object for JSON, Null for null
	Points policy.Relation // the relation of a pointer field. Zero if the principal can't follow it
	Forced bool            // set by the rules, such as the tenant of a new record. The field may be hidden
	From   *Made           // the source of Value once an earlier item has run. Nil if Value is known
}
