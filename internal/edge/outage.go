package edge

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// outageInterval is the minimum time between two log lines about a continuing failure.
const outageInterval = time.Minute

// An OutageLog logs the failures of one loop. It is safe for concurrent use.
type OutageLog struct {
	Log   *slog.Logger
	Level slog.Level // level of a failure
	Fails string     // message for a failure
	Works string     // message for the end of the failure
	Now   func() time.Time

	mu     sync.Mutex
	since  time.Time // start of the failure, or zero if the loop works
	logged time.Time
	times  int // number of failures since the last line
}

// Note records the result of one round of the loop. A nil err means that the round succeeded. If err joins several
// errors, Note logs each different line of them once. It logs nothing if ctx has ended.
func (l *OutageLog) Note(ctx context.Context, err error) {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	at := now()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil && l.since.IsZero(), ctx.Err() != nil:
	case err == nil:
		l.Log.InfoContext(ctx, l.Works, "after", at.Sub(l.since).Round(time.Second).String())
		l.since, l.times = time.Time{}, 0
	default:
		first := l.since.IsZero()
		if first {
			l.since = at
		}
		l.times++
		if !first && at.Sub(l.logged) < outageInterval {
			return
		}
		attrs := []slog.Attr{slog.String("error", text(err))}
		if !first {
			attrs = append(attrs, slog.Int("times", l.times))
		}
		l.Log.LogAttrs(ctx, l.Level, l.Fails, attrs...)
		l.logged, l.times = at, 0
	}
}

// text returns the different lines of err, each once.
func text(err error) string {
	var lines []string
	seen := map[string]bool{}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !seen[line] {
			lines = append(lines, line)
		}
		seen[line] = true
	}
	return strings.Join(lines, "; ")
}
