package limit_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"pgregory.net/rapid"
)

// A clock moves only when a test calls move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// acquire makes a call whose use is zero.
func acquire(l *limit.Limiter, ctx context.Context, owner, token string) (func(), error) {
	release, err := l.Acquire(ctx, limit.Asker{Owner: owner, Token: token})
	if err != nil {
		return nil, err
	}
	return func() { release(limit.Use{}) }, nil
}

// passed makes n calls and returns how many were admitted.
func passed(t interface{ Fatal(...any) }, l *limit.Limiter, n int, owner, token string) (count int) {
	for range n {
		release, err := acquire(l, context.Background(), owner, token)
		if err == nil {
			release()
			count++
		} else if p := problem.Of(err); p.Code != problem.RateLimited || p.RetryAfter < time.Second {
			t.Fatal(err)
		}
	}
	return count
}

func TestRate(t *testing.T) {
	type step struct {
		wait         time.Duration
		owner, token string
		calls, want  int
	}
	tests := []struct {
		name  string
		o     limit.Options
		steps []step
	}{
		{"the zero Options: 500 at once, then 50 a second", limit.Options{}, []step{
			{0, "ana", "t1", 600, 500}, {time.Second, "ana", "t1", 100, 50}, {19 * time.Millisecond, "ana", "t1", 1, 0},
			{time.Millisecond, "ana", "t1", 2, 1}, {time.Hour, "ana", "t1", 600, 500}}},
		{"tokens of one owner share the owner's", limit.Options{PerMinute: 60, Burst: 10}, []step{
			{0, "ana", "t1", 6, 6}, {0, "ana", "t2", 6, 4}, {0, "bob", "t3", 6, 6}}},
		{"a token has its own", limit.Options{PerMinute: 60, Burst: 10, TokenPerMinute: 60, TokenBurst: 3}, []step{
			{0, "ana", "t1", 6, 3}, {0, "ana", "t2", 6, 3}}},
		{"a call refused for the token costs the owner nothing", limit.Options{PerMinute: 60, Burst: 10, TokenBurst: 1}, []step{
			{0, "ana", "t1", 100, 1}, {0, "ana", "t2", 1, 1}, {0, "ana", "t3", 1, 1}}},
		{"an owner and a token of one name are two", limit.Options{Burst: 2}, []step{
			{0, "x", "", 2, 2}, {0, "y", "x", 2, 2}}},
		{"refused calls don't put the time off", limit.Options{PerMinute: 60, Burst: 1}, []step{
			{0, "ana", "", 1, 1}, {900 * time.Millisecond, "ana", "", 50, 0}, {100 * time.Millisecond, "ana", "", 2, 1}}},
		{"less than one a minute", limit.Options{Every: 12 * time.Minute, Burst: 2}, []step{
			{0, "ana", "t", 9, 2}, {12*time.Minute - 1, "ana", "t", 9, 0}, {1, "ana", "t", 9, 1}}},
		{"more than the default, for a token too", limit.Options{Every: time.Millisecond, Burst: 1}, []step{
			{0, "ana", "t", 9, 1}, {time.Millisecond, "ana", "t", 9, 1}, {time.Millisecond, "ana", "t", 9, 1}}},
		{"a limit without end", limit.Options{PerMinute: 1, Burst: 1 << 62}, []step{{0, "ana", "t", 1000, 1000}}},
		{"a clock that goes back gives nothing", limit.Options{PerMinute: 60, Burst: 1}, []step{
			{0, "ana", "", 1, 1}, {-time.Hour, "ana", "", 1, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			tt.o.Now = c.now
			l := limit.New(tt.o)
			for i, s := range tt.steps {
				c.move(s.wait)
				if got := passed(t, l, s.calls, s.owner, s.token); got != s.want {
					t.Errorf("step %d: %d passed, want %d", i+1, got, s.want)
				}
			}
		})
	}
}

// TestRateBound checks that at most Burst calls pass in any period, plus one per Every. A caller that waits
// RetryAfter must pass.
func TestRateBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute, burst := rapid.IntRange(1, 6000).Draw(t, "per minute"), rapid.IntRange(1, 50).Draw(t, "burst")
		c := newClock()
		l := limit.New(limit.Options{PerMinute: perMinute, Burst: burst, Now: c.now})
		every := time.Minute / time.Duration(perMinute)
		var at []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "calls") {
			c.move(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond / 10)
			release, err := acquire(l, context.Background(), "ana", "t")
			if err != nil {
				continue
			}
			release()
			at = append(at, c.now())
			if first := len(at) - 1 - burst; first >= 0 && at[len(at)-1].Sub(at[first]) < every {
				t.Fatalf("call %d and call %d passed within %v", first+1, len(at), at[len(at)-1].Sub(at[first]))
			}
		}
		for {
			release, err := acquire(l, context.Background(), "ana", "t")
			if err != nil {
				c.move(problem.Of(err).RetryAfter)
				if _, err := acquire(l, context.Background(), "ana", "t"); err != nil {
					t.Fatal("refused after RetryAfter:", err)
				}
				return
			}
			release()
		}
	})
}

// TestClockJumps checks what happens when the clock is set. A clock that is set forward allows no more than a burst.
// After a clock is set back, no caller waits longer than for a burst. Daily budgets are the budgets of the day that
// the clock shows, and they are remembered.
func TestClockJumps(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, jump := range []time.Duration{year, -year, time.Hour, -time.Hour} {
		c := newClock()
		l := limit.New(limit.Options{PerMinute: 60, Burst: 10, Now: c.now})
		if n := passed(t, l, 30, "ana", "t1"); n != 10 {
			t.Fatal("at first", n)
		}
		c.move(jump)
		want := 10
		if jump < 0 {
			want = 0
		}
		if n := passed(t, l, 30, "ana", "t1"); n != want {
			t.Errorf("%v: %d passed at once, want %d", jump, n, want)
		}
		c.move(10 * time.Second)
		if n := passed(t, l, 30, "ana", "t1"); n != 10 {
			t.Errorf("%v: %d passed 10 s later, want 10", jump, n)
		}
	}
	c := newClock()
	l := limit.New(limit.Options{PerMinute: 1e6, Burst: 1e6, Daily: limit.Use{Calls: 3}, Now: c.now})
	defer l.Close(t.Context())
	ask := func() (n int) {
		for range 5 {
			if call(l, limit.Asker{Owner: "ana"}, limit.Use{}) == "" {
				n++
			}
		}
		return n
	}
	for _, step := range []struct {
		move time.Duration
		want int
	}{{0, 3}, {24 * time.Hour, 3}, {-24 * time.Hour, 0}, {-24 * time.Hour, 3}, {48 * time.Hour, 0}} {
		c.move(step.move)
		n := ask()
		if n == 0 { // the bucket of the rate fills again after the clock was set back
			c.move(time.Minute)
			n = ask()
		}
		if n != step.want {
			t.Errorf("on %s: %d calls, want %d", c.now().Format(time.DateOnly), n, step.want)
		}
	}
}

func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Concurrency: 2, Queue: 3})
		ctx, cancel := context.WithCancel(t.Context())
		var releases []func()
		for range 2 {
			release, err := acquire(l, ctx, "ana", "t1")
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		var order []int
		results := make([]error, 3)
		var inner []func()
		for i := range 3 {
			c := ctx
			if i != 1 {
				c = t.Context()
			}
			go func() {
				release, err := acquire(l, c, "ana", "t1")
				if results[i] = err; err == nil {
					order, inner = append(order, i), append(inner, release)
				}
			}()
			synctest.Wait()
		}
		if _, err := acquire(l, t.Context(), "ana", "t1"); problem.Of(err).Kind != "queue_full" {
			t.Error("a fourth one could wait:", err)
		}
		if release, err := acquire(l, t.Context(), "ana", "t2"); err != nil {
			t.Error("another token was held up:", err)
		} else {
			release()
		}
		cancel()
		synctest.Wait()
		if problem.CodeOf(results[1]) != problem.Cancelled {
			t.Error("the second one was cancelled in the queue:", results[1])
		}
		releases[0]()
		releases[0]() // a second release does nothing
		synctest.Wait()
		if fmt.Sprint(order) != "[0]" {
			t.Error("one place, and there run", order)
		}
		releases[1]()
		synctest.Wait()
		if fmt.Sprint(order) != "[0 2]" {
			t.Error("order", order)
		}
		short, cancelShort := context.WithTimeout(t.Context(), time.Second)
		defer cancelShort()
		if _, err := acquire(l, short, "ana", "t1"); problem.CodeOf(err) != problem.Timeout {
			t.Error("timeout in the queue:", err)
		}
		for _, release := range inner {
			release()
		}
		if release, err := acquire(l, t.Context(), "ana", "t1"); err != nil {
			t.Error("all is free again:", err)
		} else {
			release()
		}
	})
}

// TestPlaces checks that only one call gets a free place, however many callers come and go.
func TestPlaces(t *testing.T) {
	l := limit.New(limit.Options{Concurrency: 2, Queue: -1})
	enter := func(owner, token, want string) func() {
		t.Helper()
		release, err := acquire(l, t.Context(), owner, token)
		if got := problem.Of(err); want == "" && err != nil || want != "" && (got == nil || got.Kind != want) {
			t.Fatalf("%v, want %q", err, want)
		}
		return release
	}
	first := enter("ana", "t1", "")
	enter("ana", "t1", "")
	enter("ana", "t1", "queue_full")
	first()
	enter("ana", "t1", "")
	enter("ana", "t1", "queue_full")
	enter("bob", "t2", "") // each token has its own places, whoever its owner is
	// Callers without a token share the places of their owner.
	for _, owner := range []string{"ana", "bob"} {
		enter(owner, "", "")
		enter(owner, "", "")
		enter(owner, "", "queue_full")
	}
}

// TestStorm runs many callers that give up at random. The running calls must never exceed the limit, and at the end
// all places must be free.
func TestStorm(t *testing.T) {
	const most = 4
	l := limit.New(limit.Options{PerMinute: 60e9, Burst: 1 << 30, Concurrency: most, Queue: 1000})
	var running, ran atomic.Int64
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			for j := range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration((i*j)%7)*200*time.Microsecond)
				release, err := acquire(l, ctx, "ana", "t")
				if err == nil {
					if n := running.Add(1); n > most {
						t.Errorf("%d run at once", n)
					}
					runtime.Gosched()
					ran.Add(1)
					running.Add(-1)
					release()
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if ran.Load() == 0 {
		t.Error("nothing ran")
	}
	for range most {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := acquire(l, ctx, "ana", "t"); err != nil {
			t.Error("a place was lost:", err)
		}
	}
}

type broken struct{}

func (broken) Take(context.Context, []limit.Bucket) (time.Duration, error) {
	return 0, errors.New("connection refused")
}

func (broken) Spend(context.Context, []limit.Entry) ([]limit.Use, error) {
	return nil, errors.New("connection refused")
}

// TestRefusalsLookAlike checks that callers see the same error for a failing store, an exceeded limit and a full
// queue.
func TestRefusalsLookAlike(t *testing.T) {
	refuse := []struct {
		kind string
		l    *limit.Limiter
	}{
		{"rate", limit.New(limit.Options{Burst: 1, Now: newClock().now})}, // a clock that doesn't move
		{"queue_full", limit.New(limit.Options{Concurrency: 1, Queue: -1})},
		{"limit_store", limit.New(limit.Options{Store: broken{}})},
		{"limit_store", limit.New(limit.Options{Daily: limit.Use{Calls: 1}, Ledger: broken{}})},
	}
	acquire(refuse[0].l, t.Context(), "ana", "t")
	acquire(refuse[1].l, t.Context(), "ana", "t")
	var first problem.Error
	for _, r := range refuse {
		kind, l := r.kind, r.l
		lo, hi := time.Hour, time.Duration(0)
		for range 300 {
			_, err := acquire(l, t.Context(), "ana", "t")
			p := *problem.Of(err)
			if p.Kind != kind {
				t.Fatalf("kind %q, want %q", p.Kind, kind)
			}
			lo, hi = min(lo, p.RetryAfter), max(hi, p.RetryAfter)
			p.Kind, p.Err, p.RetryAfter = "", nil, 0
			if first.Code == "" {
				first = p
			}
			if fmt.Sprint(p) != fmt.Sprint(first) {
				t.Errorf("%s looks different: %+v, %+v", kind, p, first)
			}
		}
		if lo < time.Second || hi > 5*time.Second+time.Millisecond || hi-lo < 3*time.Second {
			t.Errorf("%s: RetryAfter from %v to %v, want it spread over 1 to 5 s", kind, lo, hi)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	c := newClock()
	l := limit.New(limit.Options{Now: c.now})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 300_000 {
		release, err := acquire(l, t.Context(), fmt.Sprint("owner", i), fmt.Sprint("token", i))
		if err != nil {
			t.Fatal(err)
		}
		release()
		c.move(100 * time.Microsecond) // a key is idle after 20 ms
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(l)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes kept for askers that are gone", grown)
	}
}

// TestMostAskers makes calls of ever new callers within the time of one burst. New callers must be refused at some
// point, and known callers must still pass.
func TestMostAskers(t *testing.T) {
	c := newClock()
	l := limit.New(limit.Options{Now: c.now})
	refused := 0
	for i := range 250_000 {
		refused += 1 - passed(t, l, 1, fmt.Sprint("owner", i), "")
	}
	if refused != 50_000 {
		t.Errorf("%d refused, want 50000", refused)
	}
	if passed(t, l, 1, "owner0", "") != 1 {
		t.Error("a known asker was refused")
	}
	c.move(time.Minute)
	if passed(t, l, 1, "new", "") != 1 {
		t.Error("a new asker was refused when the others were gone")
	}
}

func BenchmarkAcquire(b *testing.B) {
	l := limit.New(limit.Options{PerMinute: 60e9, Burst: 1 << 30})
	b.ReportAllocs()
	for b.Loop() {
		release, err := acquire(l, context.Background(), "ana@example.com", "abcdefghijklmnop")
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}

func BenchmarkAcquireParallel(b *testing.B) {
	l := limit.New(limit.Options{PerMinute: 60e9, Burst: 1 << 30, Concurrency: 1 << 20})
	var n atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		owner := fmt.Sprint("owner", n.Add(1))
		for pb.Next() {
			release, err := acquire(l, context.Background(), owner, owner)
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}
