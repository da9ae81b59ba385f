package interpret

import (
	"math"
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A directory finds values by their digests. The zero directory is empty.
type directory map[uint64][]int

// add adds the number n of a value with a digest.
func (d *directory) add(digest uint64, n int) {
	if *d == nil {
		*d = directory{}
	}
	(*d)[digest] = append((*d)[digest], n)
}

// digest returns a number that is the same for values that value.Equal or value.Compare finds equal.
func digest(v value.Value) uint64 {
	switch v.Kind() {
	case value.Null:
		return 1
	case value.Bool:
		if v.Bool() {
			return 3
		}
		return 2
	case value.Int, value.Float, value.Decimal:
		f, _ := v.AsFloat()
		switch {
		case f == 0:
			return 4 // of either sign
		case math.IsNaN(f):
			return 5
		}
		return mixed(math.Float64bits(f))
	case value.Date, value.Day:
		return mixed(uint64(v.Micros()))
	case value.Array:
		d := uint64(7)
		for _, e := range v.List() {
			d = mixed(d ^ digest(e))
		}
		return d
	case value.Object:
		d := uint64(11)
		for _, m := range v.Members() { // in any order
			d += mixed(digestOf(m.Name) ^ digest(m.Value))
		}
		return d
	}
	return digestOf(v.Text())
}

// digests returns the digest of a list of values.
func digests(vs []value.Value) uint64 {
	d := uint64(len(vs))
	for _, v := range vs {
		d = mixed(d ^ digest(v))
	}
	return d
}

// digestOf is FNV-1a.
func digestOf(s string) uint64 {
	d := uint64(14695981039346656037)
	for i := range len(s) {
		d = (d ^ uint64(s[i])) * 1099511628211
	}
	return d
}

// mixed spreads the bits of n, as splitmix64 does.
func mixed(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// distinct returns the values of a list without nulls and repetitions, in their order.
func distinct(vs []value.Value) []value.Value {
	var seen directory
	out := []value.Value{}
	for _, v := range vs {
		d := digest(v)
		if v.IsNull() || slices.ContainsFunc(seen[d], func(n int) bool { return value.Equal(out[n], v) }) {
			continue
		}
		seen.add(d, len(out))
		out = append(out, v)
	}
	return out
}
