package bailiwick

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A Reviewer is the operations of people on changes. Each method is a call of its own, admitted by the scope review
// and a human credential, and limited and recorded like calls of tools. Every interface for people uses it; no tool
// does.
//
// Errors are problem.Errors: NotFound for a change that doesn't exist or that the reviewer may not see,
// PermissionDenied for a decision that is not theirs to make (with the reason), Conflict if another decision came
// first or the digest differs.
type Reviewer interface {
	// Queue returns the changes matching f as the reviewer sees them, the newest first, and whether there are more.
	Queue(ctx context.Context, f change.Filter) (rows []review.Row, more bool, err error)
	// Counts returns how many changes matching f are in each state.
	Counts(ctx context.Context, f change.Filter) (map[change.State]int, error)
	// Sheet returns a change with its live checks.
	Sheet(ctx context.Context, id string) (*review.Sheet, error)
	// Value returns a page of a field that a sheet shows in part, or one of its values, and records that the reviewer has
	// opened it: what was never opened can't be approved.
	Value(ctx context.Context, id string, at review.Place) (*review.Whole, error)
	// Approve approves the content that digest identifies, and waits up to a few seconds for the outcome.
	Approve(ctx context.Context, id, digest, comment string) (*review.Sheet, error)
	// BreakGlass approves alone and at once a change that needs more people or was proposed by the reviewer's own
	// agent. It needs a reason, and is recorded as such.
	BreakGlass(ctx context.Context, id, digest, reason string) (*review.Sheet, error)
	// Reject ends a change for good. The agent sees the reason.
	Reject(ctx context.Context, id, reason string) (*review.Sheet, error)
	// Comment adds a comment without deciding. The agent sees it as untrusted text.
	Comment(ctx context.Context, id, text string) (*review.Sheet, error)
	// Renew previews a stale or pending change again: it gets another digest, and approvals start over.
	Renew(ctx context.Context, id string) (*review.Sheet, error)
	// Revert proposes a change that reverts an applied one.
	Revert(ctx context.Context, id, reason string) (*review.Sheet, error)
	// Settle records the outcome of a change whose target did not answer.
	Settle(ctx context.Context, id string, applied bool, reason string) (*review.Sheet, error)
	// Events returns the events after Seq after of changes that the reviewer may see.
	Events(ctx context.Context, after int64) ([]change.Event, error)
	// Await waits for the next such event, or fails when ctx ends.
	Await(ctx context.Context, after int64) error
	// LastEvent returns the Seq of the newest event, from which a stream of new events can start.
	LastEvent(ctx context.Context) (int64, error)
}
