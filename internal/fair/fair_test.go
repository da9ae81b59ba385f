package fair_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/internal/fair"
)

func agent(n int) fair.Who {
	return fair.Who{Tenant: fmt.Sprint("tenant", n), Owner: fmt.Sprint("owner", n), Credential: fmt.Sprint("token", n)}
}

// hold requests n slots, and returns functions to release the slots that it got at once.
func hold(t *testing.T, g *fair.Semaphore, n int, who func(i int) fair.Who) (leave []func()) {
	t.Helper()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for i := range n {
		if l, err := g.Enter(gone, who(i)); err == nil {
			leave = append(leave, l)
		}
	}
	return leave
}

// TestShares checks that credentials, owners and tenants each hold a limited number of slots, however many they
// request. Others must get the remaining slots at once.
func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		bounds fair.Bounds
		who    func(int) fair.Who
		want   int
	}{
		"credential":           {fair.Bounds{Slots: 64, Queue: 256, Patience: time.Hour}, func(int) fair.Who { return agent(0) }, 16},
		"credential, said":     {fair.Bounds{Slots: 64, Each: 20}, func(int) fair.Who { return agent(0) }, 20},
		"credential, half":     {fair.Bounds{Slots: 64, Each: 64}, func(int) fair.Who { return agent(0) }, 32},
		"connections":          {fair.Bounds{Slots: 4, Each: -1}, func(int) fair.Who { return agent(0) }, 2},
		"connections, owner":   {fair.Bounds{Slots: 16, Each: -1}, func(i int) fair.Who { return fair.Who{Tenant: "a", Owner: "o", Credential: fmt.Sprint(i)} }, 11},
		"connections, one":     {fair.Bounds{Slots: 16, Each: -1}, func(int) fair.Who { return agent(0) }, 10},
		"connections, tenant":  {fair.Bounds{Slots: 16, Each: -1}, func(i int) fair.Who { return fair.Who{Tenant: "a", Owner: fmt.Sprint(i), Credential: fmt.Sprint(i)} }, 12},
		"two connections":      {fair.Bounds{Slots: 2, Each: -1}, func(int) fair.Who { return agent(0) }, 1},
		"a connection":         {fair.Bounds{Slots: 1, Each: -1}, func(int) fair.Who { return agent(0) }, 1},
		"owner":                {fair.Bounds{Slots: 64}, func(i int) fair.Who { return fair.Who{Tenant: "a", Owner: "o", Credential: fmt.Sprint(i)} }, 32},
		"tenant":               {fair.Bounds{Slots: 64}, func(i int) fair.Who { return fair.Who{Tenant: "a", Owner: fmt.Sprint(i), Credential: fmt.Sprint(i)} }, 48},
		"owner without tenant": {fair.Bounds{Slots: 64}, func(i int) fair.Who { return fair.Who{Owner: "o", Credential: fmt.Sprint(i)} }, 32},
		"many without tenant":  {fair.Bounds{Slots: 64}, func(i int) fair.Who { return fair.Who{Owner: fmt.Sprint(i), Credential: fmt.Sprint(i)} }, 64},
		"one slot":             {fair.Bounds{Slots: 1}, func(int) fair.Who { return agent(0) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := fair.New(c.bounds)
			if c.bounds.Each < 0 {
				g = fair.Reserving(c.bounds.Slots)
			}
			leave := hold(t, g, 100, c.who)
			if len(leave) != c.want {
				t.Errorf("%d slots, want %d", len(leave), c.want)
			}
			if in, waiting := g.Load(); in != c.want || waiting != 0 {
				t.Error(in, waiting)
			}
			another := hold(t, g, 1, func(int) fair.Who { return agent(7) })
			if (len(another) == 1) != (c.want < c.bounds.Slots) {
				t.Errorf("another has %d slots beside %d", len(another), c.want)
			}
			for _, l := range append(leave, another...) {
				l()
			}
			if in, _ := g.Load(); in != 0 {
				t.Errorf("%d are still held", in)
			}
		})
	}
}

// TestOrder checks that a released slot goes to the requester with the fewest slots. A full queue must drop requests
// of the requester with the most.
func TestOrder(t *testing.T) {
	g := fair.New(fair.Bounds{Slots: 2, Queue: 3, Patience: time.Hour})
	leave := hold(t, g, 2, agent)
	type entered struct {
		who   string
		leave func()
		err   error
	}
	out := make(chan entered, 10)
	enter := func(name string, who fair.Who, waiting int) {
		t.Helper()
		go func() {
			l, err := g.Enter(context.WithoutCancel(t.Context()), who)
			out <- entered{name, l, err}
		}()
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, n := g.Load(); n == waiting || time.Now().After(end) {
				return
			}
		}
	}
	enter("greedy 1", agent(0), 1)
	enter("greedy 2", agent(0), 2)
	enter("greedy 3", agent(0), 3)
	enter("ordinary", agent(5), 3)
	if e := <-out; e.who != "greedy 3" || !errors.Is(e.err, fair.ErrBusy) {
		t.Errorf("%s gave way, with %v", e.who, e.err)
	}
	if _, err := g.Enter(t.Context(), agent(0)); !errors.Is(err, fair.ErrBusy) {
		t.Errorf("the greedy one waits beyond the queue: %v", err)
	}
	leave[1]() // agent 0 still holds one slot
	e := <-out
	if e.who != "ordinary" || e.err != nil {
		t.Errorf("%s is next, with %v", e.who, e.err)
	}
	e.leave()
	leave[0]()
	for _, want := range []string{"greedy 1", "greedy 2"} {
		e := <-out
		if e.who != want || e.err != nil {
			t.Errorf("%s is next, with %v, want %s", e.who, e.err, want)
		}
		e.leave()
	}
}

// TestFewest checks the order of two waiting requesters that may both hold another slot. The requester with fewer
// slots must be next, even if it came later.
func TestFewest(t *testing.T) {
	g := fair.New(fair.Bounds{Slots: 8, Queue: 8, Patience: time.Hour})
	leave := hold(t, g, 8, agent)
	next := make(chan int)
	for waiting, n := range []int{0, 9} { // agent 0 holds one of two slots, and agent 9 holds none
		go func() {
			if _, err := g.Enter(context.WithoutCancel(t.Context()), agent(n)); err != nil {
				t.Error(err)
			}
			next <- n
		}()
		for _, now := g.Load(); now <= waiting; _, now = g.Load() {
			time.Sleep(time.Millisecond)
		}
	}
	for i, want := range []int{9, 0} {
		leave[3+i]()
		if got := <-next; got != want {
			t.Errorf("agent %d is next, want %d", got, want)
		}
	}
}

// TestGreedy runs 1 greedy and 20 ordinary agents. Every ordinary call must be answered soon.
func TestGreedy(t *testing.T) {
	g := fair.New(fair.Bounds{Slots: 64, Queue: 256, Patience: time.Hour})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var refused atomic.Int64
	var greedy, ordinary sync.WaitGroup
	for range 400 {
		greedy.Go(func() {
			for ctx.Err() == nil {
				leave, err := g.Enter(ctx, agent(0))
				if err != nil {
					refused.Add(1)
					time.Sleep(time.Millisecond)
					continue
				}
				<-ctx.Done() // a slow call
				leave()
			}
		})
	}
	for in := 0; in < 16; in, _ = g.Load() {
		time.Sleep(time.Millisecond)
	}
	for n := range 20 {
		ordinary.Go(func() {
			for range 50 {
				leave, err := g.Enter(ctx, agent(1+n))
				if err != nil {
					t.Errorf("agent %d: %v", n, err)
					return
				}
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
				leave()
			}
		})
	}
	ordinary.Wait()
	cancel()
	greedy.Wait()
	if refused.Load() == 0 {
		t.Error("the greedy one was never refused")
	}
	if in, waiting := g.Load(); in != 0 || waiting != 0 {
		t.Error("left over:", in, waiting)
	}
}

// TestImpatience checks that a request that waited too long or was cancelled gets no slot.
func TestImpatience(t *testing.T) {
	g := fair.New(fair.Bounds{Slots: 1, Queue: 5, Patience: 10 * time.Millisecond})
	leave, err := g.Enter(t.Context(), agent(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Enter(t.Context(), agent(1)); !errors.Is(err, fair.ErrBusy) {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.Enter(gone, agent(1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	leave()
	if in, waiting := g.Load(); in != 0 || waiting != 0 {
		t.Error("left over:", in, waiting)
	}
}

// TestMany checks requests for several slots. Together they must never hold more than all slots. The requests of one
// owner must never hold more than its share. Each waiting request must be served in the end.
func TestMany(t *testing.T) {
	g := fair.New(fair.Bounds{Slots: 100, Each: 50, Queue: 1000, Patience: time.Hour})
	if _, err := g.EnterMany(t.Context(), agent(0), 51); !errors.Is(err, fair.ErrTooMany) {
		t.Errorf("51 of 50: %v", err)
	}
	var held atomic.Int64
	var each [5]atomic.Int64
	var wait sync.WaitGroup
	for i := range 400 {
		n, who := 1+rand.IntN(50), i%5
		wait.Go(func() {
			leave, err := g.EnterMany(t.Context(), agent(who), n)
			if err != nil {
				t.Error(err)
				return
			}
			if all, own := held.Add(int64(n)), each[who].Add(int64(n)); all > 100 || own > 50 {
				t.Errorf("%d are held, %d by one", all, own)
			}
			time.Sleep(time.Microsecond)
			held.Add(int64(-n))
			each[who].Add(int64(-n))
			leave()
		})
	}
	wait.Wait()
	if in, waiting := g.Load(); in != 0 || waiting != 0 {
		t.Errorf("%d are held, %d wait", in, waiting)
	}
}
