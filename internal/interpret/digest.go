package interpret

import (
	"slices"

	"github.com/bailiwick-dev/bailiwick/value"
)

// A directory maps digests to the numbers of values. The zero directory is empty.
type directory map[uint64][]int

// add adds the number n of a value with this digest.
func (d *directory) add(digest uint64, n int) {
	if *d == nil {
		*d = directory{}
	}
	(*d)[digest] = append((*d)[digest], n)
}

// digests returns the digest of a list of values.
func digests(vs []value.Value) uint64 {
	d := uint64(len(vs))
	for _, v := range vs {
		d = value.Mix(d ^ value.Digest(v))
	}
	return d
}

// distinct returns the values of a list without nulls and repetitions, in order.
func distinct(vs []value.Value) []value.Value {
	var seen directory
	out := []value.Value{}
	for _, v := range vs {
		d := value.Digest(v)
		if v.IsNull() || slices.ContainsFunc(seen[d], func(n int) bool { return value.Equal(out[n], v) }) {
			continue
		}
		seen.add(d, len(out))
		out = append(out, v)
	}
	return out
}
