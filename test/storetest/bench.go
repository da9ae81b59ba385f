package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
)

const (
	waiting = 10_000 // pending changes in benchmarks
	done    = 2_000  // rejected changes, older than the pending ones
)

// Benchmark measures a queue with 10,000 pending changes and 2,000 older, rejected changes.
func Benchmark(b *testing.B, s Store) {
	fill(b, s)
	pending := []change.State{change.Pending}
	for _, bb := range []struct {
		name string
		f    change.Filter
	}{
		{"first page", change.Filter{States: pending}},
		{"a page in the middle", change.Filter{States: pending, Before: plain(done+waiting/2, "").ID}},
		{"the last page", change.Filter{States: pending, Before: plain(done+20, "").ID}},
		{"of a principal", change.Filter{States: pending, Principal: "agent1"}},
		{"of a tenant", change.Filter{States: pending, Tenanted: true, Tenant: "zen"}},
		{"of a class", change.Filter{States: pending, Class: "crm.users"}},
		{"of a class, all states", change.Filter{Class: "crm.users"}},
		{"high risk", change.Filter{States: pending, Risk: change.High}},
		{"no such risk", change.Filter{States: pending, Risk: "none"}},
		{"a text that all have", change.Filter{States: pending, Text: "issue"}},
		{"a text that none has", change.Filter{States: pending, Text: "nothing of the kind"}},
		{"all states", change.Filter{}},
	} {
		b.Run("list/"+bb.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.List(b.Context(), bb.f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, f := range map[string]change.Filter{"all": {}, "of a tenant": {Tenanted: true, Tenant: "zen"}} {
		b.Run("counts/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Counts(b.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("due", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Due(b.Context(), 50); err != nil {
				b.Fatal(err)
			}
		}
	})
	benchmarkMoves(b, s)
}

// benchmarkMoves measures filing and rejecting a change.
func benchmarkMoves(b *testing.B, s Store) {
	var n atomic.Int64
	n.Store(1 << 30)
	move := func(b *testing.B) {
		i := int(n.Add(1))
		c, err := s.Put(b.Context(), plain(i, fmt.Sprint("bench", i)), change.Filing{Life: time.Hour, Most: 50})
		if err == nil {
			c.State, c.History = change.Rejected, append(c.History, change.Step{State: change.Rejected, Event: change.EventRejected})
			err = s.Swap(b.Context(), c, change.Guard{Unexpired: true})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("put and swap", func(b *testing.B) {
		for b.Loop() {
			move(b)
		}
	})
	b.Run("put and swap, many at once", func(b *testing.B) {
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				move(b)
			}
		})
	})
}

// fill files changes with 32 goroutines. It rejects the first ones and leaves the others pending.
func fill(b *testing.B, s Store) {
	b.Helper()
	var wg sync.WaitGroup
	const fillers = 32
	for who := range fillers {
		wg.Go(func() {
			for i := who; i < done+waiting; i += fillers {
				c, err := s.Put(b.Context(), variedChange(i), change.Filing{Life: 24 * time.Hour, Most: 1 << 30})
				if err == nil && i < done {
					c.State, c.History = change.Rejected, append(c.History, change.Step{State: change.Rejected, Event: change.EventRejected})
					err = s.Swap(b.Context(), c, change.Guard{})
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
