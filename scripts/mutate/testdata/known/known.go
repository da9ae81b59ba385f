// Package known has mutants of which is known what becomes of them.
package known

import "sync"

var guard sync.Mutex

// Clamp returns n, or most if that is less. Where the two are equal it makes no difference which of them it returns.
func Clamp(n, most int) int {
	guard.Lock() // its absence is no mutant
	defer guard.Unlock()
	if n > most {
		return most
	}
	return n
}

// Kind is reached by a test that looks at nothing, and by those of package user.
func Kind(a, b bool) string {
	switch {
	case a && b:
		return "both"
	case a:
		return "a"
	}
	return "neither"
}

// Alone is reached by no test.
func Alone(n int) int {
	n++
	return n
}

// Sum doesn't end if it doesn't count.
func Sum(n int) (sum int) {
	for n > 0 {
		sum += n
		n--
	}
	return sum
}
