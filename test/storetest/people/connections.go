package people

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiwick-dev/bailiwick/identity"
	"github.com/bailiwick-dev/bailiwick/internal/connect"
	"github.com/bailiwick-dev/bailiwick/problem"
	"github.com/bailiwick-dev/bailiwick/test/storetest"
)

// testConnections checks that a connection is stored unchanged. If several processes replace the same version,
// exactly one must succeed.
func testConnections(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	here, there := storetest.Handle(t, open, place), storetest.Handle(t, open, place)
	k := connect.Key{Source: "crm", Tenant: "acme", Person: "ana@example.com"}
	if got, err := here.Connection(ctx, k); err != nil || got.Version != 0 || got.Key != k {
		t.Error("none:", got, err)
	}
	want := connect.Row{Key: k, Version: 7, Busy: true, Sealed: []byte{0, 1, 255}}
	for round, first := range []bool{true, false} {
		if done, err := here.SwapConnection(ctx, 0, want); done != first || err != nil {
			t.Error("inserted", round, done, err)
		}
	}
	check := func(want connect.Row) {
		t.Helper()
		sameRow(t, there, want)
	}
	check(want)
	var won atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			next := want
			next.Version, next.Busy, next.Sealed = 8, false, []byte("next")
			done, err := []storetest.Store{here, there}[i%2].SwapConnection(ctx, 7, next)
			if err != nil {
				t.Error(err)
			}
			if done {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Error(won.Load(), "replaced one version")
	}
	want.Version, want.Busy, want.Sealed = 8, false, []byte("next")
	check(want)
}

// testLeaving checks that removing a person ends this person's connections and no others.
func testLeaving(t *testing.T, open storetest.Open) {
	place, ctx := t.TempDir(), t.Context()
	here, there := storetest.Handle(t, open, place), storetest.Handle(t, open, place)
	want := connect.Row{Key: connect.Key{Source: "crm", Tenant: "acme", Person: "ana@example.com"}, Version: 8, Sealed: []byte("next")}
	check := func(want connect.Row) {
		t.Helper()
		sameRow(t, there, want)
	}
	elsewhere, other := want, want
	elsewhere.Tenant, other.Person = "globex", "ben@example.com"
	for _, r := range []connect.Row{want, elsewhere, other} {
		if done, err := here.SwapConnection(ctx, 0, r); err != nil || !done {
			t.Fatal(done, err)
		}
	}
	tokens := identity.NewTokens(identity.TokenOptions{Store: there, Audit: there})
	local := identity.Principal{ID: "token:x", Kind: identity.Human, Tenant: "globex", Scopes: []identity.Scope{identity.Operator}}
	if _, err := tokens.Remove(ctx, local, "ANA@example.com", "acme"); problem.CodeOf(err) != problem.NotFound {
		t.Error("by an operator of another tenant:", err)
	}
	check(want)
	_, _, err := tokens.Create(ctx, identity.Local("test"), identity.Token{Name: "bot", Owner: "Ana@example.com", Tenant: "acme", Scopes: []identity.Scope{identity.Read}})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := tokens.Remove(ctx, identity.Local("test"), "ANA@example.com", "acme"); err != nil || n != 1 {
		t.Error(n, err)
	}
	want.Ended, want.Version = true, 9
	check(want)
	rows, err := here.Connections(ctx)
	ended := 0
	for _, r := range rows {
		if r.Ended {
			ended++
		}
	}
	if err != nil || len(rows) != 3 || ended != 1 {
		t.Error(rows, err)
	}
	want.Sealed = nil
	for was, first := range map[int64]bool{8: false, 9: true} {
		if done, err := here.SwapConnection(ctx, was, want); done != first || err != nil {
			t.Error("removed", was, done, err)
		}
	}
	if got, err := there.Connection(ctx, want.Key); err != nil || got.Version != 0 {
		t.Error("removed:", got, err)
	}
}

// sameRow checks the stored row of a connection.
func sameRow(t *testing.T, s storetest.Store, want connect.Row) {
	t.Helper()
	got, err := s.Connection(t.Context(), want.Key)
	if age := time.Since(got.Changed); age > time.Hour || age < -time.Hour {
		t.Error("changed at", got.Changed)
	}
	if err != nil || got.Key != want.Key || got.Version != want.Version || got.Busy != want.Busy || got.Ended != want.Ended || !bytes.Equal(got.Sealed, want.Sealed) {
		t.Errorf("%+v, want %+v: %v", got, want, err)
	}
}
