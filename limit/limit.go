// Package limit limits the rate, the concurrency and the daily use of calls per owner and token.
//
// The limits apply after authentication and before policy. Rates and daily budgets apply per owner and per token, so
// several tokens of one person share an allowance. Concurrency applies per token. The package refuses calls over a
// limit, and all calls while its stores fail.
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
	PerMinute      int           // calls of an owner. 0 means 3,000
	Every          time.Duration // time between calls of an owner. Replaces PerMinute for rates below one per minute
	Burst          int           // calls of an owner at once after a rest. 0 means 500
	TokenPerMinute int           // calls of a token. 0 means PerMinute
	TokenBurst     int           // calls of a token at once. 0 means Burst
	Concurrency    int           // running calls of a token, or of an owner if calls have no token. 0 means 16
	Queue          int           // maximum number of calls that wait for a running call to end. 0 means 64

	Daily      Use // daily budget of an owner (days in UTC). A zero field is unlimited
	TokenDaily Use // daily budget of a token, with the same rules

	Store  Store            // nil keeps the rates in this process only
	Ledger Ledger           // nil keeps the budgets in this process only
	Now    func() time.Time // nil means time.Now. The clock for days, and for rates that are kept in this process
}

// An Asker identifies the allowances that a call uses. A derived principal uses the allowances of its original
// credential.
type Asker struct {
	Owner string // the human, or the principal's ID if it has none
	Token string // the credential, or "" if there is none
	Depth int    // number of derivations between the credential and the principal
}

// A Bucket is an allowance of calls: Burst calls at once, and one more call per Every.
type Bucket struct {
	Key   string // name of the allowance. Buckets with the same key share one allowance
	Every time.Duration
	Burst int
}

// Concurrency is the default number of running calls per token.
const Concurrency = 16

// longest is the maximum time for a bucket to fill. It keeps sums of times from overflowing.
const longest = 10 * 365 * 24 * time.Hour

// A Store keeps the rates. Several processes can share it.
type Store interface {
	// Take takes one call from every bucket, or from none. If it takes none, wait is the time until the call can
	// pass, and is greater than 0.
	Take(ctx context.Context, buckets []Bucket) (wait time.Duration, err error)
}

// A Limiter admits or refuses calls. It is safe for concurrent use.
type Limiter struct {
	owner, token Bucket
	running      int
	waiting      int
	store        Store
	budgets      *budgets // nil if there are no daily limits

	mu    sync.Mutex
	gates map[string]*gate // the gates that have a running or waiting call
}

// A gate is the queue of one key. Calls wait in the order of their arrival.
type gate struct {
	*fair.Semaphore
	calls int // calls that run or wait
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

// Acquire waits until a call by who may run. It refuses the call if it would have to wait too long. When the call has
// ended, the caller calls release with the use of the call, not counting the call itself. Further calls of release do
// nothing.
//
// Both the call and its use count on the day on which the call began. The call counts at the beginning and the use at
// the end. So one call may exceed a budget, and the next one is refused. The error is problem.RateLimited or
// BudgetExceeded, or Cancelled or Timeout if ctx ended while the call waited.
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

// Close writes the pending use of the budgets to the ledger. The Limiter still limits later calls, but no longer
// writes their use.
func (l *Limiter) Close(ctx context.Context) error { return l.budgets.close(ctx) }

// keys contains the names of an owner and a token in buckets, gates and accounts.
type keys struct{ owner, token string } // the token may be ""

func keysOf(who Asker) keys {
	k := keys{owner: "o" + who.Owner}
	if who.Token != "" {
		k.token = "t" + who.Token
	}
	return k
}

// gate returns the key of the gate of a call. A call may wait for another call that it makes as a derived principal.
// Each depth of derivation has its own gate, so no call waits for its own place.
func (k keys) gate(depth int) string {
	key := cmp.Or(k.token, k.owner)
	if depth > 0 {
		key = strconv.Itoa(depth) + key
	}
	return key
}

// rate takes the call from the buckets of its owner and token.
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

// refusal returns the error for a refused call. RetryAfter is at least 1 to 5 s, chosen at random. So an exceeded
// limit, a full queue and a failing store look alike, and callers don't all return at once.
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

// enter waits until a call may run. If it returns no error, the caller must call leave once.
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

// forget ends a call of the gate g. It removes the gate if it has no other calls.
func (l *Limiter) forget(key string, g *gate) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if g.calls--; g.calls == 0 {
		delete(l.gates, key)
	}
}
