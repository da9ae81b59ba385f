package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bailiwick-dev/bailiwick/internal/health"
)

// testReplicas stores the rows of two processes. Each handle must read both. A heartbeat must replace only its own
// row, and Leave must remove one.
func testReplicas(t *testing.T, open Open) {
	place, ctx := t.TempDir(), t.Context()
	here, there := Handle(t, open, place), Handle(t, open, place)
	check := func(want ...health.ReplicaRow) {
		t.Helper()
		for _, s := range []Store{here, there} {
			if got, err := s.Replicas(ctx); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%v, %v; want %v", got, err, want)
			}
		}
	}
	check()
	a := health.ReplicaRow{ID: "1", Name: "a process 7", Rules: "r1", Key: "k1", Program: "v1", Clock: -1500 * time.Millisecond}
	b := health.ReplicaRow{ID: "0", Name: "b process 7", Rules: "r2", Key: "k2", Program: "v2", Clock: 3 * time.Second}
	beat := func(s Store, r health.ReplicaRow) {
		t.Helper()
		before := time.Now()
		at, err := s.Beat(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		if off := at.Sub(before); off.Abs() > time.Hour { // the server's clock is that of this machine
			t.Errorf("the store's clock is off by %v", off)
		}
	}
	beat(here, a)
	beat(there, b)
	check(a, b)
	a.Rules, a.Key, a.Program, a.Clock, a.Name = "r2", "k2", "v2", 0, "c process 8"
	beat(there, a)
	check(b, a)
	if err := here.Leave(ctx, b.ID); err != nil {
		t.Fatal(err)
	}
	if err := here.Leave(ctx, "nobody"); err != nil {
		t.Error(err)
	}
	check(a)
}
