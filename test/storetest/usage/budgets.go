package usage

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
	"github.com/google/go-cmp/cmp"
)

// testBudgets checks the sums. Days and accounts must be separate.
func testBudgets(t *testing.T, open storetest.Open) {
	place := t.TempDir()
	s := open(t, place)
	const day = limit.Day(20_662) // 2026-07-28
	entry := func(d limit.Day, key string, u limit.Use) limit.Entry {
		return limit.Entry{Account: limit.Account{Day: d, Key: key}, Use: u}
	}
	strange := "o’ana\" \x00'--é@example.com"
	one := limit.Use{Calls: 1, Rows: 20, Bytes: 300, Tokens: 4000, Cost: 9007199254740993}
	steps := []struct {
		name    string
		entries []limit.Entry
		want    []limit.Use
	}{
		{"nothing yet", []limit.Entry{entry(day, "oana", limit.Use{})}, []limit.Use{{}}},
		{"the first", []limit.Entry{entry(day, "oana", one), entry(day, "tana", limit.Use{Calls: 1})}, []limit.Use{one, {Calls: 1}}},
		{"more", []limit.Entry{entry(day, "oana", one)}, []limit.Use{one.Plus(one)}},
		{"another day", []limit.Entry{entry(day+1, "oana", limit.Use{Rows: 5}), entry(day, "oana", limit.Use{})}, []limit.Use{{Rows: 5}, one.Plus(one)}},
		{"any name", []limit.Entry{entry(day, strange, one), entry(day, "", limit.Use{Cost: 1})}, []limit.Use{one, {Cost: 1}}},
		{"to ask adds nothing", []limit.Entry{entry(day, strange, limit.Use{}), entry(day, "oana", limit.Use{}), entry(day, "x", limit.Use{})},
			[]limit.Use{one, one.Plus(one), {}}},
		{"no account", nil, []limit.Use{}},
	}
	for _, step := range steps {
		got, err := s.Spend(t.Context(), step.entries)
		if diff := cmp.Diff(step.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", step.name, err, diff)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Spend(gone, []limit.Entry{entry(day, "oana", one)}); err == nil {
		t.Error("a cancelled caller was told that it was kept")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Spend(t.Context(), []limit.Entry{entry(day, "oana", limit.Use{})}); err == nil {
		t.Error("a closed store answers")
	}
	again := storetest.Handle(t, open, place)
	got, err := again.Spend(t.Context(), []limit.Entry{entry(day, "oana", limit.Use{}), entry(day, strange, limit.Use{})})
	if diff := cmp.Diff([]limit.Use{one.Plus(one), one}, got); diff != "" || err != nil {
		t.Errorf("opened again: %v (-want +got):\n%s", err, diff)
	}
}

// testBudgetHandles adds through two handles concurrently. No use may be lost, and each answer must include all
// earlier ones.
func testBudgetHandles(t *testing.T, open storetest.Open) {
	place := t.TempDir()
	handles := []storetest.Store{storetest.Handle(t, open, place), storetest.Handle(t, open, place)}
	const adders, each = 8, 25
	account := limit.Account{Day: 20_662, Key: "oana"}
	seen := make([]map[int64]bool, adders)
	var wg sync.WaitGroup
	for i := range adders {
		seen[i] = map[int64]bool{}
		wg.Go(func() {
			own := limit.Account{Day: account.Day, Key: fmt.Sprint("t", i)}
			for n := range int64(each) {
				got, err := handles[i%2].Spend(t.Context(), []limit.Entry{{Account: account, Use: limit.Use{Calls: 1}}, {Account: own, Use: limit.Use{Rows: 2}}})
				if err != nil || len(got) != 2 || got[1].Rows != 2*(n+1) {
					t.Errorf("%v, %v", got, err)
					return
				}
				seen[i][got[0].Calls] = true
			}
		})
	}
	wg.Wait()
	all := map[int64]bool{}
	for _, s := range seen {
		for n := range s {
			all[n] = true
		}
	}
	if len(all) != adders*each || !all[adders*each] {
		t.Errorf("%d different answers, want %d: one for each call", len(all), adders*each)
	}
}

// testBudgetLimiters lets two limiters use one budget, as in two processes. After they are closed, the store must
// contain every call that they admitted, and a new limiter must refuse.
func testBudgetLimiters(t *testing.T, open storetest.Open) {
	place := t.TempDir()
	const most, callers = 300, 8
	options := func() limit.Options {
		return limit.Options{PerMinute: 60e9, Burst: 1 << 30, Daily: limit.Use{Calls: most}, TokenDaily: limit.Use{Calls: most}, Ledger: storetest.Handle(t, open, place)}
	}
	limiters := []*limit.Limiter{limit.New(options()), limit.New(options())}
	began := time.Now()
	var passed atomic.Int64
	var wg sync.WaitGroup
	for i := range 2 * callers {
		wg.Go(func() {
			who := limit.Asker{Owner: "ana", Token: fmt.Sprint(i % 3)}
			for {
				release, err := limiters[i%2].Acquire(t.Context(), who)
				if problem.CodeOf(err) == problem.BudgetExceeded {
					return
				} else if err != nil {
					t.Error(err)
					return
				}
				passed.Add(1)
				release(limit.Use{Rows: 2})
			}
		})
	}
	wg.Wait()
	for _, l := range limiters {
		if err := l.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	last := limit.New(options())
	defer last.Close(t.Context())
	_, err := last.Acquire(t.Context(), limit.Asker{Owner: "ana", Token: "new"})
	if began.UTC().Day() != time.Now().UTC().Day() {
		return // midnight has passed, so the budgets are new
	}
	if problem.CodeOf(err) != problem.BudgetExceeded {
		t.Error("a limiter that begins lets more through:", err)
	}
	day := limit.DayOf(began)
	got, err := storetest.Handle(t, open, place).Spend(t.Context(), []limit.Entry{{Account: limit.Account{Day: day, Key: "oana"}}})
	if want := (limit.Use{Calls: passed.Load(), Rows: 2 * passed.Load()}); err != nil || got[0] != want || want.Calls < most || want.Calls > 2*most {
		t.Errorf("%+v, %v; %d calls passed of %d to %d", got, err, want.Calls, most, 2*most)
	}
}
