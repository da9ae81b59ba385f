package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/change"
)

// testCounts checks that a count of more than 1,000 is 1,001. It counts without a search, by a rare word, and by a common
// word. It counts also for a reviewer who doesn't see all values.
func testCounts(t *testing.T, open Open) {
	s, ctx := Handle(t, open, t.TempDir()), t.Context()
	file := func(from, to int, state change.State) {
		var wg sync.WaitGroup
		for who := range 32 {
			wg.Go(func() {
				for n := from + who; n < to; n += 32 {
					c := variedChange(2 * n)
					c.State = state
					if _, err := s.Put(ctx, c, change.Filing{Life: time.Hour, Most: 1 << 20}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
	file(0, 3, change.Pending)
	file(1000, 2000, change.Rejected)
	for ended := 1000; ended <= 1002; ended++ {
		for _, f := range []change.Filter{{}, {Text: "bot"}, {Text: "x", Sees: all}, {Text: "x", Sees: allBut("tracker.issues", "title")}} {
			f.For = "owner1"
			want, mine := map[change.State]int{change.Pending: 3, change.Rejected: min(ended, 1001)}, map[change.State]int{change.Pending: 3}
			if got, own, err := s.Counts(ctx, f); err != nil || !cmp.Equal(got, want) || !cmp.Equal(own, mine) {
				t.Errorf("%d ended, %q: counted %v and %v, want %v and %v; %v", ended, f.Text, got, own, want, mine, err)
			}
		}
		file(1000+ended, 1001+ended, change.Rejected)
	}
}
