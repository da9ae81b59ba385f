package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// These are the waits between attempts. They double from the first to the longest. If a provider requests a longer
// wait than patience, there are no more attempts.
const (
	firstWait   = time.Second
	longestWait = 20 * time.Second
	patience    = 90 * time.Second
)

// A Retrying is a model that repeats a request after a temporary failure.
type Retrying struct {
	Model
	Attempts int                                        // maximum number of attempts. 0 means 4
	Notice   func(f *Failure, wait time.Duration)       // before each wait. Text received so far must be discarded. May be nil
	Sleep    func(context.Context, time.Duration) error // nil means real waiting
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
			wait = wait/2 + rand.N(wait/2) // so that many programs don't retry at the same time
		}
		if m.Notice != nil {
			m.Notice(f, wait)
		}
		if err := sleep(ctx, wait); err != nil {
			return Reply{}, err
		}
	}
}

// pause waits for d. If ctx ends first, it returns the cause.
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
