package sqldriver

import (
	"context"
	"time"
)

const (
	// maxTime is how long a server lets a statement run whose context has no deadline: the cap of all timeouts (design 03).
	maxTime = 300 * time.Second
	// longestTime is what each server can count to, and more than any call takes.
	longestTime = 7 * 24 * time.Hour
)

// serverTime is how long a server shall let a statement of ctx run, should we not be there to end it: one to two seconds
// beyond the deadline, so that ours comes first. It is in whole seconds: calls of one tool give the same, and a session
// that has it need not be told again.
func serverTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return maxTime
	}
	left := min(max(time.Until(deadline), 0), longestTime)
	return (left + time.Second - 1).Truncate(time.Second) + time.Second
}
