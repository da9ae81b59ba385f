package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The waits between attempts: they double from the first to the longest. A provider that asks for more than patience is
// not waited for.
const (
	firstWait   = time.Second
	longestWait = 20 * time.Second
	patience    = 90 * time.Second
)

// A Retrying is a model that is asked again when a fault is temporary.
type Retrying struct {
	Model
	Attempts int                                        // at most so many. 0 takes 4
	Notice   func(f *Failure, wait time.Duration)       // before each wait: text that came so far counts for nothing. It may be nil
	Sleep    func(context.Context, time.Duration) error // nil takes the clock
}

// Generate implements Model.
func (m Retrying) Generate(ctx context.Context, r Request, text func(string)) (Reply, error) {
	attempts, sleep := m.Attempts, m.Sleep
	if attempts == 0 {
		attempts = 4
	}
	if sleep == nil {
		sleep = pause
	}
	for n := 1; ; n++ {
		reply, err := m.Model.Generate(ctx, r, text)
		f, ok := errors.AsType[*Failure](err)
		if !ok || !f.Temporary || n == attempts || f.RetryAfter > patience {
			return reply, err
		}
		wait := f.RetryAfter
		if wait == 0 {
			wait = min(firstWait<<(n-1), longestWait)
			wait = wait/2 + rand.N(wait/2) // so that many programs don't come back at once
		}
		if m.Notice != nil {
			m.Notice(f, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return Reply{}, err
		}
	}
}

// pause waits for d, or returns why ctx ended.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
