// Package writes decides about what is asked to be written: a write.Request becomes a Draft, which a source may try and
// must roll back; an approved change becomes a Permit, under the rules of that moment.
//
// It stands beside package policy's Read: everything that is written is named through the asker's views, as everything
// that is read. A class, field or record outside of them is refused in the bytes of one that doesn't exist. Absence
// refuses: the zero Draft and the zero Permit do, and so does a change whose digest isn't that of what would run.
package writes

import (
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/rules/calls"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// A Draft is writes that policy lets be proposed. A source may try them out to say what they would do, and leaves
// nothing of that. Only this package makes one that works; the zero Draft refuses.
type Draft struct{ plan *Plan }

// A Permit is writes that a person has approved, or a rule lets through, and that policy allows at this moment. Only
// this package makes one that works; the zero Permit refuses.
type Permit struct{ plan *Plan }

// Plan returns what may be tried, or a PermissionDenied problem for the zero Draft. Its lists must not be changed.
func (d Draft) Plan() (Plan, error) { return planned(d.plan) }

// Plan returns what may be written, or a PermissionDenied problem for the zero Permit. Its lists must not be changed.
func (p Permit) Plan() (Plan, error) { return planned(p.plan) }

func planned(p *Plan) (Plan, error) {
	if p == nil {
		return Plan{}, problem.New(problem.PermissionDenied, "no permit")
	}
	return *p, nil
}

// A Plan is writes in the terms of the asker's views: no class is named in it but through a View, and no API but through a
// permit of its own.
type Plan struct {
	Source  string
	Items   []Item // at least one; they run in order, in one transaction
	Version string // the rules that decided

	// Of a Permit alone.
	Change string // the id of the change
	Digest string // its digest, in hex
	Fence  int64  // of the lease that it is applied under
}

// An Item is one write.
type Item struct {
	Op   write.Op
	View *policy.View // of the asker, as get_object sees the class: without the canonical filter; nil for what is on no class

	Key  string        // as asked, for people; "" for a create
	ID   []value.Value // the key of the record, in the order of View.Key(), of the fields' types; nil for a create
	Sets []Set         // in the order of the class; none for a delete

	// What the record was when it was reviewed, and which of its fields must still hold that: of a Permit alone.
	Before    value.Value // an Object by field as change.Effect keeps it; Null for a create
	Concerned []string    // the fields set and the version that the class names; all of Before for a delete

	Write write.Write  // as asked; of a call with what it sends
	Call  calls.Permit // of a call

	policy *policy.Policy
	who    identity.Principal
}

// A Set is a value for a field.
type Set struct {
	Field  *schema.Field
	Value  value.Value // of the field's type, as far as the type tells: an array or object for JSON, Null for null
	Points string      // the class that the value leads to, as the asker addresses it; "" where the field is no pointer that the asker can follow
	Forced bool        // by the rules and not by the asker: the tenant of a new record. It may be of a field that isn't visible
}
