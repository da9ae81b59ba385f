package change

import (
	"errors"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// ErrFenced is a target's refusal of an executor whose lease has passed to another.
var ErrFenced = errors.New("change: another executor holds the lease")

// ErrUnknown is in a target's error if it can't determine whether a change was applied.
var ErrUnknown = errors.New("change: the outcome isn't known")

// A Moved is a target's error if a record differs from the reviewed one. Nothing was written.
type Moved struct {
	Now []Effect // the current records, in Before, or Null for a missing one
}

// Error returns a text without values of the record.
func (*Moved) Error() string { return "change: a record is no longer what was reviewed" }

// An Approved is a change that people or a rule have approved, and whose lease the caller holds. Only a Queue makes a
// valid Approved. The zero Approved is refused.
type Approved struct{ change *Change }

// Change returns the approved change, which must not be modified, or a problem.PermissionDenied for the zero
// Approved.
func (a Approved) Change() (*Change, error) {
	if a.change == nil {
		return nil, problem.New(problem.PermissionDenied, "no approval")
	}
	return a.change, nil
}
