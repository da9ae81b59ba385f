package limit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"pgregory.net/rapid"
)

// A book is a Ledger in memory. Several limiters can share it, and a test can make it fail.
type book struct {
	mu     sync.Mutex
	spent  map[limit.Account]limit.Use
	asked  int
	broken error
	after  bool // it fails only after writing, so that the use is counted
}

func newBook() *book { return &book{spent: map[limit.Account]limit.Use{}} }

func (b *book) Spend(_ context.Context, entries []limit.Entry) ([]limit.Use, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if b.broken != nil && !b.after {
		return nil, b.broken
	}
	out := make([]limit.Use, len(entries))
	for i, e := range entries {
		b.spent[e.Account] = b.spent[e.Account].Plus(e.Use)
		out[i] = b.spent[e.Account]
	}
	if b.broken != nil {
		return nil, b.broken
	}
	return out, nil
}

func (b *book) breaks(err error, after bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken, b.after = err, after
}

// times returns the number of calls of Spend.
func (b *book) times() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// tells returns the content of the book as sorted text without zeros: "2026-07-28 oana 1 calls 2 rows …".
func (b *book) tells() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for a, u := range b.spent {
		line := fmt.Sprint(a.Day, " ", a.Key)
		for i, n := range []int64{u.Calls, u.Rows, u.Bytes, u.Tokens, u.Cost} {
			if n != 0 {
				line += fmt.Sprint(" ", n, " ", []string{"calls", "rows", "bytes", "tokens", "cost"}[i])
			}
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

var ana = limit.Asker{Owner: "ana", Token: "t1"}

// call makes a call with the use u. It returns the kind of the refusal, or "".
func call(l *limit.Limiter, who limit.Asker, u limit.Use) string {
	release, err := l.Acquire(context.Background(), who)
	if err != nil {
		p := problem.Of(err)
		return string(p.Code) + " " + p.Kind
	}
	release(u)
	return ""
}

func TestBudgets(t *testing.T) {
	type step struct {
		wait  time.Duration
		who   limit.Asker
		calls int
		use   limit.Use // of each call
		want  int       // number of calls that are admitted
		kind  string    // kind of the first refusal
	}
	bob := limit.Asker{Owner: "bob", Token: "t9"}
	second := limit.Asker{Owner: "ana", Token: "t2"}
	for _, tt := range []struct {
		name  string
		o     limit.Options
		steps []step
	}{
		{"none", limit.Options{}, []step{{0, ana, 400, limit.Use{Rows: math.MaxInt64}, 400, ""}}},
		{"calls of an owner, by all tokens", limit.Options{Daily: limit.Use{Calls: 5}}, []step{
			{0, ana, 3, limit.Use{}, 3, ""}, {0, second, 3, limit.Use{}, 2, "budget_exceeded owner_daily_calls"}, {0, bob, 3, limit.Use{}, 3, ""}}},
		{"calls of a token", limit.Options{TokenDaily: limit.Use{Calls: 2}}, []step{
			{0, ana, 3, limit.Use{}, 2, "budget_exceeded token_daily_calls"}, {0, second, 2, limit.Use{}, 2, ""},
			{0, limit.Asker{Owner: "ana"}, 9, limit.Use{}, 9, ""}}},
		{"both", limit.Options{Daily: limit.Use{Calls: 3}, TokenDaily: limit.Use{Calls: 2}}, []step{
			{0, ana, 3, limit.Use{}, 2, "budget_exceeded token_daily_calls"}, {0, second, 3, limit.Use{}, 1, "budget_exceeded owner_daily_calls"}}},
		{"one call may go over", limit.Options{Daily: limit.Use{Rows: 10}}, []step{
			{0, ana, 9, limit.Use{Rows: 9}, 2, "budget_exceeded owner_daily_rows"}}},
		{"bytes", limit.Options{Daily: limit.Use{Bytes: 10}}, []step{{0, ana, 9, limit.Use{Bytes: 5}, 2, "budget_exceeded owner_daily_bytes"}}},
		{"tokens", limit.Options{Daily: limit.Use{Tokens: 10}}, []step{{0, ana, 9, limit.Use{Tokens: 10, Rows: 1}, 1, "budget_exceeded owner_daily_tokens"}}},
		{"cost", limit.Options{TokenDaily: limit.Use{Cost: 10}}, []step{{0, ana, 9, limit.Use{Cost: 4}, 3, "budget_exceeded token_daily_cost"}}},
		{"more than can be counted", limit.Options{Daily: limit.Use{Bytes: math.MaxInt64}}, []step{
			{0, ana, 9, limit.Use{Bytes: math.MaxInt64 - 1, Rows: math.MaxInt64}, 2, "budget_exceeded owner_daily_bytes"}}},
		{"a derived one draws from the one it came from", limit.Options{Daily: limit.Use{Calls: 5}, TokenDaily: limit.Use{Calls: 3}}, []step{
			{0, limit.Asker{Owner: "ana", Token: "t1", Depth: 1}, 2, limit.Use{}, 2, ""}, {0, ana, 2, limit.Use{}, 1, "budget_exceeded token_daily_calls"}}},
		{"refused calls cost nothing", limit.Options{Daily: limit.Use{Calls: 4}, TokenDaily: limit.Use{Calls: 2}}, []step{
			{0, ana, 100, limit.Use{}, 2, "budget_exceeded token_daily_calls"}, {0, second, 2, limit.Use{}, 2, ""}}},
		{"the next day", limit.Options{Daily: limit.Use{Calls: 2}}, []step{
			{0, ana, 3, limit.Use{}, 2, "budget_exceeded owner_daily_calls"},
			{11*time.Hour + 59*time.Minute + 59*time.Second, ana, 1, limit.Use{}, 0, "budget_exceeded owner_daily_calls"},
			{time.Second, ana, 3, limit.Use{}, 2, "budget_exceeded owner_daily_calls"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClock()
			tt.o.Now = c.now
			l := limit.New(tt.o)
			defer l.Close(t.Context())
			for i, s := range tt.steps {
				c.move(s.wait)
				passed, kind := 0, ""
				for range s.calls {
					if refused := call(l, s.who, s.use); refused == "" {
						passed++
					} else if kind == "" {
						kind = refused
					}
				}
				if passed != s.want || kind != s.kind {
					t.Errorf("step %d: %d passed, then %q; want %d, then %q", i+1, passed, kind, s.want, s.kind)
				}
			}
		})
	}
}

// TestBudgetRefusal checks that a refusal names the exceeded budget. Its RetryAfter must end some seconds after the
// end of the day, at different times.
func TestBudgetRefusal(t *testing.T) {
	c := newClock()
	c.move(11*time.Hour + 59*time.Minute) // a minute before midnight
	for _, tt := range []struct {
		o    limit.Options
		want string
	}{
		{limit.Options{Daily: limit.Use{Rows: 1}}, "The daily budget of rows is spent"},
		{limit.Options{TokenDaily: limit.Use{Cost: 1}}, "The daily budget of cost of this token is spent"},
	} {
		tt.o.Now = c.now
		l := limit.New(tt.o)
		call(l, ana, limit.Use{Rows: 1, Cost: 1})
		lo, hi := time.Hour, time.Duration(0)
		for range 300 {
			_, err := l.Acquire(t.Context(), ana)
			p := problem.Of(err)
			if p == nil || p.Code != problem.BudgetExceeded || p.Detail != tt.want || !p.Retryable() ||
				p.Suggestion != "The next day begins at 00:00 UTC. An operator can allow more" {
				t.Fatalf("%+v", p)
			}
			lo, hi = min(lo, p.RetryAfter), max(hi, p.RetryAfter)
		}
		if lo < time.Minute || hi > time.Minute+6*time.Second || hi-lo < 3*time.Second {
			t.Errorf("RetryAfter from %v to %v, want it spread behind a minute", lo, hi)
		}
		c.move(lo)
		if refused := call(l, ana, limit.Use{}); refused != "" {
			t.Error("refused after RetryAfter:", refused)
		}
		c.move(-lo)
	}
}

// TestMidnight checks that a call that runs over midnight counts on the day on which it began.
func TestMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - time.Minute) // the clock of synctest begins at midnight
		ledger := newBook()
		l := limit.New(limit.Options{Daily: limit.Use{Rows: 10}, Ledger: ledger})
		release, err := l.Acquire(t.Context(), ana)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if refused := call(l, ana, limit.Use{Rows: 3}); refused != "" {
			t.Error(refused)
		}
		release(limit.Use{Rows: 10})
		release(limit.Use{Rows: 10}) // a second release does nothing
		if refused := call(l, ana, limit.Use{}); refused != "" {
			t.Error("the new day's budget was charged:", refused)
		}
		if err := l.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := ledger.tells(), "2000-01-01 oana 1 calls 10 rows; 2000-01-02 oana 2 calls 3 rows"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestRestart checks that the ledger has the use half a second later, or when the limiter closes. A new limiter must
// find it there.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := newBook()
		o := limit.Options{Daily: limit.Use{Calls: 6}, TokenDaily: limit.Use{Rows: 100}, Ledger: ledger}
		crashes := limit.New(o)
		call(crashes, ana, limit.Use{Rows: 1})
		call(crashes, ana, limit.Use{Rows: 2})
		if got, want := ledger.tells(), "2000-01-01 oana; 2000-01-01 tt1"; got != want {
			t.Errorf("at once: %s, want %s", got, want)
		}
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if got, want := ledger.tells(), "2000-01-01 oana 2 calls 3 rows; 2000-01-01 tt1 2 calls 3 rows"; got != want {
			t.Errorf("after 500 ms: %s, want %s", got, want)
		}
		call(crashes, ana, limit.Use{Rows: 50}) // this limiter crashes within the next 500 ms, so the use is lost
		closes := limit.New(o)
		for range 3 {
			call(closes, ana, limit.Use{})
		}
		if err := closes.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := limit.New(o)
		if got := call(last, ana, limit.Use{}) + call(last, ana, limit.Use{}); got != "budget_exceeded owner_daily_calls" {
			t.Errorf("5 of 6 calls were made before; two more: %q", got)
		}
		crashes.Close(t.Context())
		last.Close(t.Context())
	})
}

// TestRunning checks that the ledger counts a call while it runs. Otherwise other limiters would admit too many
// calls.
func TestRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := newBook()
		o := limit.Options{Daily: limit.Use{Calls: 1}, Ledger: ledger}
		a, b := limit.New(o), limit.New(o)
		release, err := a.Acquire(t.Context(), ana)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if got := call(b, ana, limit.Use{}); got != "budget_exceeded owner_daily_calls" {
			t.Errorf("while the only call runs elsewhere: %q", got)
		}
		time.Sleep(time.Hour)
		call(a, limit.Asker{Owner: "bob"}, limit.Use{}) // drops idle accounts, but not accounts with a running call
		time.Sleep(time.Second)
		synctest.Wait()
		release(limit.Use{Rows: 7})
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if got, want := ledger.tells(), "2000-01-01 oana 1 calls 7 rows; 2000-01-01 obob 1 calls"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		a.Close(t.Context())
		b.Close(t.Context())
	})
}

// TestFlush checks that use is counted once: before, during and after the write, and in the next write. An idle
// limiter must not call the ledger.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := newBook()
		l := limit.New(limit.Options{Daily: limit.Use{Calls: 10}, Ledger: ledger})
		steps := []struct {
			wait  time.Duration
			calls int
			tells string // content of the ledger after the calls
			asked int
		}{
			{0, 4, "2000-01-01 oana", 1},
			{499 * time.Millisecond, 0, "2000-01-01 oana", 1},
			{time.Millisecond, 2, "2000-01-01 oana 4 calls", 2},
			{500 * time.Millisecond, 0, "2000-01-01 oana 6 calls", 3},
			{0, 3, "2000-01-01 oana 6 calls", 3},
			{time.Hour, 0, "2000-01-01 oana 9 calls", 4},
			{0, 1, "2000-01-01 oana 9 calls", 5}, // the known use is stale
			{time.Second, 0, "2000-01-01 oana 10 calls", 6},
		}
		for i, s := range steps {
			time.Sleep(s.wait)
			synctest.Wait()
			for range s.calls {
				if got := call(l, ana, limit.Use{}); got != "" {
					t.Errorf("step %d: %s", i+1, got)
				}
			}
			if got, asked := ledger.tells(), ledger.times(); got != s.tells || asked != s.asked {
				t.Errorf("step %d: %s, asked %d times; want %s, %d", i+1, got, asked, s.tells, s.asked)
			}
		}
		if got := call(l, ana, limit.Use{}); got != "budget_exceeded owner_daily_calls" {
			t.Errorf("the eleventh: %q", got)
		}
		// After a failed write, the limiter tries again even without further calls.
		bob := limit.Asker{Owner: "bob"}
		call(l, bob, limit.Use{})
		ledger.breaks(errors.New("busy"), false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		ledger.breaks(nil, false)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		if got, want := ledger.tells(), "2000-01-01 oana 10 calls; 2000-01-01 obob 1 calls"; got != want {
			t.Errorf("after a failure: %s, want %s", got, want)
		}
		// A closed limiter writes nothing more by itself.
		l.Close(t.Context())
		call(l, bob, limit.Use{})
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := ledger.tells(), "2000-01-01 oana 10 calls; 2000-01-01 obob 1 calls"; got != want {
			t.Errorf("when it was closed: %s, want %s", got, want)
		}
	})
}

// keepsNothing is a ledger that stores nothing.
type keepsNothing struct{}

func (keepsNothing) Spend(_ context.Context, entries []limit.Entry) ([]limit.Use, error) {
	return make([]limit.Use, len(entries)), nil
}

// TestBudgetMemory checks that idle accounts use no memory.
func TestBudgetMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{Daily: limit.Use{Calls: 10}, TokenDaily: limit.Use{Calls: 10}, Ledger: keepsNothing{}})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for i := range 50_000 {
			call(l, limit.Asker{Owner: fmt.Sprint("owner", i), Token: fmt.Sprint("token", i)}, limit.Use{})
			if i%1000 == 0 {
				time.Sleep(2 * time.Second)
			}
		}
		time.Sleep(2 * time.Second)
		call(l, ana, limit.Use{})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(l)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
			t.Errorf("%d bytes kept for askers that are gone", grown)
		}
		l.Close(t.Context())
	})
}

// TestSharedBudget checks that two limiters with the same ledger know each other's use within a second.
func TestSharedBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := newBook()
		o := limit.Options{Daily: limit.Use{Calls: 100}, Ledger: ledger}
		a, b := limit.New(o), limit.New(o)
		passed := [2]int{}
		for range 400 { // 100 calls a second, in turn
			for i, l := range []*limit.Limiter{a, b} {
				if call(l, ana, limit.Use{}) == "" {
					passed[i]++
				}
			}
			time.Sleep(20 * time.Millisecond)
		}
		// Each limiter admits up to 50 calls within stale that the other limiter doesn't know yet.
		if n := passed[0] + passed[1]; n < 100 || n > 100+50 {
			t.Errorf("%v passed, want 100 to 150", passed)
		}
		for i, l := range []*limit.Limiter{a, b} {
			if got := call(l, ana, limit.Use{}); got != "budget_exceeded owner_daily_calls" {
				t.Errorf("limiter %d at the end: %q", i, got)
			}
			l.Close(t.Context())
		}
		if got, want := ledger.tells(), fmt.Sprintf("2000-01-01 oana %d calls", passed[0]+passed[1]); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestLedgerFails checks that calls are refused while the ledger fails, as soon as the known use is stale. When the
// ledger works again, no use must be lost.
func TestLedgerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := newBook()
		l := limit.New(limit.Options{Daily: limit.Use{Calls: 1000}, Ledger: ledger})
		call(l, ana, limit.Use{Rows: 1})
		ledger.breaks(errors.New("the disk is full"), false)
		for range 9 { // 0.9 seconds
			time.Sleep(100 * time.Millisecond)
			if got := call(l, ana, limit.Use{Rows: 1}); got != "" {
				t.Error("refused before what is known is old:", got)
			}
		}
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		for range 3 {
			_, err := l.Acquire(t.Context(), ana)
			if p := problem.Of(err); p == nil || p.Kind != "limit_store" || p.Err == nil || p.Err.Error() != "the disk is full" {
				t.Fatalf("%+v", p)
			}
			time.Sleep(time.Second)
		}
		ledger.breaks(nil, false)
		if got := call(l, ana, limit.Use{Rows: 1}); got != "" {
			t.Error("refused when the ledger was back:", got)
		}
		ledger.breaks(errors.New("the connection broke"), true)
		if err := l.Close(t.Context()); err == nil {
			t.Error("Close told nothing of a ledger that fails")
		}
		if got, want := ledger.tells(), "2000-01-01 oana 11 calls 11 rows"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		ledger.breaks(nil, false)
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
		// The last call was written twice, because the first write may have failed. So the ledger never has less than
		// the real use.
		if got, want := ledger.tells(), "2000-01-01 oana 12 calls 12 rows"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// sleeper is a ledger that answers after a delay, or when the caller's context ends.
type sleeper time.Duration

func (s sleeper) Spend(ctx context.Context, entries []limit.Entry) ([]limit.Use, error) {
	select {
	case <-time.After(time.Duration(s)):
		return make([]limit.Use, len(entries)), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// panics is a ledger that panics.
type panics struct{}

func (panics) Spend(context.Context, []limit.Entry) ([]limit.Use, error) { panic("boom") }

// short is a ledger that doesn't answer for all accounts.
type short struct{}

func (short) Spend(context.Context, []limit.Entry) ([]limit.Use, error) { return nil, nil }

func TestLedgerFaults(t *testing.T) {
	for _, ledger := range []limit.Ledger{panics{}, short{}} {
		l := limit.New(limit.Options{Daily: limit.Use{Calls: 1000}, Ledger: ledger})
		if got := call(l, ana, limit.Use{}); got != "rate_limited limit_store" {
			t.Errorf("%T: %q", ledger, got)
		}
	}
}

// TestLedgerHangs checks that a ledger that doesn't answer never blocks calls for long, however many calls there are.
// A cancelled call must return at once.
func TestLedgerHangs(t *testing.T) {
	for _, tt := range []struct {
		takes time.Duration
		want  string
		wait  time.Duration
	}{{1500 * time.Millisecond, "", 1500 * time.Millisecond}, {time.Hour, "rate_limited limit_store", 2 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			l := limit.New(limit.Options{Concurrency: 100, Daily: limit.Use{Calls: 1000}, Ledger: sleeper(tt.takes)})
			begin := time.Now()
			var wg sync.WaitGroup
			for range 50 {
				wg.Go(func() {
					if got := call(l, ana, limit.Use{}); got != tt.want {
						t.Errorf("a ledger that takes %v: %q, want %q", tt.takes, got, tt.want)
					}
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			wg.Go(func() {
				if _, err := l.Acquire(ctx, ana); problem.CodeOf(err) != problem.Timeout || time.Since(begin) != 100*time.Millisecond {
					t.Error("one who goes:", err, time.Since(begin))
				}
			})
			time.Sleep(time.Millisecond)
			wg.Wait()
			if waited := time.Since(begin); waited > tt.wait+100*time.Millisecond {
				t.Errorf("a ledger that takes %v: %v", tt.takes, waited)
			}
			l.Close(t.Context())
		})
	}
}

// TestBudgetStorm makes concurrent calls with many tokens of one owner. No more calls than the budget may pass, and
// the ledger must have all use.
func TestBudgetStorm(t *testing.T) {
	const most, owners = 3000, 3
	ledger := newBook()
	l := limit.New(limit.Options{PerMinute: 60e9, Burst: 1 << 30, Daily: limit.Use{Calls: most}, TokenDaily: limit.Use{Calls: most}, Ledger: ledger})
	var passed [owners]atomic.Int64
	var wg sync.WaitGroup
	for i := range 60 {
		who := limit.Asker{Owner: fmt.Sprint(i % owners), Token: fmt.Sprint("token", i%12), Depth: i % 2}
		wg.Go(func() {
			for range 400 {
				if call(l, who, limit.Use{Rows: 2, Bytes: 3}) == "" {
					passed[i%owners].Add(1)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range passed {
		want := fmt.Sprintf("o%d %d calls %d rows %d bytes", i, most, 2*most, 3*most)
		if n := passed[i].Load(); n != most || !strings.Contains(ledger.tells(), want) {
			t.Errorf("owner %d: %d passed, and the ledger says %s; want %s", i, n, ledger.tells(), want)
		}
	}
}

// TestNested checks that each depth of nested calls has its own places, so that no call waits for its own place.
func TestNested(t *testing.T) {
	l := limit.New(limit.Options{Concurrency: 1})
	for depth := range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := l.Acquire(ctx, limit.Asker{Owner: "ana", Token: "t1", Depth: depth}); err != nil {
			t.Errorf("depth %d: %v", depth, err)
		}
	}
	if _, err := limit.New(limit.Options{Concurrency: 1, Queue: -1}).Acquire(t.Context(), ana); err != nil {
		t.Error(err)
	}
}

// TestBudgetModel compares budgets with a model. A call passes if no budget is used up, whatever happens to the
// clock, the ledger and other limiters.
func TestBudgetModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, ledger := newClock(), newBook()
		most := limit.Use{Calls: 20, Rows: 50}
		l := limit.New(limit.Options{Daily: most, Ledger: ledger, Now: c.now})
		model := map[string]limit.Use{}
		var open []func(limit.Use)
		var of []string
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			owner := rapid.SampledFrom([]string{"ana", "bob"}).Draw(t, "owner")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				c.move(time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour)
			case 1:
				c.move(time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond)
			case 2:
				if len(open) > 0 {
					used := limit.Use{Rows: int64(rapid.IntRange(0, 20).Draw(t, "rows"))}
					open[0](used)
					model[of[0]] = model[of[0]].Plus(used)
					open, of = open[1:], of[1:]
				}
			case 3: // the process ends, and another process starts
				for _, release := range open {
					release(limit.Use{})
				}
				open, of = nil, nil
				l.Close(context.Background())
				l = limit.New(limit.Options{Daily: most, Ledger: ledger, Now: c.now, Concurrency: 1000})
			default:
				key := c.now().Format(time.DateOnly) + owner
				used := model[key]
				release, err := l.Acquire(context.Background(), limit.Asker{Owner: owner})
				if spent := used.Calls >= most.Calls || used.Rows >= most.Rows; spent != (problem.CodeOf(err) == problem.BudgetExceeded) {
					t.Fatalf("%s has used %+v: %v", key, used, err)
				}
				if err == nil {
					model[key] = used.Plus(limit.Use{Calls: 1})
					open, of = append(open, release), append(of, key)
				}
			}
		}
		for _, release := range open {
			release(limit.Use{})
		}
		l.Close(context.Background())
	})
}

func TestCost(t *testing.T) {
	for _, tt := range []struct{ tokens, price, want int64 }{
		{0, 3_000_000, 0}, {1_000_000, 3_000_000, 3_000_000}, {1, 3_000_000, 3}, {1, 250_000, 0}, {2, 250_000, 1}, {3, 250_000, 1},
		{2_500_000, 150_000, 375_000}, {math.MaxInt64, math.MaxInt64 / 1_000_000, math.MaxInt64}, {5, 0, 0},
	} {
		if got := limit.Cost(tt.tokens, tt.price); got != tt.want {
			t.Errorf("%d tokens at %d: %d, want %d", tt.tokens, tt.price, got, tt.want)
		}
	}
}

// TestMostAskersOfADay checks a limiter without a ledger. It keeps the accounts of the day in the process, up to a
// maximum number, and then refuses new accounts.
func TestMostAskersOfADay(t *testing.T) {
	c := newClock()
	l := limit.New(limit.Options{Daily: limit.Use{Calls: 1}, Now: c.now})
	defer l.Close(t.Context())
	refused := map[string]int{}
	ask := func(n int) string { return call(l, limit.Asker{Owner: fmt.Sprint("owner", n)}, limit.Use{}) }
	for i := range 200_100 {
		refused[ask(i)]++
		c.move(100 * time.Microsecond)
	}
	if refused[""] != 200_000 || refused["rate_limited limit_store"] != 100 {
		t.Errorf("%v, want 200000 to pass and 100 to be refused", refused)
	}
	for _, step := range []struct {
		wait time.Duration
		n    int
		want string
	}{
		{0, 5, "budget_exceeded owner_daily_calls"},
		{12 * time.Hour, 5, ""}, {0, 5, "budget_exceeded owner_daily_calls"}, {0, 300_000, ""},
	} {
		c.move(step.wait)
		if got := ask(step.n); got != step.want {
			t.Errorf("owner %d, %v later: %q, want %q", step.n, step.wait, got, step.want)
		}
	}
}

func BenchmarkAcquireBudgets(b *testing.B) {
	l := limit.New(limit.Options{PerMinute: 60e9, Burst: 1 << 30, Daily: limit.Use{Calls: 1 << 60}, TokenDaily: limit.Use{Rows: 1 << 60}})
	who := limit.Asker{Owner: "ana@example.com", Token: "token:abcdefghijklmnop"}
	b.ReportAllocs()
	for b.Loop() {
		release, err := l.Acquire(context.Background(), who)
		if err != nil {
			b.Fatal(err)
		}
		release(limit.Use{Rows: 50, Bytes: 20_000, Tokens: 5_000})
	}
}
