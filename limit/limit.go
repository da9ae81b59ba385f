// Package limit limits the rate, the concurrency and the daily use of calls per owner and token.
//
// It runs after authentication and before policy. Rates and daily budgets apply per owner and per token, so several
// tokens of one person share an allowance. Concurrency applies per token. It refuses calls over a limit, and all calls
// while its stores fail.
package limit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
	"github.com/bailiwick-dev/bailiwick/problem"
)

// Options are the limits. The zero value of each field is usable. A negative Queue disables queueing.
type Options struct {
	PerMinute      int           // calls per owner. 0 means 3,000
	Every          time.Duration // overrides PerMinute: one call per owner in this time, for rates below one a minute
	Burst          int           // calls per owner at once after a rest. 0 means 500
	TokenPerMinute int           // calls per token. 0 means PerMinute
	TokenBurst     int           // calls per token at once. 0 means Burst
	Concurrency    int           // running calls per token, or per owner without one. 0 means the constant Concurrency
	Queue          int           // calls waiting for a running one to end. 0 means 64

	Daily      Use // daily budget of an owner (days in UTC). A field of 0 is unlimited
	TokenDaily Use // daily budget of a token, likewise

	Store  Store            // nil keeps the rates in this process
	Ledger Ledger           // nil keeps the budgets in this process
	Now    func() time.Time // nil means time.Now. The clock of the rates kept in this process, and of the days
}

// An Asker identifies the allowances that a call draws from. A derived principal draws from those of the credential
// it derives from.
type Asker struct {
	Owner string // the human, or the principal's ID if it has none
	Token string // the credential, or ""
	Depth int    // number of derivations between the credential and this principal
}

// A Bucket is an allowance of calls: Burst at once, and one more per Every.
type Bucket struct {
	Key   string // names the allowance. Equal keys share one
	Every time.Duration
	Burst int
}

// Concurrency is the default number of running calls per token.
const Concurrency = 16

// longest is the longest time for a bucket to fill, so that sums of times don't overflow.
const longest = 10 * 365 * 24 * time.Hour

// A Store keeps the rates, shared by several processes.
type Store interface {
	// Take takes one call from every bucket, or from none. If it takes none, wait is the time until it can, greater
	// than 0.
	Take(ctx context.Context, buckets []Bucket) (wait time.Duration, err error)
}

// A Limiter admits calls or refuses them. It is safe for use by several goroutines.
type Limiter struct {
	owner, token Bucket
	running      int
	waiting      int
	store        Store
	budgets      *budgets // nil without budgets

	mu    sync.Mutex
	gates map[string]*gate // those with a call that runs or waits
}

// A gate is the queue of one key. Calls wait in the order of their arrival.
type gate struct {
	*fair.Semaphore
	calls int // those that run or wait
}

// New returns a Limiter with the limits of o.
func New(o Options) *Limiter {
	o.PerMinute, o.Burst = cmp.Or(o.PerMinute, 3000), cmp.Or(o.Burst, 500)
	every := cmp.Or(max(o.Every, 0), time.Minute/time.Duration(max(o.PerMinute, 1)))
	tokenEvery := every
	if o.TokenPerMinute != 0 {
		tokenEvery = max(every, time.Minute/time.Duration(max(o.TokenPerMinute, 1)))
	}
	o.TokenBurst = cmp.Or(o.TokenBurst, o.Burst)
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
	} else {
		l.store = newShares(l.store, o.Now)
	}
	return l
}

// Acquire waits until a call by who may run, or refuses it if that won't be soon. When the call has ended, the caller
// calls release with the use besides the call itself. Further calls of release do nothing. The call counts on the day
// it began: the call itself when it begins, and its use when it ends. So one call may exceed a budget, and the next is
// refused. The error is problem.RateLimited or BudgetExceeded, or Cancelled or Timeout if ctx ended while waiting.
func (l *Limiter) Acquire(ctx context.Context, who Asker) (release func(Use), err error) {
	k := keysOf(who)
	if err := l.rate(ctx, k); err != nil {
		return nil, err
	}
	leave, err := l.enter(ctx, k.gate(who.Depth))
	switch {
	case errors.Is(err, fair.ErrBusy):
		return nil, refusal("queue_full", 0, nil)
	case err != nil:
		return nil, contextError(ctx)
	}
	spend, err := l.budgets.begin(ctx, k)
	if err != nil {
		leave()
		return nil, err
	}
	var released atomic.Bool
	return func(used Use) {
		if !released.Swap(true) {
			spend.end(used)
			leave()
		}
	}, nil
}

// Close writes the pending use of the budgets to the ledger. Later calls are still limited, but their use is no
// longer written.
func (l *Limiter) Close(ctx context.Context) error { return l.budgets.close(ctx) }

// keys are the names of an owner and a token in buckets, gates and accounts.
type keys struct{ owner, token string } // token may be ""

func keysOf(who Asker) keys {
	k := keys{owner: "o" + who.Owner}
	if who.Token != "" {
		k.token = "t" + who.Token
	}
	return k
}

// gate returns the key of the gate a call runs in. A call may wait for a call that it makes as a derived principal.
// With a gate for each depth, no call waits for a place that it holds itself.
func (k keys) gate(depth int) string {
	key := cmp.Or(k.token, k.owner)
	if depth > 0 {
		key = strconv.Itoa(depth) + key
	}
	return key
}

// rate takes the call from the buckets of owner and token.
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
		return contextError(ctx)
	case err != nil:
		return refusal("limit_store", 0, err)
	case wait > 0:
		return refusal("rate", wait, nil)
	}
	return nil
}

// refusal returns the refusal of a call. RetryAfter is at least 1 to 5 s, chosen at random. So a limit, a full queue
// and a failing store look alike, and refused callers don't all come back at once.
func refusal(kind string, wait time.Duration, err error) error {
	again := time.Second + rand.N(4*time.Second)
	return &problem.Error{Code: problem.RateLimited, Detail: "Too many calls", Suggestion: "Wait, then send the same call again",
		RetryAfter: (max(wait, again) + time.Millisecond).Truncate(time.Millisecond), Kind: kind, Err: err}
}

func contextError(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return &problem.Error{Code: problem.Timeout, Detail: "The time was over before the call could run", Kind: "queue_timeout", Err: ctx.Err()}
	}
	return &problem.Error{Code: problem.Cancelled, Detail: "The call was cancelled", Kind: "queue_cancelled", Err: ctx.Err()}
}

// enter waits until a call may run. If it returns no error, the caller calls leave once.
func (l *Limiter) enter(ctx context.Context, key string) (leave func(), err error) {
	l.mu.Lock()
	g := l.gates[key]
	if g == nil {
		n := l.running
		g = &gate{Semaphore: fair.New(fair.Bounds{Slots: n, Tenant: n, Owner: n, Each: n, Queue: l.waiting, Patience: math.MaxInt64})}
		l.gates[key] = g
	}
	g.calls++
	l.mu.Unlock()
	free, err := g.Enter(ctx, fair.Who{})
	if err != nil {
		l.forget(key, g)
		return nil, err
	}
	return func() { free(); l.forget(key, g) }, nil
}

// forget ends a call of a gate, and removes a gate without calls.
func (l *Limiter) forget(key string, g *gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.calls--; g.calls == 0 {
		delete(l.gates, key)
	}
}
