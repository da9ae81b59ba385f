package sqldriver

import (
	"context"
	"time"
)

const (
	// MaxTime is the server's time limit for a statement whose context has no deadline. It is the maximum of all
	// timeouts.
	MaxTime = 300 * time.Second
	// longestTime is the longest time limit that every server supports. No call takes that long.
	longestTime = 7 * 24 * time.Hour
)

// ServerTime returns the server's time limit for a statement of ctx. The server needs a limit in case this process no
// longer exists to end the statement. It is one to two seconds beyond the deadline, so that the process ends the
// statement first. It is in whole seconds. So calls of one tool have the same value, and a session that already has
// the value needn't be set again.
func ServerTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return MaxTime
	}
	left := min(max(time.Until(deadline), 0), longestTime)
	return (left + time.Second - 1).Truncate(time.Second) + time.Second
}
