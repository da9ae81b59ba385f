package bench_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/change"
	journal "github.com/bailiwick-dev/bailiwick/internal/store"
	"github.com/bailiwick-dev/bailiwick/store/sqlite"
)

// keptCurves returns the curves of what a store keeps: changes that have ended, and records of the audit.
func keptCurves() []curve {
	var out []curve
	for call, f := range map[string]change.Filter{"the queue": {For: "rosa"}, "search": {For: "rosa", Text: "refund 377"}, "search of a common word": {For: "rosa", Text: "refund"}} {
		out = append(out, curve{of: "ended changes", call: call, sizes: []int{2_000, 6_000, 20_000, 100_000}, most: 0.3, at: func(t testing.TB, n int) func() {
			s := growingStore(t)
			fillChanges(t, s, n)
			f.Sees = func(string, string) bool { return true }
			page := f
			page.States, page.Limit = []change.State{change.Pending, change.Stale}, 1
			return func() {
				_, _, err := s.List(t.Context(), page)
				if err == nil {
					_, _, err = s.Counts(t.Context(), f)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}})
	}
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -30)
	for call, c := range map[string]struct {
		words map[string]string
		most  float64
		least func(n int) int // how many records are read
	}{"audit search": {map[string]string{"agent": "rare"}, 0.3, func(int) int { return 10 }}, "audit usage": {nil, 1.1, func(n int) int { return n }}} {
		out = append(out, curve{of: "audit records", call: call, sizes: []int{10_000, 50_000, 200_000, 1_000_000}, most: c.most, at: func(t testing.TB, n int) func() {
			s := growingStore(t)
			fillAudit(t, s, n, start)
			return func() {
				read := 0
				err := s.Search(t.Context(), [2]time.Time{start, {}}, 0, c.words, func(*audit.Record) bool { read++; return true })
				if err != nil || read < c.least(n) {
					t.Fatal(err, read)
				}
			}
		}})
	}
	return out
}

func growingStore(t testing.TB) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fillAudit appends n records of 100 agents over 30 days, with their summaries. Ten are of a rare agent.
func fillAudit(t testing.TB, s *sqlite.Store, n int, start time.Time) {
	t.Helper()
	const together = 500
	for from := 0; from < n; from += together {
		var wg sync.WaitGroup
		for i := from; i < from+together; i++ {
			wg.Go(func() {
				r := &audit.Record{Time: start.Add(time.Duration(i) * (30 * 24 * time.Hour / time.Duration(n))), Principal: fmt.Sprint("token:", i%100), Owner: fmt.Sprint("owner", i%20), Tenant: "acme",
					Correlation: fmt.Sprint("conversation-", i/40), Tool: []string{"query_class", "get_object", "aggregate"}[i%3], Class: "tracker.issues", Outcome: audit.OK, Rows: 10, Bytes: 2000 + i%500, Tokens: 500, Micros: int64(400 + i%300)}
				if i%(n/10) == 0 {
					r.Principal = "token:rare"
				}
				if err := s.Append(t.Context(), r); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if err := journal.FillBlocks(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}
