package bench_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

// pageQuery returns the page of the read benchmarks in the form that the tool builds from its arguments.
func pageQuery() *query.Find {
	q := &query.Find{Class: "issues", Limit: pageRows, Order: []query.Sort{{Path: query.Path{"id"}}}}
	for _, f := range []string{"id", "project_id", "number", "type", "status", "priority", "title", "assignee_id", "estimate", "due_date", "created_at", "updated_at"} {
		q.Keys = append(q.Keys, query.Path{f})
	}
	return q
}

func demoPolicy(t testing.TB) *policy.Policy {
	t.Helper()
	classes, _, err := sqliteSource(t, tracker(t)).Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.New(rules(t), classes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// record returns a record like one of a query_class call.
func record() audit.Record {
	return audit.Record{Time: demo.Clock(), Principal: "token:1", Owner: "ann", Tenant: demo.Acme, TokenID: "1", Correlation: "bench",
		Tool: "query_class", Class: "issues", ArgKeys: []string{"class_name", "keys", "limit", "order"}, ArgHash: "0123456789abcdef0123456789abcdef",
		Outcome: audit.OK, Policy: "0123456789abcdef", Rows: pageRows, Bytes: 20_000, Tokens: 5_000, Micros: 900}
}

// BenchmarkPolicy measures only the decision, which converts a query to a permit.
func BenchmarkPolicy(b *testing.B) {
	p, principal := demoPolicy(b), agent()
	var where query.Filter = query.And{
		query.Compare{Path: query.Path{"status"}, Op: query.Eq, Value: value.OfString("Done")},
		query.In{Path: query.Path{"priority"}, Values: []value.Value{value.OfString("High"), value.OfString("Critical")}}}
	for _, q := range []struct {
		name  string
		query query.Query
	}{{"rows50", pageQuery()}, {"count", &query.Count{Class: "issues", Where: where}}, {"point", &query.Find{Class: "issues", IDs: []string{"x"}, Limit: 1}}} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Read(principal, q.query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAudit measures one record. It is chained in memory, or written to the disk with callers that share syncs.
func BenchmarkAudit(b *testing.B) {
	b.Run("memory", func(b *testing.B) { appending(b, &sealed{}, 1) })
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("disk/callers%d", callers), func(b *testing.B) { appending(b, store(b), callers) })
	}
}

// appending appends b.N records from the given number of goroutines. ns/op is the log's time for each record. p50 and
// p99 are the time for which a caller waits.
func appending(b *testing.B, log audit.Log, callers int) {
	b.ReportAllocs()
	waits := spread(b, callers, func(ctx context.Context) error {
		r := record()
		return log.Append(ctx, &r)
	})
	report(b, waits)
}

// spread runs do b.N times in the given number of goroutines. It returns the duration of each run.
func spread(b *testing.B, callers int, do func(context.Context) error) []time.Duration {
	waits := make([]time.Duration, b.N)
	var wg sync.WaitGroup
	b.ResetTimer()
	b.StartTimer() // the caller may have called spread before
	for c := range callers {
		wg.Go(func() {
			for i := c; i < len(waits); i += callers {
				start := time.Now()
				if err := do(b.Context()); err != nil {
					b.Error(err)
					return
				}
				waits[i] = time.Since(start)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	return waits
}

func report(b *testing.B, waits []time.Duration) {
	slices.Sort(waits)
	at := func(part float64) float64 {
		return float64(waits[int(part*float64(len(waits)-1))].Nanoseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "p50-µs")
	b.ReportMetric(at(0.99), "p99-µs")
}

// BenchmarkCall measures a complete call without the work of a tool: admission, limits, and the record.
func BenchmarkCall(b *testing.B) {
	s := sqliteSource(b, tracker(b))
	arguments := pageCall(b).Arguments
	ask := bailiwick.CallSpec{Tool: "query_class", Needs: identity.Read, Arguments: arguments, Correlation: "bench"}
	nothing := func(context.Context, *bailiwick.Call) (int, error) { return 0, nil }
	for _, log := range []struct {
		name string
		log  func() audit.Log
	}{{"memory", func() audit.Log { return &sealed{} }}, {"disk", func() audit.Log { return store(b) }}} {
		g := gateway(b, s, rules(b), log.log())
		b.Run("nothing/"+log.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := g.Do(b.Context(), agent(), ask, nothing); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecideAndRecord measures the total cost of policy and audit as a caller sees it: the decision and a record
// on the disk. The target is a p99 of 1 ms.
func BenchmarkDecideAndRecord(b *testing.B) {
	p, principal, q := demoPolicy(b), agent(), pageQuery()
	for _, callers := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("callers%d", callers), func(b *testing.B) {
			log := store(b)
			b.ReportAllocs()
			waits := spread(b, callers, func(ctx context.Context) error {
				if _, err := p.Read(principal, q); err != nil {
					return err
				}
				r := record()
				return log.Append(ctx, &r)
			})
			report(b, waits)
		})
	}
}
