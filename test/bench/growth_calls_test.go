package bench_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick"
	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/policy"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/schema"
	"github.com/bailiwick-dev/bailiwick/tool"
)

// A curve is the cost of a call at several sizes of something. most is the largest exponent allowed: 0 if the cost doesn't
// depend on the size, 1 if it is proportional to it. A small exponent above 0 leaves room for noise and logarithms.
type curve struct {
	of, call string
	sizes    []int
	most     float64
	at       func(t testing.TB, size int) (call func())
}

// spent returns the processor time of this process so far.
func spent(t testing.TB) time.Duration {
	t.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		t.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// cost returns the processor time of one call: the least of five series that take 20 ms or more each.
func cost(t testing.TB, call func()) time.Duration {
	t.Helper()
	call()
	runtime.GC()
	for idle := 0; idle < 3; { // what building the world left behind
		from := spent(t)
		time.Sleep(10 * time.Millisecond)
		if idle++; spent(t)-from > time.Millisecond {
			idle = 0
		}
	}
	least := time.Duration(math.MaxInt64)
	for range 5 {
		n, from := 0, spent(t)
		for ; n < 3 || spent(t)-from < 20*time.Millisecond; n++ {
			call()
		}
		least = min(least, (spent(t)-from)/time.Duration(n))
	}
	return least
}

// exponent returns the slope of the line through the points (log size, log cost), by least squares.
func exponent(sizes []int, costs []time.Duration) float64 {
	var x, y, xx, xy, n float64
	for i := range sizes {
		a, b := math.Log(float64(sizes[i])), math.Log(float64(costs[i]))
		x, y, xx, xy, n = x+a, y+b, xx+a*a, xy+a*b, n+1
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// TestGrowth measures what a call costs when others have done more, and bounds the exponent of each curve. It bounds no
// time, so a slow machine passes as well.
func TestGrowth(t *testing.T) {
	for _, c := range growthCurves() {
		t.Run(c.of+"/"+c.call, func(t *testing.T) {
			costs := make([]time.Duration, len(c.sizes))
			for i, size := range c.sizes {
				costs[i] = cost(t, c.at(t, size))
			}
			e := exponent(c.sizes, costs)
			t.Logf("%v %s: %v, exponent %.2f (at most %.2f)", c.sizes, c.of, costs, e, c.most)
			if e > c.most {
				t.Errorf("exponent %.2f, want at most %.2f", e, c.most)
			}
		})
	}
}

func growthCurves() []curve {
	var out []curve
	for _, c := range []struct {
		name, tool, arguments string
		most                  float64
	}{
		{"query_class", "query_class", `{"class_name":"t7"}`, 0.15},
		{"query_sql", "query_sql", `{"sql":"SELECT id FROM t7 LIMIT 1"}`, 0.15},
		{"get_schema", "get_schema", `{"class_name":"t7"}`, 0.2},
		{"a wrong name", "get_schema", `{"class_name":"tt"}`, 0.5},
		{"columns of a table", "query_sql", `{"sql":"SELECT column_name FROM information_schema.columns WHERE table_name = 't7'"}`, 0.2},
		{"get_all_schemas", "get_all_schemas", `{}`, 1.1},
	} {
		out = append(out, curve{of: "classes", call: c.name, sizes: []int{10, 100, 1000, 5000}, most: c.most, at: func(t testing.TB, n int) func() {
			set := manyClasses(t, n)
			return func() {
				if _, err := set.Call(t.Context(), agent(), request(t, c.tool, c.arguments)); err != nil && problem.CodeOf(err) != problem.NotFound {
					t.Fatal(err)
				}
			}
		}})
	}
	out = append(out, curve{of: "agents that wait", call: "propose", sizes: []int{1, 20, 100, 500}, most: 0.15, at: func(t testing.TB, n int) func() {
		o := newOffice(t, "sqlite", "sqlite")
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		t.Cleanup(func() { cancel(); waiting.Wait() })
		for range n {
			id, _, err := o.propose(ctx)
			if err != nil {
				t.Fatal(err)
			}
			waiting.Go(func() {
				o.plant.Gateway.Do(ctx, o.agent, bailiwick.CallSpec{Tool: "wait_for_change", Needs: identity.Read}, func(ctx context.Context, c *bailiwick.Call) (int, error) {
					_, err := c.WaitForChange(ctx, id, time.Hour)
					return 0, err
				})
			})
		}
		return func() {
			if _, _, err := o.propose(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}})
	return out
}

// manyClasses returns the tools over n classes. Each points to the one before it.
func manyClasses(t testing.TB, n int) *tool.Set {
	t.Helper()
	var classes atOnce
	rules := policy.Rules{Classes: map[string]policy.ClassRule{}}
	for i := range n {
		c := schema.Class{Source: "tracker", Name: fmt.Sprint("t", i), Table: fmt.Sprint("t", i), Key: []string{"id"}}
		for _, name := range []string{"id", "org_id", "name", "parent_id", "status", "email"} {
			c.Fields = append(c.Fields, schema.Field{Name: name, Type: schema.String})
		}
		c.Relations = []schema.Relation{{Fields: []string{"parent_id"}, Target: fmt.Sprint("t", max(0, i-1)), TargetFields: []string{"id"}}}
		classes = append(classes, c)
		rules.Classes["tracker."+c.Name] = policy.ClassRule{Tenant: &policy.TenantRule{Field: "org_id"}}
	}
	return benchTools(t, gateway(t, classes, rules, &sealed{}))
}
