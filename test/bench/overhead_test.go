package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/audit"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/demo"
	"github.com/bailiwick-dev/bailiwick/limit"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/source"
	"github.com/bailiwick-dev/bailiwick/value"
)

// atOnce is a source without records that answers immediately. The time of a call is therefore that of the gateway.
type atOnce []schema.Class

func (s atOnce) Describe(context.Context) ([]schema.Class, []string, error) { return s, nil, nil }

func (s atOnce) Read(context.Context, policy.Permit) (source.Rows, error) {
	return func(func(value.Row, error) bool) {}, nil
}

// everyday returns a gateway with all steps of a call and a source that answers immediately. It has rules, rates,
// budgets that are never exhausted, and the audit.
func everyday(b *testing.B, log audit.Log, ledger limit.Ledger) *bailiwick.Gateway {
	b.Helper()
	classes, _, err := sqliteSource(b, tracker(b)).Describe(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	args, err := audit.NewArgHasher(make([]byte, 32))
	if err != nil {
		b.Fatal(err)
	}
	o := unlimited()
	o.Ledger = ledger
	o.Daily = limit.Use{Calls: 1e15, Rows: 1e15, Bytes: 1e15, Tokens: 1e15, Cost: 1e15}
	o.TokenDaily = o.Daily
	g, _, err := bailiwick.New(b.Context(), bailiwick.Options{Sources: map[string]source.Source{"tracker": atOnce(classes)}, Rules: rules(b),
		Audit: log, Args: args, Limits: o, Price: 3_000_000})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { g.Close(context.Background()) })
	return g
}

// BenchmarkOverhead measures the gateway's own cost of a call: admission, rates, budgets, the decision, and the audit
// record. The source answers immediately. With memory, the record is chained but not stored. With disk, it is on the
// disk before the call is answered, with the given number of concurrent callers. p50 and p99 are the duration of a
// call. cpu is its processor time on all threads, without waiting for the disk.
func BenchmarkOverhead(b *testing.B) {
	find, point := pageQuery(), &query.Find{Class: "issues", IDs: []string{"x"}, Limit: 1}
	for _, q := range []struct {
		name string
		read func(context.Context, *bailiwick.Call) error
	}{
		{"rows50", func(ctx context.Context, c *bailiwick.Call) error { _, err := c.Read(ctx, find); return err }},
		{"point", func(ctx context.Context, c *bailiwick.Call) error { _, err := c.Get(ctx, point); return err }},
	} {
		b.Run(q.name+"/memory/callers1", func(b *testing.B) { overhead(b, everyday(b, &sealed{}, nil), 1, q.read) })
		for _, callers := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("%s/disk/callers%d", q.name, callers), func(b *testing.B) {
				s := store(b)
				overhead(b, everyday(b, s, s), callers, q.read)
			})
		}
	}
}

// BenchmarkView measures creating a view for principals with an increasing number of filters. Every call creates a
// view for each class that it names.
func BenchmarkView(b *testing.B) {
	p, plain := demoPolicy(b), agent()
	filtered := plain
	filtered.Filters = map[string]query.Filter{
		"default":        query.Compare{Path: query.Path{"org_id"}, Op: query.Eq, Value: value.OfString(demo.Acme)},
		"tracker.issues": query.Compare{Path: query.Path{"status"}, Op: query.Ne, Value: value.OfString("Done")},
	}
	derived := filtered
	for range 4 {
		child, err := identity.Derive(derived, identity.Derivation{Name: "child", Filters: map[string]query.Filter{
			"issues": query.Compare{Path: query.Path{"type"}, Op: query.Eq, Value: value.OfString("Bug")}}})
		if err != nil {
			b.Fatal(err)
		}
		derived = child
	}
	for _, who := range []struct {
		name string
		who  identity.Principal
	}{{"tenant", plain}, {"filters", filtered}, {"derived4", derived}} {
		b.Run(who.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.View(who.who, "issues", "", false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSync measures only the disk. It overwrites and syncs two pages and their headers, as a record does. A call
// whose record must be on the disk can't be faster than this.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "x"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const pages, many = 2 * (4096 + 24), 400
	if _, err := f.Write(make([]byte, many*pages)); err != nil {
		b.Fatal(err)
	}
	page, n := make([]byte, pages), int64(0)
	report(b, spread(b, 1, func(context.Context) error {
		n = (n + 1) % many
		if _, err := f.WriteAt(page, n*pages); err != nil {
			return err
		}
		return f.Sync()
	}))
}

func overhead(b *testing.B, g *bailiwick.Gateway, callers int, read func(context.Context, *bailiwick.Call) error) {
	ask := bailiwick.CallSpec{Tool: "query_class", Needs: identity.Read, Arguments: pageCall(b).Arguments, Correlation: "bench"}
	p := agent()
	b.ReportAllocs()
	runtime.GC()
	before := cpu(b)
	waits := spread(b, callers, func(ctx context.Context) error {
		return g.Do(ctx, p, ask, func(ctx context.Context, c *bailiwick.Call) (int, error) { return 20_000, read(ctx, c) })
	})
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs")
	report(b, waits)
}

// cpu returns the processor time of this process.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
