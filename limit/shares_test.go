package limit

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// central is the store of several replicas. It counts its calls.
type central struct {
	*rates
	asked int
	fails error
}

func (c *central) Take(ctx context.Context, buckets []Bucket) (time.Duration, error) {
	c.asked++
	if c.fails != nil {
		return 0, c.fails
	}
	return c.rates.Take(ctx, buckets)
}

// A yard has several replicas that share one store, and a clock of its own.
type yard struct {
	at       time.Time
	store    *central
	replicas []*shares
}

func newYard(replicas int) *yard {
	y := &yard{at: time.Unix(1_700_000_000, 0)}
	now := func() time.Time { return y.at }
	y.store = &central{rates: newRates(now)}
	for range replicas {
		y.replicas = append(y.replicas, newShares(y.store, now))
	}
	return y
}

func buckets(every time.Duration, burst int) []Bucket {
	return []Bucket{{Key: "oann", Every: every, Burst: burst}, {Key: "tone", Every: every, Burst: burst}}
}

// TestSharesSaveTrips checks that a busy replica takes several calls at once from the store.
func TestSharesSaveTrips(t *testing.T) {
	y := newYard(1)
	const calls = 10_000
	for range calls {
		y.at = y.at.Add(5 * time.Millisecond)
		if wait, err := y.replicas[0].Take(t.Context(), buckets(time.Millisecond, 480)); wait != 0 || err != nil {
			t.Fatalf("wait %v, %v", wait, err)
		}
	}
	if y.store.asked > calls/10 {
		t.Errorf("the store was asked %d times for %d calls", y.store.asked, calls)
	}
}

// TestSharesOfSlowCallers checks that a caller that stays below its rate is never refused, however slow it is.
func TestSharesOfSlowCallers(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second} {
		y := newYard(1)
		for n := range 2000 {
			y.at = y.at.Add(every)
			if wait, err := y.replicas[0].Take(t.Context(), buckets(every, 64)); wait != 0 || err != nil {
				t.Fatalf("one call per %v, the %dth: wait %v, %v", every, n, wait, err)
			}
		}
	}
}

// TestSharesTogether checks that all replicas together never admit more calls than the allowance. They must also
// admit nearly as many as the allowance, except for unused calls of their last shares.
func TestSharesTogether(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		y := newYard(1 + random.IntN(4))
		every, burst := time.Duration(1+random.IntN(50))*time.Millisecond, 16*(1+random.IntN(20))
		from, passed := y.at, 0
		for range 4000 {
			y.at = y.at.Add(time.Duration(random.Int64N(int64(every))))
			wait, err := y.replicas[random.IntN(len(y.replicas))].Take(t.Context(), buckets(every, burst))
			if err != nil {
				t.Fatal(err)
			}
			if wait == 0 {
				passed++
			}
			if most := burst + int(y.at.Sub(from)/every); passed > most {
				t.Fatalf("seed %d: %d calls were let through, of %d", seed, passed, most)
			}
		}
		// The calls come faster than the allowance grows. So the calls use up the allowance, except for shares that
		// expired.
		if least := int(y.at.Sub(from)/every) * 9 / 10; passed < least {
			t.Errorf("seed %d: only %d calls were let through, of %d at least", seed, passed, least)
		}
	}
}

// TestSharesEnd checks that shares end: when the clock is set back, after their time, for other buckets, and when the
// store fails.
func TestSharesEnd(t *testing.T) {
	y := newYard(1)
	busy := func() {
		for range 500 {
			y.at = y.at.Add(5 * time.Millisecond)
			y.replicas[0].Take(t.Context(), buckets(time.Millisecond, 480))
		}
		for y.replicas[0].find(buckets(time.Millisecond, 480)).left < 2 {
			y.replicas[0].Take(t.Context(), buckets(time.Millisecond, 480))
		}
	}
	for name, change := range map[string]func() []Bucket{
		"the clock set back": func() []Bucket { y.at = y.at.Add(-time.Hour); return buckets(time.Millisecond, 480) },
		"later":              func() []Bucket { y.at = y.at.Add(2 * shareLife); return buckets(time.Millisecond, 480) },
		"another token": func() []Bucket {
			return []Bucket{buckets(time.Millisecond, 480)[0], {Key: "ttwo", Every: 1, Burst: 480}}
		},
		"a burst without shares": func() []Bucket { return buckets(time.Millisecond, 487) },
		"a name of both":         func() []Bucket { return []Bucket{{Key: "oann4 tone", Every: 1, Burst: 480}} },
	} {
		busy()
		before := y.store.asked
		if _, err := y.replicas[0].Take(t.Context(), change()); err != nil || y.store.asked == before {
			t.Errorf("%s: the store wasn't asked; %v", name, err)
		}
	}
	busy()
	y.store.fails = errors.New("no answer")
	y.at = y.at.Add(shareLife + time.Millisecond)
	if _, err := y.replicas[0].Take(t.Context(), buckets(time.Millisecond, 480)); err == nil {
		t.Error("a call was let through that the store hasn't counted")
	}
}

// TestSharesInParallel uses many callers and many keys at once. No more calls than the burst may pass, and unused
// shares must be dropped.
func TestSharesInParallel(t *testing.T) {
	y := newYard(2)
	y.store.rates.now = func() time.Time { return time.Unix(1_700_000_000, 0) }
	store := &locked{store: y.store}
	var mu sync.Mutex
	passed := 0
	var wg sync.WaitGroup
	for _, one := range y.replicas {
		one.store = store
		for range 8 {
			wg.Go(func() {
				for range 200 {
					if wait, err := one.Take(t.Context(), buckets(time.Hour, 800)); err == nil && wait == 0 {
						mu.Lock()
						passed++
						mu.Unlock()
					}
				}
			})
		}
	}
	wg.Wait()
	if passed > 800 || passed < 800-2*mostShare {
		t.Errorf("%d of 800 calls were let through", passed)
	}
	one := y.replicas[0]
	for n := range 5000 {
		y.at = y.at.Add(time.Second)
		one.find([]Bucket{{Key: "o" + time.Duration(n).String()}})
	}
	if len(one.of) > 2048 {
		t.Errorf("%d shares are kept", len(one.of))
	}
}

type locked struct {
	mu    sync.Mutex
	store Store
}

func (l *locked) Take(ctx context.Context, buckets []Bucket) (time.Duration, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.Take(ctx, buckets)
}
