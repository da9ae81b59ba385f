package limit

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	shareLife = time.Second // how long a process may use calls that it took ahead
	mostShare = 16          // maximum number of calls taken at once
)

// shares is a Store in front of another Store that several processes share. A busy process takes several calls at
// once from the other Store. It then admits that many calls without a request to the other Store.
//
// Each admitted call was counted by the other Store before. Up to shareOf - 1 of the calls may run up to shareLife
// later than they were counted. Calls that a process took but doesn't use are lost. Every refusal comes from the
// other Store, as its answer to a request for a single call.
type shares struct {
	store Store
	now   func() time.Time

	mu    sync.Mutex
	of    map[string]*share // by the keys of the buckets
	sweep int               // number of shares at which forget runs
}

// A share contains the calls that a process took ahead for a list of buckets, and that it hasn't used yet.
type share struct {
	asking chan struct{} // a semaphore, acquired while a caller uses the share

	left  int
	until time.Time
	// The number of calls in the second that began at from, and in the second before.
	from           time.Time
	count, counted int
}

func newShares(store Store, now func() time.Time) *shares {
	if now == nil {
		now = time.Now
	}
	return &shares{store: store, now: now, of: map[string]*share{}, sweep: 1024}
}

// Take implements Store.
func (s *shares) Take(ctx context.Context, buckets []Bucket) (wait time.Duration, err error) {
	if shareOf(buckets, mostShare) == 1 { // no calls are ever taken ahead, so callers needn't wait for each other
		return s.store.Take(ctx, buckets)
	}
	one := s.find(buckets)
	select {
	case one.asking <- struct{}{}:
		defer func() { <-one.asking }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	now := s.now()
	if one.take(now) {
		return 0, nil
	}
	one.left = 0
	if n := shareOf(buckets, one.counted/2); n > 1 {
		many := slices.Clone(buckets)
		for i := range many { // the same allowance, counted in larger units
			many[i].Every, many[i].Burst = many[i].Every*time.Duration(n), many[i].Burst/n
		}
		if wait, err = s.store.Take(ctx, many); err != nil {
			return 0, err
		} else if wait <= 0 {
			one.left, one.until = n-1, now.Add(shareLife)
			return 0, nil
		}
	}
	return s.store.Take(ctx, buckets)
}

// find returns the share for buckets.
func (s *shares) find(buckets []Bucket) *share {
	key := ""
	for _, b := range buckets {
		key += strconv.Itoa(len(b.Key)) + " " + b.Key
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.of[key]; one != nil {
		return one
	}
	if len(s.of) >= s.sweep {
		s.forget(s.now())
	}
	one := &share{asking: make(chan struct{}, 1)}
	s.of[key] = one
	return one
}

// forget drops shares without recent calls, except shares in use. It makes a new map, because a map doesn't shrink.
func (s *shares) forget(now time.Time) {
	kept := map[string]*share{}
	for key, one := range s.of {
		select {
		case one.asking <- struct{}{}:
			if now.Sub(one.from) < 2*shareLife {
				kept[key] = one
			}
			<-one.asking
		default:
			kept[key] = one
		}
	}
	s.of, s.sweep = kept, max(1024, 2*len(kept))
}

// take counts a call at the time now. It reports whether the share has a call for it. The caller holds asking.
func (one *share) take(now time.Time) bool {
	switch since := now.Sub(one.from); {
	case since < 0 || since >= 2*shareLife:
		one.from, one.count, one.counted = now, 0, 0
	case since >= shareLife:
		one.from, one.count, one.counted = one.from.Add(shareLife), 0, one.count
	}
	one.count++
	if one.left == 0 || now.After(one.until) || one.until.Sub(now) > shareLife { // or the clock was set back
		return false
	}
	one.left--
	return true
}

// shareOf returns how many calls to take at once. The result is not greater than most, mostShare and an eighth of
// each Burst. It divides each Burst, so that the allowance stays the same.
func shareOf(buckets []Bucket, most int) int {
	n := min(most, mostShare)
	for _, b := range buckets {
		n = min(n, b.Burst/8)
	}
	for ; n > 1; n-- {
		if !slices.ContainsFunc(buckets, func(b Bucket) bool { return b.Burst%n != 0 }) {
			return n
		}
	}
	return 1
}
