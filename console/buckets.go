package console

import "math"

// buckets counts durations by size. Each bucket is 5% wider than the previous bucket.
type buckets struct {
	counts map[int16]int
	all    int
}

const width = 0.04879016416943205 // the logarithm of 1.05, the ratio of consecutive buckets

func (b *buckets) add(micros int64) {
	if b.counts == nil {
		b.counts = map[int16]int{}
	}
	b.counts[int16(math.Log(float64(max(micros, 1)))/width)]++
	b.all++
}

// below returns the percentile of the counted durations in microseconds, or 0 if there are none.
func (b *buckets) below(percent int) int64 {
	left := (b.all*percent + 99) / 100
	if left == 0 {
		return 0
	}
	for i := int16(0); ; i++ {
		if left -= b.counts[i]; left <= 0 {
			return int64(math.Round(math.Exp((float64(i) + .5) * width)))
		}
	}
}
