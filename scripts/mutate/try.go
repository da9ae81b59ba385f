package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A trial is the result of a mutant.
type trial struct {
	mutant
	killed bool
}

// try runs the tests with each n-th mutant, or those that are named, lists those that survive, and returns what became of each.
func try(all []mutant, suites []*suite, o options) []trial {
	slices.SortStableFunc(suites, func(a, b *suite) int { return cmp.Compare(a.took, b.took) })
	var tried []trial
	var numbers []int
	for i, m := range all {
		if i%o.every == o.every/2 && (len(o.only) == 0 || slices.Contains(o.only, strconv.Itoa(i+1))) {
			tried, numbers = append(tried, trial{mutant: m}), append(numbers, i+1)
		}
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range o.at {
		workers.Go(func() {
			h := hunter{suites: suites, options: o}
			for i := range next {
				tried[i].killed = h.hunt(numbers[i], tried[i].mutant)
			}
		})
	}
	for i := range tried {
		next <- i
	}
	close(next)
	workers.Wait()
	return tried
}

// A hunter tries one mutant after the other.
type hunter struct {
	suites  []*suite
	options options
	last    *suite // the one that killed the mutant before, with the test that did so
	killer  string
}

// hunt reports whether a test notices mutant n, and prints it if none does.
func (h *hunter) hunt(n int, m mutant) bool {
	if h.killer != "" && h.last.sees(m) {
		if names, took := h.last.reaching(n, h.killer); len(names) > 0 && h.kills(h.last, n, names, took) {
			return true
		}
	}
	what := "UNREACHED"
	for _, s := range h.suites {
		if !s.sees(m) {
			continue
		}
		names, took := s.reaching(n, "")
		if len(names) == 0 {
			continue
		}
		if what = "SURVIVES"; h.kills(s, n, names, took) {
			return true
		}
	}
	fmt.Fprintln(h.options.out, what, n, m)
	return false
}

// kills reports whether these tests of s notice mutant n, and remembers the one that does.
func (h *hunter) kills(s *suite, n int, names []string, took time.Duration) bool {
	dead, killer := s.kills(n, names, took, h.options.patience)
	if dead {
		h.last, h.killer = s, killer
	}
	return dead
}
