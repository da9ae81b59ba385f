package bench_test

import (
	"context"
	"database/sql"
	"io"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/result"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
	"github.com/bailiwick-dev/bailiwick/value"
)

const (
	manyRows   = 200_000
	mostGrowth = 64 << 20 // bytes of live heap, for results of any size
)

// TestMemory exports 200,000 records, and as many records reduced to the rows of an aggregate. It measures the heap
// meanwhile. The records are larger than mostGrowth, so collecting all of them in memory would fail.
func TestMemory(t *testing.T) {
	g := gateway(t, sqliteSource(t, manyEvents(t)), policy.Rules{Unlisted: true}, &sealed{})
	export := func(q query.Query, format result.Format) func(context.Context, *bailiwick.Call) (int, error) {
		return func(ctx context.Context, c *bailiwick.Call) (int, error) {
			done, err := c.Export(ctx, q, io.Discard, result.ExportOptions{Format: format, Budget: -1})
			return done.Count, err
		}
	}
	each := stages(t, `[{"$group": {"_id": "$text", "n": {"$sum": "$n"}}}, {"$sort": {"_id": -1}}]`)
	for _, tt := range []struct {
		name string
		run  func(context.Context, *bailiwick.Call) (int, error)
		want int // number of records
	}{
		{"export as CSV", export(&query.Find{Class: "events", Limit: 1 << 40}, result.CSV), manyRows},
		{"export of a group each", export(&query.Pipeline{Class: "events", Stages: each, Limit: 1 << 40}, result.JSONLines), manyRows},
		{"an aggregate that is cut", func(ctx context.Context, c *bailiwick.Call) (int, error) {
			page, err := c.Aggregate(ctx, &query.Pipeline{Class: "events", Stages: each, Limit: 200, Most: 1000})
			if err == nil && !page.More {
				t.Error("the aggregate was not cut")
			}
			return page.Count, err
		}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n int
			growth := liveGrowth(func() {
				err := g.Do(t.Context(), agent(), bailiwick.CallSpec{Tool: "export_data", Needs: identity.Read, Timeout: time.Minute}, func(ctx context.Context, c *bailiwick.Call) (_ int, err error) {
					n, err = tt.run(ctx, c)
					return 0, err
				})
				if err != nil {
					t.Fatal(err)
				}
			})
			if n != tt.want {
				t.Errorf("%d records, want %d", n, tt.want)
			}
			t.Logf("the live heap grew by %.1f MB at most", float64(growth)/(1<<20))
			if growth > mostGrowth {
				t.Errorf("the live heap grew by %d bytes, want at most %d", growth, mostGrowth)
			}
		})
	}
}

// manyEvents writes a table of 200,000 records of 400 bytes.
func manyEvents(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.db")
	db, err := sql.Open("sqlite", path+"?_pragma=synchronous(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"CREATE TABLE events (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, text TEXT NOT NULL)",
		"INSERT INTO events WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 200000) SELECT i, i % 7, printf('%0400d', i * 7919 % 200003) FROM s"} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func stages(t *testing.T, pipeline string) []query.Stage {
	t.Helper()
	doc, err := value.Read([]byte(pipeline), 0)
	if err != nil {
		t.Fatal(err)
	}
	list, err := query.ParsePipeline(doc, "/pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// liveGrowth returns the maximum growth of the live heap while run is running, in bytes. Live memory is what a
// garbage collection finds reachable, so collections run continuously. It doesn't include SQLite's own memory.
func liveGrowth(run func()) uint64 {
	live := func() uint64 {
		runtime.GC()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, most := live(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most = max(most, live())
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	run()
	close(stop)
	<-stopped
	return most - min(before, most)
}
