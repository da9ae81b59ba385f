package bench_test

import (
	"context"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/query"
)

var peak = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// residentGrowth returns by how many bytes the process's memory in RAM exceeded its size before run, at most: that of
// Go and of SQLite.
func residentGrowth(t *testing.T, run func()) int64 {
	t.Helper()
	hwm := func() int64 {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		kb, err := strconv.ParseInt(string(peak.FindSubmatch(b)[1]), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return kb << 10
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins anew
		t.Fatal(err)
	}
	before := hwm()
	run()
	return hwm() - before
}

// TestResident measures the memory in RAM that calls over 80 MB of records take: one, and sixteen at once. What gathers
// all of them in one value is measured alone and only logged.
//
// LEFT OUT: a bound for $push and $addToSet in SQLite, which gathers their lists in this process: see docs/operating.md.
func TestResident(t *testing.T) {
	g := gateway(t, sqliteSource(t, manyEvents(t)), policy.Rules{Unlisted: true}, &sealed{})
	for _, tt := range []struct {
		name, pipeline string
		gathers        bool
	}{
		{"a group of 7", `[{"$group": {"_id": "$n", "c": {"$sum": 1}}}]`, false},
		{"distinct texts", `[{"$group": {"_id": "$text"}}]`, false},
		{"$push of all texts", `[{"$group": {"_id": null, "all": {"$push": "$text"}}}]`, true},
		{"$addToSet of all texts", `[{"$group": {"_id": null, "all": {"$addToSet": "$text"}}}]`, true},
		{"the size of $push of all texts", `[{"$group": {"_id": null, "all": {"$push": "$text"}}}, {"$project": {"n": {"$size": "$all"}}}]`, true},
		{"sort by text", `[{"$sort": {"text": -1}}, {"$limit": 10}]`, false},
	} {
		for calls, most := range map[int]int64{1: mostGrowth, 16: 512 << 20} {
			if tt.gathers && calls > 1 {
				continue
			}
			growth := residentGrowth(t, func() {
				var all sync.WaitGroup
				for range calls {
					all.Go(func() {
						err := g.Do(t.Context(), agent(), bailiwick.CallSpec{Tool: "aggregate", Needs: identity.Read, Timeout: time.Minute}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
							_, err := c.Aggregate(ctx, &query.Pipeline{Class: "events", Stages: stages(t, tt.pipeline), Limit: 200, Most: 1000})
							return 0, err
						})
						if err != nil {
							t.Log(tt.name, err)
						}
					})
				}
				all.Wait()
			})
			t.Logf("%s, %d at once: +%d MB", tt.name, calls, growth>>20)
			if growth > most && !tt.gathers {
				t.Errorf("%s, %d at once: +%d bytes, want at most %d", tt.name, calls, growth, most)
			}
		}
	}
}
