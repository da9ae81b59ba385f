package usagelog

import "math"

// buckets count durations by their size, each bucket a twentieth wider than the one before.
type buckets struct {
	counts map[int16]int
	all    int
}

// width is the logarithm of how much wider a bucket is than the one before.
const width = 0.04879016416943205 // of 1.05

func (b *buckets) add(micros int64) {
	if b.counts == nil {
		b.counts = map[int16]int{}
	}
	b.counts[int16(math.Log(float64(max(micros, 1)))/width)]++
	b.all++
}

// below returns the duration in microseconds that percent of 100 are below; 0 where there are none.
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
