package console_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"
)

// BenchmarkPages serves pages with 10,000 changes waiting: what the console itself takes, over a desk in memory.
func BenchmarkPages(b *testing.B) {
	w := newWorld(b, many(10_000), nil)
	browser := w.signedIn(b, "rosa")
	for name, path := range map[string]string{"queue": "/console/changes", "change": "/console/changes/" + id(5000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got := browser.get(path); got.status != 200 {
					b.Fatal(got.status)
				}
			}
		})
	}
}

// BenchmarkPagesReal serves the same over a whole gateway and a store in a file.
func BenchmarkPagesReal(b *testing.B) {
	h := newHouse(b)
	issue, _ := h.issue(b, 0)
	one := h.retitle(b, issue, "Another title")
	kept, err := h.plant.Store.Get(b.Context(), one)
	if err != nil {
		b.Fatal(err)
	}
	var wait sync.WaitGroup
	for worker := range 100 { // the store files what comes at once in one transaction
		wait.Go(func() {
			for i := worker * 100; i < worker*100+100; i++ {
				c := *kept
				c.Agent.Principal = fmt.Sprintf("token:%d", i%200) // nobody has many waiting
				c.ID, c.Digest = fmt.Sprintf("%s%05d", one[:21], i), fmt.Sprintf("%064d", i)
				if _, err := h.plant.Store.Put(b.Context(), &c, time.Hour, 20_000); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	browser := h.browser(b)
	if got := browser.post("/console/sign-in", url.Values{"credential": {h.person(b, "rosa")}}); got.status != 303 {
		b.Fatal(got.status)
	}
	for name, path := range map[string]string{"queue": "/console/changes", "change": "/console/changes/" + one} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if got := browser.get(path); got.status != 200 {
					b.Fatal(got.status, got.body)
				}
			}
		})
	}
}
