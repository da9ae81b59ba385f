package change

import (
	"errors"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// ErrFenced is what a target says to an executor whose lease has gone to another.
var ErrFenced = errors.New("change: another executor holds the lease")

// ErrUnknown is in what a target says when it can't tell whether a change was carried out.
var ErrUnknown = errors.New("change: the outcome isn't known")

// A Moved is what a target says when a record isn't any more what was reviewed. Nothing was written.
type Moved struct {
	Now []Effect // the records as they are, in Before; Null where there is none
}

// Error names no value.
func (*Moved) Error() string { return "change: a record is no longer what was reviewed" }

// An Approved is a change that people have let through, or a rule, and whose lease somebody holds. Only a Queue makes one
// that works; the zero Approved refuses.
type Approved struct{ change *Change }

// Change returns what was approved, or a PermissionDenied problem for the zero Approved. It must not be changed.
func (a Approved) Change() (*Change, error) {
	if a.change == nil {
		return nil, problem.New(problem.PermissionDenied, "no approval")
	}
	return a.change, nil
}
