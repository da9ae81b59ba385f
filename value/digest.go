package value

import "math"

// Digest returns a number that is the same for values that are equal by Equal or Compare.
func Digest(v Value) uint64 {
	switch v.Kind() {
	case Null:
		return 1
	case Bool:
		if v.Bool() {
			return 3
		}
		return 2
	case Int, Float, Decimal:
		f, _ := v.AsFloat()
		switch {
		case f == 0:
			return 4 // zero with either sign
		case math.IsNaN(f):
			return 5
		}
		return Mix(math.Float64bits(f))
	case Date, Day:
		return Mix(uint64(v.Micros()))
	case Array:
		d := uint64(7)
		for _, e := range v.List() {
			d = Mix(d ^ Digest(e))
		}
		return d
	case Object:
		d := uint64(11)
		for _, m := range v.Members() { // the order of members doesn't matter
			d += Mix(digestOf(m.Name) ^ Digest(m.Value))
		}
		return d
	}
	return digestOf(v.Text())
}

// digestOf computes the FNV-1a hash of s.
func digestOf(s string) uint64 {
	d := uint64(14695981039346656037)
	for i := range len(s) {
		d = (d ^ uint64(s[i])) * 1099511628211
	}
	return d
}

// Mix spreads the bits of n, as splitmix64 does.
func Mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
