package limit

import (
	"context"
	"sync"
	"time"
)

const (
	sweepEvery = time.Minute
	mostKeys   = 200_000 // maximum number of keys in use at one time. Further new keys are refused
)

// rates is the Store of one process. It uses the generic cell rate algorithm (GCRA), which stores one number per key.
//
// The number is the time at which the bucket will be full again ("theoretical arrival time"). Each call moves this
// time by Every. A call is over the limit if it would move the time to more than Burst × Every after now. A key whose
// time is past is the same as an absent key, so it can be dropped.
type rates struct {
	now   func() time.Time
	start time.Time

	mu    sync.Mutex
	full  map[string]time.Duration // the time when the bucket is full, since start
	sweep time.Duration            // when to drop unused keys next
	peak  int                      // number of keys at which to drop unused keys earlier
}

func newRates(now func() time.Time) *rates {
	if now == nil {
		now = time.Now
	}
	return &rates{now: now, start: now(), full: map[string]time.Duration{}, sweep: sweepEvery, peak: 1024}
}

// Take takes one call from every bucket, or from none.
func (r *rates) Take(_ context.Context, buckets []Bucket) (wait time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now().Sub(r.start)
	if now >= r.sweep || len(r.full) >= r.peak {
		r.forget(now)
	}
	var moved [4]time.Duration
	next := moved[:0]
	for _, b := range buckets {
		full, known := r.full[b.Key]
		if !known && len(r.full) >= mostKeys {
			return max(b.Every, 1), nil
		}
		if most := now + time.Duration(b.Burst)*b.Every; full > most { // from before the clock was set back
			full = most
			r.full[b.Key] = most
		}
		full = max(full, now) + b.Every
		wait = max(wait, full-now-time.Duration(b.Burst)*b.Every)
		next = append(next, full)
	}
	if wait > 0 {
		return wait, nil
	}
	for i, b := range buckets {
		r.full[b.Key] = next[i]
	}
	return 0, nil
}

// forget drops the keys whose time is past. It makes a new map, because a map doesn't shrink.
func (r *rates) forget(now time.Duration) {
	kept := map[string]time.Duration{}
	for k, full := range r.full {
		if full > now {
			kept[k] = full
		}
	}
	r.full, r.sweep, r.peak = kept, now+sweepEvery, max(1024, 2*len(kept))
}
