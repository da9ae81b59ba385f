// Package limit keeps how often and how much at once one asker may ask.
//
// It stands between identity and policy. Rate goes by the owner, so that many tokens of one person are not many
// allowances, and by the token; concurrency goes by the token. It refuses what is over, and it refuses when its
// store can't say.
package limit

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options say what is allowed. The zero of each field is good; a negative Queue lets nobody wait.
type Options struct {
	PerMinute      int // calls per owner; 0 allows 3,000
	Burst          int // calls per owner at once after a rest; 0 allows 500
	TokenPerMinute int // calls per token; 0 allows as many as an owner
	TokenBurst     int // 0 allows as many as an owner
	Concurrency    int // running calls per token, or per owner without one; 0 allows 16
	Queue          int // calls that wait for one of these to end; 0 allows 64

	Store Store            // nil keeps the rates in this process
	Now   func() time.Time // nil takes time.Now; the clock of the rates in this process
}

// A Bucket is one allowance of calls: Burst at once, and one more each Every.
type Bucket struct {
	Key   string
	Every time.Duration
	Burst int
}

// longest is the longest time that a bucket can take to fill, so that no sum of times overflows.
const longest = 10 * 365 * 24 * time.Hour

// A Store keeps the rates where several processes share them.
type Store interface {
	// Take takes one call from every bucket, or from none: then wait is how long until it can, which is more than 0.
	Take(ctx context.Context, buckets []Bucket) (wait time.Duration, err error)
}

// A Limiter lets calls through, or refuses them. It is safe for use by several goroutines.
type Limiter struct {
	owner, token Bucket
	running      int
	waiting      int
	store        Store

	mu    sync.Mutex
	gates map[string]*gate // those with a call running
}

// A gate is the calls of one asker. Calls wait in the order in which they came.
type gate struct {
	running int
	queue   []*turn
}

// A turn is a call that waits; ready is closed when it may run.
type turn struct{ ready chan struct{} }

// New returns a Limiter.
func New(o Options) *Limiter {
	o.PerMinute, o.Burst = cmp.Or(o.PerMinute, 3000), cmp.Or(o.Burst, 500)
	o.TokenPerMinute, o.TokenBurst = cmp.Or(o.TokenPerMinute, o.PerMinute), cmp.Or(o.TokenBurst, o.Burst)
	l := &Limiter{
		owner:   Bucket{Every: time.Minute / time.Duration(max(o.PerMinute, 1)), Burst: o.Burst},
		token:   Bucket{Every: time.Minute / time.Duration(max(o.TokenPerMinute, 1)), Burst: o.TokenBurst},
		running: cmp.Or(o.Concurrency, 16),
		waiting: cmp.Or(o.Queue, 64),
		store:   o.Store,
		gates:   map[string]*gate{},
	}
	for _, b := range []*Bucket{&l.owner, &l.token} {
		b.Burst = min(b.Burst, int(longest/max(b.Every, 1)))
	}
	if l.store == nil {
		l.store = newRates(o.Now)
	}
	return l
}

// Acquire waits until a call of owner with token may run, and refuses it when it may not soon. "" is no token; a
// principal without an owner gives its own ID as owner. The caller calls release when the call has ended; calling
// it again does nothing. The error is problem.RateLimited, or Cancelled or Timeout when ctx ended in the queue.
func (l *Limiter) Acquire(ctx context.Context, owner, token string) (release func(), err error) {
	if err := l.rate(ctx, owner, token); err != nil {
		return nil, err
	}
	key := "o" + owner
	if token != "" {
		key = "t" + token
	}
	g, wait, ok := l.enter(key)
	if !ok {
		return nil, refusal("queue_full", 0, nil)
	}
	if wait != nil {
		select {
		case <-wait.ready:
		case <-ctx.Done():
			l.leave(key, g, wait)
			return nil, ended(ctx)
		}
	}
	var released atomic.Bool
	return func() {
		if !released.Swap(true) {
			l.exit(key, g)
		}
	}, nil
}

// rate takes the call from the allowances of owner and token.
func (l *Limiter) rate(ctx context.Context, owner, token string) error {
	both := [2]Bucket{l.owner, l.token}
	both[0].Key, both[1].Key = "o"+owner, "t"+token
	buckets := both[:]
	if token == "" {
		buckets = both[:1]
	}
	wait, err := l.store.Take(ctx, buckets)
	switch {
	case err != nil && ctx.Err() != nil:
		return ended(ctx)
	case err != nil:
		return refusal("limit_store", 0, err)
	case wait > 0:
		return refusal("rate", wait, nil)
	}
	return nil
}

// refusal is the same to see for each kind. RetryAfter is at least 1 to 5 s, drawn anew each time: so a limit, a full
// queue and a store that fails look alike, and those who are refused together don't come back together.
func refusal(kind string, wait time.Duration, err error) error {
	again := time.Second + rand.N(4*time.Second)
	return &problem.Error{Code: problem.RateLimited, Detail: "Too many calls", Suggestion: "Wait, then send the same call again",
		RetryAfter: (max(wait, again) + time.Millisecond).Truncate(time.Millisecond), Kind: kind, Err: err}
}

func ended(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return &problem.Error{Code: problem.Timeout, Detail: "The time was over before the call could run", Kind: "queue_timeout", Err: ctx.Err()}
	}
	return &problem.Error{Code: problem.Cancelled, Detail: "The call was cancelled", Kind: "queue_cancelled", Err: ctx.Err()}
}

// enter lets a call run (wait is nil), puts it into the queue, or says that the queue is full.
func (l *Limiter) enter(key string) (g *gate, wait *turn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g = l.gates[key]
	if g == nil {
		g = &gate{}
		l.gates[key] = g
	}
	switch {
	case g.running < l.running:
		g.running++
		return g, nil, true
	case len(g.queue) >= l.waiting:
		return nil, nil, false
	}
	wait = &turn{ready: make(chan struct{})}
	g.queue = append(g.queue, wait)
	return g, wait, true
}

// exit ends a call: the next in the queue takes its place, and a gate without calls goes.
func (l *Limiter) exit(key string, g *gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(g.queue) > 0 {
		close(g.queue[0].ready)
		g.queue[0] = nil
		g.queue = g.queue[1:]
		return
	}
	if g.running--; g.running == 0 {
		delete(l.gates, key)
	}
}

// leave takes a call out of the queue; when its turn has come meanwhile, the next one gets it.
func (l *Limiter) leave(key string, g *gate, t *turn) {
	l.mu.Lock()
	for i, other := range g.queue {
		if other == t {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			l.mu.Unlock()
			return
		}
	}
	l.mu.Unlock()
	l.exit(key, g)
}
