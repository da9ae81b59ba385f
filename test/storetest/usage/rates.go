package usage

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// rates returns the store's shared rates. If the store has none, it logs that and returns nil.
func rates(t *testing.T, s storetest.Store) limit.Store {
	shared, ok := s.(limit.Store)
	if !ok {
		t.Log("this store shares no rates: they are kept in the process")
	}
	return shared
}

// testRates checks that a call is taken from all buckets or from none, and the returned waiting time.
func testRates(t *testing.T, open storetest.Open) {
	s := rates(t, storetest.Handle(t, open, t.TempDir()))
	if s == nil {
		return
	}
	const hour = time.Hour
	bucket := func(key string, every time.Duration, burst int) limit.Bucket {
		return limit.Bucket{Key: key, Every: every, Burst: burst}
	}
	for _, step := range []struct {
		name    string
		buckets []limit.Bucket
		wait    time.Duration // rounded to 10 seconds
	}{
		{"the first", []limit.Bucket{bucket("oana", hour, 2)}, 0},
		{"the second", []limit.Bucket{bucket("oana", hour, 2), bucket("tx", hour, 1)}, 0},
		{"no more of one", []limit.Bucket{bucket("oana", hour, 2)}, hour},
		{"nor of the other", []limit.Bucket{bucket("oben", hour, 2), bucket("tx", hour, 1)}, hour},
		{"which took none of the first", []limit.Bucket{bucket("oben", hour, 2)}, 0},
		{"nor here", []limit.Bucket{bucket("oben", hour, 2)}, 0},
		{"a slow one", []limit.Bucket{bucket("tslow", 3*hour, 1)}, 0},
		{"the longest counts", []limit.Bucket{bucket("tslow", 3*hour, 1), bucket("oana", hour, 2)}, 3 * hour},
		{"any name", []limit.Bucket{bucket(storetest.Strange, hour, 1)}, 0},
		{"is one name", []limit.Bucket{bucket(storetest.Strange, hour, 1)}, hour},
		{"a smaller burst than before", []limit.Bucket{bucket("oben", hour, 1)}, hour},
		{"a rate without bounds", []limit.Bucket{bucket("ofree", 1, 1<<30)}, 0},
		{"the longest time", []limit.Bucket{bucket("oslow", 10*365*24*hour, 1)}, 0},
		{"fills slowly", []limit.Bucket{bucket("oslow", 10*365*24*hour, 1)}, 10 * 365 * 24 * hour},
		{"no bucket", nil, 0},
	} {
		wait, err := s.Take(t.Context(), step.buckets)
		if err != nil || wait.Round(10*time.Second) != step.wait || step.wait == 0 && wait != 0 {
			t.Errorf("%s: wait %v, want %v; %v", step.name, wait, step.wait, err)
		}
	}
	quick := []limit.Bucket{bucket("oquick", 30*time.Millisecond, 1)}
	passed, began := 0, time.Now()
	for passed < 2 || time.Since(began) < 300*time.Millisecond {
		wait, err := s.Take(t.Context(), quick)
		if err != nil || wait < 0 || wait > 30*time.Millisecond {
			t.Fatal(wait, err)
		}
		if wait == 0 {
			passed++
		}
		time.Sleep(wait)
	}
	if most := int(time.Since(began)/(30*time.Millisecond)) + 2; passed > most {
		t.Errorf("%d passed, want at most %d", passed, most)
	}
}

// testRateHandles takes from the same buckets through two handles, in different orders. Together they must get as
// much as a single handle.
func testRateHandles(t *testing.T, open storetest.Open) {
	place := t.TempDir()
	handles := []limit.Store{rates(t, storetest.Handle(t, open, place)), rates(t, storetest.Handle(t, open, place))}
	if handles[0] == nil {
		return
	}
	const takers, rounds, burst = 8, 40, 2
	for round := range rounds {
		var passed atomic.Int64
		var wg sync.WaitGroup
		for who := range takers {
			wg.Go(func() {
				buckets := []limit.Bucket{{Key: fmt.Sprint("oana", round), Every: time.Hour, Burst: burst}, {Key: fmt.Sprint("tx", round), Every: time.Hour, Burst: 1000}}
				if who%3 == 0 {
					buckets[0], buckets[1] = buckets[1], buckets[0]
				}
				for range burst {
					wait, err := handles[who%2].Take(t.Context(), buckets)
					if err != nil {
						t.Error(err)
						return
					}
					if wait == 0 {
						passed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if passed.Load() != burst {
			t.Fatalf("%d passed, want %d", passed.Load(), burst)
		}
	}
}
