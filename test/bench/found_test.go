package bench_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/change"
	"github.com/bailiwick-dev/bailiwick/store/postgres"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
	"github.com/bailiwick-dev/bailiwick/value"
	"github.com/bailiwick-dev/bailiwick/write"
)

// endedChange returns the n-th of many changes of issues, as the demo's agents make them. One in a thousand waits, and
// the others were rejected.
func endedChange(n int) *change.Change {
	record := func(status string) value.Value {
		return value.OfObject([]value.Member{{Name: "id", Value: value.OfInt(int64(n))}, {Name: "number", Value: value.OfInt(int64(n))},
			{Name: "title", Value: value.OfString(fmt.Sprintf("Refund %d of %s is shown %s", n, []string{"an order", "a customer", "an invoice"}[n%3], []string{"twice", "late"}[n%2]))},
			{Name: "status", Value: value.OfString(status)}, {Name: "priority", Value: value.OfString("High")}})
	}
	c := &change.Change{ID: fmt.Sprintf("01k%031d", n), State: change.Pending, Source: "tracker", Op: write.OpUpdate, Tool: "update_status", Title: "update issues: status", Classes: []string{"tracker.issues"},
		Fields: []string{"status"}, Rows: 1, Need: 1, Risk: change.Low, Digest: fmt.Sprint(n), Agent: change.Party{Principal: fmt.Sprint("token:", n%50), Name: fmt.Sprint("bot", n%50), Owner: fmt.Sprintf("owner%d@example.org", n%20)},
		Reason:  fmt.Sprintf("The fix number %d is deployed to staging, and people see it", n),
		Effects: []change.Effect{{Op: write.OpUpdate, Class: "tracker.issues", Key: fmt.Sprintf("0196aab4-dd30-75a5-9929-%012d", n), Before: record("InProgress"), After: record("Review"), Asked: []string{"status"}}},
		Named:   []change.Named{{From: "tracker.issues", Field: "project_id", Key: "p", Class: "tracker.projects", Record: value.OfObject([]value.Member{{Name: "key", Value: value.OfString([]string{"PAY", "WEB", "OPS"}[n%3])}})}},
		History: []change.Step{{State: change.Pending, Event: change.EventCreated, By: fmt.Sprint("bot", n%50)}}}
	if n%1000 != 0 {
		c.State, c.History = change.Rejected, append(c.History, change.Step{State: change.Rejected, Event: change.EventRejected, By: "rosa@example.org", Comment: "not now"})
	}
	return c
}

// fillChanges stores changes with many goroutines, because the stores write those that wait together.
func fillChanges(b testing.TB, s change.Store, many int) {
	b.Helper()
	var wg sync.WaitGroup
	const fillers = 128
	for who := range fillers {
		wg.Go(func() {
			for n := who; n < many; n += fillers {
				if _, err := s.Put(b.Context(), endedChange(n), change.Filing{Life: 24 * time.Hour, Most: 1 << 30}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkFound measures searches of words among 100,000 changes, nearly all of which have ended: a page, and the
// counts of all states. One reviewer sees all values, and one doesn't see a field.
func BenchmarkFound(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			var s change.Store
			var err error
			if kind == "postgres" {
				var opened *postgres.Store
				opened, err = postgres.Open(b.Context(), storeOf(b, kind))
				s = opened
			} else {
				var opened *sqlite.Store
				opened, err = sqlite.Open(b.Context(), storeOf(b, kind)[len("sqlite:"):])
				s = opened
			}
			if err != nil {
				b.Fatal(err)
			}
			fillChanges(b, s, 100_000)
			open := []change.State{change.Pending, change.Stale}
			for _, bb := range []struct {
				name string
				f    change.Filter
			}{
				{"a short name", change.Filter{Text: "PAY-37701"}},
				{"a number", change.Filter{Text: "37701"}},
				{"two words", change.Filter{Text: "refund 37701"}},
				{"a word of all", change.Filter{Text: "refund"}},
				{"a word of all that wait", change.Filter{Text: "refund", States: open}},
				{"two common words", change.Filter{Text: "invoice bot7"}},
				{"two common words apart", change.Filter{Text: "invoice customer"}},
				{"nothing", change.Filter{Text: "nowhere"}},
				{"no words", change.Filter{}},
			} {
				for _, sees := range []string{"all", "some"} {
					bb.f.Sees = func(_, field string) bool { return sees == "all" || field != "priority" }
					if bb.f.Text == "" && sees == "some" {
						continue
					}
					b.Run(sees+"/list/"+bb.name, func(b *testing.B) {
						for b.Loop() {
							if _, _, err := s.List(b.Context(), bb.f); err != nil {
								b.Fatal(err)
							}
						}
					})
					b.Run(sees+"/counts/"+bb.name, func(b *testing.B) {
						for b.Loop() {
							if _, _, err := s.Counts(b.Context(), bb.f); err != nil {
								b.Fatal(err)
							}
						}
					})
				}
			}
		})
	}
}
