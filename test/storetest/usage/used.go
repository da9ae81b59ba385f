package usage

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// testUsed uses names through two handles concurrently. Only one use of each name may be the first. All handles must
// know of it, even if they are opened later. Expired names are removed.
func testUsed(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	handles := []storetest.Store{storetest.Handle(t, open, place), storetest.Handle(t, open, place)}
	until := time.Now().Add(time.Hour)
	for i := range 5 {
		name := "state " + strconv.Itoa(i)
		if used, err := handles[0].UsedUp(ctx, name); err != nil || len(used) > 0 {
			t.Fatalf("%s before it was used: %v, %v", name, used, err)
		}
		var first atomic.Int64
		var wg sync.WaitGroup
		for n := range 16 {
			wg.Go(func() {
				ok, err := handles[n%2].UseUp(ctx, name, until)
				if err != nil {
					t.Error(err)
				}
				if ok {
					first.Add(1)
				}
			})
		}
		wg.Wait()
		if first.Load() != 1 {
			t.Errorf("%s was used %d times", name, first.Load())
		}
		for at, s := range append(handles, storetest.Handle(t, open, place)) {
			if used, err := s.UsedUp(ctx, name, "never"); err != nil || !slices.Equal(used, []string{name}) {
				t.Errorf("handle %d: %v, %v", at, used, err)
			}
		}
	}
	if ok, err := handles[0].UseUp(ctx, "old", time.Now().Add(-time.Second)); err != nil || !ok {
		t.Error(ok, err)
	}
	if ok, err := handles[1].UseUp(ctx, "another", until); err != nil || !ok {
		t.Error(ok, err)
	}
	if used, err := handles[0].UsedUp(ctx, "old"); err != nil || len(used) > 0 {
		t.Errorf("what is old is kept: %v, %v", used, err)
	}
	used, err := handles[1].UsedUp(ctx, "state 3", "old", "another", "state 0")
	if slices.Sort(used); err != nil || !slices.Equal(used, []string{"another", "state 0", "state 3"}) {
		t.Errorf("several names: %v, %v", used, err)
	}
	if used, err := handles[1].UsedUp(ctx); err != nil || len(used) > 0 {
		t.Errorf("no names: %v, %v", used, err)
	}
}
