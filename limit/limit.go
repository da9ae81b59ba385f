// Package limit keeps how often, how much at once and how much a day one asker may ask.
//
// It stands between identity and policy. Rates and daily budgets go by the owner, so that many tokens of one person
// are not many allowances, and by the token; concurrency goes by the token. It refuses what is over, and it refuses
// when its stores can't say.
package limit

import (
	"cmp"
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options say what is allowed. The zero of each field is good; a negative Queue lets nobody wait.
type Options struct {
	PerMinute      int           // calls per owner; 0 allows 3,000
	Every          time.Duration // in place of PerMinute: one call per owner each, for rates below one a minute
	Burst          int           // calls per owner at once after a rest; 0 allows 500
	TokenPerMinute int           // calls per token; 0 allows as many as an owner
	TokenBurst     int           // 0 allows as many as an owner
	Concurrency    int           // running calls per token, or per owner without one; 0 allows Concurrency
	Queue          int           // calls that wait for one of these to end; 0 allows 64

	Daily      Use // the most that an owner may use on a day of UTC; a field of 0 bounds nothing
	TokenDaily Use // the most that a token may use on a day of UTC, likewise

	Store  Store            // nil keeps the rates in this process
	Ledger Ledger           // nil keeps what was used of the budgets in this process
	Now    func() time.Time // nil takes time.Now; the clock of the rates in this process, and of the days
}

// An Asker is whose allowances a call draws from. One who was derived from another draws from the other's: Owner and
// Token are those of the credential that all began with.
type Asker struct {
	Owner string // the human; an asker without one gives its own ID
	Token string // the credential; "" for none
	Depth int    // how many were derived between the credential and this one
}

// A Bucket is one allowance of calls: Burst at once, and one more each Every.
type Bucket struct {
	Key   string
	Every time.Duration
	Burst int
}

// Concurrency is how many calls of a token run at a time when Options name no other number.
const Concurrency = 16

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
	budgets      *budgets // nil for none

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
	every, tokenEvery := time.Minute/time.Duration(max(o.PerMinute, 1)), time.Minute/time.Duration(max(o.TokenPerMinute, 1))
	if o.Every > 0 {
		every, tokenEvery = o.Every, max(o.Every, tokenEvery)
	}
	l := &Limiter{
		owner:   Bucket{Every: every, Burst: o.Burst},
		token:   Bucket{Every: tokenEvery, Burst: o.TokenBurst},
		running: cmp.Or(o.Concurrency, Concurrency),
		waiting: cmp.Or(o.Queue, 64),
		store:   o.Store,
		budgets: newBudgets(o),
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

// Acquire waits until a call of who may run, and refuses it when it may not soon. The caller calls release with what
// the call has used beside itself when it has ended; calling it again does nothing. A call is counted when it begins
// and its use when it ends, on the day on which it began: so one call may go over a budget, and the next is refused.
// The error is problem.RateLimited or BudgetExceeded, or Cancelled or Timeout when ctx ended while it waited.
func (l *Limiter) Acquire(ctx context.Context, who Asker) (release func(Use), err error) {
	k := keysOf(who)
	if err := l.rate(ctx, k); err != nil {
		return nil, err
	}
	key := k.gate(who.Depth)
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
	spend, err := l.budgets.begin(ctx, k)
	if err != nil {
		l.exit(key, g)
		return nil, err
	}
	var released atomic.Bool
	return func(used Use) {
		if !released.Swap(true) {
			spend.end(used)
			l.exit(key, g)
		}
	}, nil
}

// Close stores what is still to be stored of the budgets. Later calls are still limited, but what they use is no
// longer stored.
func (l *Limiter) Close(ctx context.Context) error { return l.budgets.close(ctx) }

// keys are what an asker is called in buckets, gates and accounts.
type keys struct{ owner, token string } // token is "" for none

func keysOf(who Asker) keys {
	k := keys{owner: "o" + who.Owner}
	if who.Token != "" {
		k.token = "t" + who.Token
	}
	return k
}

// gate returns whose places a call runs in. A call may wait for one that it makes as a principal derived from its own;
// so each generation has places of its own, and no call waits for a place that it holds itself.
func (k keys) gate(depth int) string {
	key := cmp.Or(k.token, k.owner)
	if depth > 0 {
		key = strconv.Itoa(depth) + key
	}
	return key
}

// rate takes the call from the allowances of owner and token.
func (l *Limiter) rate(ctx context.Context, k keys) error {
	both := [2]Bucket{l.owner, l.token}
	both[0].Key, both[1].Key = k.owner, k.token
	buckets := both[:]
	if k.token == "" {
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
// A budget of which nothing can be learned is refused likewise.
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
