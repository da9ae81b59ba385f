package bailiwick

import (
	"context"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/internal/review"
)

// A Reviewer is what people do about changes: each method is a call of its own, admitted by the scope review and a human
// credential, limited and recorded like those of tools. Every door to people uses it, and no tool has it.
//
// Errors are problem.Errors: NotFound for a change that isn't there or that the person may not see, PermissionDenied for
// what the person may not decide (with the reason), Conflict where somebody was faster or the digest is another one.
type Reviewer interface {
	// Queue returns the changes that f asks for as the person sees them, the newest first, and whether there are more.
	Queue(ctx context.Context, f change.Filter) (rows []review.Row, more bool, err error)
	// Counts returns how many changes stand in each state.
	Counts(ctx context.Context, f change.Filter) (map[change.State]int, error)
	// Sheet returns a change with its live checks.
	Sheet(ctx context.Context, id string) (*review.Sheet, error)
	// Approve lets what digest stands for be applied, and waits up to a few seconds for what becomes of it.
	Approve(ctx context.Context, id, digest, comment string) (*review.Sheet, error)
	// BreakGlass approves alone and at once what needs more people or is the person's own agent's: loudly, with a reason.
	BreakGlass(ctx context.Context, id, digest, reason string) (*review.Sheet, error)
	// Reject ends a change for good. The reason reaches the agent.
	Reject(ctx context.Context, id, reason string) (*review.Sheet, error)
	// Comment says something about a change without deciding. It reaches the agent as untrusted text.
	Comment(ctx context.Context, id, text string) (*review.Sheet, error)
	// Renew previews a stale or pending change again: another digest, approvals begin anew.
	Renew(ctx context.Context, id string) (*review.Sheet, error)
	// Revert proposes the change that takes an applied one back.
	Revert(ctx context.Context, id, reason string) (*review.Sheet, error)
	// Settle says what became of a change whose target did not answer.
	Settle(ctx context.Context, id string, applied bool, reason string) (*review.Sheet, error)
	// Events returns what happened to changes that the person sees behind the event with Seq after; Await waits for it.
	Events(ctx context.Context, after int64) ([]change.Event, error)
	Await(ctx context.Context, after int64) error
	// LastEvent returns the Seq of the newest event, where a stream begins that tells of what is to come.
	LastEvent(ctx context.Context) (int64, error)
}
