package samples

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// A Repeater calls a function in the background, both on request and regularly. It is safe for concurrent use.
type Repeater struct {
	do     func(ctx context.Context, all bool)
	every  time.Duration
	mu     sync.Mutex
	closed bool
	timer  *time.Timer
	ctx    context.Context // context of the calls
	end    context.CancelFunc
	under  sync.WaitGroup
}

// Repeat returns a Repeater that calls do with all set after each interval every, until End. The intervals vary by a
// tenth, so that replicas don't scan at the same moment.
func Repeat(ctx context.Context, every time.Duration, do func(ctx context.Context, all bool)) *Repeater {
	r := &Repeater{do: do, every: every}
	r.ctx, r.end = context.WithCancel(context.WithoutCancel(ctx))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(r.next(), func() {
		r.Now(true)
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.closed {
			r.timer.Reset(r.next())
		}
	})
	return r
}

// next returns the time until the next call.
func (r *Repeater) next() time.Duration { return r.every*9/10 + rand.N(r.every/5+1) }

// Now starts a call in the background.
func (r *Repeater) Now(all bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.under.Go(func() { r.do(r.ctx, all) })
	}
}

// End stops the calls and waits until no call is running. It does nothing for a nil Repeater.
func (r *Repeater) End() {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	r.timer.Stop()
	r.end()
	r.mu.Unlock()
	r.under.Wait()
}
