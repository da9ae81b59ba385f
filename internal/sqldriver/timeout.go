package sqldriver

import (
	"context"
	"time"
)

const (
	// MaxTime is how long a server lets a statement run whose context has no deadline: the maximum of all timeouts.
	MaxTime = 300 * time.Second
	// longestTime is the most that every server can count to, and more than any call takes.
	longestTime = 7 * 24 * time.Hour
)

// ServerTime returns how long a server may let a statement of ctx run, in case this process doesn't exist to end it. It
// is one to two seconds beyond the deadline, so that the process comes first. It is in whole seconds, so calls of one
// tool give the same value, and a session that has it needn't be told again.
func ServerTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return MaxTime
	}
	left := min(max(time.Until(deadline), 0), longestTime)
	return (left + time.Second - 1).Truncate(time.Second) + time.Second
}
